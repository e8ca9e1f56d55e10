"""Imports point down: laws, source, interp, findings, runtime, reports, integrations."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "gradtrail"

FLOORS = ("laws", "source", "interp", "findings", "runtime", "reports", "integrations")
"""From the ground up. A module may import from its own floor and from those below it."""

TORCH_FROM = FLOORS.index("runtime")

NOT_FOR_LAWS = frozenset(("ast", "io", "os", "pathlib", "subprocess", "sys", "tokenize"))
"""Modules of the standard library that the ground floor does without: no syntax trees, no input or output."""

ENTRANCES = frozenset(("__init__.py", "__main__.py"))
"""Files of the package itself, which belong to no floor."""

TINY = PACKAGE / "tiny"
"""A package to read and to run programs on. It belongs to no floor, and uses none."""

CHAPTERS = sorted(path.stem for path in TINY.glob("*.py") if path.stem != "__init__")


def imports_of(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The absolute dotted names that a tree imports, with their rows; those for types alone are left out."""
    for node in _executed(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            assert node.module is not None
            yield node.lineno, node.module
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield from _executed(other)
            continue
        yield child
        yield from _executed(child)


def breaches(floor: str, source: str) -> list[str]:
    """What a module on `floor` imports from above, or may not import at all on that floor."""
    height = FLOORS.index(floor)
    told = []
    for row, name in imports_of(ast.parse(source)):
        parts = name.split(".")
        if parts[0] == "gradtrail" and len(parts) > 1 and parts[1] in FLOORS:
            if FLOORS.index(parts[1]) > height:
                told.append(f"line {row}: {floor} imports {name} from above")
        elif parts[0] == "torch" and height < TORCH_FROM:
            told.append(f"line {row}: {floor} imports torch")
        elif height == 0 and (
            parts[0] in NOT_FOR_LAWS or parts[0] not in (*sys.stdlib_module_names, "gradtrail")
        ):
            told.append(f"line {row}: {floor} imports {name}")
        elif floor in ("laws", "source", "interp", "findings") and parts[0] not in (
            *sys.stdlib_module_names,
            "gradtrail",
        ):
            told.append(f"line {row}: {floor} imports the package {parts[0]}")
    return told


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.parent not in (PACKAGE, TINY))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    floor = path.relative_to(PACKAGE).parts[0]
    assert breaches(floor, path.read_text(encoding="utf-8")) == []


def test_every_folder_is_a_floor() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders - {"locale", TINY.name} <= set(FLOORS)
    assert {path.name for path in PACKAGE.glob("*.py")} == ENTRANCES


def imported_by(chapter: str) -> set[str]:
    """The absolute names that a chapter of tiny imports."""
    source = (TINY / f"{chapter}.py").read_text(encoding="utf-8")
    return {name for _, name in imports_of(ast.parse(source))}


@pytest.mark.parametrize("chapter", [*CHAPTERS, "__init__"])
def test_tiny_stands_alone(chapter: str) -> None:
    outside = {name for name in imported_by(chapter) if not f"{name}.".startswith("gradtrail.tiny.")}
    assert {name.partition(".")[0] for name in outside} <= {*sys.stdlib_module_names, "numpy"}


def test_no_chapter_of_tiny_imports_a_later_one() -> None:
    told = (TINY / "__init__.py").read_text(encoding="utf-8")
    order = re.findall(r"^- `(\w+)`:", told, re.M)
    assert sorted(order) == CHAPTERS
    for number, chapter in enumerate(order):
        later = {f"gradtrail.tiny.{each}" for each in order[number:]}
        assert not later & imported_by(chapter)


def test_the_core_of_tiny_imports_no_operation() -> None:
    used = {each for each in CHAPTERS if f"gradtrail.tiny.{each}" in imported_by("autograd")}
    assert used == {"modes", "values", "words"}


@pytest.mark.parametrize(
    ("floor", "source"),
    [
        ("laws", "import ast"),
        ("laws", "import numpy"),
        ("laws", "from gradtrail.source.place import Place"),
        ("source", "def later():\n    from gradtrail.findings import engine"),
        ("source", "from gradtrail import reports"),
        ("interp", "import torch.nn"),
        ("findings", "from torch import nn"),
        ("findings", "import pathspec"),
        ("findings", "from gradtrail.reports.terminal import render"),
        ("reports", "import gradtrail.integrations.command"),
    ],
)
def test_a_breach_is_seen(floor: str, source: str) -> None:
    assert breaches(floor, source) != []


@pytest.mark.parametrize(
    ("floor", "source"),
    [
        ("runtime", "import torch"),
        ("reports", "from gradtrail.findings.diagnostic import Diagnostic"),
        ("source", "import ast, os"),
        (
            "laws",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from gradtrail.interp import values",
        ),
    ],
)
def test_what_is_allowed_is_no_breach(floor: str, source: str) -> None:
    assert breaches(floor, source) == []
