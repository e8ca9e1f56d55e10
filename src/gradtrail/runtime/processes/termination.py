"""A process that is ended by SIGTERM, as a hanging rank is, says first where it stands.

A main thread that waits in C++ runs no handler of Python's. Python's own handler in C runs all the same, and writes the number
of the signal to the "wakeup" descriptor, at which a thread of ours reads. The process then ends by the signal, as it would.

Source: the Python documentation, `signal.set_wakeup_fd` and "Execution of Python signal handlers".
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

Say = Callable[[FrameType | None], None]
"""Says what is to be said, with the frame that the main thread is in."""


def watch(say: Say) -> None:
    """Call `say` before SIGTERM ends this process. A program that handles signals itself is left alone."""
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or sys.platform == "win32" or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return
    other = signal.set_wakeup_fd(-1)
    if other != -1:
        signal.set_wakeup_fd(other)
        return
    _Watch(say).begin()


class _Watch:
    def __init__(self, say: Say) -> None:
        self._say = say
        self._main = threading.get_ident()
        self._process = os.getpid()

    def begin(self) -> None:
        """Watch from now on."""
        self._reads, writes = os.pipe()
        os.set_blocking(writes, False)
        signal.signal(signal.SIGTERM, self._handle)
        signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
        threading.Thread(target=self._read, name="gradtrail", daemon=True).start()

    def _read(self) -> None:
        while told := os.read(self._reads, 1):
            if told[0] == signal.SIGTERM and signal.getsignal(signal.SIGTERM) == self._handle:
                with suppress(Exception):
                    self._say(sys._current_frames().get(self._main))
                _end_by_the_signal()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """The other thread does all, unless this is a copy of the process, which has no such thread."""
        if os.getpid() != self._process:
            _end_by_the_signal()


def _end_by_the_signal() -> None:
    """End as a process does that has no handler. Only the main thread may take one away in Python; C knows no such rule."""
    with suppress(Exception):
        import ctypes

        ctypes.CDLL(None).signal(int(signal.SIGTERM), None)
        os.kill(os.getpid(), signal.SIGTERM)
    os._exit(128 + signal.SIGTERM)
