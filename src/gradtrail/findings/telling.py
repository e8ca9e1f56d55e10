"""From an event to a diagnostic: what all rules do alike."""

from __future__ import annotations

import ast

from gradtrail.findings.diagnostic import Diagnostic, Fix, Step
from gradtrail.findings.rule import Rule
from gradtrail.interp.events import Event, Seen, shortened
from gradtrail.laws.text import Text
from gradtrail.source.place import Edit, Place

LONGEST_TRAIL = 8
"""Steps of a trail, the place itself included."""


def diagnostic(
    rule: Rule,
    event: Event,
    message: Text,
    label: Text,
    *,
    help: Text | None = None,
    why: Text | None = None,
    severity: str = "",
    certainty: str = "",
    place: Place | None = None,
    others: tuple[Seen, ...] = (),
    fixes: tuple[Fix, ...] = (),
) -> Diagnostic:
    """The diagnostic of `rule` about `event`.

    The trail is that of the event's subject, of `others`, and the event's own, in the order in which
    things happened; it ends at the place, with `label`.
    """
    at = place or event.place
    told = certainty or event.certainty
    steps = _trail(event, others)
    kept = [step for step in steps if (step.place.filename, step.place.row) != (at.filename, at.row)]
    trail = (
        *shortened(kept, LONGEST_TRAIL - 1),
        Step(at, "refused" if told.startswith("raises") else "found", label),
    )
    return Diagnostic(rule.name, severity or rule.severity, told, at, message, label, trail, why, help, fixes)


def _trail(event: Event, others: tuple[Seen, ...]) -> list[Step]:
    steps: list[Step] = []
    for seen in (event.subject, *others):
        if seen is not None:
            steps.extend(seen.trail)
    steps.extend(event.trail)
    telling = {_row_of(step) for step in steps if step.kind not in _WEAK}
    kept: dict[tuple[str, int, str], Step] = {}
    for step in _by_time(steps):
        key = (*_row_of(step), step.kind)
        if step.kind == "computed":
            kept.pop(key, None)  # the last of several results in a row tells most
        if key not in kept and (step.kind not in _WEAK or _row_of(step) not in telling):
            kept[key] = step
    return list(kept.values())


_WEAK = ("call", "further-call", "construction", "stored", "made")
"""Kinds of steps that say nothing more where another step stands in their row."""


def _row_of(step: Step) -> tuple[str, int]:
    return step.place.filename, step.place.row


def _by_time(steps: list[Step]) -> list[Step]:
    """The steps in the order in which they happened; one without a time stays behind the one before it."""
    times: list[tuple[int, Step]] = []
    time = 0
    for step in steps:
        time = step.time or time
        times.append((time, step))
    return [step for _, step in sorted(times, key=lambda one: one[0])]


def code_of(event: Event) -> str:
    """The event's subject as code that a method call may be written behind: `(x + y)` for `x + y`."""
    code = name_of(event)
    form = _form(code)
    if form is None:
        return "(...)"  # cut off, for want of room
    return code if isinstance(form, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) else f"({code})"


def is_target(event: Event) -> bool:
    """Whether the program could assign to the event's subject under the name it has."""
    return isinstance(_form(name_of(event)), (ast.Name, ast.Attribute, ast.Subscript))


def _form(code: str) -> ast.expr | None:
    try:
        return ast.parse(code, mode="eval").body
    except SyntaxError:
        return None


def name_of(event: Event) -> str:
    """How the program calls the event's subject."""
    return event.subject.name if event.subject is not None else ""


def step_at(found: Diagnostic, *kinds: str) -> Place | None:
    """Where the last step of one of these kinds stands in the trail, the place of the finding left out."""
    for step in reversed(found.trail[:-1]):
        if step.kind in kinds:
            return step.place
    return None


def fix(title: Text, edits: tuple[Edit, ...], applicability: str = "unsafe") -> Fix:
    """A repair; without edits it counts as none."""
    return Fix(title, edits, applicability)
