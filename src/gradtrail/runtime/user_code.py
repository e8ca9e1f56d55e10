"""Which code is the user's: not Python's, not an installed package's, not ours."""

from __future__ import annotations

import inspect
import os
import site
import sys
import sysconfig
from functools import lru_cache
from types import CodeType, FrameType, TracebackType
from typing import NamedTuple

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder of gradtrail itself."""

_INSTALLED = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))


def _folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    named = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib") if name in paths}
    with_user = {*named, *getattr(site, "getsitepackages", list)(), site.getusersitepackages()}
    real = {os.path.realpath(folder) for folder in with_user}
    return tuple(sorted(f"{folder}{os.sep}" for folder in {*with_user, *real, PACKAGE}))


_OTHERS = _folders()

_known: dict[str, bool] = {}


def is_users(filename: str) -> bool:
    """Whether code that was compiled from `filename` is the user's.

    A relative name is that of an extension that was compiled elsewhere; `<...>` is code that no file holds, save for what is
    typed into an interpreter.
    """
    answer = _known.get(filename)
    if answer is None:
        answer = _known[filename] = _is_users(filename)
    return answer


def _is_users(filename: str) -> bool:
    if filename.startswith("<"):
        return filename.startswith(("<ipython-input", "<python-input", "<stdin>"))
    if not os.path.isabs(filename):
        return False
    if any(part in filename for part in _INSTALLED):
        return False
    return not filename.startswith(_OTHERS) and not os.path.realpath(filename).startswith(_OTHERS)


@lru_cache(maxsize=4096)
def _whole(filename: str) -> str:
    return os.path.abspath(filename) if os.path.isabs(filename) else filename


def file_of(code: CodeType) -> str:
    """The file that code comes from, without `..` in its name, as places name it."""
    return _whole(code.co_filename)


class Station(NamedTuple):
    """Where a frame stands: its code, the offset of its instruction, its row; and the frame, for what its names stand for."""

    frame: FrameType
    code: CodeType
    offset: int
    row: int

    @property
    def is_users(self) -> bool:
        """Whether the code is the user's."""
        return is_users(self.code.co_filename)


def stations(trace: TracebackType | None) -> list[Station]:
    """The frames that an exception went through, the one that raised it last."""
    found = []
    while trace is not None:
        found.append(Station(trace.tb_frame, trace.tb_frame.f_code, trace.tb_lasti, trace.tb_lineno))
        trace = trace.tb_next
    return found


def forget_names(frame: FrameType | None) -> None:
    """Let go of what the frames of the user's functions, from `frame` outwards, were seen to hold.

    Until Python 3.12 a function's frame keeps the dictionary that `f_locals` or a tracer was given, and with it what its
    names stood for by then. One that the program itself holds, by `locals()`, is left as it is.
    """
    while sys.version_info < (3, 13) and frame is not None:
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED and is_users(frame.f_code.co_filename):
            names = frame.f_locals
            if sys.getrefcount(names) <= _REFERENCES:
                names.clear()
        frame = frame.f_back


_REFERENCES = 3
"""Those of the frame, of `forget_names`, and of the call that counts them."""


def innermost_users(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the user's from `frame` outwards."""
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return frame
