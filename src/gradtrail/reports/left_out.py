"""What was not looked at: every file that could not be read, and of the limits only the first few."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gradtrail.findings.diagnostic import NotLookedAt
from gradtrail.laws.text import say
from gradtrail.reports.names import counted

LIMITS_SHOWN = 3
"""How many notes on what was left out by choice are told; a large project has many, and all are alike."""


class LeftOut(NamedTuple):
    """What is told in full, and one sentence for the rest ("" when there is no rest)."""

    told: list[NotLookedAt]
    rest: str


def left_out(not_looked_at: Iterable[NotLookedAt]) -> LeftOut:
    """What to tell of `not_looked_at`: what failed comes first."""
    everything = list(not_looked_at)
    failed = [one for one in everything if one.failed]
    limits = [one for one in everything if not one.failed]
    more = len(limits) - LIMITS_SHOWN
    rest = ""
    if more > 0:
        rest = say(
            "note: {notes} more of this kind (the JSON report has them all)", notes=counted(more, "note")
        )
    return LeftOut(failed + limits[:LIMITS_SHOWN], rest)


def head(one: NotLookedAt) -> str:
    """How such a line begins."""
    if one.partly:
        return say("looked at in part")
    return say("not looked at") if one.failed else say("note")
