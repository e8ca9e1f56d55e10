"""The recorder by `sys.monitoring` (PEP 669): Python 3.12 and newer.

It takes a tool of its own, so a debugger, a profiler and one that measures coverage go on beside it.
"""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any

from gradtrail.laws.text import text
from gradtrail.runtime.recorder.form import Recorder, caller_of
from gradtrail.runtime.user_code import is_users

_TOOLS = (4, 3)
"""Tools that no convention names: 0 to 2 are debuggers, coverage and profilers, 5 is the optimizer."""


class ByMonitoring(Recorder):
    """Hears the lines and the returns of the user's code, and of no other."""

    def start(self) -> None:
        """Record from now on, in every thread."""
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        tool = next((one for one in _TOOLS if monitoring.get_tool(one) is None), None)
        if tool is None:
            self.step_aside(text("other tools have taken every place from which lines are watched"))
            return
        self._monitoring, self._tool = monitoring, tool
        events = monitoring.events
        self._local = events.LINE | events.PY_RETURN | events.PY_YIELD
        monitoring.use_tool_id(tool, "gradtrail")
        monitoring.register_callback(tool, events.PY_START, self._started)
        monitoring.register_callback(tool, events.PY_RESUME, self._started)
        monitoring.register_callback(tool, events.LINE, self._line)
        monitoring.register_callback(tool, events.PY_RETURN, self._left)
        monitoring.register_callback(tool, events.PY_YIELD, self._left)
        frame = sys._getframe(1)
        while frame is not None:
            if is_users(frame.f_code.co_filename):
                if self.log.at is None:
                    self.log.at = (frame.f_code, frame.f_lineno)
                self._watch(frame.f_code)
            frame = frame.f_back  # type: ignore[assignment]
        self.log.last = self.counter()
        self.is_on = True
        monitoring.set_events(tool, events.PY_START | events.PY_RESUME)
        monitoring.restart_events()

    def stop(self) -> None:
        """Record no more, and give the tool back."""
        if not self.is_on:
            return
        self.log.passed(self.counter())
        self.is_on = False
        self._monitoring.set_events(self._tool, 0)
        for code in self.visited:
            self._monitoring.set_local_events(self._tool, code, 0)
        self._monitoring.free_tool_id(self._tool)

    def _watch(self, code: CodeType) -> None:
        if code not in self.visited:
            self.visited.add(code)
            self._monitoring.set_local_events(self._tool, code, self._local)

    def _started(self, code: CodeType, offset: int) -> Any:
        if is_users(code.co_filename):
            self._watch(code)
        return self._monitoring.DISABLE

    def _line(self, code: CodeType, row: int) -> None:
        log = self.log
        number = self.counter()
        if number != log.last:
            log.passed(number)
        log.at = (code, row)

    def _left(self, code: CodeType, offset: int, value: object) -> None:
        log = self.log
        number = self.counter()
        if number != log.last:
            log.passed(number)
        log.at = caller_of(sys._getframe(1))
