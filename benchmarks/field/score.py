"""Judging findings: what was caught and where, and what was said of right programs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .programs import Program, Spot


class Finding(NamedTuple):
    """What a checker says of one row.

    `file` is a full path; `level` is the checker's own word, often empty; `trail` are other places that it names.
    """

    file: Path
    row: int
    code: str
    message: str
    level: str = ""
    trail: frozenset[Spot] = frozenset()

    @property
    def spot(self) -> Spot:
        """Where it stands."""
        return self.file.name, self.row


class Score(NamedTuple):
    """The figures of one checker. The first seven count mistakes, the last two what was said of right programs."""

    cause: int
    cause_named: int
    cause_or_also: int
    error: int
    right_line: int
    told_apart: int
    in_file: int
    alarmed: int
    alarms: int


class Totals(NamedTuple):
    """How many mistakes and right programs there are, and how many of the mistakes have an error line."""

    mistakes: int
    with_error_line: int
    right: int


def totals(programs: list[Program]) -> Totals:
    """What the figures of a `Score` are parts of."""
    wrong = [each for each in programs if each.wrong]
    return Totals(
        len(wrong), sum(bool(each.error) for each in wrong), sum(bool(each.right) for each in programs)
    )


def by_folder(findings: Iterable[Finding]) -> dict[Path, list[Finding]]:
    """The findings of each program, by its folder."""
    found: dict[Path, list[Finding]] = defaultdict(list)
    for finding in findings:
        found[finding.file.parent].append(finding)
    return found


def tells_apart(program: Program, wrong: list[Finding], right: list[Finding]) -> bool:
    """Whether something said on a right line is said less often of the program put right.

    A checker that says the same of both has not noticed the mistake.
    """
    before, after = Counter(each.code for each in wrong), Counter(each.code for each in right)
    said = {each.code for each in wrong if each.spot in program.right_lines}
    return any(after[code] < before[code] for code in said)


def scored(programs: list[Program], findings: Iterable[Finding]) -> Score:
    """The figures for these findings."""
    found, count = by_folder(findings), Counter[str]()
    for program in programs:
        right = found.get(program.right, []) if program.right else []
        count["alarmed"] += bool(right)
        count["alarms"] += len(right)
        if not program.wrong:
            continue
        wrong = found.get(program.wrong, [])
        at = {each.spot for each in wrong}
        named = at.union(*(each.trail for each in wrong))
        count["cause"] += bool(at & program.cause)
        count["cause_named"] += bool(named & program.cause)
        count["cause_or_also"] += bool(at & (program.cause | program.also))
        count["error"] += bool(at & program.error)
        count["right_line"] += bool(at & program.right_lines)
        count["told_apart"] += tells_apart(program, wrong, right)
        count["in_file"] += bool(wrong)
    return Score(**{name: count[name] for name in Score._fields})
