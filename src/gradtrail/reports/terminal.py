"""The report for people: each finding with the lines of its trail, and one line at the end.

Everything is drawn for a fixed width. Colour only repeats what the signs say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from gradtrail.findings.diagnostic import Diagnostic, Fix, NotLookedAt
from gradtrail.laws.text import Text, say
from gradtrail.reports.cells import ELLIPSIS, Drawn, clean, cut, draw, gap_behind, width, wrap
from gradtrail.reports.left_out import head, left_out
from gradtrail.reports.names import counted, headed, shown_name
from gradtrail.source.place import Edit, Place
from gradtrail.source.text import SourceText, apply, split_lines

Lookup = Callable[[str], "SourceText | None"]
"""The text of a file by its name; None when it is not at hand."""

_LABEL_ROOM = 28
"""The cells that a label needs beside its mark; with less it goes to the next line."""

_LABEL_BELOW = 40
"""The cells that a label gets when it stands below its mark, if the mark stands far to the right."""


_COLOURS = {
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
    "place": "36",
    "step": "34",
    "dim": "2",
    "bold": "1",
    "fix": "32",
}


class Style(NamedTuple):
    """How a report is drawn: its width in cells, with colour or without, names relative to `folder`."""

    width: int = 80
    colour: bool = False
    folder: str = ""

    def paint(self, colour: str, words: str) -> str:
        """`words` in a colour of the report, when there are colours."""
        return f"\x1b[{_COLOURS[colour]}m{words}\x1b[0m" if self.colour and words else words


PLAIN = Style()
"""80 cells, without colour."""


class _Mark(NamedTuple):
    """A stretch of one line with its label: `number` counts the stations of the trail."""

    place: Place
    number: int | None
    label: str
    final: bool


def render(
    findings: Sequence[Diagnostic],
    not_looked_at: Sequence[NotLookedAt],
    files: int,
    lookup: Lookup,
    style: Style = PLAIN,
) -> str:
    """The whole report. `files` is how many files were looked at."""
    blocks = []
    told: set[str] = set()
    for finding in findings:
        blocks.append(render_one(finding, lookup, style, first=finding.rule not in told))
        told.add(finding.rule)
    blocks.append(_ending(findings, not_looked_at, files, style))
    return "\n".join(blocks)


def render_one(finding: Diagnostic, lookup: Lookup, style: Style = PLAIN, first: bool = True) -> str:
    """One finding. Only the first of its rule in a run says why, and where to read more."""
    lines = _headline(finding, style)
    marks = _marks(finding)
    lines.append("  " + style.paint("place", _where(finding.place, style.folder)))
    lines += _code(marks, finding, lookup, style)
    if first and finding.why is not None:
        lines += _paragraph(say("why:"), _sentence(finding.why), style, "bold")
    if finding.help is not None:
        lines += _paragraph(say("help:"), _sentence(finding.help), style, "bold")
    for fix in finding.fixes:
        lines += _fix(fix, finding.place, lookup, style, titled=len(finding.fixes) > 1)
    if first:
        more = say("more:")
        lines.append("  " + style.paint("bold", more) + gap_behind(more) + f"gradtrail rule {finding.rule}")
    return "".join(line.rstrip() + "\n" for line in lines)


def _headline(finding: Diagnostic, style: Style) -> list[str]:
    head = say("{head}:", head=f"{say(finding.severity)}[{finding.rule}]")
    first, *rest = wrap(head + gap_behind(head) + _sentence(finding.message), style.width, hanging=4)
    first = style.paint(finding.severity, head) + style.paint("bold", first[len(head) :])
    return [first, *(style.paint("bold", line) for line in rest)]


def _where(place: Place, folder: str) -> str:
    cell = "" if place.cell is None else f"cell {place.cell}:"
    return f"{shown_name(place.filename, folder)}:{cell}{place.row}:{place.column}"


def _sentence(words: Text) -> str:
    return clean(str(words))


# The lines of the trail


def _marks(finding: Diagnostic) -> list[_Mark]:
    """The stations of the trail and the place itself, which is the last of them."""
    steps = list(finding.trail)
    label = "" if finding.label is None else _sentence(finding.label)
    ends_there = bool(steps) and _same_start(steps[-1].place, finding.place)
    before = steps[:-1] if ends_there else steps
    marks = [_Mark(step.place, number, _sentence(step.text), False) for number, step in enumerate(before, 1)]
    if ends_there and not label:
        label = _sentence(steps[-1].text)
    marks.append(_Mark(finding.place, len(marks) + 1 if marks else None, label, True))
    return marks


def _same_start(one: Place, other: Place) -> bool:
    return one[:3] == other[:3] and one.cell == other.cell


def _groups(marks: Iterable[_Mark]) -> list[list[_Mark]]:
    """Marks in their order, those of one line that follow each other together."""
    groups: list[list[_Mark]] = []
    for mark in marks:
        if groups and _line_of(groups[-1][-1].place) == _line_of(mark.place):
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return groups


def _line_of(place: Place) -> tuple[str, int | None, int]:
    return place.filename, place.cell, place.row


def _code(marks: list[_Mark], finding: Diagnostic, lookup: Lookup, style: Style) -> list[str]:
    groups = _groups(marks)
    gutter = max(3, *(len(str(group[0].place.row)) for group in groups))
    lines: list[str] = []
    filename, cell = finding.place.filename, finding.place.cell
    indents = _indents(groups, lookup)
    for group in groups:
        place = group[0].place
        if place.filename != filename:
            filename, cell = place.filename, place.cell
            lines.append(
                "  " + style.paint("place", say("in {file}", file=shown_name(filename, style.folder)))
            )
        elif place.cell != cell:
            cell = place.cell
            lines.append("  " + style.paint("place", say("in cell {cell}", cell=cell)))
        source = lookup(place.filename)
        line = source.line(place.row, place.cell) if source is not None else ""
        lines += _line_with_marks(line, group, gutter, indents.get(place.filename, 0), style)
    return lines


def _indents(groups: list[list[_Mark]], lookup: Lookup) -> dict[str, int]:
    """The cells of indentation that the drawn lines of each file have in common."""
    indents: dict[str, int] = {}
    for group in groups:
        place = group[0].place
        source = lookup(place.filename)
        line = "" if source is None else source.line(place.row, place.cell)
        if line.strip():
            indent = draw(line).cell(len(line) - len(line.lstrip()) + 1)
            indents[place.filename] = min(indent, indents.get(place.filename, indent))
    return indents


def _line_with_marks(line: str, group: list[_Mark], gutter: int, indent: int, style: Style) -> list[str]:
    drawn = draw(line)
    room = max(20, style.width - gutter - 5)
    spans = [_cells(mark.place, line, drawn) for mark in group]
    first, shown = _window(drawn, spans, indent, room)
    row = style.paint("dim", f"  {group[0].place.row:>{gutter}} |")
    empty = style.paint("dim", "  " + " " * gutter + " |")
    lines = [row + " " + shown]
    before: tuple[int, int] | None = None
    for mark, (start, end) in zip(group, spans, strict=True):
        left = max(0, min(start - first, room - 1))
        span = left, max(left + 1, min(end - first, room))
        lines += [empty + " " + piece for piece in _label(mark, span, room, style, span == before)]
        before = span
    return lines


def _cells(place: Place, line: str, drawn: Drawn) -> tuple[int, int]:
    """The cells of `line` that `place` covers: to the end of the line when it goes on below."""
    start = drawn.cell(place.column)
    if place.end_row is None or place.end_column is None:
        return start, start + 1
    end = place.end_column if place.end_row == place.row else len(line.rstrip()) + 1
    return start, max(start + 1, drawn.cell(end))


def _window(drawn: Drawn, spans: list[tuple[int, int]], indent: int, room: int) -> tuple[int, str]:
    """The first cell that is drawn, and the text: a line that is too long is cut around its marks."""
    total = drawn.starts[-1]
    if total - indent <= room:
        return indent, cut(drawn.text, indent, total)
    start = min(span[0] for span in spans)
    end = max(span[1] for span in spans)
    first = indent
    if end - indent > room - 1:
        slack = max(4, (room - (end - start)) // 2)
        first = min(max(indent, start - slack), max(indent, total - room))
    shown = cut(drawn.text, first, room)
    if first > indent:
        shown = ELLIPSIS + cut(drawn.text, first + 1, room - 1)
    if total - first > room:
        shown = cut(shown, 0, room - 1) + ELLIPSIS
    return first, shown


def _label(mark: _Mark, span: tuple[int, int], room: int, style: Style, repeated: bool) -> list[str]:
    """The signs under a line and the words beside them, or below them where there is no room.

    `repeated` marks what is underlined already: only the words are drawn.
    """
    start, end = span
    colour = "error" if mark.final else "step"
    signs = " " * start + style.paint(colour, ("^" if mark.final else "-") * (end - start))
    if not mark.label and mark.number is None:
        return [] if repeated else [signs]
    head = "" if mark.number is None else f"{mark.number}. "
    beside = room - end - 1 >= min(_LABEL_ROOM, width(head + mark.label))
    left = end + 1 if beside else max(0, min(start, room - _LABEL_BELOW))
    first, *rest = wrap(mark.label, max(16, room - left - len(head)))
    lines = [" " * left + style.paint(colour, (head + first).rstrip())]
    lines += [" " * (left + len(head)) + style.paint(colour, piece) for piece in rest]
    if repeated:
        return lines
    if beside:
        return [signs + lines[0][end:], *lines[1:]]
    return [signs, *lines]


# What to do


def _paragraph(head: str, words: str, style: Style, colour: str) -> list[str]:
    gap = gap_behind(head)
    left = 2 + width(head + gap)
    pieces = wrap(words, max(20, style.width - left))
    return ["  " + style.paint(colour, head) + gap + pieces[0], *(" " * left + piece for piece in pieces[1:])]


def _fix(fix: Fix, place: Place, lookup: Lookup, style: Style, titled: bool) -> list[str]:
    head = say("fix:")
    if fix.applicability == "unsafe":
        head = say("fix (unsafe):")
    elif fix.applicability == "display":
        head = say("fix (to be completed):")
    gap = gap_behind(head)
    left = " " * (2 + width(head + gap))
    rows = _edited_rows(fix.edits, place, lookup, style, 7 if titled else len(left))
    if titled or not rows:
        lines = _paragraph(head, _sentence(fix.title), style, "fix")
        return lines + ["       " + row for row in rows]
    return ["  " + style.paint("fix", head) + gap + rows[0], *(left + row for row in rows[1:])]


class _Rewritten(NamedTuple):
    """What some rows say before and after a fix; `where` names the first of them."""

    where: str
    before: list[str]
    after: list[str]


def _edited_rows(edits: Sequence[Edit], place: Place, lookup: Lookup, style: Style, left: int) -> list[str]:
    """What the edited lines say afterwards, without the indentation that they share; they start at the cell `left`."""
    regions = list(_rewritten(edits, place, lookup, style))
    heads = max((width(region.where) for region in regions), default=0) + 1
    after = [line for region in regions for line in region.after]
    indent = min((len(line) - len(line.lstrip()) for line in after), default=0)
    room = max(24, style.width - left - heads - 1)
    rows = []
    for where, before, lines in regions:
        if not lines:
            rows.append(_filled(where, heads) + " " + say("(taken out)"))
        for number, line in enumerate(lines):
            head = where if number == 0 else ""
            old = before[number] if number < len(before) else ""
            rows.append(f"{_filled(head, heads)} {_around_change(old, line, indent, room)}")
    return rows


def _filled(words: str, cells: int) -> str:
    return words + " " * max(0, cells - width(words))


def _around_change(old: str, new: str, indent: int, room: int) -> str:
    """`new` in at most `room` cells, cut around what is not in `old`."""
    drawn = draw(new)
    same = next(
        (at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other),
        min(len(old), len(new)),
    )
    return _window(drawn, [(drawn.cell(same + 1), drawn.cell(same + 1) + 1)], indent, room)[1]


def _rewritten(edits: Sequence[Edit], place: Place, lookup: Lookup, style: Style) -> Iterator[_Rewritten]:
    """The rows that `edits` touch, file by file."""
    by_file: dict[tuple[str, int | None], list[Edit]] = {}
    for edit in edits:
        by_file.setdefault((edit.place.filename, edit.place.cell), []).append(edit)
    for (filename, cell), of_file in by_file.items():
        source = lookup(filename)
        if source is None:
            continue
        name = "" if filename == place.filename else shown_name(filename, style.folder)
        for first, last in _regions(of_file):
            before = [source.line(row, cell) for row in range(first, last + 1)]
            inside = [_moved(edit, first) for edit in of_file if first <= edit.place.row <= last]
            try:
                after = split_lines(apply("\n".join(before), inside))
            except ValueError:
                continue  # a fix that does not fit its file is not drawn
            kept = [line for line in after if line.strip()]
            where = (
                say("line {row} of {file}", row=first, file=name) if name else say("line {row}", row=first)
            )
            yield _Rewritten(where, before, kept)


def _regions(edits: Sequence[Edit]) -> list[tuple[int, int]]:
    """The stretches of rows that `edits` touch, first and last row of each."""
    regions: list[tuple[int, int]] = []
    for first, last in sorted((edit.place.row, edit.place.end_row or edit.place.row) for edit in edits):
        if regions and first <= regions[-1][1]:
            regions[-1] = regions[-1][0], max(regions[-1][1], last)
        else:
            regions.append((first, last))
    return regions


def _moved(edit: Edit, first: int) -> Edit:
    place = edit.place
    end = None if place.end_row is None else place.end_row - first + 1
    return Edit(place._replace(row=place.row - first + 1, end_row=end), edit.content)


# The end


def _ending(
    findings: Sequence[Diagnostic], not_looked_at: Sequence[NotLookedAt], files: int, style: Style
) -> str:
    lines: list[str] = []
    told, rest = left_out(not_looked_at)
    for one in told:
        words = headed(head(one), headed(shown_name(one.filename, style.folder), _sentence(one.reason)))
        lines += wrap(words, style.width, hanging=4)
    if rest:
        lines += wrap(rest, style.width, hanging=4)
    lines.append(style.paint("bold", summary(findings, files)))
    lines += wrap(repairable(findings), style.width) if repairable(findings) else []
    return "".join(line + "\n" for line in lines)


def summary(findings: Sequence[Diagnostic], files: int) -> str:
    """`Found 2 errors and 1 warning in 3 files.`"""
    counts = [
        counted(number, noun)
        for severity, noun in (("error", "error"), ("warning", "warning"), ("info", "remark"))
        if (number := sum(finding.severity == severity for finding in findings))
    ]
    if not counts and not files:
        return say("Nothing was looked at.")
    if not counts:
        return say("Found nothing in {files}.", files=counted(files, "file"))
    listed = counts[0]
    for count in counts[1:-1]:
        listed = say("{some}, {more}", some=listed, more=count)
    if len(counts) > 1:
        listed = say("{some} and {more}", some=listed, more=counts[-1])
    return say("Found {findings} in {files}.", findings=listed, files=counted(files, "file"))


def repairable(findings: Sequence[Diagnostic]) -> str:
    """How many of the findings have a fix, and what makes it; empty where none has."""
    kinds = [{fix.applicability for fix in finding.fixes} for finding in findings]
    safe = sum("safe" in kind for kind in kinds)
    unsafe = sum("unsafe" in kind and "safe" not in kind for kind in kinds)
    if safe and unsafe:
        return say(
            "Fixes: {safe} with `--fix`, {unsafe} more with `--unsafe-fixes`.", safe=safe, unsafe=unsafe
        )
    if safe:
        return say("Fixes: {safe} with `--fix`.", safe=safe)
    return say("Fixes: {unsafe} with `--fix --unsafe-fixes`.", unsafe=unsafe) if unsafe else ""
