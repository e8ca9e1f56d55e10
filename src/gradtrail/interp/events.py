"""What is seen happening to tensors: the words in which the interpreter speaks to the rules.

An observer of a running program speaks the same words, so a rule serves both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from gradtrail.laws.text import Text
    from gradtrail.source.place import Place


class Step(NamedTuple):
    """One station of a trail: where, the kind of change, what happened.

    `time` grows as the program runs; 0 says that the step goes with the one before it.
    """

    place: Place
    kind: str
    text: Text
    time: int = 0


def shortened(steps: list[Step], most: int) -> list[Step]:
    """At most so many of `steps`: first go calls elsewhere, then plain results, then whatever lies in the middle."""
    left = list(steps)
    for kinds in _LEAST_TELLING:
        first = 0 if "construction" in kinds or "further-call" in kinds else 1  # where it all began stays
        while len(left) > most:
            less = [step for step in left[first:-1] if step.kind in kinds or not kinds]
            if not less:
                break
            left.remove(less[len(less) // 2])
    return left


_LEAST_TELLING: tuple[tuple[str, ...], ...] = (
    ("construction",),
    ("further-call", "stored", "appended"),
    ("computed",),
    ("rebased", "parameter", "module-parameter", "created"),
    (),
)


class Seen:
    """A tensor (or another subject) as it is known at one place, with the way it came.

    `name` is how the program calls it there. `facts` holds what is known: "requires" ("yes", "no",
    "maybe"), "leaf" ("yes", "no", "maybe", "no-off-cpu"), "dtype", "device", "parameter",
    "made-by" (the operation), "made-kind" (the kind of its first step), and so on.
    `trail` holds at most eight steps, each a change that happened.
    """

    __slots__ = ("facts", "name", "trail")

    def __init__(self, name: str, facts: dict[str, Any], trail: tuple[Step, ...]) -> None:
        self.name = name
        self.facts = facts
        self.trail = trail


class Event:
    """Something that happened at a place.

    `kind` is what a rule hears. Where torch refuses what the program does, the kind is the key of
    the message in `laws.messages` and `certainty` is "raises" or "raises-off-cpu"; else `certainty`
    is "" and the kind says what was seen. `fields` are words for the sentences.
    """

    __slots__ = ("certainty", "fields", "kind", "others", "place", "subject", "trail")

    def __init__(
        self,
        kind: str,
        place: Place,
        certainty: str,
        subject: Seen | None,
        others: tuple[Seen, ...],
        fields: dict[str, Any],
        trail: tuple[Step, ...],
    ) -> None:
        self.kind = kind
        self.place = place
        self.certainty = certainty
        self.subject = subject
        self.others = others
        self.fields = fields
        self.trail = trail

    def __repr__(self) -> str:
        """The kind and the place."""
        return f"<Event {self.kind} at {self.place.filename}:{self.place.row} {self.certainty}>"
