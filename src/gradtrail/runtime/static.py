"""What `check` says of the files of a running program, looked at when it is first asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from gradtrail.findings.diagnostic import Diagnostic
from gradtrail.findings.engine import Report, StandardInput, check_paths
from gradtrail.interp.events import Event
from gradtrail.runtime.cells import Cells

_MOST_FILES = 8

Look = Callable[[str], Report]
"""What `check` finds with a file as the entry, under the settings that hold for it."""


def _usual(filename: str) -> Report:
    return check_paths([filename])


class Static:
    """The findings of the interpreter in the files of one program. `main` is the file that it was started from."""

    def __init__(self, main: str | None = None, look: Look = _usual) -> None:
        self._look = look
        self._main = os.path.abspath(main) if main else None
        self._reports: dict[str, Report] = {}
        self._silent: list[tuple[Diagnostic, Event]] | None = None
        self.cells: Cells | None = None
        """The cells of the shell that the program runs in."""
        self._cells_read = 0

    def report(self, filename: str) -> Report:
        """What is found with `filename` as the entry, whatever its comments hide."""
        if (
            self.cells is not None
            and filename == self.cells.filename
            and self.cells.count != self._cells_read
        ):
            self._cells_read = self.cells.count
            typed = StandardInput(self.cells.data(), filename)
            self._reports[filename] = check_paths([], stdin=typed, comments_hide=False)
        known = self._reports.get(filename)
        if known is None:
            known = self._reports[filename] = check_paths([filename], comments_hide=False)
        return known

    def silent(self) -> list[tuple[Diagnostic, Event]]:
        """What is found in the program from its start, under its settings, that raises nothing."""
        if self._silent is None:
            self._silent = list(self._look_for_silent())
        return self._silent

    def _look_for_silent(self) -> Iterator[tuple[Diagnostic, Event]]:
        if self._main is None or not os.path.isfile(self._main):
            return
        report = self._look(self._main)
        for finding in report.findings:
            event = report.event_of(finding)
            if event is not None and not finding.certainty.startswith("raises"):
                yield finding, event

    def found_in(self, filenames: Iterable[str]) -> Iterator[tuple[Diagnostic, Event]]:
        """The findings, with what they come from, of the program from its start and of those files by themselves."""
        entries = [self._main] if self._main else []
        entries += [name for name in filenames if name not in entries]
        for entry in list(dict.fromkeys(entries))[:_MOST_FILES]:
            if not os.path.isfile(entry) and (self.cells is None or entry != self.cells.filename):
                continue
            report = self.report(entry)
            for finding in report.findings:
                event = report.event_of(finding)
                if event is not None:
                    yield finding, event
