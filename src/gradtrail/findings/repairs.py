"""From fixes to repaired programs: make the edits, look again, and keep only what mended something and harmed nothing."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.source.edits import Editor
from gradtrail.source.place import Edit, Place
from gradtrail.source.reading import Unreadable
from gradtrail.source.text import SourceText, apply, line_starts, span, split_lines

if TYPE_CHECKING:
    from gradtrail.findings.engine import Report
    from gradtrail.findings.rule import Rule
    from gradtrail.interp.events import Event
    from gradtrail.source.files import SourceFiles

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


def with_fixes(
    found: Diagnostic, rule: Rule, event: Event, editor: Editor, sources: SourceFiles
) -> Diagnostic:
    """`found` with the fixes that `rule` knows for it, those left out after which a file would not parse."""
    made = (
        fix._replace(edits=tuple(_within_cell(edit, sources.get) for edit in fix.edits))
        for fix in rule.repairs(event, found, editor)
    )
    fixes = tuple(fix for fix in made if fix.edits and _edited(fix.edits, sources) is not None)
    return found._replace(fixes=fixes) if fixes else found


def _within_cell(edit: Edit, lookup: Lookup) -> Edit:
    """An edit of whole rows that are the last ones of a cell ends there, and not at the start of the next cell."""
    source, place = lookup(edit.place.filename), edit.place
    if source is None or source.cells is None or place.end_row is None or place.end_column != 1:
        return edit
    if place.end_row not in source.cells.starts or place.end_row == place.row:
        return edit
    end = place._replace(end_row=place.end_row - 1, end_column=len(source.line(place.end_row - 1)) + 1)
    if edit.content:
        return Edit(end, edit.content.removesuffix("\n"))
    if place.column == 1 and place.row not in source.cells.starts:
        end = end._replace(row=place.row - 1, column=len(source.line(place.row - 1)) + 1)
    return Edit(end, "")


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
        self._findings = _in_texts(self._report)
        self._looks = 1

    def run(self) -> Repaired:
        """Rounds of edits, until nothing more can be done."""
        while self._looks < MOST_CHECKS and self._round():
            pass
        return Repaired(self._texts, self._applied, self._before, self._without_refused())

    def _without_refused(self) -> Report:
        """What is still found, without the fixes that were tried in vain."""
        findings = [
            shown._replace(
                fixes=tuple(
                    fix
                    for fix, own in zip(shown.fixes, one.fixes, strict=True)
                    if self._key(_Chosen(one, own)) not in self._refused
                )
            )
            for shown, one in zip(self._report.findings, self._findings, strict=True)
        ]
        return self._report._replace(findings=findings)

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
                _edited([edit for other in (*chosen, one) for edit in other.fix.edits], self._report.sources)
                is not None
            ):
                chosen.append(one)
                touched |= edits
        return chosen

    def _candidates(self) -> Iterator[_Chosen]:
        for finding in self._findings:
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
        return (
            finding.rule,
            finding.place.filename,
            self._line(finding.place),
            str(finding.message),
            str(fix.title),
            tuple((edit.content, self._line(edit.place)) for edit in fix.edits),
        )

    def _line(self, place: Place) -> str:
        source = self._lookup(place.filename)
        return "" if source is None else source.line(place.row).strip()

    def _lookup(self, filename: str) -> SourceText | None:
        return self._report.sources.get(filename)

    def _goes_well(self, some: Sequence[_Chosen]) -> bool:
        """Make these fixes; when they mend what they should and harm nothing they stay."""
        edits = list(dict.fromkeys(edit for one in some for edit in one.fix.edits))
        texts = _edited(edits, self._report.sources)
        if texts is None:
            return False
        new = {**self._texts, **texts}
        report = self._check(new)
        self._looks += 1
        if not _is_better(self._report, report, some, edits):
            return False
        self._texts, self._report, self._findings = new, report, _in_texts(report)
        self._refused = {key for key in self._refused if key[1] not in texts}  # what failed may go well now
        self._applied += [(one.finding.rule, one.fix) for one in some]
        return True


def _is_better(before: Report, after: Report, some: Iterable[_Chosen], edits: Sequence[Edit]) -> bool:
    """Whether what was to be mended is gone and nothing has come instead.

    A path that raises ends there. So what is found once it goes on was there before, unless it stands where
    something was edited or its trail comes through there. It may be the like of what was mended, further on in the
    same row, and the walk may come to a limit that it did not come to before.
    """
    some = tuple(some)
    went_on = any(one.finding.certainty.startswith("raises") for one in some)
    left_out = _left_out(after) - _left_out(before)
    if after.crashed or any(failed or not went_on for failed in left_out.elements()):
        return False
    moved = _Moved(edits, before.sources.get, after.sources.get)
    found = _in_texts(after)
    expected = Counter(_spot(one, moved.start(one.place)[0]) for one in _in_texts(before))
    expected.subtract(_spot(one.finding, moved.start(one.finding.place)[0]) for one in some)
    mended = {(one.finding.rule, one.finding.place.filename, moved.start(one.finding.place)) for one in some}
    new = Counter(_spot(one, one.place.row) for one in found)
    for one in found:
        spot, start = _spot(one, one.place.row), (one.place.row, one.place.column)
        if new[spot] <= expected[spot]:
            continue
        if (
            not went_on
            or (one.rule, one.place.filename, start) in mended
            or any(moved.touches(place) for place in (one.place, *(step.place for step in one.trail)))
        ):
            return False
    return True


def _left_out(report: Report) -> Counter[bool]:
    """How much of the program was not looked at, and whether something failed there or a limit was hit."""
    return Counter(one.failed for one in report.not_looked_at)


def _spot(finding: Diagnostic, row: int) -> tuple[str, str, int, str]:
    return finding.rule, finding.place.filename, row, str(finding.message)


class _Moved:
    """Where things are after `edits` to the files of `before`, and which stretches of the new texts were edited."""

    def __init__(self, edits: Iterable[Edit], before: Lookup, after: Lookup) -> None:
        self._after = after
        self._starts: dict[str, tuple[list[int], list[int]]] = {}
        self._edits: dict[str, list[tuple[int, int, int]]] = {}
        for edit in edits:
            filename = edit.place.filename
            old, new = before(filename), after(filename)
            if old is None or new is None:
                continue
            if filename not in self._starts:
                self._starts[filename] = line_starts(old.text), line_starts(new.text)
            start, end = span(self._starts[filename][0], edit.place)
            self._edits.setdefault(filename, []).append((start, end, len(edit.content)))
        for of_file in self._edits.values():
            of_file.sort()

    def start(self, place: Place) -> tuple[int, int]:
        """The row and the column where what stood at `place` begins now."""
        starts = self._starts.get(place.filename)
        if starts is None:
            return place.row, place.column
        offset = moved = span(starts[0], place)[0]
        for start, end, length in self._edits[place.filename]:
            if end <= offset:
                moved += length - (end - start)
        row = bisect_right(starts[1], moved)
        return row, moved - starts[1][row - 1] + 1

    def touches(self, place: Place) -> bool:
        """Whether `place`, in the new text, holds or borders on what was edited."""
        starts = self._starts.get(place.filename)
        if starts is None:
            return False
        first, last = span(starts[1], place)
        moved = 0
        for start, end, length in self._edits[place.filename]:
            at = start + moved
            if first <= at + length and at <= last:
                return True
            moved += length - (end - start)
        return False


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


def _in_texts(report: Report) -> list[Diagnostic]:
    """The findings with all places in whole texts, those in the cells of notebooks too."""
    return [_in_text(one, report.sources.get(one.place.filename)) for one in report.findings]


def _in_text(finding: Diagnostic, source: SourceText | None) -> Diagnostic:
    if source is None or source.cells is None:
        return finding
    from gradtrail.findings.in_cells import in_text

    return in_text(finding, source.cells)


def _edited(edits: Sequence[Edit], sources: SourceFiles) -> dict[str, bytes] | None:
    """The bytes of the files after `edits`; None when they overlap, or when a file would not parse afterwards."""
    files: dict[str, list[Edit]] = {}
    for edit in dict.fromkeys(edits):
        files.setdefault(edit.place.filename, []).append(edit)
    texts: dict[str, bytes] = {}
    for filename, of_file in files.items():
        source = sources.get(filename)
        if source is not None and source.cells is not None:
            new = _edited_notebook(source, sources, of_file)
            if new is None:
                return None
            texts[filename] = new
            continue
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


def _edited_notebook(source: SourceText, sources: SourceFiles, edits: Iterable[Edit]) -> bytes | None:
    """The bytes of a notebook after `edits`; None when a cell would not parse, or where they touch what is no Python."""
    from gradtrail.source import notebook

    cells = source.cells
    if cells is None:
        return None
    try:
        if any(_touches_magic(edit.place, source) for edit in edits):
            return None
        data = sources.stored(source.filename)
        if notebook.from_data(source.filename, data).text != source.text:
            return None  # it has changed in the meantime
        new = notebook.edited(data, [Edit(cells.place(edit.place), edit.content) for edit in edits])
        read = notebook.from_data(source.filename, new)
        ast.parse(read.code)
    except (SyntaxError, ValueError, RecursionError, MemoryError, Unreadable):
        return None
    same = read.cells is not None and len(read.cells.left_out) <= len(cells.left_out)
    return new if same else None


def _touches_magic(place: Place, source: SourceText) -> bool:
    """Whether an edit does more to a row of IPython's than to indent it."""
    if not source.is_repaired:
        return False
    code = split_lines(source.code)
    last = place.end_row or place.row
    if last == place.row and place.column == place.end_column == 1:
        return False
    if place.end_column == 1:
        last -= 1
    return any(source.line(row) != code[row - 1] for row in range(place.row, last + 1))
