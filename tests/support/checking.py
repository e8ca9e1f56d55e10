"""Run gradtrail over files or source text, in this process. Knows the form of the engine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple
from unittest import mock

Spot = tuple[str, int]
"""The base name of a file, and a row."""


class Found(NamedTuple):
    """A finding that counts, reduced to what a judgement needs. `trail` has at most eight steps."""

    rule: str
    spot: Spot
    trail: tuple[Spot, ...]
    label: str = ""

    def __str__(self) -> str:
        """The finding in one short line."""
        filename, row = self.spot
        return f"{self.rule} {filename}:{row}"


def findings_in(path: Path) -> list[Found]:
    """The findings of severity "error" or "warning" that gradtrail tells for a file or a folder.

    A mistake of gradtrail's own raises, and so does a file that it could not look at.
    """
    from gradtrail.findings.engine import check_paths

    with mock.patch.dict(os.environ, GRADTRAIL_STRICT="1"):
        report = check_paths([str(path)])
    unread = [str(left_out.reason) for left_out in report.not_looked_at if left_out.failed]
    assert not unread, unread
    return [
        Found(
            rule=finding.rule,
            spot=(os.path.basename(finding.place.filename), finding.place.row),
            trail=tuple(
                (os.path.basename(step.place.filename), step.place.row) for step in finding.trail[:8]
            ),
            label=str(finding.label or ""),
        )
        for finding in report.findings
        if finding.severity in ("error", "warning")
    ]


def findings_in_text(source: str, folder: Path) -> list[Found]:
    """The same for source text, written to a file in `folder` first."""
    path = folder / "program.py"
    path.write_text(source, encoding="utf-8")
    return findings_in(path)
