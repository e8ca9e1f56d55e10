"""The cells that IPython has run, as one notebook: the cell with the number 3 is `In[3]`.

So the interpreter sees them as one program, and a place in one is told as a place in the cell of a notebook file.
"""

from __future__ import annotations

import ast
import json
import os
import re
from types import TracebackType
from typing import Any

_RAISED = "<raised>"
"""A row that is no Python: of a cell with it the reader of notebooks knows which names it speaks of, and no more."""

_EMPTY_ROWS = re.compile(r"\A(?:[ \t]*\n)+")

_AT_ONCE = tuple(
    os.path.join("torch", *name.split("/"))
    for name in ("_tensor.py", "autograd/__init__.py", "autograd/graph.py")
)
"""Files of torch behind a call of a tensor that is refused as a whole."""


class Cells:
    """What `shell`, an IPython, has run so far.

    A cell that raised has run as far as the statement that did. What that one speaks of is not known in the cells behind it,
    unless it was one operation that torch refused.
    """

    def __init__(self, shell: Any) -> None:
        self.filename = os.path.abspath("In")
        self._shell = shell
        self._ran: dict[int, str] = {}
        """What has run of a cell that raised."""

    @property
    def count(self) -> int:
        """The number of the newest cell."""
        return len(self._said()) - 1

    def raised(self, number: int, trace: TracebackType | None) -> None:
        """The cell with this number has raised, and its exception went this way."""
        while trace is not None and self.number_of(trace.tb_frame.f_code.co_filename) != number:
            trace = trace.tb_next
        row = 0 if trace is None else trace.tb_lineno
        inner = []
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
            inner.append(trace.tb_frame.f_code.co_filename)
        at_once = all(filename.endswith(_AT_ONCE) for filename in inner)
        self._ran[number] = _ran(self._said()[number], row, at_once)

    def number_of(self, filename: str) -> int | None:
        """The number of the cell that code was compiled from by this name; of several that are alike the newest."""
        label = self._shell.compile.format_code_name(filename)
        found = re.fullmatch(r"In\[(\d+)\]", label[1]) if label else None
        number = int(found.group(1)) if found else 0
        return number if 0 < number <= self.count else None

    def data(self) -> bytes:
        """The notebook."""
        newest = self.count
        cells = [
            {
                "cell_type": "code",
                "source": self._ran.get(number, said) if number < newest else said,
            }
            for number, said in enumerate(self._said())
            if number
        ]
        return json.dumps({"nbformat": 4, "cells": cells}).encode("utf-8")

    def _said(self) -> list[str]:
        """The cells by their numbers, without the empty rows at their top, as IPython counts rows; none has the number 0."""
        return [_EMPTY_ROWS.sub("", said) for said in self._shell.history_manager.input_hist_raw]


def _ran(said: str, row: int, at_once: bool) -> str:
    """The rows of a cell that have run before one raised, where that is one call which was refused `at_once`; else what it speaks of."""
    try:
        statements = ast.parse(said).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return f"{said}\n{_RAISED}"
    raised = next((one for one in statements if one.lineno <= row <= (one.end_lineno or one.lineno)), None)
    if raised is None:
        return f"{said}\n{_RAISED}"
    if not at_once or not isinstance(raised, (ast.Expr, ast.Assign)) or _calls(raised) > 1:
        return f"{said}\n{_RAISED}"
    rows = said.split("\n")
    beside = rows[raised.lineno - 1].encode("utf-8")[: raised.col_offset].decode("utf-8")
    return "\n".join([*rows[: raised.lineno - 1], beside])


def _calls(statement: ast.stmt) -> int:
    """How many calls a statement writes, or what else may have had an effect before it raised."""
    return sum(isinstance(node, (ast.Call, ast.NamedExpr, ast.Await)) for node in ast.walk(statement))
