"""The byte filter: where a file can hold anything of interest, decided without parsing it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple


class Word(NamedTuple):
    """How source code spells what a rule looks for: regular expressions over bytes.

    `spelt` begins with a literal, or the search is slow. When they are given, `row` must be found in the
    same row, `file` anywhere in the file, and `then` somewhere right after the name that the row assigns to.
    """

    spelt: bytes
    row: bytes = b""
    file: bytes = b""
    then: bytes = b""


_LONG_QUOTES = (b'"""', b"'''")
_ASSIGNED = re.compile(rb"[^=\n]*?(\w+) *(?::[^=\n]*)?=(?!=)")


class Words:
    """The words of the rules, looked for in the rows of code.

    Without words every row of a file that says `torch` matters.
    """

    __slots__ = ("_families",)

    def __init__(self, words: Iterable[Word]) -> None:
        # One search for all words would be slow: it has no literal to begin with. One for each word reads the
        # file too often. So those that begin alike are searched for together.
        families: dict[bytes, list[Word]] = {}
        for word in sorted(set(words)):
            families.setdefault(word.spelt[:2], []).append(word)
        self._families = [_Family(members) for members in families.values()]

    def rows_in(self, data: bytes) -> list[int]:
        """The rows of code in which a word stands, in order; none when the file does not say `torch`."""
        if b"torch" not in data:
            return []
        if not self._families:
            return list(range(1, data.count(b"\n") + 2))
        starts = [start for family in self._families for start in family.starts_in(data)]
        return _rows_of_code(data, sorted(starts)) if starts else []


class _Family:
    """Words that begin with the same two characters."""

    __slots__ = ("_any", "_members")

    def __init__(self, words: list[Word]) -> None:
        self._any = re.compile(b"|".join(word.spelt for word in words))
        self._members = [
            (
                re.compile(word.spelt),
                re.compile(word.row) if word.row else None,
                re.compile(word.file) if word.file else None,
                re.compile(word.then) if word.then else None,
            )
            for word in words
        ]

    def starts_in(self, data: bytes) -> list[int]:
        """The offsets at which a word stands."""
        files: dict[re.Pattern[bytes], bool] = {}

        def stands_at(start: int) -> bool:
            for spelt, row, file, then in self._members:
                if not spelt.match(data, start) or (row is not None and not row.search(_row_at(data, start))):
                    continue
                if file is not None and file not in files:
                    files[file] = file.search(data) is not None
                if (file is None or files[file]) and (then is None or _is_named_again(data, start, then)):
                    return True
            return False

        return [start for start in [match.start() for match in self._any.finditer(data)] if stands_at(start)]


def _row_at(data: bytes, offset: int) -> bytes:
    """The row that an offset lies in, without its end."""
    end = data.find(b"\n", offset)
    return data[data.rfind(b"\n", 0, offset) + 1 : len(data) if end < 0 else end]


def _is_named_again(data: bytes, start: int, then: re.Pattern[bytes]) -> bool:
    """Whether `then` follows, somewhere, the name that the row of `start` assigns to."""
    assigned = _ASSIGNED.match(_row_at(data, start))
    if assigned is None:
        return False
    name = assigned.group(1)
    found = data.find(name)
    while found >= 0:
        found += len(name)
        if then.match(data, found):
            return True
        found = data.find(name, found)
    return False


def any_within(rows: list[int], first: int, last: int) -> bool:
    """Whether one of `rows`, which are in order, lies between two others, these included."""
    index = bisect_left(rows, first)
    return index < len(rows) and rows[index] <= last


def _rows_of_code(data: bytes, starts: list[int]) -> list[int]:
    """The rows of the offsets that lie neither in a comment nor in a long string."""
    quotes = _long_quotes(data)
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


def _long_quotes(data: bytes) -> list[int]:
    """Where the quotes of long strings stand."""
    found: list[int] = []
    for quotes in _LONG_QUOTES:
        place = data.find(quotes)
        while place >= 0:
            found.append(place)
            place = data.find(quotes, place + 3)
    return sorted(found)
