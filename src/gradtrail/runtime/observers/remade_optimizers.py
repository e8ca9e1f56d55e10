"""Optimizers that are made anew for each step, and forget what they keep from step to step."""

from __future__ import annotations

import weakref
from typing import Any

from gradtrail.interp.events import Event
from gradtrail.runtime.observers.form import Detector, Moment, Scope, Spot, class_of, held_by

ROUNDS = 4
"""So many optimizers from one line, each for one step of the same tensors."""


class RemadeOptimizers(Detector):
    """Counts the optimizers of each line that hold the same tensors and make one step each.

    An inner loop that makes one for each copy of a model holds other tensors each time, and one that is made anew for each
    epoch makes more steps. Plain gradient descent keeps nothing, so nothing is lost there.
    """

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self._made: weakref.WeakKeyDictionary[Any, Spot] = weakref.WeakKeyDictionary()
        self._steps: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._rounds: dict[tuple[Any, int], tuple[tuple[weakref.ref[Any], ...], int]] = {}
        self._made_at: dict[Spot, int] = {}
        self._seen = 0
        self._told: set[tuple[Any, int]] = set()

    def optimizer_made(self, optimizer: Any, when: Moment) -> None:
        """Remember where."""
        spot = when.spot()
        if spot is not None:
            self._made[optimizer] = spot
            self._made_at[spot] = self._made_at.get(spot, 0) + 1

    def speaks_against(self, event: Event) -> bool:
        """Where steps enough were seen, and none of an optimizer that was made there again and again."""
        if event.kind != "optimizer-remade" or sum(self._made_at.values()) == 0:
            return False
        made = sum(count for spot, count in self._made_at.items() if spot.is_at(event.place))
        return max(self._seen, self.training.backwards) >= ROUNDS and made < ROUNDS

    def step_ended(self, optimizer: Any, when: Moment) -> None:
        """Count the first step of a new one; a second step of the same ends the count."""
        self._seen += 1
        spot = self._made.get(optimizer)
        if spot is None:
            return
        key = (spot.code, spot.row)
        steps = self._steps[optimizer] = self._steps.get(optimizer, 0) + 1
        if steps > 1:
            self._rounds.pop(key, None)
            self._told.add(key)
            return
        if not optimizer.state or not any(optimizer.state.values()) or key in self._told:
            return  # it keeps nothing
        tensors = held_by(optimizer)
        known, rounds = self._rounds.get(key, ((), 0))
        same = len(known) == len(tensors) and all(
            reference() is tensor for reference, tensor in zip(known, tensors, strict=True)
        )
        rounds = rounds + 1 if same else 1
        self._rounds[key] = tuple(map(weakref.ref, tensors)), rounds
        if rounds >= ROUNDS:
            self._told.add(key)
            self.tell("optimizer-remade", spot, "wrong", optimizer=class_of(optimizer))
