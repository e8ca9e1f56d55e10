"""Graphs that are kept after their backward, by a sum that goes on over the rounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise, starmap
from operator import lt
from typing import Any

from gradtrail.runtime.names import attributes_of
from gradtrail.runtime.observers.form import TORCH, Detector, Moment, Scope, Spot, frames_from
from gradtrail.runtime.torch_compat import number_of, parents_of

ROUNDS = 3
"""So many graphs that have had their backward, and are still held."""

MOST_NODES = 5_000
MOST_NAMES = 200


class KeptGraphs(Detector):
    """Looks after each step at what the names of the user's code hold: a tensor behind which lie the graphs of several
    backwards.

    What waits for its backward has had none yet, so a sum that is used by one later is not told. Of a graph that has had
    its backward only the number of its first node is kept here. A list of losses holds graphs too, but whether it goes on
    for long, and what becomes of it, the source knows better: the interpreter tells it.
    """

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self._done: set[int] = set()
        self._sizes: dict[tuple[Any, str], list[int]] = {}
        self._told: set[tuple[Any, str]] = set()

    def backward_begins(self, roots: Any, when: Moment) -> None:
        """Remember by its number which graph has its backward."""
        for root in roots:
            number = number_of(root.grad_fn) if TORCH.is_tensor(root) and root.grad_fn is not None else None
            if number is not None:
                self._done.add(number)

    def step_ended(self, optimizer: Any, when: Moment) -> None:
        """Look at the names around."""
        if when.station is None or len(self._done) < ROUNDS:
            return
        told: set[int] = set()
        for frame in frames_from(when.station):
            for space in (frame.f_locals, frame.f_globals):
                if id(space) not in told and len(space) <= MOST_NAMES:
                    told.add(id(space))
                    self._look(frame.f_code, space)
                    for name, value in list(space.items()):
                        own = attributes_of(value)
                        if own is not None and id(own) not in told and len(own) <= MOST_NAMES:
                            told.add(id(own))
                            self._look(frame.f_code, {f"{name}.{key}": one for key, one in list(own.items())})

    def _look(self, code: Any, space: Mapping[str, Any]) -> None:
        for name, value in list(space.items()):
            key = (code, name)
            if key in self._told:
                continue
            if TORCH.is_tensor(value) and value.grad_fn is not None and self._holds(value.grad_fn):
                self._grew(key, self._count(value.grad_fn), name, value)

    def _holds(self, node: Any) -> bool:
        """Whether a graph that has had its backward lies behind a node that has had none."""
        return number_of(node) not in self._done and self._count(node) > 0

    def _count(self, node: Any) -> int:
        """How many graphs that have had their backward lie behind a node."""
        return sum(number_of(one) in self._done for one in _behind(node))

    def _grew(self, key: tuple[Any, str], size: int, name: str, value: Any) -> None:
        sizes = self._sizes.setdefault(key, [])
        if not sizes or size != sizes[-1]:
            sizes.append(size)
        if len(sizes) >= ROUNDS and all(starmap(lt, pairwise(sizes))):
            spot = self._spot_of(value)
            if spot is not None:
                self._told.add(key)
                self.tell("graph-grows", spot, "wasteful", self.seen(name, value))

    def _spot_of(self, value: Any) -> Spot | None:
        line = self.scope.line_of(value.grad_fn)
        return None if line is None else Spot(line[0], -1, line[1])


def _behind(node: Any) -> Iterator[Any]:
    waiting, seen = [node], {node}
    while waiting and len(seen) < MOST_NODES:
        one = waiting.pop()
        yield one
        for parent in parents_of(one):
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)
