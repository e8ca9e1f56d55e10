"""A baseline: the findings that a project has and knows of, kept in a file, so that only new ones are told.

A finding is known again by its rule, its file (relative to the baseline), its message and the text of its
line, so it may move up and down. What occurs more often than it was recorded is told.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from gradtrail.findings.diagnostic import Diagnostic, NotLookedAt
from gradtrail.findings.engine import Report, Settings
from gradtrail.laws.text import Text, in_english, text
from gradtrail.source.reading import Unreadable, read_regular

VERSION = 1


class WrongBaseline(Exception):
    """A file that is not a baseline, or cannot be written, and why."""

    def __init__(self, filename: str, reason: Text) -> None:
        super().__init__(filename, reason)
        self.filename = filename
        self.reason = reason


class Entry(NamedTuple):
    """What a finding is known by."""

    filename: str
    rule: str
    message: str
    line: str


def write(path: str, report: Report) -> Report:
    """Record the findings of `report` in the file at `path`; a report without them, which says so, comes back.

    Raises `WrongBaseline`.
    """
    counts = Counter(_entry(finding, path, report) for finding in report.findings)
    entries = [{**entry._asdict(), "count": counts[entry]} for entry in sorted(counts)]
    content = json.dumps({"version": VERSION, "findings": entries}, indent=2, ensure_ascii=False) + "\n"
    try:
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            file.write(content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise WrongBaseline(path, text("cannot be written: {reason}", reason=reason)) from None
    number = counts.total()
    told = (
        text("{number} finding is recorded", number=number)
        if number == 1
        else text("{number} findings are recorded", number=number)
    )
    return _saying(report._replace(findings=[]), path, [told])


def hide(path: str, report: Report, settings_of: Callable[[str], Settings]) -> Report:
    """`report` without the findings that are recorded at `path`. Raises `WrongBaseline`.

    It says how many are hidden, and which entries do not occur any more: those in files that were looked
    at and those in files that are gone. An entry of a rule that is not looked for is left alone.
    """
    left = _read(path)
    findings: list[Diagnostic] = []
    for finding in report.findings:
        entry = _entry(finding, path, report)
        if left[entry] > 0:
            left[entry] -= 1
        else:
            findings.append(finding)
    told = _how_many(len(report.findings) - len(findings))
    told += [
        _gone(entry, count)
        for entry, count in sorted(left.items())
        if count and _is_gone(entry, path, report, settings_of)
    ]
    return _saying(report._replace(findings=findings), path, told)


def _how_many(hidden: int) -> list[Text]:
    if not hidden:
        return []
    if hidden == 1:
        return [text("{number} finding that is recorded there is hidden", number=hidden)]
    return [text("{number} findings that are recorded there are hidden", number=hidden)]


def _gone(entry: Entry, count: int) -> Text:
    told = text(
        "`{rule}` in {file} does not occur any more: `{line}`",
        rule=entry.rule,
        file=entry.filename,
        line=entry.line,
    )
    return told if count == 1 else text("{told} ({number} times)", told=told, number=count)


def _is_gone(entry: Entry, path: str, report: Report, settings_of: Callable[[str], Settings]) -> bool:
    """Whether an entry that nothing has matched can be said not to occur any more."""
    filename = os.path.normpath(os.path.join(os.path.dirname(path), *entry.filename.split("/")))
    if not os.path.exists(filename):
        return True
    return filename in report.settled and settings_of(filename).takes(entry.rule)


def _saying(report: Report, path: str, told: list[Text]) -> Report:
    """`report` with sentences on the baseline before what else was left out."""
    notes = [NotLookedAt(path, one, failed=False) for one in told]
    return report._replace(not_looked_at=[*notes, *report.not_looked_at])


def _entry(finding: Diagnostic, path: str, report: Report) -> Entry:
    place = finding.place
    filename = place.filename
    if os.path.isabs(filename):
        filename = os.path.relpath(filename, os.path.dirname(path)).replace(os.sep, "/")
    source = report.sources.get(place.filename)
    line = "" if source is None else source.line(place.row, place.cell).strip()
    return Entry(filename, finding.rule, in_english(finding.message), line)


def _read(path: str) -> Counter[Entry]:
    try:
        data = read_regular(path)
    except Unreadable as unreadable:
        raise WrongBaseline(path, unreadable.reason) from None
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WrongBaseline(path, text("is not JSON: {message}", message=str(error))) from None
    listed = whole.get("findings") if isinstance(whole, dict) else None
    if not isinstance(listed, list):
        raise WrongBaseline(path, text("is not a baseline: it has no list `{key}`", key="findings"))
    if whole.get("version") != VERSION:
        told = text("is a baseline of version {version}, which is not known", version=whole.get("version"))
        raise WrongBaseline(path, told)
    found: Counter[Entry] = Counter()
    for number, one in enumerate(listed, 1):
        entry, count = _entry_of(one)
        if entry is None:
            raise WrongBaseline(path, text("is not a baseline: its entry {number} is not one", number=number))
        found[entry] += count
    return found


def _entry_of(one: Any) -> tuple[Entry | None, int]:
    values = [one.get(name) for name in Entry._fields] if isinstance(one, dict) else [None]
    count = one.get("count", 1) if isinstance(one, dict) else 0
    if not all(isinstance(value, str) for value in values) or type(count) is not int or count < 1:
        return None, 0
    return Entry(*values), count
