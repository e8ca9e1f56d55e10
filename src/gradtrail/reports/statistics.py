"""How often each rule found something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gradtrail.findings.diagnostic import SEVERITIES, Diagnostic, NotLookedAt
from gradtrail.laws.text import say
from gradtrail.reports import concise
from gradtrail.reports.cells import padded
from gradtrail.reports.terminal import summary


def render(
    findings: Sequence[Diagnostic], not_looked_at: Sequence[NotLookedAt], files: int, folder: str = ""
) -> str:
    """A row for each rule that found something, the most frequent first, what was left out, and the sum."""
    counts = Counter((finding.rule, finding.severity) for finding in findings)
    ordered = sorted(counts.items(), key=lambda row: (-row[1], SEVERITIES.index(row[0][1]), row[0][0]))
    width = max((len(str(count)) for count in counts.values()), default=1)
    rows = [f"{count:>{width}}  {padded(say(severity), 7)}  {rule}\n" for (rule, severity), count in ordered]
    return "".join(rows) + concise.render([], not_looked_at, folder) + summary(findings, files) + "\n"
