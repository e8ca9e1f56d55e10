"""One observed program: what has been found of it so far."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from gradtrail.findings.diagnostic import Diagnostic
from gradtrail.findings.engine import Identity, Report, identity
from gradtrail.interp.events import Event, Step
from gradtrail.laws.text import Text, text
from gradtrail.runtime import trail
from gradtrail.runtime.cells import Cells
from gradtrail.runtime.crash.diagnosis import Explained, Known, explain
from gradtrail.runtime.observers import detectors
from gradtrail.runtime.observers.form import Scope
from gradtrail.runtime.observers.hooks import Hooks
from gradtrail.runtime.observers.training import Training
from gradtrail.runtime.on_import import when_imported
from gradtrail.runtime.places import Sources
from gradtrail.runtime.recorder import Recorder, recorder
from gradtrail.runtime.recorder.form import Line
from gradtrail.runtime.silent import Told, Visited, heard, merged
from gradtrail.runtime.static import Look, Static
from gradtrail.runtime.torch_compat import TORCH, number_of

STEPS = 5
"""How many steps of each optimizer are watched, unless told otherwise."""


Failed = Callable[[Exception], None]
"""Hears of a mistake of ours, with which the program goes on."""


class Session:
    """What is found while a program runs. `main` is the file that it was started from, where there is one.

    `steps` is how many steps of each optimizer are watched. Threads may report at the same time. A forked child has a
    session of its own: `is_ours` is False there.
    """

    def __init__(
        self,
        main: str | None = None,
        steps: int = STEPS,
        failed: Failed = lambda wrong: None,
        look: Look | None = None,
    ) -> None:
        self._steps = steps
        self._failed = failed
        self.recorder: Recorder | None = None
        self._hooks: Hooks | None = None
        self.static = Static(main) if look is None else Static(main, look)
        self.sources = Sources()
        self.explained: list[Explained] = []
        self.silent: list[Told] = []
        """What is silent, and what the run denies of it, once the program has come to its end."""
        self._events: list[Event] = []
        self._found: dict[Identity, Diagnostic] = {}
        self._told: set[Identity] = set()
        self._process = os.getpid()
        self._is_spared = False
        self.unrecorded: Text | None = None
        """Why a trail that was asked for is not there."""
        self._lock = threading.RLock()

    @property
    def is_ours(self) -> bool:
        """Whether this is the process that the session began in."""
        return os.getpid() == self._process

    def begin(self) -> None:
        """Observe from now on, or as soon as the program has imported torch."""
        when_imported("torch", self._torch_is_there)

    def read(self, cells: Cells) -> None:
        """The program is typed into a shell: its code is that of these cells."""
        self.sources.cells = self.static.cells = cells

    def begin_again(self) -> None:
        """Record the lines of what is about to run, where that was over."""
        if self.recorder is not None and not self.recorder.is_on and self.recorder.aside is None:
            self.recorder.start()

    def end(self) -> None:
        """Observe no more."""
        if self._hooks is not None:
            self._hooks.end()
        if self.recorder is not None:
            self.recorder.stop()

    def _torch_is_there(self) -> None:
        if self._steps <= 0 or TORCH.module is None:
            return
        try:
            if TORCH.sequence_number is not None:
                self.recorder = recorder(TORCH.sequence_number)
                self.recorder.start()
            training = Training()
            scope = Scope(training, self.sources, self._events.append, self.trail_of, self._line_of)
            self._hooks = Hooks(detectors(scope), training, self._steps, self._enough, self._failed)
            self._hooks.compiles = self._compiles
            if TORCH.has_compiled:
                self._compiles()
            else:
                self._hooks.begin()
        except Exception as wrong:
            self._failed(wrong)

    def _compiles(self) -> None:
        """A part of the program is going to be compiled, and what we do is to be none of it."""
        if not self._is_spared:
            self._is_spared = TORCH.is_spared_by_compile(__name__.partition(".")[0])
        if not self._is_spared and self.recorder is not None:
            self.recorder.step_aside(text("torch.compile compiles a part of this program"))

    def _enough(self) -> None:
        if self.recorder is not None:
            self.recorder.stop()

    def ended(self) -> None:
        """The program has come to its end: what was seen and what is known of its source are put together."""
        if self._hooks is not None:
            self._hooks.program_ended()
        self.end()
        if TORCH.module is None:
            return
        visited = Visited(None if self.recorder is None else self.recorder.visited, self.sources)
        against = (lambda event: False) if self._hooks is None else self._hooks.speaks_against
        for told in merged(heard(self._events), self.static, visited, against):
            self.silent.append(told)
            if told.by != "against":
                self.add(told.finding)

    def _line_of(self, node: object) -> Line | None:
        """The line that made a node of the graph, where it was recorded."""
        number = number_of(node)
        return None if self.recorder is None or number is None else self.recorder.line_of(number)

    def trail_of(self, tensor: object) -> tuple[Step, ...]:
        """The way of a live tensor, as far as it was recorded."""
        found = trail.of(tensor, self.recorder, self.sources)
        if not found and self.recorder is not None:
            self.unrecorded = self.recorder.aside
        return found

    def crashed(self, error: BaseException) -> Report:
        """Find out what an exception is about that nobody caught; what is known of it comes back."""
        explained = explain(error, Known(self.static, self.sources, self.trail_of))
        if explained is not None:
            with self._lock:
                self.explained.append(explained)
            self.add(explained.diagnostic)
        return self._report([] if explained is None else [explained.diagnostic])

    def add(self, finding: Diagnostic) -> None:
        """Keep a finding; the same one again only counts."""
        key = identity(finding)
        with self._lock:
            known = self._found.get(key)
            self._found[key] = finding if known is None else known._replace(count=known.count + 1)

    def report(self) -> Report:
        """Everything that has been found, in the order in which it was."""
        with self._lock:
            return self._report(list(self._found.values()))

    def news(self) -> Report:
        """What has been found since the last call."""
        with self._lock:
            new = [finding for key, finding in self._found.items() if key not in self._told]
            self._told.update(self._found)
        return self._report(new)

    def _report(self, findings: list[Diagnostic]) -> Report:
        return Report(findings, [], 1, False, self.sources.files)
