"""Places in source text, and edits made there.

Rows and columns count from 1, columns in characters. `ast` counts columns in UTF-8 bytes from 0;
`gradtrail.source.text` is the one place that converts.
"""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """A stretch of a file, or one point of it when the end is not known.

    `cell` is the index of a notebook cell (rows then count within the cell), else None.
    """

    filename: str
    row: int
    column: int = 1
    end_row: int | None = None
    end_column: int | None = None
    cell: int | None = None


class Edit(NamedTuple):
    """Replace what stands at `place` by `content`."""

    place: Place
    content: str


Edits = tuple[Edit, ...]
"""Edits that belong together; none where what was wanted cannot be done."""


def together(*parts: Edits) -> Edits:
    """All of `parts`, or nothing where one of them could not be done. What is said twice is done once."""
    if not all(parts):
        return ()
    return tuple(dict.fromkeys(edit for part in parts for edit in part))
