"""The byte filter: where a file can hold anything of interest, decided without parsing it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

_LONG_QUOTES = re.compile(rb'"""|\'\'\'')


class Words:
    """The words of the rules. A word is a regular expression over bytes, found in the rows of code.

    Without words every row of a file that says `torch` matters.
    """

    __slots__ = ("_patterns",)

    def __init__(self, words: Iterable[bytes]) -> None:
        # One alternation of them all would be slower: each begins with a literal of its own.
        self._patterns = [re.compile(word) for word in sorted(set(words))]

    def rows_in(self, data: bytes) -> list[int]:
        """The rows of code in which a word stands, in order; none when the file does not say `torch`."""
        if b"torch" not in data:
            return []
        if not self._patterns:
            return list(range(1, data.count(b"\n") + 2))
        starts = {
            match.start() + (match.group()[:1] == b"\n")
            for pattern in self._patterns
            if pattern.search(data) is not None
            for match in pattern.finditer(data)
        }
        return _rows_of_code(data, sorted(starts)) if starts else []


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
