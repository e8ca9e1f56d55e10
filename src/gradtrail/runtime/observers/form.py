"""What a detector is told, and what it tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gradtrail.interp.events import Event, Seen, Step
from gradtrail.runtime import facts
from gradtrail.runtime.names import Names
from gradtrail.runtime.recorder.form import Line
from gradtrail.runtime.torch_compat import TORCH
from gradtrail.runtime.user_code import Station, file_of, is_users

if TYPE_CHECKING:
    from gradtrail.runtime.observers.training import Training
    from gradtrail.runtime.places import Sources
    from gradtrail.source.place import Place


class Moment(NamedTuple):
    """When something happened: the innermost of the user's lines, and its number in the order of things.

    The frame of `station` is alive while the detectors hear of the moment, and is not to be kept: `Spot` is.
    """

    station: Station | None
    number: int

    def spot(self) -> Spot | None:
        """The line, to be kept."""
        one = self.station
        return None if one is None else Spot(one.code, one.offset, one.row)


class Spot(NamedTuple):
    """A line of the user's code: it holds no frame."""

    code: Any
    offset: int
    row: int

    def is_at(self, place: Place) -> bool:
        """Whether the line is one of those of a place."""
        last = place.end_row or place.row
        return bool(file_of(self.code) == place.filename) and place.row <= self.row <= last


Tell = Callable[[Event], None]
"""Hears the events of a detector, and hands them to the rules."""


class Scope(NamedTuple):
    """What a detector works with: the training, the sources, whom to tell, and what was recorded of tensors and nodes."""

    training: Training
    sources: Sources
    tell: Tell
    trail: Callable[[Any], tuple[Step, ...]]
    line_of: Callable[[Any], Line | None]


class Detector:
    """Hears what happens in a training, and tells the events that it is sure of.

    It holds tensors, modules and optimizers weakly only, writes to none of them, and draws no random numbers. Whatever it
    raises is a mistake of ours: it is switched off, and the program goes on.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.training = scope.training

    def optimizer_made(self, optimizer: Any, when: Moment) -> None:
        """An optimizer has been made."""

    def backward_begins(self, roots: Sequence[Any], when: Moment) -> None:
        """A backward is about to run from these tensors."""

    def backward_ended(self, roots: Sequence[Any], when: Moment) -> None:
        """It has run; the gradients are there."""

    def step_begins(self, optimizer: Any, when: Moment) -> None:
        """An optimizer is about to make a step."""

    def step_ended(self, optimizer: Any, when: Moment) -> None:
        """It has made it."""

    def finished(self) -> None:
        """The last that is observed: the steps are over, or the program is."""

    def program_ended(self) -> None:
        """The program has come to its end, and was observed from its start to there."""

    def speaks_against(self, event: Event) -> bool:
        """Whether what was seen shows that something which the interpreter tells has not happened."""
        return False

    def tell(
        self,
        kind: str,
        spot: Spot | None,
        certainty: str,
        subject: Seen | None = None,
        **fields: Any,
    ) -> None:
        """Tell an event of the user's code; one that happened elsewhere is nobody's to mend, and is not told."""
        if spot is not None:
            place = self.scope.sources.place(spot.code, spot.offset, spot.row)
            self.scope.tell(Event(kind, place, certainty, subject, (), fields, ()))

    def seen(self, name: str, tensor: Any) -> Seen:
        """A live tensor, as the rules are told of one."""
        return Seen(name, facts.of(tensor), self.scope.trail(tensor))

    def named_only(self, name: str) -> Seen:
        """A tensor of which nothing is told but its name."""
        return Seen(name, {}, ())


def named(tensor: Any, when: Moment) -> str:
    """How the user's code around a moment calls a tensor; empty where it has no name there."""
    if when.station is None:
        return ""
    return Names(frames_from(when.station)).of(tensor)


def frames_from(station: Station) -> list[Any]:
    """The frame of a station and those that called it, as far as they are the user's."""
    frames = []
    frame: Any = station.frame
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            frames.append(frame)
        frame = frame.f_back
    return frames


def class_of(value: Any) -> str:
    """The name of an object's class, as the sentences have it."""
    return type(value).__name__


def held_by(optimizer: Any) -> list[Any]:
    """The tensors that an optimizer holds."""
    return [tensor for group in optimizer.param_groups for tensor in group["params"]]


__all__ = [
    "TORCH",
    "Detector",
    "Moment",
    "Scope",
    "Spot",
    "Tell",
    "class_of",
    "frames_from",
    "held_by",
    "named",
]
