"""What a file defines, without the bodies of its functions: a fraction of the time that parsing it takes.

Most functions of a large project are never walked: no word of a rule stands in them and nobody who is
walked calls them. Their bodies are blanked before the file is parsed, row by row so that every position
stays true, and a body is parsed alone when it is asked for. Bodies are found by indentation. A place where
that is wrong, in a string say, makes a text that does not parse, and then the file is parsed whole.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

Wanted = Callable[[int, int], bool]
"""Whether a definition that reaches from one row to another is parsed at once."""

_SMALL = 160
"""Bodies of fewer characters are not worth the trouble."""

_LONG_QUOTES = ('"""', "'''")
_DEFINITION = re.compile(r"^([ \t]*)(?:async[ \t]+)?def[ \t]+\w+[ \t]*(?=\()", re.MULTILINE)
_PLAIN = r"[^()'\"#]*"
_WHOLE = r"""'[^'\n]*'|"[^"\n]*"|#[^\n]*\n"""


def _inside(depth: int) -> str:
    """What may stand between parentheses that are nested so deeply; written without ambiguity."""
    nested = rf"|\({_inside(depth - 1)}\)" if depth else ""
    return rf"{_PLAIN}(?:(?:{_WHOLE}{nested}){_PLAIN})*"


_RETURNS = rf"""->[^\n:'"#]*(?:(?:{_WHOLE})[^\n:'"#]*)*"""
_HEADER = re.compile(rf"\({_inside(3)}\)[ \t]*(?:{_RETURNS})?(:)[ \t]*(?:#[^\n]*)?\n")


class Body(NamedTuple):
    """A blanked body: its rows, and its offsets in the text."""

    row: int
    last_row: int
    start: int
    end: int


class Outline(NamedTuple):
    """A text without some bodies, and those by the row of the `def` they belong to."""

    code: str
    bodies: dict[int, Body]


def outline(code: str, wanted: Wanted) -> Outline:
    """`code` without the bodies of the definitions that are not `wanted`; what lies inside one goes with it."""
    bodies: dict[int, Body] = {}
    pieces: list[str] = []
    done = seen = 0
    row = 1
    quoted = [0, 0]
    definition = _DEFINITION.search(code) if "\r" not in code else None
    while definition is not None:
        start = definition.start()
        row += code.count("\n", seen, start)
        for number, quotes in enumerate(_LONG_QUOTES):
            quoted[number] += code.count(quotes, seen, start)
        seen = start
        header = None if quoted[0] % 2 or quoted[1] % 2 else _HEADER.match(code, definition.end())
        last = definition.end()
        if header is not None:
            first = header.end()
            dedented = _dedented(len(definition.group(1))).search(code, first)
            last = len(code) if dedented is None else dedented.start()
            head = code.count("\n", start, first)
            rows = code.count("\n", first, last)
            last_row = row + head + rows - code.endswith("\n", first, last)
            if last - first > _SMALL and not wanted(row, last_row) and _is_whole(code, first, last):
                bodies[row] = Body(row + head, last_row, first, last)
                pieces += code[done : header.end(1)], " ...\n", "\n" * rows
                done = last
        definition = _DEFINITION.search(code, last)
    pieces.append(code[done:])
    return Outline("".join(pieces), bodies)


def parse_body(code: str, body: Body) -> list[ast.stmt]:
    """The statements of a body, at the positions they have in `code`. Raises what `ast.parse` raises."""
    # Whatever may stand in a function may stand in one that is `async`.
    alone = "\n" * (body.row - 2) + "async def _():\n" + code[body.start : body.end]
    function = ast.parse(alone).body[0]
    assert isinstance(function, ast.AsyncFunctionDef)
    return function.body


@lru_cache(maxsize=64)
def _dedented(indent: int) -> re.Pattern[str]:
    """Finds the next row with code at most so deep."""
    return re.compile(rf"^(?=[ \t]{{0,{indent}}}[^\s#])", re.MULTILINE)


def _is_whole(code: str, start: int, end: int) -> bool:
    """Whether every long string that starts in a body ends there, as far as counting tells."""
    return not any(code.count(quotes, start, end) % 2 for quotes in _LONG_QUOTES)
