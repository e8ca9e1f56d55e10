"""Parameters that came after the optimizer of their module was made: they get gradients, and no optimizer holds them."""

from __future__ import annotations

import weakref
from typing import Any

from gradtrail.runtime.observers.form import Detector, Moment, Scope, class_of, held_by, named

ROUNDS = 3
"""So many steps of the optimizer that holds the rest of the module."""


class LateParameters(Detector):
    """Asks at each step for the parameters beside those that the optimizer holds.

    One that was there when the optimizer was made may be left out on purpose. One that came later, as a head that was
    replaced, was never offered to it; it is told unless some optimizer holds it by the time of the step.
    """

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self._made: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._rounds: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def optimizer_made(self, optimizer: Any, when: Moment) -> None:
        """Remember when."""
        self._made[optimizer] = when.number

    def step_ended(self, optimizer: Any, when: Moment) -> None:
        """Look for those that were left out."""
        made = self._made.get(optimizer)
        if made is None:
            return
        late = self._left_out(optimizer, made)
        rounds = self._rounds[optimizer] = self._rounds.get(optimizer, 0) + 1 if late else 0
        if rounds == ROUNDS:
            name, parameter, root = late[0]
            born = self.training.born_at(parameter)
            owner = named(root, when)
            seen = self.seen(f"{owner}.{name}" if owner else name, parameter)
            self.tell(
                "parameter-outside-optimizer",
                born[1] if born is not None else None,
                "wrong",
                seen,
                optimizer=class_of(optimizer),
                number=len(late),
            )

    def _left_out(self, optimizer: Any, made: int) -> list[tuple[str, Any, Any]]:
        own = {id(tensor) for tensor in held_by(optimizer) if tensor.grad is not None}
        held = self.training.held()
        parameters = list(self.training.parameters())
        roots = {id(root) for _, parameter, root in parameters if id(parameter) in own}
        late = []
        for name, parameter, root in parameters:
            if parameter.grad is None or id(parameter) in held or id(root) not in roots:
                continue
            born = self.training.born_at(parameter)
            if born is not None and born[0] > made:
                late.append((name, parameter, root))
        return late
