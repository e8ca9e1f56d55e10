"""The ordered record of one interpretation."""

from __future__ import annotations

from gradtrail.interp.events import Event
from gradtrail.laws.text import Text


class Journal:
    """The events of a program in the order in which they were seen, and what was not looked at."""

    __slots__ = ("events", "filename", "limits")

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.events: list[Event] = []
        self.limits: list[Text] = []
