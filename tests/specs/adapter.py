"""The one place of the specification's tests that knows the interpreter's form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

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

    return [
        Stated((getattr(each, "filename", main), each.row), each.facts, each.unknown)
        for each in reveal(files[main], main, files=files)
    ]


def refused(files: Mapping[str, str], main: str) -> list[tuple[Row, str]]:
    """The rows where the interpreter says that torch certainly raises, and the key of the message."""
    from gradtrail.interp.inspect import refusals

    return [((filename, row), key) for filename, row, key in refusals(files[main], main, files=files)]


def event_kinds(files: Mapping[str, str], main: str) -> Counter[str]:
    """How often each kind of event occurs in the journal of the program."""
    from gradtrail.interp.machine import interpret

    from gradtrail.interp.project import Project
    from gradtrail.source.files import SourceFiles

    return Counter(event.kind for event in interpret(Project(SourceFiles(dict(files))), main).events)


def piece_of(key: str) -> str:
    """The stable piece of the message that a key stands for. Raises KeyError for a key that is not there."""
    from gradtrail.laws.messages import message

    return message(key).piece


def recognised(error_type: str, text: str) -> str:
    """The key of the message that an exception of torch's is; its type in brackets for a stranger."""
    from gradtrail.laws.messages import recognise

    entry = recognise(error_type, text)
    return entry.key if entry else f"({error_type})"
