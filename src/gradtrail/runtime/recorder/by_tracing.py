"""The recorder by `sys.settrace`: Python 3.11 and older."""

from __future__ import annotations

import sys
import threading
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any

from gradtrail.laws.text import text
from gradtrail.runtime.recorder.form import Recorder, caller_of
from gradtrail.runtime.user_code import is_users


class ByTracing(Recorder):
    """Traces the lines of the user's code, in every thread that starts while it is on."""

    def start(self) -> None:
        """Record from now on. A debugger or a coverage tool that traces already keeps its place."""
        if sys.gettrace() is not None:
            self.step_aside(
                text("another tool traces this program (a debugger, or one that measures coverage)")
            )
            return
        self.is_on = True
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if is_users(frame.f_code.co_filename):
                if self.log.at is None:
                    self.log.at = (frame.f_code, frame.f_lineno)
                frame.f_trace = self._in_frame
                self.visited.add(frame.f_code)
            frame = frame.f_back
        self.log.last = self.counter()
        threading.settrace(self._called)
        sys.settrace(self._called)

    def stop(self) -> None:
        """Record no more. Other threads stop at their next line."""
        if not self.is_on:
            return
        self.log.passed(self.counter())
        self.is_on = False
        if _is_ours(sys.gettrace()):
            sys.settrace(None)
        else:
            self.aside = self.aside or text("another tool has traced this program since")
        if _is_ours(getattr(threading, "_trace_hook", None)):
            threading.settrace(None)
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_trace is not None and _is_ours(frame.f_trace):
                frame.f_trace = None
            frame = frame.f_back

    def unseen(self) -> AbstractContextManager[Any]:
        """Without the tracer, if it is ours that is set."""
        return _Untraced()

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not self.is_on:
            sys.settrace(None)
            return None
        if not is_users(frame.f_code.co_filename):
            return None
        self.visited.add(frame.f_code)
        return self._in_frame(frame, "line", argument)

    def _in_frame(self, frame: FrameType, event: str, argument: Any) -> Any:
        log = self.log
        number = self.counter()
        if number != log.last:
            log.passed(number)
        if not self.is_on:
            return None
        log.at = caller_of(frame) if event == "return" else (frame.f_code, frame.f_lineno)
        return self._in_frame


class _Untraced:
    """Takes our tracer away, and gives it its place back."""

    def __enter__(self) -> None:
        self._tracer = sys.gettrace()
        if _is_ours(self._tracer):
            sys.settrace(None)

    def __exit__(self, *raised: object) -> None:
        if _is_ours(self._tracer) and sys.gettrace() is None and self._tracer.__self__.is_on:  # type: ignore[union-attr]
            sys.settrace(self._tracer)


def _is_ours(function: Any) -> bool:
    return isinstance(getattr(function, "__self__", None), ByTracing)
