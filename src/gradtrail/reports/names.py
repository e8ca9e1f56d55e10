"""How files are named in a report."""

from __future__ import annotations

import os

from gradtrail.reports.cells import clean


def shown_name(filename: str, folder: str = "") -> str:
    """`filename` relative to `folder` when it lies below; control characters are made visible."""
    if folder and filename.startswith(folder.rstrip(os.sep) + os.sep):
        filename = filename[len(folder.rstrip(os.sep)) + 1 :]
    return clean(filename)


def counted(number: int, noun: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
