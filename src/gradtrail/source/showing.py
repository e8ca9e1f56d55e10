"""Where the value of an expression is shown to whoever runs it: at the end of a cell, and behind a prompt.

Cells are those of a notebook, of a script with `# %%` between them, and of a session that was pasted.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Sequence

from gradtrail.source.text import SourceText

_CELL_OF_SCRIPT = re.compile(r"#[ \t]?%%(?:[ \t]|$)")
_PROMPT = re.compile(r"[ \t]*(?:>>>|In ?\[[ \d*]*\]:)(?: |$)")


def is_shown(source: SourceText, body: Sequence[ast.stmt], value: ast.expr) -> bool:
    """Whether `value` is a statement of `body`, the top of a program, whose value is shown."""
    starts = _starts(source)
    if not starts:
        return False
    for index, statement in enumerate(body):
        if not isinstance(statement, ast.Expr) or statement.value is not value:
            continue
        below = body[index + 1] if index + 1 < len(body) else None
        if below is not None and bisect_right(starts, below.lineno) == bisect_right(starts, statement.lineno):
            return False
        place = source.place(statement)
        rest = source.line(place.end_row or place.row)[(place.end_column or place.column) - 1 :]
        return not rest.lstrip().startswith(";")  # which keeps a notebook from showing it
    return False


def _starts(source: SourceText) -> Sequence[int]:
    """The rows at which cells begin; none in a plain program."""
    if source.cells is not None:
        return source.cells.starts
    if source.is_repaired:
        return [row for row, line in enumerate(source.lines, 1) if _PROMPT.match(line)]
    if "%%" in source.text:
        return [row for row, line in enumerate(source.lines, 1) if _CELL_OF_SCRIPT.match(line)]
    return ()
