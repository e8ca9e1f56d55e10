"""Which parameters have had gradients, and which are held: what is told of them elsewhere is measured by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtrail.interp.events import Event
from gradtrail.runtime.observers.form import Detector, Moment, Scope

MOST_NAMES = 20_000


class Gradients(Detector):
    """Keeps the names of parameters that a backward has reached, or that an optimizer holds. It tells nothing itself."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self._reached: set[str] = set()
        self._missed: set[str] = set()
        self._held: set[str] = set()
        self._free: set[str] = set()

    def backward_ended(self, roots: Sequence[Any], when: Moment) -> None:
        """Whose gradients are there."""
        held = self.training.held()
        for name, parameter, _ in self.training.parameters():
            if len(self._reached) + len(self._missed) > MOST_NAMES:
                return
            (self._missed if parameter.grad is None else self._reached).add(name)
            (self._held if id(parameter) in held else self._free).add(name)

    def speaks_against(self, event: Event) -> bool:
        """Where every parameter of that name has been reached, or is held."""
        if event.subject is None:
            return False
        if event.kind == "never-reached":
            return _all_of(event.subject.name, self._reached, self._missed - self._reached)
        if event.kind == "parameter-outside-optimizer":
            return _all_of(event.subject.name, self._held, self._free - self._held)
        return False


def _all_of(called: str, named: set[str], others: set[str]) -> bool:
    """Whether the program's name for a parameter is that of one of `named`, and of none of `others`."""
    name = called.replace("[", ".").replace("]", "")
    return any(_is_end(one, name) for one in named) and not any(_is_end(one, name) for one in others)


def _is_end(of_module: str, called: str) -> bool:
    return "." in of_module and (called == of_module or called.endswith(f".{of_module}"))
