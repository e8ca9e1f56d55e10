"""From a frame to its place in the source, and to the expression that stands there.

The positions of instructions are those of PEP 657, from Python 3.11 on; before, a row is all that is known.
"""

from __future__ import annotations

import ast
from itertools import islice
from types import CodeType

from gradtrail.runtime.user_code import file_of
from gradtrail.source.files import SourceFiles
from gradtrail.source.place import Place
from gradtrail.source.reading import Unreadable
from gradtrail.source.text import SourceText

_LONGEST_NAME = 40

_Span = tuple[int, int, int, int]
"""Rows from 1, columns in bytes from 0: the first and the last row, the first and the last column."""


class Sources:
    """The files of a program, as they were read when they were first asked for."""

    def __init__(self, files: SourceFiles | None = None) -> None:
        self.files = SourceFiles() if files is None else files

    def get(self, filename: str) -> SourceText | None:
        """The text of a file; None where it cannot be read."""
        known = self.files.get(filename)
        if known is not None:
            return known
        try:
            return self.files.read(filename)
        except (Unreadable, RecursionError, MemoryError):
            return None

    def said(self, place: Place) -> str:
        """What stands at a place, on one line; empty where it is long or not known."""
        source = self.get(place.filename)
        if source is None or place.end_row is None:
            return ""
        words = " ".join(source.segment(place).split())
        return words if len(words) <= _LONGEST_NAME else ""

    def place(self, code: CodeType, offset: int, row: int) -> Place:
        """Where an instruction stands: the expression that it belongs to, or the row where no more is known."""
        node = self.node(code, offset, row)
        source = self.get(file_of(code))
        if node is None or source is None:
            return Place(file_of(code), row)
        return source.place(node)

    def statement(self, filename: str, row: int) -> ast.stmt | None:
        """The innermost statement that covers a row."""
        source = self.get(filename)
        if source is None or source.cells is not None:
            return None
        try:
            return _statement_on(source.parse(), row)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def node(self, code: CodeType, offset: int, row: int) -> ast.expr | ast.stmt | None:
        """The expression or statement that an instruction belongs to; where no position is known, the statement of the row."""
        source = self.get(file_of(code))
        if source is None or source.cells is not None:
            return None
        span = _span(code, offset)
        try:
            tree = source.parse()
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        if span is None:
            return _statement_on(tree, row)
        found: ast.expr | ast.stmt | None = None
        for node in ast.walk(tree):
            if isinstance(node, (ast.expr, ast.stmt)) and _span_of(node) == span:
                if isinstance(node, ast.expr) and not isinstance(found, ast.expr):
                    found = node
                found = found or node
        return found or _statement_on(tree, row)


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
