"""The ordered record of one interpretation."""

from __future__ import annotations

from gradtrail.interp.events import Event
from gradtrail.laws.text import Text


class Journal:
    """The events of a program in the order in which they were seen, and what was not looked at.

    `alone` are the first and last rows of functions with parameters that the program does not call: they were
    walked with arguments of which nothing is known.
    """

    __slots__ = ("alone", "events", "filename", "limits")

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.events: list[Event] = []
        self.limits: list[Text] = []
        self.alone: list[tuple[int, int]] = []
