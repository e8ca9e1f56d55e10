"""How field cases are read, copied and judged."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from support.checking import Found, findings_in

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
SETS = ("loud_one", "loud_two", "silent", "more")
"""The sets that gradtrail is measured by. The set `silent` is proven on torch, and not measured yet."""

EXPECTED = HERE / "expected.toml"


class Verdict(NamedTuple):
    """What gradtrail did with a case.

    `grade` is "exact", "caught" or "missed"; for a right program it is "quiet" or "alarm". `extra` are
    the findings beside the mistake, `alarms` the findings in the program put right (or in a program
    that was right from the start), each as "rule file:row".
    """

    grade: str
    extra: tuple[str, ...]
    alarms: tuple[str, ...]


def case_folders(name: str) -> list[Path]:
    """The cases of a set, by name."""
    return sorted(toml.parent for toml in (HERE / name).glob("*/case.toml"))


def facts_of(folder: Path) -> dict[str, Any]:
    """What is true of the case, from its `case.toml`."""
    return tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))


def copy_case(folder: Path, target: Path, fixed: bool) -> Path:
    """The case as a person would have it, wrong or right and never both. Returns `target`."""
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("case.toml", "fixed.py", "__pycache__"))
    for right in target.glob("*_fixed.py"):
        wrong = right.with_name(right.name.replace("_fixed.py", ".py"))
        if fixed:
            shutil.copy(right, wrong)
        right.unlink()
    if fixed:
        shutil.copy(folder / "fixed.py", target / "case.py")
    return target


def graded(found: list[Found], facts: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The grade of a wrong program, and the findings that have nothing to do with its mistake."""
    cause_file = facts.get("cause_file", "case.py")
    causes = {(cause_file, row) for row in [facts["cause_line"], *facts.get("also_lines", [])]}
    error = (facts.get("error_file", "case.py"), facts["error_line"]) if "error_line" in facts else None
    grade, extra = "missed", []
    for finding in found:
        if finding.spot not in causes and finding.spot != error:
            extra.append(str(finding))
        elif (error is None or finding.spot == error) and causes & {finding.spot, *finding.trail}:
            grade = "exact"
        elif grade == "missed":
            grade = "caught"
    return grade, tuple(sorted(extra))


def judged(folder: Path) -> Verdict:
    """What gradtrail does with the case and with the case put right."""
    facts = facts_of(folder)
    with tempfile.TemporaryDirectory() as scratch:
        found = findings_in(copy_case(folder, Path(scratch) / "case" / folder.name, fixed=False))
        if facts["kind"] == "correct":
            alarms = tuple(sorted(map(str, found)))
            return Verdict("alarm" if alarms else "quiet", (), alarms)
        right = findings_in(copy_case(folder, Path(scratch) / "right" / folder.name, fixed=True))
        grade, extra = graded(found, facts)
        return Verdict(grade, extra, tuple(sorted(map(str, right))))


def expected_sets() -> dict[str, dict[str, Any]]:
    """What `expected.toml` says, by set."""
    return tomllib.loads(EXPECTED.read_text(encoding="utf-8"))


def gathered(verdicts: dict[str, Verdict]) -> dict[str, Any]:
    """The verdicts of a set in the form that `expected.toml` keeps."""
    table: dict[str, Any] = {
        grade: sorted(name for name, verdict in verdicts.items() if verdict.grade == grade)
        for grade in ("exact", "caught", "missed")
    }
    table["extra"] = dict(extras(verdicts))
    return table


def extras(verdicts: dict[str, Verdict]) -> Iterator[tuple[str, list[str]]]:
    """The findings beside the mistake, for the cases that have some."""
    for name, verdict in sorted(verdicts.items()):
        if verdict.extra:
            yield name, list(verdict.extra)
