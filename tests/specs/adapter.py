"""The one place of the tests of the interpreter that knows its form."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

Row = tuple[str, int]
"""A file name and a row."""


class Stated(NamedTuple):
    """What the interpreter states of a value that is revealed in a row. Nothing when `unknown`."""

    row: Row
    facts: frozenset[str]
    unknown: bool


def stated(files: Mapping[str, str], main: str) -> list[Stated]:
    """What the interpreter states at each `reveal`, when it walks the file `main` of `files`."""
    from gradtrail.interp.inspect import reveal

    others = {name: text for name, text in files.items() if name != main}
    all_revealed: Any = reveal(files[main], main, others) if others else reveal(files[main], main)
    return [
        Stated((getattr(each, "filename", main), each.row), each.facts, each.unknown) for each in all_revealed
    ]


def refused(files: Mapping[str, str], main: str) -> list[tuple[Row, str]]:
    """The rows where the interpreter says that torch certainly raises, and the key of the message."""
    return [
        (row, kind) for row, kind, certainty in _events(tuple(files.items()), main) if certainty == "raises"
    ]


def event_kinds(files: Mapping[str, str], main: str) -> Counter[str]:
    """How often each kind of event occurs in the journal of the program."""
    return Counter(kind for _, kind, _ in _events(tuple(files.items()), main))


@functools.lru_cache(maxsize=1)
def _events(files: tuple[tuple[str, str], ...], main: str) -> tuple[tuple[Row, str, str], ...]:
    """The row, kind and certainty of every event of a program. The last program asked for is remembered."""
    from gradtrail.interp.machine import interpret
    from gradtrail.interp.project import Project
    from gradtrail.source.files import SourceFiles

    journal = interpret(Project(SourceFiles(dict(files))), main)
    return tuple(
        ((event.place.filename, event.place.row), event.kind, event.certainty) for event in journal.events
    )


def piece_of(key: str) -> str:
    """The stable piece of the message that a key stands for. Raises KeyError for a key that is not there."""
    from gradtrail.laws.messages import message

    return message(key).piece


def recognised(error_type: str, text: str) -> str:
    """The key of the message that an exception of torch's is; its type in brackets for a stranger."""
    from gradtrail.laws.messages import recognise

    entry = recognise(error_type, text)
    return entry.key if entry else f"({error_type})"
