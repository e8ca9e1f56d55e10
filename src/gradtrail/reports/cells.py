"""How wide text is on a terminal: tabs, wide and combining characters, and what must not reach a terminal.

`unicodedata` of the standard library says how wide a character is, and is imported only for text that is
not ASCII. A library for this would know a few sequences more (flags, families of emoji) and cost every
installation a dependency.
"""

from __future__ import annotations

import re
from typing import NamedTuple

TAB = 4
"""A tab goes to the next multiple of this; Python itself only asks for the same tabs on every line."""

ELLIPSIS = "…"


class Drawn(NamedTuple):
    """A line as it is drawn: `text`, and for each character of the source the cell where it starts.

    `starts` has one entry more than the line has characters: the width of the whole line.
    """

    text: str
    starts: list[int]

    def cell(self, column: int) -> int:
        """The cell, counted from 0, of the character at `column`, counted from 1."""
        return self.starts[max(0, min(column - 1, len(self.starts) - 1))]


def draw(line: str) -> Drawn:
    """`line` with tabs expanded and control characters made visible."""
    if line.isascii() and line.isprintable():
        return Drawn(line, list(range(len(line) + 1)))
    pieces: list[str] = []
    starts = [0]
    at = 0
    for character in line:
        if character == "\t":
            piece = " " * (TAB - at % TAB)
            at += len(piece)
        else:
            piece, width = _shown(character)
            at += width
        pieces.append(piece)
        starts.append(at)
    return Drawn("".join(pieces), starts)


def width(text: str) -> int:
    """How many cells `text` takes."""
    return len(text) if text.isascii() else sum(_width(character) for character in text)


def cut(text: str, first: int, room: int) -> str:
    """The cells of `text` from `first` on, at most `room`; a wide character cut in half is a space."""
    if text.isascii():
        return text[first : first + room]
    pieces: list[str] = []
    at = 0
    for character in text:
        size = _width(character)
        if at >= first and at + size <= first + room:
            pieces.append(character)
        elif at + size > first and at < first + room and size:
            pieces.append(" " * (min(at + size, first + room) - max(at, first)))
        at += size
    return "".join(pieces)


def clean(text: str) -> str:
    """`text` with control characters made visible, for words that come from the program or its name."""
    if text.isprintable():
        return text
    return "".join(_shown(character)[0] for character in text)


def wrap(text: str, room: int, hanging: int = 0) -> list[str]:
    """`text` in lines of at most `room` cells, broken at spaces; a word that is longer stands alone.

    Between wide characters, which Chinese and Japanese write without spaces, a line may end as well, but no line
    begins with a closing sign. The lines after the first are indented by `hanging` cells, which count.
    """
    lines: list[str] = []
    line = ""
    used = 0
    for word in text.split():
        gap = 1 if line else 0
        for piece in [word] if word.isascii() else _PIECES.findall(word):
            size = width(piece)
            if line and used + gap + size > room:
                lines.append(line)
                line, used = " " * hanging + piece, hanging + size
            else:
                line, used = line + " " * gap + piece, used + gap + size
            gap = 0
    lines.append(line)
    return lines


_WIDE = "\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
_CLOSING = "、。，．：；！？）」』】〉》ー〜々ぁぃぅぇぉっゃゅょァィゥェォッャュョ"
_OPENING = "（「『【〈《"
_PIECES = re.compile(f"[{_OPENING}]*(?:(?![{_OPENING}])[{_WIDE}]|[^{_WIDE}]+|$)[{_CLOSING}]*")
"""What a line may not end inside of: a wide character with the signs that belong to it, or a run of narrow ones."""


def gap_behind(head: str) -> str:
    """What stands between a head and its words: nothing behind a wide sign, which has its own room."""
    return "" if head.endswith(("\uff1a", "\uff1f")) else " "


def padded(text: str, room: int) -> str:
    """`text` filled with spaces up to `room` cells."""
    return text + " " * (room - width(text))


def _shown(character: str) -> tuple[str, int]:
    """What is drawn for `character`, and its width: nothing of a program may steer the terminal."""
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code), 1
    if code == 0x7F:
        return "\u2421", 1
    if code < 0x7F:
        return character, 1
    if 0x80 <= code < 0xA0 or code in _DIRECTIONS or 0xD800 <= code < 0xE000:
        return "\ufffd", 1
    return character, _width(character)


# Characters that turn the direction of what follows, or end a line on some terminals.
_DIRECTIONS = frozenset(
    (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C, 0x2028, 0x2029)
)


def _width(character: str) -> int:
    if character < "\x7f":
        return 1
    from unicodedata import category, east_asian_width

    if category(character) in ("Mn", "Me") or character in "\u200b\u200c\u200d\u2060\ufeff":
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1
