"""One file as it is laid out: its tree, what stands at a place, and how its statements share the lines.

`gradtrail.source.edits` builds edits from it. The tree is parsed for the purpose, whole, and only for files
in which something was found.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gradtrail.source.place import Place
from gradtrail.source.text import Positioned, SourceText, line_starts, point, span

_INDENT = re.compile(r"[ \t\f]*")
_USUAL_INDENT = "    "


class Layout:
    """What stands where in one file. `Place`s go in and come out; offsets count characters of the text."""

    __slots__ = ("_by_place", "_parents", "_starts", "filename", "source", "text", "tree")

    def __init__(self, source: SourceText) -> None:
        """Raises what `ast.parse` raises."""
        self.source = source
        self.filename = source.filename
        self.text = source.text
        self.tree = ast.parse(source.text)
        self._starts = line_starts(source.text)
        self._parents: dict[ast.AST, ast.AST] = {}
        self._by_place: dict[tuple[object, ...], list[ast.AST]] = {}
        self._take(self.tree)

    def _take(self, node: ast.AST) -> None:
        waiting = [node]
        while waiting:
            parent = waiting.pop()
            for child in ast.iter_child_nodes(parent):
                if isinstance(child, (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)):
                    continue  # one object stands for all
                self._parents[child] = parent
                if isinstance(child, (ast.expr, ast.stmt)):
                    self._by_place.setdefault(tuple(self.place(child))[:5], []).append(child)
                    self._take_by_method(child)
                waiting.append(child)

    def _take_by_method(self, node: ast.AST) -> None:
        """A method call over several lines is also told of where its method's name stands."""
        function = node.func if isinstance(node, ast.Call) else node
        if not isinstance(function, ast.Attribute) or function.end_lineno in (None, function.lineno):
            return
        whole, named = self.place(node), self.place(function)  # type: ignore[arg-type]
        if named.end_row is None or named.end_column is None:
            return
        at = whole._replace(row=named.end_row, column=named.end_column - len(function.attr))
        self._by_place.setdefault(tuple(at)[:5], []).append(node)

    # From nodes to places and back

    def place(self, node: Positioned) -> Place:
        """Where `node` stands; for a statement that has decorators, without them."""
        return self.source.place(node)

    def expression(self, place: Place) -> ast.expr | None:
        """The expression that stands at `place`, from its first to its last character."""
        for node in self._by_place.get(tuple(place)[:5], ()):
            if isinstance(node, ast.Expr):
                node = node.value
            if isinstance(node, ast.expr) and self._is_written(node):
                return node.value if isinstance(node, ast.Starred) else node
        return None

    def _is_written(self, node: ast.expr) -> bool:
        """Whether the text at the node is the node: before Python 3.12 places inside f-strings are not kept."""
        above: ast.AST | None = node
        while above is not None and not isinstance(above, ast.stmt):
            if isinstance(above, ast.JoinedStr):
                try:
                    read = ast.parse("(" + self.source.segment(self.place(node)) + ")", mode="eval").body
                except (SyntaxError, ValueError):
                    return False
                return ast.dump(read) == ast.dump(node)
            above = self._parents.get(above)
        return True

    def statement(self, place: Place) -> ast.stmt | None:
        """The innermost statement that `place` stands in."""
        found: ast.stmt | None = None
        for node in self._statements(self.tree):
            start, end = self.span(self.place(node))
            if start <= self.offset(place) < max(end, start + 1):
                found = node
        return found

    def _statements(self, node: ast.AST) -> Iterator[ast.stmt]:
        """The statements in `node`, each before those inside it: a long `elif` nests deeper than calls may."""
        waiting = [node]
        while waiting:
            for child in ast.iter_child_nodes(waiting.pop()):
                if isinstance(child, ast.stmt):
                    yield child
                if not isinstance(child, ast.expr):
                    waiting.append(child)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """What holds `node`."""
        return self._parents.get(node)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """What holds `node`, from the inside to the module."""
        parent = self._parents.get(node)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent)

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements among which `statement` stands."""
        parent = self._parents[statement]
        for name in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and any(one is statement for one in block):
                return block
        return [statement]

    # Offsets

    def offset(self, place: Place) -> int:
        """The offset at which `place` starts."""
        return span(self._starts, place)[0]

    def span(self, place: Place) -> tuple[int, int]:
        """The offsets at which `place` starts and ends."""
        return span(self._starts, place)

    def between(self, start: int, end: int) -> Place:
        """The place from one offset to another."""
        first, last = point(self.text, self.filename, start), point(self.text, self.filename, end)
        return first._replace(end_row=last.row, end_column=last.column)

    def row_start(self, row: int) -> int:
        """The offset of the first character of a row; behind the last row, the end of the text."""
        return self._starts[row - 1] if row <= len(self._starts) else len(self.text)

    def row_end(self, row: int) -> int:
        """The offset behind the last character of a row, before the end of the line."""
        return self._starts[row - 1] + len(self.source.line(row))

    # Lines

    def newline(self) -> str:
        """The line end of this file."""
        found = re.search(r"\r\n|\r|\n", self.text)
        return found.group() if found else "\n"

    def indent(self, row: int) -> str:
        """The white space at the start of a row."""
        found = _INDENT.match(self.source.line(row))
        return found.group() if found else ""

    def unit(self) -> str:
        """By how much a block of this file is indented more than what holds it."""
        for node in ast.walk(self.tree):
            body = getattr(node, "body", None)
            if isinstance(node, ast.stmt) and isinstance(body, list) and body[0].lineno > node.lineno:
                outer, inner = self.indent(node.lineno), self.indent(body[0].lineno)
                if inner.startswith(outer) and inner != outer:
                    return inner[len(outer) :]
        return _USUAL_INDENT

    def first_row(self, statement: ast.stmt) -> int:
        """The row at which `statement` starts, decorators counted."""
        decorators = getattr(statement, "decorator_list", ())
        rows: list[int] = [statement.lineno, *(one.lineno for one in decorators)]
        return min(rows)

    def last_row(self, statement: ast.stmt) -> int:
        """The row at which `statement` ends."""
        return statement.end_lineno or statement.lineno

    def leads_row(self, statement: ast.stmt) -> bool:
        """Whether nothing but white space stands before `statement` in its row."""
        start = self.span(self.place(statement))[0]
        if self.first_row(statement) < statement.lineno:
            return True
        row = self.row_start(statement.lineno)
        return not self.text[row:start].strip() and not self._is_continued(statement.lineno)

    def _is_continued(self, row: int) -> bool:
        return row > 1 and self.source.line(row - 1).rstrip().endswith("\\")

    def ends_row(self, statement: ast.stmt) -> bool:
        """Whether nothing but white space or a comment stands behind `statement` in its last row."""
        rest = self.tail(statement).strip()
        return not rest or rest.startswith("#")

    def tail(self, statement: ast.stmt) -> str:
        """What stands behind `statement` in its last row."""
        end = self.span(self.place(statement))[1]
        return self.text[end : self.row_end(self.last_row(statement))]

    def is_alone(self, statement: ast.stmt) -> bool:
        """Whether `statement` has its rows to itself."""
        return self.leads_row(statement) and self.ends_row(statement)

    def rows_of_strings(self, statement: ast.stmt) -> set[int]:
        """Rows of `statement` that start inside a string: their white space belongs to it."""
        rows: set[int] = set()
        for node in ast.walk(statement):
            if isinstance(node, ast.JoinedStr) or (
                isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
            ):
                rows.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
        return rows
