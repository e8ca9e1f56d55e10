"""What is told to a person: one broken law, at one place, with the trail that led there."""

from __future__ import annotations

from typing import NamedTuple

from gradtrail.interp.events import Step
from gradtrail.laws.text import Text
from gradtrail.source.place import Edit, Place

__all__ = ["Diagnostic", "Fix", "NotLookedAt", "Step"]

SEVERITIES = ("error", "warning", "info")
"""How bad it is."""

CERTAINTIES = ("raises", "raises-off-cpu", "wrong", "wasteful")
"""What is claimed: torch raises; torch raises where the device is not the CPU; the program computes
something other than it says; work or memory is lost."""

APPLICABILITIES = ("safe", "unsafe", "display")
"""How far a fix may be trusted: the meaning stays; the program runs but may compute something else;
the fix has a hole for the reader to fill and is only shown."""


class Fix(NamedTuple):
    """A repair: its title, its edits, and how far it may be trusted (one of `APPLICABILITIES`)."""

    title: Text
    edits: tuple[Edit, ...]
    applicability: str


class Diagnostic(NamedTuple):
    """A finding.

    `message` is the headline and stands alone; `label` stands under the marked place; `trail` goes
    from the cause to `place` (which is its last station); `why` is the law, told once per rule;
    `help` says the one thing to do. `count` is how often it was found, or in how many processes, `rank` in which of
    them first.
    """

    rule: str
    severity: str
    certainty: str
    place: Place
    message: Text
    label: Text | None = None
    trail: tuple[Step, ...] = ()
    why: Text | None = None
    help: Text | None = None
    fixes: tuple[Fix, ...] = ()
    count: int = 1  # type: ignore[assignment]  # takes the place of a method of tuples
    rank: int | None = None


class NotLookedAt(NamedTuple):
    """A file, or a part of the work, that was left out, and why."""

    filename: str
    reason: Text
    failed: bool = True  # False: a limit or a choice, not an unreadable path
    partly: bool = False  # the rest of the file was looked at
