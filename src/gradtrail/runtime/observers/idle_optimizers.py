"""Optimizers that move nothing: no backward reaches what they hold, they never make a step, or no backward is called at all."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from gradtrail.interp.events import Event
from gradtrail.runtime.observers.form import Detector, Moment, Scope, Spot, class_of, held_by, named

STEPS = 3
"""So many steps without a gradient are no accident."""

BACKWARDS = 8
"""After so many backwards a step should have been made."""


MOST_RECORDS = 1_000


class _Record:
    """What is known of one optimizer."""

    def __init__(self, name: str, made: Spot | None) -> None:
        self.name = name
        self.made = made
        self.trains = False
        self.stepped: Spot | None = None
        self.steps = 0
        self.reached = False
        self.backwards = 0
        self.first_free = ""
        self.free = 0
        """How many parameters that no optimizer holds a backward has reached."""


class IdleOptimizers(Detector):
    """Asks at each step whether anything that the optimizer holds has a gradient.

    Tensors that are frozen are not asked. A step that nothing has called for (a scaler skips it) is none.
    """

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self._records: weakref.WeakKeyDictionary[Any, _Record] = weakref.WeakKeyDictionary()
        self._all: list[_Record] = []
        """Those of optimizers that are gone included."""

    def optimizer_made(self, optimizer: Any, when: Moment) -> None:
        """Remember where."""
        record = self._records[optimizer] = _Record(class_of(optimizer), when.spot())
        if len(self._all) < MOST_RECORDS:
            self._all.append(record)

    def backward_ended(self, roots: Sequence[Any], when: Moment) -> None:
        """Which optimizers a backward is for, and which parameter it is for that none holds."""
        held = self.training.held()
        for optimizer, record in list(self._records.items()):
            if any(tensor.grad is not None for tensor in held_by(optimizer)):
                record.reached = True
                record.backwards += 1
            elif not record.first_free:
                for name, parameter, root in self.training.parameters():
                    if parameter.grad is not None and id(parameter) not in held:
                        record.free += 1
                        if record.free == 1:
                            owner = named(root, when)
                            record.first_free = f"{owner}.{name}" if owner else name

    def step_begins(self, optimizer: Any, when: Moment) -> None:
        """Whether there is anything to move."""
        record = self._records.get(optimizer)
        if record is None:
            return
        record.steps += 1
        record.stepped = when.spot()
        held = held_by(optimizer)
        record.trains = record.trains or any(tensor.requires_grad for tensor in held)
        record.reached = record.reached or any(tensor.grad is not None for tensor in held)

    def speaks_against(self, event: Event) -> bool:
        """Where the optimizer that is meant was seen to do what is denied of it."""
        if event.kind == "step-without-backward":
            return self.training.backwards > 0
        if event.kind not in ("optimizer-idle", "never-stepped"):
            return False
        meant = [one for one in self._all if one.made is not None and one.made.is_at(event.place)]
        if event.kind == "optimizer-idle":
            return bool(meant) and all(one.reached for one in meant)
        return bool(meant) and all(one.steps for one in meant)

    def finished(self) -> None:
        """Tell of those that have made steps, and moved nothing."""
        for record in self._all:
            if record.steps < STEPS or record.reached or not record.trains:
                continue
            if self.training.backwards == 0 and self.training.grads == 0:
                self.tell("step-without-backward", record.stepped, "wrong", optimizer=record.name)
            elif record.first_free:
                free = self.named_only(record.first_free)
                self.tell(
                    "optimizer-idle", record.made, "wrong", free, optimizer=record.name, number=record.free
                )

    def program_ended(self) -> None:
        """Tell of those that have never made a step, though backward after backward was for them."""
        for record in self._all:
            if record.steps == 0 and record.backwards >= BACKWARDS:
                self.tell("never-stepped", record.made, "wrong", optimizer=record.name, skipped=False)
