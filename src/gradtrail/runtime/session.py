"""One observed program: what has been found of it so far."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from types import FrameType

from gradtrail.findings.diagnostic import Diagnostic, NotLookedAt
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
from gradtrail.runtime.processes import merging
from gradtrail.runtime.processes.words import ENDED, RAISED, Raised, Word
from gradtrail.runtime.recorder import Recorder, recorder
from gradtrail.runtime.recorder.form import Line
from gradtrail.runtime.silent import Told, Visited, functions, heard, merged
from gradtrail.runtime.static import Look, Static
from gradtrail.runtime.torch_compat import TORCH, number_of
from gradtrail.runtime.user_code import forget_names, innermost_users

STEPS = 5
"""How many steps of each optimizer are watched, unless told otherwise."""


Failed = Callable[[Exception], None]
"""Hears of a mistake of ours, with which the program goes on."""


class Session:
    """What is found while a program runs. `main` is the file that it was started from, where there is one.

    `steps` is how many steps of each optimizer are watched; with `full` lines are recorded to the end, with the calls
    that lead to them. Threads may report at the same time. A forked child has a
    session of its own: `is_ours` is False there.
    """

    def __init__(
        self,
        main: str | None = None,
        steps: int = STEPS,
        failed: Failed = lambda wrong: None,
        look: Look | None = None,
        full: bool = False,
    ) -> None:
        self._full = full
        self._steps = steps
        self._failed = failed
        self.recorder: Recorder | None = None
        self._hooks: Hooks | None = None
        self.static = Static(main) if look is None else Static(main, look)
        self.sources = Sources()
        self.explained: list[Explained] = []
        self.silent: list[Told] = []
        """What is silent, and what the run denies of it, once the program has come to its end."""
        self._raised: list[Raised] = []
        self._raised_at: float | None = None
        self._training = Training()
        self._notes: list[NotLookedAt] = []
        self.trains: Callable[[], None] = lambda: None
        """Called when the first backward is about to run; raises nothing."""
        self.has_seen_enough: Callable[[], None] = lambda: None
        """Called when the steps that are watched are over; raises nothing."""
        self._to_the_end = False
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

    @property
    def rank(self) -> int | None:
        """The rank of this process, where it has one."""
        told = os.environ.get("RANK", "")
        if self._training.rank is None:
            self._training.rank = TORCH.rank()
        return int(told) if self._training.rank is None and told.isdecimal() else self._training.rank

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

    def drop(self) -> None:
        """Observe no more, in a copy of this process: what was found here is told here."""
        self._steps = 0
        if self._hooks is not None:
            self._hooks.drop()
        if self.recorder is not None:
            self.recorder.stop()

    def _torch_is_there(self) -> None:
        if self._steps <= 0 or TORCH.module is None:
            return
        try:
            if TORCH.sequence_number is not None:
                self.recorder = recorder(TORCH.sequence_number, self._full)
                self.recorder.start()
            training = self._training
            scope = Scope(training, self.sources, self._events.append, self.trail_of, self._line_of)
            self._hooks = Hooks(detectors(scope), training, self._steps, self._enough, self._failed)
            if self.recorder is not None:
                self._hooks.unseen = self.recorder.unseen
            self._hooks.trains = self.trains
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
        if self.recorder is not None and not self._full:
            self.recorder.stop()
        forget_names(sys._getframe(1))
        self.has_seen_enough()

    def ended(self, others: Sequence[Word] = ()) -> None:
        """The program has come to its end: what was seen and what is known of its source are put together.

        `others` is what its other processes say.
        """
        self._over()
        if TORCH.module is None and not others:
            return
        words = [self._own(ENDED, silent=heard(self._events, self._failed)), *others]
        self.hear(words)
        visited = Visited(_all(words), self.sources)
        denied = frozenset().union(*(word.denies for word in others))

        def against(finding: Diagnostic, event: Event) -> bool:
            return identity(finding) in denied or self._speaks_against(event)

        live = [finding for word in words for finding in word.silent]
        for told in merged(live, self.static, visited, against):
            self.silent.append(told)
            if told.by != "against":
                row = visited.first_row(told.finding.place)
                self.add(merging.counted(told.finding, words, row) if others else told.finding)

    def _over(self) -> None:
        # What runs after the watched steps is not recorded: then nothing says that something has not run.
        self._to_the_end = self.recorder is not None and self.recorder.is_on
        if self._hooks is not None:
            self._hooks.program_ended()
        self.end()

    def _speaks_against(self, event: Event) -> bool:
        return self._hooks is not None and self._hooks.speaks_against(event)

    def word(self, how: str, frame: FrameType | None = None) -> Word:
        """What this process has to say to the one that reports, now or at its end.

        `frame` is where it stands. Only at the end of a process that trains is the interpreter asked
        whether anything seen speaks against it.
        """
        if how == ENDED:
            self._over()
        trains = self._hooks is not None and self._hooks.has_trained
        denied = (
            [one for one, event in self.static.silent() if self._speaks_against(event)]
            if trains and how == ENDED
            else []
        )
        users = innermost_users(frame)
        at = None if users is None else self.sources.place(users.f_code, users.f_lasti, users.f_lineno)
        return self._own(how, heard(self._events, self._failed) if how != RAISED else (), denied)._replace(
            at=at
        )

    def _own(self, how: str, silent: Iterable[Diagnostic] = (), denied: Iterable[Diagnostic] = ()) -> Word:
        ran = () if self.recorder is None else tuple(sorted(functions(self.recorder.visited)))
        whole = TORCH.module is None or self._to_the_end
        with self._lock:
            raised, when = tuple(self._raised), self._raised_at or time.time()
        return Word(os.getpid(), self.rank, how, when, ran, whole, raised, tuple(silent), tuple(denied))

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

    def crashed(self, error: BaseException, others: Sequence[Word] = ()) -> Report:
        """Find out what an exception is about that nobody caught. `others` is what other processes say.

        What is known of it comes back.
        """
        when = time.time()
        explained = explain(error, Known(self.static, self.sources, self.trail_of))
        if explained is not None:
            one = Raised(explained.diagnostic, explained.by, explained.elsewhere, merging.follows(error))
            with self._lock:
                self._raised_at = self._raised_at or when
                self.explained.append(explained)
                self._raised.append(one)
        self.hear([self._own(RAISED), *others])
        return self._report([] if explained is None else [explained.diagnostic])

    def hear(self, words: Sequence[Word]) -> None:
        """Take what processes have raised, and where those stood that were ended by a signal."""
        with self._lock:
            for finding in merging.raised(words):
                self._found[identity(finding)] = finding
            self._notes = list(merging.where_they_stood(words, self.sources.said))

    def add(self, finding: Diagnostic) -> None:
        """Keep a finding; the same one again only counts."""
        key = identity(finding)
        with self._lock:
            known = self._found.get(key)
            self._found[key] = finding if known is None else known._replace(count=known.count + 1)

    def report(self) -> Report:
        """Everything that has been found, in the order in which it was."""
        with self._lock:
            return self._report(list(self._found.values()), list(self._notes))

    def news(self) -> Report:
        """What has been found since the last call."""
        with self._lock:
            new = [finding for key, finding in self._found.items() if key not in self._told]
            self._told.update(self._found)
            notes, self._notes = self._notes, []
        return self._report(new, notes)

    def _report(self, findings: list[Diagnostic], notes: Sequence[NotLookedAt] = ()) -> Report:
        return Report(findings, list(notes), 1, False, self.sources.files)


def _all(words: Sequence[Word]) -> set[tuple[str, int]] | None:
    """The functions that have run in any process; None where that is not known of one."""
    ran: set[tuple[str, int]] = set()
    for word in words:
        if not word.whole:
            return None
        ran.update(word.visited)
    return ran
