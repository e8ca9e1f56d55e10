"""From an event to a diagnostic: what all rules do alike."""

from __future__ import annotations

import ast

from gradtrail.findings.diagnostic import Diagnostic, Fix, Step
from gradtrail.findings.rule import Rule
from gradtrail.interp.events import Event, Seen
from gradtrail.laws.text import Text
from gradtrail.source.place import Place

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

    The trail is that of the event's subject, of `others`, and the event's own, in the order of the
    program's lines where they stand in one file; it ends at the place, with `label`.
    """
    at = place or event.place
    told = certainty or event.certainty
    steps = _trail(event, others)
    kept = [step for step in steps if (step.place.filename, step.place.row) != (at.filename, at.row)]
    if len(kept) > LONGEST_TRAIL - 1:
        kept = [*kept[:2], *kept[-(LONGEST_TRAIL - 3) :]]
    trail = (*kept, Step(at, "refused" if told.startswith("raises") else "found", label))
    return Diagnostic(rule.name, severity or rule.severity, told, at, message, label, trail, why, help, fixes)


def _trail(event: Event, others: tuple[Seen, ...]) -> list[Step]:
    steps: list[Step] = [step for step in event.trail if step.kind == "grad-on"]
    for seen in (event.subject, *others):
        if seen is not None:
            steps.extend(seen.trail)
    steps.extend(step for step in event.trail if step.kind != "grad-on")
    kept: list[Step] = []
    for step in steps:
        if not any(one.place == step.place and one.kind == step.kind for one in kept):
            kept.append(step)
    return kept


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
