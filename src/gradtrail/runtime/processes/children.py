"""The children that a program starts by `multiprocessing`: being called in each, at its beginning and at its end.

Source: Python's `multiprocessing.process.BaseProcess._bootstrap`. It runs in every child: what was registered with
`util.register_after_fork` (unless the child was spawned), the program's function, the finalizers; and the child ends by
`os._exit`. A child that is no copy of its parent has unpickled its process object before; that carries us over, in the
configuration which every process hands to those that it starts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from gradtrail.runtime.on_import import when_imported

_KEY = "gradtrail"

_BEGINNING = f"""
try:
    from {__name__} import arrived
except Exception:
    again = None
else:
    again = arrived(carried)
"""
"""What a child runs when it unpickles its process object; one that cannot import us does without."""

_LAST = -1000
"""Finalizers run from the highest number to the lowest."""

Begin = Callable[[Mapping[str, Any]], None]
"""Begins the observation of a child, from what was carried over to it."""


class Carried:
    """Goes with a process object to a child, and begins there as its beginning; plain data is all that it takes along."""

    def __init__(self, plain: Mapping[str, Any]) -> None:
        self.plain = plain

    def __reduce__(self) -> Any:
        for room in _rooms:
            room()
        space = {"carried": dict(self.plain)}
        return eval, ("exec(beginning, space) or space['again']", {"beginning": _BEGINNING, "space": space})


class _Arrival:
    """What is registered to be called at the beginning of children. There is one for each process, and it is kept."""


_arrivals: dict[str, _Arrival] = {}

_rooms: list[Callable[[], None]] = []
"""What makes the folder that children write to, called before one is started."""

_ends: dict[int, Callable[[], None]] = {}
"""What is to be called at the end of this process, by its number: a copy of it has an end of its own."""


def attend(plain: Mapping[str, Any], room: Callable[[], None] = lambda: None) -> None:
    """Begin in every child from now on. `plain` names the function to be called, "module:function", under "begin".

    `room` is called before a child is started.
    """
    _rooms[:] = [room]
    when_imported("multiprocessing.process", lambda: _carry(plain))
    when_imported("multiprocessing.util", lambda: _attach(plain))


def attend_no_more() -> None:
    """Children that are started from now on are not observed."""
    _rooms.clear()
    _arrivals.clear()  # held weakly by multiprocessing
    config = _config()
    if config is not None:
        config.pop(_KEY, None)


def make_room() -> None:
    """This process is about to be copied: perhaps to make a child."""
    if "multiprocessing.process" in sys.modules:
        for room in _rooms:
            room()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=make_room)


def arrived(plain: Mapping[str, Any]) -> Carried:
    """In a child that is no copy of its parent, before its function runs: do as in one that is."""
    _attach(plain)
    _in_child(plain)
    return Carried(plain)


def _carry(plain: Mapping[str, Any]) -> None:
    config = _config()
    if config is not None:
        config[_KEY] = Carried(plain)


def _attach(plain: Mapping[str, Any]) -> None:
    register: Any = getattr(sys.modules["multiprocessing.util"], "register_after_fork", None)
    if register is None:
        return
    arrival = _arrivals[_KEY] = _Arrival()
    register(arrival, lambda one: _in_child(plain))


def _config() -> dict[str, Any] | None:
    """What this process hands to every process object that it makes."""
    process: Any = sys.modules.get("multiprocessing.process")
    current = getattr(process, "current_process", lambda: None)()
    config = getattr(current, "_config", None)
    return config if type(config) is dict else None


def _in_child(plain: Mapping[str, Any]) -> None:
    """The child is about to run its function. Nothing is imported until it has imported torch."""
    if os.getpid() in _ends:
        _finalize()  # what was registered before has been forgotten
        return
    _carry(plain)
    when_imported("torch", lambda: _begin(plain))


def _begin(plain: Mapping[str, Any]) -> None:
    from importlib import import_module

    module, _, function = plain["begin"].partition(":")
    getattr(import_module(module), function)(plain)


def at_the_end(function: Callable[[BaseException | None], None]) -> None:
    """Call `function` when the function of this child has ended, with what it raised."""
    _ends[os.getpid()] = lambda: function(sys.exc_info()[1])
    _finalize()


def _finalize() -> None:
    util: Any = sys.modules["multiprocessing.util"]
    util.Finalize(None, _ends[os.getpid()], exitpriority=_LAST)


def is_arriving() -> bool:
    """Whether this process is a spawned child that runs the program's main file, to know what it defines."""
    process: Any = sys.modules.get("multiprocessing.process")
    return bool(getattr(getattr(process, "current_process", lambda: None)(), "_inheriting", False))


def target() -> Any:
    """The function that this child runs; None where it is not known."""
    process: Any = sys.modules.get("multiprocessing.process")
    return getattr(getattr(process, "current_process", lambda: None)(), "_target", None)


def are_running() -> bool:
    """Whether children that the end of the program waits for are still at work."""
    process: Any = sys.modules.get("multiprocessing.process")
    active: Any = getattr(process, "active_children", list)()
    return any(not child.daemon for child in active)


def error_behind(error: BaseException) -> BaseException | None:
    """What a child has ended with: None for an exit that is none of an error.

    `torch.multiprocessing` keeps what a function raised in a file for the parent, and makes an exit of it.
    """
    if not isinstance(error, (SystemExit, KeyboardInterrupt)):
        return error
    behind = error.__context__
    return behind if behind is not None and _is_of_torch(error.__traceback__) else None


def _is_of_torch(trace: TracebackType | None) -> bool:
    """Whether it was raised by the function that `torch.multiprocessing` puts around the program's."""
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_name == "_wrap" and code.co_filename.endswith(_WRAPPING):
            return True
        trace = trace.tb_next
    return False


_WRAPPING = os.path.join("torch", "multiprocessing", "spawn.py")
