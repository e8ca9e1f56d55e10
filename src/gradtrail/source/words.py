"""The byte filter: where a file can hold anything of interest, decided without parsing it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple


class Word(NamedTuple):
    """How source code spells what a rule looks for: regular expressions over bytes.

    `spelt` begins with a literal, or the search is slow. `row` must be found in the same row and `file`
    anywhere in the file, when they are given.
    """

    spelt: bytes
    row: bytes = b""
    file: bytes = b""


_LONG_QUOTES = re.compile(rb'"""|\'\'\'')


class Words:
    """The words of the rules, looked for in the rows of code.

    Without words every row of a file that says `torch` matters.
    """

    __slots__ = ("_patterns",)

    def __init__(self, words: Iterable[Word]) -> None:
        # One alternation of them all would be slower: each begins with a literal of its own.
        self._patterns = [
            (re.compile(word.spelt), re.compile(word.row) if word.row else None, re.compile(word.file))
            for word in sorted(set(words))
        ]

    def rows_in(self, data: bytes) -> list[int]:
        """The rows of code in which a word stands, in order; none when the file does not say `torch`."""
        if b"torch" not in data:
            return []
        if not self._patterns:
            return list(range(1, data.count(b"\n") + 2))
        starts: set[int] = set()
        for spelt, row, file in self._patterns:
            found = [match.start() for match in spelt.finditer(data)]
            if found and row is not None:
                found = [start for start in found if row.search(_row_at(data, start))]
            if found and file.search(data) is not None:
                starts.update(found)
        return _rows_of_code(data, sorted(starts)) if starts else []


def _row_at(data: bytes, offset: int) -> bytes:
    """The row that an offset lies in, without its end."""
    end = data.find(b"\n", offset)
    return data[data.rfind(b"\n", 0, offset) + 1 : len(data) if end < 0 else end]


def any_within(rows: list[int], first: int, last: int) -> bool:
    """Whether one of `rows`, which are in order, lies between two others, these included."""
    index = bisect_left(rows, first)
    return index < len(rows) and rows[index] <= last


def _rows_of_code(data: bytes, starts: list[int]) -> list[int]:
    """The rows of the offsets that lie neither in a comment nor in a long string."""
    quotes = [found.start() for found in _LONG_QUOTES.finditer(data)]
    if len(quotes) % 2:
        quotes = []  # one of them is not what it looks like
    rows: list[int] = []
    row, seen = 1, 0
    for start in starts:
        row += data.count(b"\n", seen, start)
        seen = start
        if bisect_left(quotes, start) % 2 or (rows and rows[-1] == row):
            continue
        if not data[data.rfind(b"\n", 0, start) + 1 : start].lstrip().startswith(b"#"):
            rows.append(row)
    return rows
