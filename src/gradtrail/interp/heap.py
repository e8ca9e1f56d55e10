"""Writes that can be undone, and states that can be joined.

A branch whose test is unknown is walked arm by arm: each arm starts from the same heap, its writes are
logged and rolled back, and what the arms left behind is joined. Nothing is copied.
"""

from __future__ import annotations

from typing import Any

from gradtrail.interp.joins import Joiner
from gradtrail.interp.values import MISSING, Instance, Node, Sequence, Storage, Tensor

Location = tuple[int, Any]
Snapshot = dict[Location, tuple[Any, Any, Any]]
"""By location: the container, the key, and the value there."""

_NUMBERED = (Tensor, Node, Instance)
"""What has a serial number, by which it can be told whether it was made later than something else."""

_KNOWN_FIRST = (Tensor, Node, Storage)
"""What is read when two tensors are joined."""


class Heap:
    """The undo log. A container is a dict (its keys are locations) or an object (its slots are)."""

    __slots__ = ("joiner", "logs", "work")

    def __init__(self, joiner: Joiner) -> None:
        self.logs: list[Snapshot] = []  # of old values
        self.joiner = joiner
        self.work = 0  # locations joined so far: joining costs as walking does

    def put(self, container: Any, key: Any, value: Any) -> None:
        """Write `value`; MISSING deletes a dict entry."""
        logs = self.logs
        if type(container) is dict:
            if logs:
                log = logs[-1]
                location = (id(container), key)  # the log holds the container, so its id stays its own
                if location not in log:
                    log[location] = (container, key, container.get(key, MISSING))
            if value is MISSING:
                container.pop(key, None)
            else:
                container[key] = value
        else:
            if logs:
                log = logs[-1]
                location = (id(container), key)
                if location not in log:
                    log[location] = (container, key, getattr(container, key))
            setattr(container, key, value)

    def push(self) -> int:
        """Open a log; its level is returned."""
        self.logs.append({})
        return len(self.logs) - 1

    def keep(self) -> None:
        """Close the top log; its writes stay and belong to the log below."""
        log = self.logs.pop()
        if self.logs and log:
            below = self.logs[-1]
            if len(below) < len(log):  # the few are put among the many; the older entry of a location holds
                log.update(below)
                self.logs[-1] = log
            else:
                for location, entry in log.items():
                    if location not in below:
                        below[location] = entry

    def forget(self, names: dict[str, Any]) -> None:
        """The names of a call that is over: nothing reads them any more, so nothing has to be taken back."""
        if self.logs:
            log, place = self.logs[-1], id(names)
            if log:
                for name in names:
                    log.pop((place, name), None)

    def undo(self) -> None:
        """Close the top log and take back its writes."""
        for container, key, old in self.logs.pop().values():
            if type(container) is not dict:
                setattr(container, key, old)
            elif old is MISSING:
                container.pop(key, None)
            else:
                container[key] = old

    def snapshot(self, level: int) -> Snapshot:
        """What has been written since the log of `level` was opened, as it stands now."""
        state: Snapshot = {}
        for log in self.logs[level:]:
            for location, (container, key, _) in log.items():
                if location not in state:
                    now = container.get(key, MISSING) if type(container) is dict else getattr(container, key)
                    state[location] = (container, key, now)
        return state

    def before(self, level: int) -> dict[Location, Any]:
        """What stood, when the log of `level` was opened, in the locations that have been written since."""
        values: dict[Location, Any] = {}
        for log in self.logs[level:]:
            for location, (_, _, old) in log.items():
                values.setdefault(location, old)
        return values

    def merge(self, states: list[Snapshot], parted: int | None = None) -> None:
        """Make the heap what it is after one of `states`, not known which.

        They were taken at the level of the top log, which is open. A location that a state does not
        hold had its old value there. What is known of tensors is joined first: a name that may stand for
        one of two tensors asks what each of them is by now. `parted` is the serial number at which the ways
        of the states parted, where they have nothing in common that was made later.
        """
        places: Snapshot = {}
        for state in states:
            places.update(state)
        facts: Snapshot = {}
        others: Snapshot = {}
        for location, place in places.items():
            known = type(place[0]) in _KNOWN_FIRST and place[1] != "grad"
            (facts if known else others)[location] = place
        for some in (facts, others):
            self._merge(some, states, parted)

    def _merge(self, places: Snapshot, states: list[Snapshot], parted: int | None) -> None:
        log = self.logs[-1]
        results: list[tuple[Any, Any, Any]] = []
        extras: list[tuple[Sequence, tuple[Any, ...]]] = []
        first, *rest = states
        for location, place in places.items():
            container, key, _ = place
            entry = first.get(location)
            if entry is not None:
                value = entry[2]
                for state in rest:
                    entry = state.get(location)
                    if entry is None or entry[2] is not value:
                        break
                else:
                    results.append(place)
                    continue
            # What was made on one of the ways is nothing to the others.
            made_since = parted is not None and type(container) in _NUMBERED and container.serial > parted
            values = []
            for state in states:
                entry = state.get(location)
                if entry is not None:
                    values.append(entry[2])
                elif not made_since:
                    entry = log.get(location)
                    values.append(read(container, key) if entry is None else entry[2])
            value = self._joined(container, key, values)
            if type(container) is Sequence and key == "items" and len({len(items) for items in values}) > 1:
                value = _common_start(values)
                extras.append((container, tuple(item for items in values for item in items[len(value) :])))
            results.append((container, key, value))
        self.work += len(results)
        for container, key, value in results:
            now = container.get(key, MISSING) if type(container) is dict else getattr(container, key)
            if now is not value:
                self.put(container, key, value)
        for sequence, items in extras:
            self.put(sequence, "rest", self.joiner.join(sequence.rest, self.joiner.all_of(items)))

    def _joined(self, container: Any, key: Any, values: list[Any]) -> Any:
        plain = type(container) is dict
        value = values[0]
        for one in values[1:]:
            if value is not one:
                value = (
                    self.joiner.join(value, one) if plain else self.joiner.field(container, key, value, one)
                )
        return value


def _common_start(values: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The items that all of several lists begin with: they are there for certain."""
    start: list[Any] = []
    for items in zip(*values, strict=False):
        if any(item is not items[0] for item in items):
            break
        start.append(items[0])
    return tuple(start)


def read(container: Any, key: Any) -> Any:
    return container.get(key, MISSING) if type(container) is dict else getattr(container, key)
