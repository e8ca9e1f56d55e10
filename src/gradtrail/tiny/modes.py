"""Grad mode: whether steps are recorded. It is on when a thread begins, and each thread has its own.

A switch remembers what was before it. It can be a `with`, and it can decorate a function or a generator.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from gradtrail.tiny.values import NotInTiny, plain_name

Made = TypeVar("Made", bound=Callable[..., Any])


class _Mode(threading.local):
    on = True


_mode = _Mode()


def is_grad_enabled() -> bool:
    """Whether steps are recorded."""
    return _mode.on


class _Switch:
    """A mode for the time of a `with`, or of a call. One object can be used again, but it remembers one mode only."""

    mode: bool
    before = False

    def __enter__(self) -> None:
        self.before, _mode.on = _mode.on, self.mode

    def __exit__(self, *_: Any) -> None:
        _mode.on = self.before

    def again(self) -> _Switch:
        """Another one of the same kind: calls may be nested."""
        return type(self)()

    def __call__(self, function: Made) -> Made:
        """The function, run in this mode. What a generator does between two numbers is its own, the rest is not."""
        if isinstance(function, type):
            raise NotInTiny(f"torch.{type(self).__name__} around a class")

        @functools.wraps(function)
        def inside(*arguments: Any, **keywords: Any) -> Any:
            with self.again():
                return function(*arguments, **keywords)

        @functools.wraps(function)
        def each_step_inside(*arguments: Any, **keywords: Any) -> Generator[Any, Any, Any]:
            rows = function(*arguments, **keywords)
            go_on: Callable[..., Any] = rows.send
            sent: tuple[Any, ...] = (None,)
            while True:
                try:
                    with self.again():
                        row = go_on(*sent)
                except StopIteration as end:
                    return end.value
                try:
                    go_on, sent = rows.send, ((yield row),)
                except GeneratorExit:
                    with self.again():
                        rows.close()
                    raise
                except BaseException:
                    go_on, sent = rows.throw, (sys.exc_info()[1],)

        return each_step_inside if inspect.isgeneratorfunction(function) else inside  # type: ignore[return-value]


class set_grad_enabled(_Switch):
    """Switches the recording at once, and back at the end of a `with`."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {plain_name(type(mode))}"
            )
        self.before, self.mode, _mode.on = _mode.on, mode, mode

    def __enter__(self) -> None:
        _mode.on = self.mode

    def again(self) -> set_grad_enabled:
        """Another one with the same mode."""
        return set_grad_enabled(self.mode)

    def __call__(self, function: Made) -> Made:
        """The function, run in this mode: as a decorator it has switched nothing."""
        _mode.on = self.before
        return super().__call__(function)


class no_grad(_Switch):
    """Nothing is recorded inside: results are leaves that do not require grad."""

    mode: bool = False

    def __new__(cls, function: Any = None) -> Any:
        """`@no_grad` without parentheses decorates, too."""
        made = object.__new__(cls)
        return made if function is None else made(function)


class enable_grad(no_grad):
    """Recording is on inside."""

    mode = True
