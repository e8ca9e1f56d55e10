"""What is known of a value at a place: its facts, its trail, and the leaves its gradient reaches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from gradtrail.findings.diagnostic import Step
from gradtrail.laws.text import Text, say
from gradtrail.reports.cells import clean, padded, wrap
from gradtrail.reports.cells import width as cells
from gradtrail.reports.names import line_of, shown_name
from gradtrail.source.place import Place


class Reach(NamedTuple):
    """One station of the graph behind a value, and what lies behind it.

    `text` says what it is, `place` where it was made (None when that is not known), and `cut` why
    no gradient passes to it (None when one does).
    """

    text: Text
    place: Place | None = None
    below: tuple[Reach, ...] = ()
    cut: Text | None = None


class ValueSeen(NamedTuple):
    """A value at a place. `facts` are in the order in which they are told, label first."""

    name: str
    facts: Mapping[str, Text]
    trail: tuple[Step, ...] = ()
    reaches: Reach | None = None


class SeenReach(Protocol):
    """What this page reads of a station: any object with the fields of `Reach` will do."""

    @property
    def text(self) -> Text:
        """What it is."""

    @property
    def place(self) -> Place | None:
        """Where it was made."""

    @property
    def below(self) -> Sequence[SeenReach]:
        """What lies behind it."""

    @property
    def cut(self) -> Text | None:
        """Why no gradient passes to it."""


class SeenValue(Protocol):
    """What this page reads of a value: any object with the fields of `ValueSeen` will do."""

    @property
    def name(self) -> str:
        """How the program calls it there."""

    @property
    def facts(self) -> Mapping[str, Text]:
        """What is known, by label."""

    @property
    def trail(self) -> Sequence[Step]:
        """How it became so."""

    @property
    def reaches(self) -> SeenReach | None:
        """The graph behind it."""


LABELS = ("leaf", "requires grad", "grad_fn", "Parameter", "device", "dtype", "shape")
"""The heads of what is known of a tensor."""


Tell = Callable[[Place], str]
"""How a place is told in the trail of a value."""


def render(
    place: Place,
    line: str,
    values: Sequence[SeenValue],
    folder: str = "",
    width: int = 80,
    *,
    shown: Callable[[Place], Place] = lambda place: place,
) -> str:
    """The page for `values` at `place`, where the file says `line`; `shown` turns rows of a notebook into its cells'."""
    at = shown(place)
    cell = "" if at.cell is None else f"cell {at.cell}:"
    head = f"{shown_name(at.filename, folder)}:{cell}{at.row}"

    def tell(one: Place) -> str:
        if one.filename == place.filename:
            return line_of(shown(one))
        return f"{shown_name(one.filename, folder)}:{one.row}"

    lines = [head, f"    {clean(line.strip())}", ""]
    for value in values:
        lines += [*_value(value, tell, width), ""]
    if not values:
        lines += ["  " + say("nothing is known of a tensor here"), ""]
    return "\n".join(lines).rstrip() + "\n"


def render_live(place: Place | None, line: str, value: SeenValue, folder: str = "", width: int = 80) -> str:
    """The page for a live tensor, where the program asks about it; without a place, for one that no file asks about."""
    if place is not None:
        return render(place, line, [value], folder, width)
    return "\n".join(_value(value, lambda one: f"{shown_name(one.filename, folder)}:{one.row}", width)) + "\n"


def _value(value: SeenValue, tell: Tell, width: int) -> list[str]:
    lines = [f"  {clean(value.name)}"]
    labels = max((cells(say(label)) for label in value.facts), default=0)
    for label, fact in value.facts.items():
        lines += _hanging("    " + padded(say(label), labels) + "  ", clean(str(fact)), width)
    if value.trail:
        lines.append("    " + say("trail"))
        for number, step in enumerate(value.trail, 1):
            where = tell(step.place)
            lines += _hanging(f"      {number}. {where}  ", clean(str(step.text)), width)
    if value.reaches is not None:
        lines.append("    " + say("the gradient reaches"))
        lines += ["      " + line for line in _tree(value.reaches, tell)]
    return lines


def _hanging(head: str, words: str, width: int) -> list[str]:
    pieces = wrap(words, max(24, width - cells(head)))
    return [head + pieces[0], *(" " * cells(head) + piece for piece in pieces[1:])]


def _tree(reach: SeenReach, tell: Tell) -> list[str]:
    """The lines of a tree; neighbours that look the same, such as the weights of a layer, are drawn once."""
    words = clean(str(reach.text))
    if reach.place is not None:
        words = say("{words}  ({more})", words=words, more=tell(reach.place))
    if reach.cut is not None:
        words += f"  ✂ {clean(str(reach.cut))}"
    branches: list[tuple[list[str], int]] = []
    for one in reach.below:
        branch = _tree(one, tell)
        if branches and branches[-1][0] == branch:
            branches[-1] = branch, branches[-1][1] + 1
        else:
            branches.append((branch, 1))
    lines = [words]
    for number, ((head, *rest), times) in enumerate(branches, 1):
        last = number == len(branches)
        lines.append(("└─ " if last else "├─ ") + head + (f"  × {times}" if times > 1 else ""))
        lines += [("   " if last else "│  ") + line for line in rest]
    return lines
