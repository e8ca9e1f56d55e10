"""What both recorders have in common: the log of a thread, and how a recorder begins, ends and steps aside."""

from __future__ import annotations

import sys
import threading
from bisect import bisect_right
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import CodeType, FrameType
from typing import Any

from gradtrail.laws.text import Text
from gradtrail.runtime.user_code import innermost_users

Counter = Callable[[], int]
"""Gives the number of the next node of this thread."""

Line = tuple[CodeType, int]
"""A row of the code that it belongs to."""

MOST_ENTRIES = 200_000
"""Beyond, a log is full and its thread is recorded no more: some 30 MB."""


MOST_CALLERS = 8
"""Lines of calls that are kept with a line, the nearest ones."""


class Log(threading.local):
    """What was recorded of one thread. `lines[i]` made the nodes from `numbers[i]` up to, not including, `ends[i]`.

    With `full`, `callers[i]` are the lines of the user's that led there, the outermost first.
    """

    def __init__(self, full: bool = False) -> None:
        self.full = full
        self.callers: list[tuple[Line, ...]] = []
        self.numbers: list[int] = []
        self.ends: list[int] = []
        self.lines: list[Line] = []
        self.last: int | None = None
        self.at: Line | None = None

    def passed(self, number: int) -> None:
        """The counter stands at `number`: what it has passed since was made by the line that the thread was at."""
        last = self.last
        self.last = number
        if last is not None and self.at is not None and last < number and len(self.numbers) < MOST_ENTRIES:
            if self.ends and self.ends[-1] == last and self.lines[-1] == self.at and not self.full:
                self.ends[-1] = number
                return
            self.numbers.append(last)
            self.ends.append(number)
            self.lines.append(self.at)
            if self.full:
                self.callers.append(_callers(sys._getframe(2), self.at[0]))

    def index_of(self, number: int) -> int | None:
        """Which entry made the node with this number; None where it was not recorded."""
        index = bisect_right(self.numbers, number) - 1
        return None if index < 0 or number >= self.ends[index] else index

    def line_of(self, number: int) -> Line | None:
        """The line that made the node with this number; None where it was not recorded."""
        index = self.index_of(number)
        return None if index is None else self.lines[index]

    def callers_of(self, number: int) -> tuple[Line, ...]:
        """The calls that led to that line, the outermost first; none where they were not kept."""
        index = self.index_of(number)
        return () if index is None or not self.full else self.callers[index]


def _callers(frame: FrameType | None, code: CodeType) -> tuple[Line, ...]:
    """The user's lines above the frame of `code`, which runs or has just called the one that runs."""
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    found: list[Line] = []
    caller = innermost_users(frame.f_back if frame is not None else None)
    while caller is not None and len(found) < MOST_CALLERS:
        found.append((caller.f_code, caller.f_lineno))
        caller = innermost_users(caller.f_back)
    return tuple(reversed(found))


class Recorder:
    """Records from `start` to `stop`, and gives way to whoever else watches lines.

    With `full` the calls that lead to each line are kept too. `aside` says why it has not recorded, where it has not.
    """

    def __init__(self, counter: Counter, full: bool = False) -> None:
        self.counter = counter
        self.log = Log(full)
        self.visited: set[CodeType] = set()
        """The user's code that has run while it was on."""
        self.is_on = False
        self.aside: Text | None = None

    def start(self) -> None:
        """Record from now on, the frames that are running included."""
        raise NotImplementedError

    def stop(self) -> None:
        """Record no more; what was recorded stays."""
        raise NotImplementedError

    def unseen(self) -> AbstractContextManager[Any]:
        """Around code of ours, which is not to be recorded and need not be slowed down."""
        return nullcontext()

    def step_aside(self, reason: Text) -> None:
        """Stop, and remember why."""
        if self.aside is None:
            self.aside = reason
        self.stop()

    def line_of(self, number: int) -> Line | None:
        """The line of the user's that made the node with this number in this thread."""
        if self.is_on:
            self.log.passed(self.counter())
        return self.log.line_of(number)

    def callers_of(self, number: int) -> tuple[Line, ...]:
        """The calls that led to that line, with `full`; the outermost first."""
        return self.log.callers_of(number)


def caller_of(frame: FrameType | None) -> Line | None:
    """The line of the user's that a frame goes back to."""
    caller = innermost_users(frame.f_back if frame is not None else None)
    return (caller.f_code, caller.f_lineno) if caller is not None else None
