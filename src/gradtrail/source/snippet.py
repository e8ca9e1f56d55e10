"""Code as it is pasted: with prompts, indented, cut off, without its imports."""

from __future__ import annotations

from gradtrail.source.reading import from_data, parsed
from gradtrail.source.text import SourceText


def read(filename: str, data: bytes) -> SourceText:
    """The parsed text of `data`. Raises `Unreadable`."""
    return parsed(from_data(filename, data))
