"""The modules of a training: those that the program has names for where it goes backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtrail.runtime.names import Names
from gradtrail.runtime.observers.form import Detector, Moment, Scope, frames_from

LOOKS = 8
"""So many backwards are looked around at, from each line, or until one shows nothing new: what trains is there by then."""


class Modules(Detector):
    """Finds the modules that the other detectors ask about, by the names in the frames around a backward. It tells nothing itself.

    A hook on the calls of modules would see more, but torch.compile refuses what such a hook does.
    """

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self._looks: dict[tuple[Any, int], int] = {}

    def backward_ended(self, roots: Sequence[Any], when: Moment) -> None:
        """Look at the names around."""
        if when.station is None:
            return
        line = when.station.code, when.station.row
        if self._looks.get(line, 0) < LOOKS:
            known = len(self.training.modules)
            self.training.modules.update(Names(frames_from(when.station)).modules())
            nothing_new = len(self.training.modules) == known
            self._looks[line] = LOOKS if nothing_new else self._looks.get(line, 0) + 1
