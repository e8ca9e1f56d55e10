"""The programs: where they come from, how they are laid out for a checker, and what is true of each."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Spot = tuple[str, int]
"""A file of a program, by its name without folders, and a row counted from 1."""

NOT_FOR_CHECKERS = ("case.toml", "fixed.py", "__pycache__")


class Program(NamedTuple):
    """One case, laid out. `wrong` and `right` are its folders; a program that was right from the start has no `wrong`."""

    name: str
    kind: str
    wrong: Path | None
    right: Path | None
    cause: frozenset[Spot]
    also: frozenset[Spot]
    error: frozenset[Spot]

    @property
    def right_lines(self) -> frozenset[Spot]:
        """Every line that a fair reader could call the place of the mistake."""
        return self.cause | self.also | self.error


def module_name(folder: Path) -> str:
    """A folder name that is the name of a package too, which type checkers ask for."""
    return f"{folder.parent.name}_{folder.name}".replace("-", "_")


def copy_program(case: Path, target: Path, *, right: bool) -> Path:
    """The program as a person would have it, with the mistake or put right, and never both."""
    shutil.copytree(case, target, ignore=shutil.ignore_patterns(*NOT_FOR_CHECKERS))
    for put_right in target.glob("*_fixed.py"):
        if right:
            shutil.copy(put_right, put_right.with_name(put_right.name.replace("_fixed.py", ".py")))
        put_right.unlink()
    if right and (case / "fixed.py").exists():
        shutil.copy(case / "fixed.py", target / "case.py")
    return target


def spots(facts: dict[str, Any], file: str, rows: list[int]) -> frozenset[Spot]:
    """Rows of a file that the facts name."""
    return frozenset((facts.get(file, "case.py"), row) for row in rows)


def lay_out(case: Path, root: Path) -> Program:
    """Copy one case under `root`, the wrong program below `wrong` and the right one below `right`."""
    facts = tomllib.loads((case / "case.toml").read_text(encoding="utf-8"))
    name, mistake = module_name(case), facts["kind"] != "correct"
    wrong = copy_program(case, root / "wrong" / name, right=False) if mistake else None
    right = None
    if not mistake or (case / "fixed.py").exists():
        right = copy_program(case, root / "right" / name, right=True)
    return Program(
        name=name,
        kind=facts["kind"],
        wrong=wrong,
        right=right,
        cause=spots(facts, "cause_file", [facts["cause_line"]] if mistake else []),
        also=spots(facts, "cause_file", facts.get("also_lines", [])),
        error=spots(facts, "error_file", [facts["error_line"]] if "error_line" in facts else []),
    )


def lay_out_all(cases: Path, root: Path) -> list[Program]:
    """Every case below the folder `cases`, laid out below `root`."""
    return [lay_out(toml.parent, root) for toml in sorted(cases.glob("**/case.toml"))]


def lines_below(root: Path) -> int:
    """How many lines the Python files hold."""
    return sum(path.read_bytes().count(b"\n") for path in root.glob("**/*.py"))
