"""One file of source text: its lines, its tree, and the one table between `ast` positions and places.

`ast` counts columns in UTF-8 bytes from 0 and rows from 1, and ends a line at a line feed, a carriage
return or both together, nowhere else: not at a form feed and not at U+2028, where `str.splitlines` does.
A `Place` counts characters from 1.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from gradtrail.source.outline import Body, Wanted, outline
from gradtrail.source.place import Edit, Place

if TYPE_CHECKING:
    from gradtrail.source.notebook import Cells

Positioned = ast.expr | ast.stmt | ast.excepthandler | ast.arg | ast.keyword | ast.alias | ast.pattern
"""The nodes that carry a position."""


class SourceText:
    """What a file says, as it stands there, and as it was parsed.

    `text` is the decoded file without a byte order mark. `code` is what is parsed: the same text, or for
    a pasted snippet the text with prompts and indentation taken away, row by row; `shifts` then says how
    many characters were taken from the front of each row, so that places are always those of `text`.
    """

    __slots__ = (
        "_ascii",
        "_code_lines",
        "_lines",
        "_tree",
        "bodies",
        "cells",
        "code",
        "data",
        "encoding",
        "filename",
        "left_out",
        "shifts",
        "text",
    )

    def __init__(
        self,
        filename: str,
        data: bytes,
        text: str,
        encoding: str = "utf-8",
        *,
        code: str | None = None,
        shifts: tuple[int, ...] = (),
        left_out: tuple[int, ...] = (),
        cells: Cells | None = None,
    ) -> None:
        self.filename = filename
        self.data = data
        self.text = text
        self.encoding = encoding
        self.code = text if code is None else code
        self.shifts = shifts
        self.left_out = left_out
        """Rows of a snippet that are not Python and were dropped."""
        self.cells = cells
        """For a notebook, whose cells `text` joins: which row is which row of which cell."""
        self.bodies: dict[int, Body] = {}
        """The bodies that are missing in the tree, by the row of their `def`."""
        self._tree: ast.Module | None = None
        self._lines: list[str] | None = None
        self._code_lines: list[str] | None = None
        self._ascii = self.code.isascii()

    def parse(self) -> ast.Module:
        """The tree, parsed at the first call and kept; that of `parse_outline` when it came first.

        Raises what `ast.parse` raises: SyntaxError, and for what is nested too deeply RecursionError or
        MemoryError. `gradtrail.source.reading.read` turns these into `Unreadable`.
        """
        if self._tree is None:
            self._tree = ast.parse(self.code, self.filename)
        return self._tree

    def parse_outline(self, wanted: Wanted) -> ast.Module:
        """The tree, parsed without the bodies that are not `wanted` if it is not there yet.

        A definition without its body has `...` in its place, and `bodies` knows it. Raises what
        `ast.parse` raises.
        """
        if self._tree is None:
            code, bodies = outline(self.code, wanted)
            try:
                self._tree = ast.parse(code, self.filename)
                self.bodies = bodies
            except SyntaxError:  # a string that goes on over rows without being quoted three times
                self._tree = ast.parse(self.code, self.filename)
        return self._tree

    def let_go_of_tree(self) -> None:
        """Free the tree; the next call of `parse` makes it again."""
        self._tree = None
        self.bodies = {}
        self._lines = self._code_lines = None

    @property
    def is_repaired(self) -> bool:
        """Whether what is parsed is not what the file says: it was repaired as a pasted snippet."""
        return self.code is not self.text

    @property
    def lines(self) -> list[str]:
        """The lines without their ends, as `ast` counts them."""
        if self._lines is None:
            self._lines = split_lines(self.text)
        return self._lines

    def line(self, row: int, cell: int | None = None) -> str:
        """The line at `row`, of the whole text or of a cell, without its end; empty where there is none."""
        if cell is not None and self.cells is not None:
            row = self.cells.row(cell, row)
        lines = self.lines
        return lines[row - 1] if 0 < row <= len(lines) else ""

    def place(self, node: Positioned) -> Place:
        """Where `node` stands."""
        row = node.lineno
        end_row = node.end_lineno
        end_column = node.end_col_offset
        if self._ascii and not self.shifts:
            return Place(
                self.filename,
                row,
                node.col_offset + 1,
                end_row,
                None if end_column is None else end_column + 1,
            )
        return Place(
            self.filename,
            row,
            self.column(row, node.col_offset),
            end_row,
            None if end_row is None or end_column is None else self.column(end_row, end_column),
        )

    def column(self, row: int, offset: int) -> int:
        """The column of the character that stands `offset` UTF-8 bytes into the parsed line at `row`."""
        shift = self.shifts[row - 1] if 0 < row <= len(self.shifts) else 0
        if self._ascii:
            return offset + shift + 1
        line = self._code_line(row)
        if line.isascii():
            return offset + shift + 1
        return len(line.encode("utf-8")[:offset].decode("utf-8", "ignore")) + shift + 1

    def segment(self, place: Place) -> str:
        """The source text of `place`, with its line ends; empty when the place has no end."""
        if place.end_row is None or place.end_column is None:
            return ""
        if place.row == place.end_row:
            return self.line(place.row)[place.column - 1 : place.end_column - 1]
        start, end = span(line_starts(self.text), place)
        return self.text[start:end]

    def _code_line(self, row: int) -> str:
        if self.code is self.text:
            return self.line(row)
        if self._code_lines is None:
            self._code_lines = split_lines(self.code)
        lines = self._code_lines
        return lines[row - 1] if 0 < row <= len(lines) else ""


def split_lines(text: str) -> list[str]:
    """The lines of `text` without their ends, split where `ast` splits and nowhere else."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n")


def line_starts(text: str) -> list[int]:
    """The offset at which each line of `text` starts."""
    return [0, *(end.end() for end in re.finditer(r"\r\n|\r|\n", text))]


def span(starts: list[int], place: Place) -> tuple[int, int]:
    """The offsets of the start and the end of `place`; the same offset twice when it has no end."""
    start = _offset(starts, place.row, place.column)
    if place.end_row is None or place.end_column is None:
        return start, start
    return start, _offset(starts, place.end_row, place.end_column)


def point(text: str, filename: str, offset: int) -> Place:
    """The place of the character at `offset` of `text`."""
    starts = line_starts(text)
    row = bisect_right(starts, offset)
    return Place(filename, row, offset - starts[row - 1] + 1)


def apply(text: str, edits: tuple[Edit, ...] | list[Edit]) -> str:
    """`text` with `edits` made, all of them counted in the text as it was.

    Raises ValueError when two edits overlap or one lies outside of the text. Of two insertions at one
    place the one named first comes first.
    """
    starts = line_starts(text)
    pieces: list[str] = []
    done = 0
    spans = sorted(((*span(starts, edit.place), number) for number, edit in enumerate(edits)))
    for start, end, number in spans:
        if start < done or end < start or end > len(text):
            raise ValueError("edits overlap or leave the text")
        pieces.append(text[done:start])
        pieces.append(edits[number].content)
        done = end
    pieces.append(text[done:])
    return "".join(pieces)


def _offset(starts: list[int], row: int, column: int) -> int:
    if not 0 < row <= len(starts):
        raise ValueError("an edit names a row that the text does not have")
    return starts[row - 1] + column - 1
