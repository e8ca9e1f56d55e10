"""Run gradtrail over files or source text, in this process: the one place of the tests that knows the engine's form."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

Spot = tuple[str, int]
"""The base name of a file, and a row."""


class Found(NamedTuple):
    """A finding that counts, reduced to what a judgement needs. `trail` has at most eight steps."""

    rule: str
    spot: Spot
    trail: tuple[Spot, ...]

    def __str__(self) -> str:
        """The finding in one short line."""
        filename, row = self.spot
        return f"{self.rule} {filename}:{row}"


def findings_in(path: Path) -> list[Found]:
    """The findings of severity "error" or "warning" that gradtrail tells for a file or a folder."""
    from gradtrail.findings.engine import check_paths

    report = check_paths([str(path)])
    return [
        Found(
            rule=finding.rule,
            spot=(os.path.basename(finding.place.filename), finding.place.row),
            trail=tuple((os.path.basename(step.place.filename), step.place.row) for step in finding.trail[:8]),
        )
        for finding in report.findings
        if finding.severity in ("error", "warning")
    ]


def findings_in_text(source: str, folder: Path) -> list[Found]:
    """The same for source text, written to a file in `folder` first."""
    path = folder / "program.py"
    path.write_text(source, encoding="utf-8")
    return findings_in(path)
