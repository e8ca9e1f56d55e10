"""From fixes to repaired programs: make the edits, look again, and keep only what mended something and harmed nothing."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.source.edits import Editor
from gradtrail.source.place import Edit, Place
from gradtrail.source.text import SourceText, apply

if TYPE_CHECKING:
    from gradtrail.findings.engine import Report
    from gradtrail.findings.rule import Rule
    from gradtrail.interp.events import Event

MOST_CHECKS = 200
"""How often a run with repairs looks at the program; each round of edits takes one look, and a harmful edit a few."""

Texts = Mapping[str, bytes]
"""What files say that have been repaired, by name."""


class Repaired(NamedTuple):
    """What came of it: the new bytes of each changed file, the fixes that were made, what is still found."""

    texts: dict[str, bytes]
    applied: list[tuple[str, Fix]]
    before: Report
    report: Report


def with_fixes(found: Diagnostic, rule: Rule, event: Event, editor: Editor, lookup: Lookup) -> Diagnostic:
    """`found` with the fixes that `rule` knows for it, those left out after which a file would not parse."""
    fixes = tuple(
        fix
        for fix in rule.repairs(event, found, editor)
        if fix.edits and _edited(fix.edits, lookup) is not None
    )
    return found._replace(fixes=fixes) if fixes else found


Lookup = Callable[[str], "SourceText | None"]


def repaired(check: Callable[[Texts], Report], unsafe: bool) -> Repaired:
    """Repair what `check` finds, which looks at the program with the files of the mapping in the place of its own.

    Of each finding one fix is made, the first that may be: safe, or with `unsafe` also unsafe. A fix is taken
    back when its finding is still there afterwards, or when something is found that it brought about.
    """
    return _Repair(check, unsafe).run()


class _Chosen(NamedTuple):
    """A fix that is to be made, and the finding that it is to mend."""

    finding: Diagnostic
    fix: Fix


class _Repair:
    """A program on its way to being repaired."""

    def __init__(self, check: Callable[[Texts], Report], unsafe: bool) -> None:
        self._check = check
        self._kinds = ("safe", "unsafe") if unsafe else ("safe",)
        self._texts: dict[str, bytes] = {}
        self._refused: set[tuple[object, ...]] = set()
        self._applied: list[tuple[str, Fix]] = []
        self._before = self._report = check(self._texts)
        self._looks = 1

    def run(self) -> Repaired:
        """Rounds of edits, until nothing more can be done."""
        while self._looks < MOST_CHECKS and self._round():
            pass
        return Repaired(self._texts, self._applied, self._before, self._report)

    def _round(self) -> bool:
        """Make as many fixes as go together; whether the next round has something to do."""
        chosen = self._choose()
        while chosen and self._looks < MOST_CHECKS:
            some = chosen
            while some:
                if self._goes_well(some):
                    return True
                if len(some) == 1:
                    self._refused.add(self._key(some[0]))
                    break
                some = some[: len(some) // 2]
            chosen = [one for one in chosen if self._key(one) not in self._refused]
        return bool(self._choose())

    def _choose(self) -> list[_Chosen]:
        """The fixes of this round: no two touch one place, and what follows from another mistake waits for that."""
        candidates = list(self._candidates())
        rows = {(one.finding.place.filename, one.finding.place.row) for one in candidates}
        first = [one for one in candidates if not (_trail_rows(one.finding) & rows)] or candidates[:1]
        chosen: list[_Chosen] = []
        touched: set[tuple[str, int]] = set()
        for one in first:
            edits = _edited_rows(one.fix.edits)
            if (edits | _trail_rows(one.finding)) & touched:
                continue
            if (
                _edited([edit for other in (*chosen, one) for edit in other.fix.edits], self._lookup)
                is not None
            ):
                chosen.append(one)
                touched |= edits
        return chosen

    def _candidates(self) -> Iterator[_Chosen]:
        for finding in self._report.findings:
            for fix in finding.fixes:
                one = _Chosen(finding, fix)
                if (
                    fix.applicability in self._kinds
                    and all(edit.place.filename in self._report.names for edit in fix.edits)
                    and self._key(one) not in self._refused
                ):
                    yield one
                    break

    def _key(self, one: _Chosen) -> tuple[object, ...]:
        """What stays the same of a fix while the rows around it move."""
        finding, fix = one
        source = self._lookup(finding.place.filename)
        line = "" if source is None else source.line(finding.place.row).strip()
        return (
            finding.rule,
            finding.place.filename,
            line,
            str(finding.message),
            str(fix.title),
            tuple(edit.content.strip() for edit in fix.edits),
        )

    def _lookup(self, filename: str) -> SourceText | None:
        return self._report.sources.get(filename)

    def _goes_well(self, some: Sequence[_Chosen]) -> bool:
        """Make these fixes; when they mend what they should and harm nothing they stay."""
        edits = list(dict.fromkeys(edit for one in some for edit in one.fix.edits))
        texts = _edited(edits, self._lookup)
        if texts is None:
            return False
        new = {**self._texts, **texts}
        report = self._check(new)
        self._looks += 1
        if not _is_better(self._report, report, some, edits):
            return False
        self._texts, self._report = new, report
        self._applied += [(one.finding.rule, one.fix) for one in some]
        return True


def _is_better(before: Report, after: Report, some: Iterable[_Chosen], edits: Sequence[Edit]) -> bool:
    """Whether what was to be mended is gone and nothing has come instead.

    A path that raises ends there. So what is found once it goes on was there before, unless it stands in an edited
    row or its trail comes through one.
    """
    if after.crashed or len(after.not_looked_at) > len(before.not_looked_at):
        return False
    rows = _Rows(edits)
    some = tuple(some)
    old = Counter(_spot(one, rows.after) for one in before.findings)
    new = Counter(_spot(one) for one in after.findings)
    mended = Counter(_spot(one.finding, rows.after) for one in some)
    if any(new[spot] > old[spot] - number for spot, number in mended.items()):
        return False
    went_on = any(one.finding.certainty.startswith("raises") for one in some)
    for one in after.findings:
        if new[_spot(one)] <= old[_spot(one)]:
            continue
        if not went_on or (_trail_rows(one) | {(one.place.filename, one.place.row)}) & rows.edited:
            return False
    return True


def _spot(finding: Diagnostic, row: Callable[[str, int], int] | None = None) -> tuple[str, str, int, str]:
    place = finding.place
    at = place.row if row is None else row(place.filename, place.row)
    return finding.rule, place.filename, at, str(finding.message)


class _Rows:
    """Where rows are after `edits`, and which of them were edited."""

    def __init__(self, edits: Iterable[Edit]) -> None:
        self._edits = sorted(edits, key=lambda edit: edit.place[:3])
        self.edited: set[tuple[str, int]] = set()
        for edit in self._edits:
            place, lines = edit.place, edit.content.count("\n")
            first = self.after(place.filename, place.row, before=edit)
            if lines and edit.content.startswith(("\n", "\r")):
                first += 1
                lines -= 1
            elif lines and edit.content.endswith("\n"):
                lines -= 1
            self.edited.update((place.filename, row) for row in range(first, first + lines + 1))

    def after(self, filename: str, row: int, before: Edit | None = None) -> int:
        """Where what stands in `row` is found after the edits that come above it."""
        moved = row
        for edit in self._edits:
            if edit is before:
                break
            place = edit.place
            if place.filename != filename or place.row > row:
                continue
            gone = (place.end_row or place.row) - place.row
            added = edit.content.count("\n")
            if place.row < row or (added and edit.content.endswith(("\n", " ", "\t")) and place.column == 1):
                moved += added - min(gone, row - place.row)
        return moved


def _edited_rows(edits: Iterable[Edit]) -> set[tuple[str, int]]:
    return {
        (edit.place.filename, row)
        for edit in edits
        for row in range(edit.place.row, (edit.place.end_row or edit.place.row) + 1)
    }


def _trail_rows(finding: Diagnostic) -> set[tuple[str, int]]:
    """The rows that the trail comes through on its way to the place."""
    at: Place = finding.place
    rows = {(step.place.filename, step.place.row) for step in finding.trail}
    return rows - {(at.filename, at.row)}


def _edited(edits: Sequence[Edit], lookup: Lookup) -> dict[str, bytes] | None:
    """The bytes of the files after `edits`; None when they overlap, or when a file would not parse afterwards."""
    files: dict[str, list[Edit]] = {}
    for edit in dict.fromkeys(edits):
        files.setdefault(edit.place.filename, []).append(edit)
    texts: dict[str, bytes] = {}
    for filename, of_file in files.items():
        source = lookup(filename)
        if source is None or source.is_repaired:
            return None
        try:
            text = apply(source.text, of_file)
            ast.parse(text)
            if source.text.encode(source.encoding) != source.data:
                return None  # an encoding with several ways to say the same
            texts[filename] = text.encode(source.encoding)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    return texts
