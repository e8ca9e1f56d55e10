"""How files are named in a report."""

from __future__ import annotations

import os

from gradtrail.laws.text import say, text
from gradtrail.reports.cells import clean
from gradtrail.source.place import Place


def shown_name(filename: str, folder: str = "") -> str:
    """`filename` relative to `folder` when it lies below; control characters are made visible."""
    if folder and filename.startswith(folder.rstrip(os.sep) + os.sep):
        filename = filename[len(folder.rstrip(os.sep)) + 1 :]
    return clean(filename)


def line_of(place: Place) -> str:
    """`line 3`, and the cell where it is one of a notebook."""
    if place.cell is None:
        return say("line {row}", row=place.row)
    return say("line {row} of cell {cell}", row=place.row, cell=place.cell)


_ONE_AND_MORE = {
    "error": (text("{number} error"), text("{number} errors")),
    "warning": (text("{number} warning"), text("{number} warnings")),
    "remark": (text("{number} remark"), text("{number} remarks")),
    "file": (text("{number} file"), text("{number} files")),
    "note": (text("{number} note"), text("{number} notes")),
}


def headed(head: str, words: str) -> str:
    """`words` behind a head and the colon of the language."""
    return say("{head}: {words}", head=head, words=words)


def bracketed(words: str, more: str) -> str:
    """`words`, and what is said of them in brackets."""
    return say("{words} ({more})", words=words, more=more)


def counted(number: int, noun: str) -> str:
    """`1 error`, `2 errors`."""
    one, more = _ONE_AND_MORE[noun]
    return say((one if number == 1 else more).template, number=number)
