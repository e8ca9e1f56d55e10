"""One line for each finding: `path:row:col: error[rule] message`."""

from __future__ import annotations

from collections.abc import Iterable

from gradtrail.findings.diagnostic import Diagnostic, NotLookedAt
from gradtrail.laws.text import say
from gradtrail.reports.cells import clean
from gradtrail.reports.left_out import head, left_out
from gradtrail.reports.names import headed, shown_name


def render(findings: Iterable[Diagnostic], not_looked_at: Iterable[NotLookedAt], folder: str = "") -> str:
    """The findings, then what could not be looked at, as lines; names are relative to `folder`."""
    lines = [_line(finding, folder) for finding in findings]
    told, rest = left_out(not_looked_at)
    lines += [
        f"{shown_name(one.filename, folder)}: {headed(head(one), clean(str(one.reason)))}" for one in told
    ]
    if rest:
        lines.append(rest)
    return "".join(line + "\n" for line in lines)


def _line(finding: Diagnostic, folder: str) -> str:
    place = finding.place
    cell = "" if place.cell is None else f"cell {place.cell}:"
    where = f"{shown_name(place.filename, folder)}:{cell}{place.row}:{place.column}"
    return f"{where}: {say(finding.severity)}[{finding.rule}] {clean(str(finding.message))}"
