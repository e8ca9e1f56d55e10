"""From a frame to its place in the source, and to the expression that stands there.

The positions of instructions are those of PEP 657, from Python 3.11 on; before, a row is all that is known.
"""

from __future__ import annotations

import ast
import linecache
from itertools import islice
from types import CodeType

from gradtrail.runtime.cells import Cells
from gradtrail.runtime.user_code import file_of
from gradtrail.source.files import SourceFiles
from gradtrail.source.place import Place
from gradtrail.source.reading import Unreadable
from gradtrail.source.text import SourceText

_LONGEST_NAME = 40

_Span = tuple[int, int, int, int]
"""Rows from 1, columns in bytes from 0: the first and the last row, the first and the last column."""


class Sources:
    """The files of a program, as they were read when they were first asked for, and the cells of a shell."""

    def __init__(self, files: SourceFiles | None = None) -> None:
        self.files = SourceFiles() if files is None else files
        self.cells: Cells | None = None
        """The cells of the shell that the program runs in."""
        self._cells_read = 0

    def get(self, filename: str) -> SourceText | None:
        """The text of a file; None where it cannot be read."""
        self._read_what_no_file_holds(filename)
        known = self.files.get(filename)
        if known is not None:
            return known
        try:
            return self.files.read(filename)
        except (Unreadable, RecursionError, MemoryError):
            return None

    def _read_what_no_file_holds(self, filename: str) -> None:
        """The cells, anew when there are more of them; and what an interpreter has left with `linecache`."""
        if self.cells is not None and filename == self.cells.filename:
            if self.cells.count != self._cells_read:
                self._cells_read = self.cells.count
                self.files.add(filename, self.cells.data())
        elif filename in linecache.cache and not self.files.exists(filename):
            self.files.add(filename, "".join(linecache.getlines(filename)).encode("utf-8", "replace"))

    def row(self, code: CodeType, row: int) -> Place:
        """A row of code: of its file, or of the cell that it was typed into."""
        filename = file_of(code)
        number = None if self.cells is None else self.cells.number_of(code.co_filename)
        if self.cells is None or number is None:
            return Place(filename, row)
        return Place(self.cells.filename, row, cell=number)

    def tree(self, filename: str) -> ast.Module | None:
        """The tree of a file, that of all cells for the cells; None where there is none."""
        source = self.get(filename)
        try:
            return None if source is None else source.parse()
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def whole(self, place: Place) -> Place:
        """A place in a cell as one of the text of all cells; any other as it is."""
        source = self.get(place.filename)
        return place if source is None or source.cells is None else source.cells.whole(place)

    def place_of(self, filename: str, node: ast.expr | ast.stmt) -> Place:
        """Where a node of the tree of a file stands."""
        source = self.get(filename)
        if source is None:
            return Place(filename, node.lineno)
        place = source.place(node)
        return place if source.cells is None else source.cells.place(place)

    def said(self, place: Place) -> str:
        """What stands at a place, on one line; empty where it is long or not known."""
        words = self.segment(place)
        return words if len(words) <= _LONGEST_NAME else ""

    def segment(self, place: Place) -> str:
        """What stands at a place, on one line, however long."""
        source = self.get(place.filename)
        return "" if source is None else " ".join(source.segment(self.whole(place)).split())

    def place(self, code: CodeType, offset: int, row: int) -> Place:
        """Where an instruction stands: the expression that it belongs to, or the row where no more is known."""
        at = self.row(code, row)
        node = self.node(code, offset, row)
        return at if node is None else self.place_of(at.filename, node)

    def statement(self, at: Place) -> ast.stmt | None:
        """The innermost statement that covers a row."""
        tree = self.tree(at.filename)
        return None if tree is None else _statement_on(tree, self.whole(at).row)

    def node(self, code: CodeType, offset: int, row: int) -> ast.expr | ast.stmt | None:
        """The expression or statement that an instruction belongs to; where no position is known, the statement of the row."""
        at = self.row(code, row)
        tree = self.tree(at.filename)
        if tree is None:
            return None
        span = _span(code, offset)
        in_tree = self.whole(at).row
        if span is None:
            return _statement_on(tree, in_tree)
        span = (span[0] + in_tree - row, span[1] + in_tree - row, *span[2:])
        found: ast.expr | ast.stmt | None = None
        for node in ast.walk(tree):
            if isinstance(node, (ast.expr, ast.stmt)) and _span_of(node) == span:
                if isinstance(node, ast.expr) and not isinstance(found, ast.expr):
                    found = node
                found = found or node
        return found or _statement_on(tree, in_tree)


def _span(code: CodeType, offset: int) -> _Span | None:
    positions = getattr(code, "co_positions", None)
    if positions is None or offset < 0:
        return None
    first, last, start, end = next(islice(positions(), offset // 2, None), (None,) * 4)
    if first is None or last is None or start is None or end is None:
        return None
    return first, last, start, end


def _span_of(node: ast.expr | ast.stmt) -> _Span:
    return (
        node.lineno,
        node.end_lineno or node.lineno,
        node.col_offset,
        node.end_col_offset or node.col_offset,
    )


def _statement_on(tree: ast.Module, row: int) -> ast.stmt | None:
    """The innermost statement that covers a row; of several on one row none is meant more than the others."""
    best: ast.stmt | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= row <= (node.end_lineno or node.lineno):
            if best is None or node.lineno > best.lineno:
                best = node
            elif node.lineno == best.lineno and node.col_offset > best.col_offset:
                return None
    return best
