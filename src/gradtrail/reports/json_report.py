"""The findings as JSON, version 1: a contract with editors, continuous integration and scripts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from gradtrail.findings.diagnostic import Diagnostic, Fix, NotLookedAt, Step
from gradtrail.source.place import Edit, Place

VERSION = 1


def render(findings: Iterable[Diagnostic], not_looked_at: Iterable[NotLookedAt]) -> str:
    """The whole report as one JSON object, with a line end."""
    report = {
        "version": VERSION,
        "findings": [_finding(finding) for finding in findings],
        "not_looked_at": [{"filename": one.filename, "reason": str(one.reason)} for one in not_looked_at],
    }
    return json.dumps(report, indent=2) + "\n"


def _finding(finding: Diagnostic) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "certainty": finding.certainty,
        "message": str(finding.message),
        "help": None if finding.help is None else str(finding.help),
        "filename": finding.place.filename,
        "cell": finding.place.cell,
        "rank": finding.rank,
        "count": finding.count,
        "location": _start(finding.place),
        "end_location": _end(finding.place),
        "trail": [_step(step) for step in finding.trail],
        "fixes": [_fix(fix) for fix in finding.fixes],
    }


def _step(step: Step) -> dict[str, Any]:
    return {**_where(step.place), "kind": step.kind, "text": str(step.text)}


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "title": str(fix.title),
        "applicability": fix.applicability,
        "edits": [_edit(edit) for edit in fix.edits],
    }


def _edit(edit: Edit) -> dict[str, Any]:
    where = _where(edit.place)
    if where["end_location"] is None:
        where["end_location"] = where["location"]
    return {**where, "content": edit.content}


def _where(place: Place) -> dict[str, Any]:
    return {
        "filename": place.filename,
        "cell": place.cell,
        "location": _start(place),
        "end_location": _end(place),
    }


def _start(place: Place) -> dict[str, int]:
    return {"row": place.row, "column": place.column}


def _end(place: Place) -> dict[str, int] | None:
    if place.end_row is None or place.end_column is None:
        return None
    return {"row": place.end_row, "column": place.end_column}
