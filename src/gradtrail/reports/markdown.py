"""The report as Markdown, fit for an answer in a forum: what is wrong, by which steps, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gradtrail.findings.diagnostic import Diagnostic, NotLookedAt
from gradtrail.laws.text import say
from gradtrail.reports.cells import clean, gap_behind
from gradtrail.reports.left_out import head, left_out
from gradtrail.reports.names import headed, line_of, shown_name
from gradtrail.reports.terminal import summary

if TYPE_CHECKING:
    from gradtrail.source.place import Place
    from gradtrail.source.text import SourceText

Lookup = Callable[[str], "SourceText | None"]


def render(
    findings: Sequence[Diagnostic],
    not_looked_at: Sequence[NotLookedAt],
    files: int,
    lookup: Lookup,
    folder: str = "",
) -> str:
    """The whole report. `files` is how many files were looked at, `lookup` gives the text of a file."""
    parts: list[str] = []
    for finding in findings:
        parts += _finding(finding, lookup, folder)
    told, rest = left_out(not_looked_at)
    parts += [
        "- " + headed(head(one), headed(shown_name(one.filename, folder), clean(str(one.reason))))
        for one in told
    ]
    parts += [f"- {rest}"] if rest else []
    parts += [""] if told else []
    return "\n".join([*parts, summary(findings, files)]) + "\n"


def _finding(finding: Diagnostic, lookup: Lookup, folder: str) -> list[str]:
    place = finding.place
    cell = "" if place.cell is None else f"cell {place.cell}:"
    where = f"{shown_name(place.filename, folder)}:{cell}{place.row}:{place.column}"
    parts = [f"**{headed(say(finding.severity), clean(str(finding.message)))}** (`{where}`)", ""]
    for number, step in enumerate(finding.trail, 1):
        code = _line(step.place, lookup)
        here = line_of(step.place)
        if step.place.filename != place.filename:
            here = f"{shown_name(step.place.filename, folder)}:{step.place.row}"
        parts.append(f"{number}. {headed(here, clean(str(step.text)))}")
        if code:
            parts += ["", "   ```python", f"   {code}", "   ```", ""]
    for label, words in ((say("why:"), finding.why), (say("help:"), finding.help)):
        if words is not None:
            parts += ["", f"{label}{gap_behind(label)}{clean(str(words))}"]
    return [*parts, "", f"(`gradtrail rule {finding.rule}`)", ""]


def _line(place: Place, lookup: Lookup) -> str:
    source = lookup(place.filename)
    return "" if source is None else clean(source.line(place.row, place.cell).strip())
