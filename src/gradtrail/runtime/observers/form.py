"""What a detector is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gradtrail.interp.events import Event
from gradtrail.runtime.user_code import Station

if TYPE_CHECKING:
    from gradtrail.runtime.observers.training import Training


class Moment(NamedTuple):
    """When something happened: the innermost of the user's lines, and the place in the order of things."""

    station: Station | None
    number: int


Tell = Callable[[Event], None]
"""Hears the events of a detector, and hands them to the rules."""


class Detector:
    """Hears what happens in a training, and tells the events that it is sure of.

    It holds tensors, modules and optimizers weakly only, writes to none of them, and draws no random numbers. Whatever it
    raises is a mistake of ours: it is switched off, and the program goes on.
    """

    def __init__(self, training: Training, tell: Tell) -> None:
        self.training = training
        self.tell = tell

    def optimizer_made(self, optimizer: Any, when: Moment) -> None:
        """An optimizer has been made."""

    def backward_begins(self, roots: Sequence[Any], when: Moment) -> None:
        """A backward is about to run from these tensors, its arguments are sound as far as is known."""

    def backward_ended(self, roots: Sequence[Any], when: Moment) -> None:
        """It has run; the gradients are there."""

    def step_begins(self, optimizer: Any, when: Moment) -> None:
        """An optimizer is about to make a step."""

    def step_ended(self, optimizer: Any, when: Moment) -> None:
        """It has made it."""

    def cleared(self, owner: Any, when: Moment) -> None:
        """`zero_grad` of an optimizer or of a module has run."""

    def finished(self) -> None:
        """The last that is observed: the steps are over, or the program is."""
