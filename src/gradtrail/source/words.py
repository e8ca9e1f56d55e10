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
    With `run` it is the run of the whole program that matters: a file that only defines things has none, and no
    function is walked for its sake that the program does not call.
    """

    spelt: bytes
    row: bytes = b""
    file: bytes = b""
    then: bytes = b""
    run: bool = False


_LONG_QUOTES = (b'"""', b"'''")
_LAST_NAME = re.compile(rb"(\w+)[ \t]*$")
_LONG_ROW = 1_000
"""A row that is longer is not looked into: no person has written it, and searching it could take for ever."""


_RUNS = re.compile(rb"^(?:if __name__|for |while |with |try:|[A-Za-z_][\w.]*\()", re.MULTILINE)
"""How a file begins a row that does something when the file is run."""

_MANY_NAMES = 100
"""The names of a file that are followed; beyond, what is assigned to any name matters."""


class Words:
    """The words of the rules, looked for in the rows of code.

    Without words every row of a file that says `torch` matters.
    """

    __slots__ = ("_families", "_whole")

    def __init__(self, words: Iterable[Word]) -> None:
        # One search for all words would be slow: it has no literal to begin with. One for each word reads the
        # file too often. So those that begin alike are searched for together.
        families: dict[bytes, list[Word]] = {}
        self._whole = [_OfRun(word) for word in sorted(set(words)) if word.run]
        for word in sorted(set(words)):
            if word.run:
                continue
            families.setdefault(word.spelt[:2], []).append(word)
        self._families = [_Family(members) for members in families.values()]

    def rows_in(self, data: bytes) -> list[int]:
        """The rows of code in which a word stands, in order; none when the file does not say `torch`.

        `BEFORE_ALL` alone says that the file is to be run, and that none of its functions is to be walked without.
        """
        if b"torch" not in data:
            return []
        if not self._families and not self._whole:
            return list(range(1, data.count(b"\n") + 2))
        starts = [start for family in self._families for start in family.starts_in(data)]
        if starts:
            rows = _rows_of_code(data, sorted(starts))
            if rows:
                return rows
        return [BEFORE_ALL] if _RUNS.search(data) and any(one.matters_in(data) for one in self._whole) else []


BEFORE_ALL = 0
"""A row before the first."""


class _OfRun:
    """A word of which the file as a whole is asked."""

    __slots__ = ("_file", "_spelt")

    def __init__(self, word: Word) -> None:
        self._spelt = re.compile(word.spelt)
        self._file = re.compile(word.file) if word.file else None

    def matters_in(self, data: bytes) -> bool:
        """Whether the word stands in a file."""
        return (self._file is None or self._file.search(data) is not None) and self._spelt.search(
            data
        ) is not None


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
        """The offsets at which a word stands, at most one in a row."""
        found: list[int] = []
        held: dict[re.Pattern[bytes], bool] = {}
        followed: dict[tuple[bytes, re.Pattern[bytes]], bool] = {}
        done = -1  # the end of the last row in which one stands
        for match in self._any.finditer(data):
            start = match.start()
            if start < done:
                continue
            row: bytes | None = None
            for spelt, in_row, in_file, then in self._members:
                if not spelt.match(data, start):
                    continue
                if row is None and (in_row is not None or then is not None):
                    row = _row_at(data, start)
                if in_row is not None and row is not None and not in_row.search(row):
                    continue
                if in_file is not None:
                    if in_file not in held:
                        held[in_file] = in_file.search(data) is not None
                    if not held[in_file]:
                        continue
                if then is not None and row is not None and len(followed) < _MANY_NAMES:
                    name = _assigned(row)
                    if (name, then) not in followed:
                        followed[name, then] = _is_followed(data, name, then)
                    if not followed[name, then]:
                        continue
                found.append(start)
                done = data.find(b"\n", start)
                done = len(data) if done < 0 else done
                break
        return found


def _is_followed(data: bytes, name: bytes, then: re.Pattern[bytes]) -> bool:
    """Whether `then` comes somewhere right after a name."""
    found = data.find(name) if name else -1
    while found >= 0:
        end = found + len(name)
        if then.match(data, end) and not (found and data[found - 1 : found].isalnum()):
            return True
        found = data.find(name, end)
    return False


def _assigned(row: bytes) -> bytes:
    """The name that a row assigns to; empty when there is none."""
    target, equals, value = row.partition(b"=")
    name = None if value.startswith(b"=") else _LAST_NAME.search(target.partition(b":")[0])
    return name.group(1) if equals and name is not None else b""


def _row_at(data: bytes, offset: int) -> bytes | None:
    """The row that an offset lies in, without its end; None when it is too long to be looked into."""
    start, end = data.rfind(b"\n", 0, offset) + 1, data.find(b"\n", offset)
    end = len(data) if end < 0 else end
    return data[start:end] if end - start <= _LONG_ROW else None


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
