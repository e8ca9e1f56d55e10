"""Objects that are made to walk methods nobody calls: what a real one may have gone through by then."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_STORED = re.compile(r"\.([A-Za-z_]\w*)\s*(?:,[^=()]*)?(?::[^=]*)?(?:[-+*/@|&^%]|//|\*\*|<<|>>)?=(?!=)")
"""An attribute that is assigned to in a row, perhaps as one of several targets."""


def written_later(lines: Iterable[str], tree: ast.AST, last_row: Callable[[Any], int]) -> frozenset[str]:
    """The attributes that a file assigns to outside of constructors, on whatever object."""
    rows = set[int]()
    for one in _constructors(tree):
        rows.update(range(one.lineno, last_row(one) + 1))
    return frozenset(
        name
        for row, line in enumerate(lines, 1)
        if row not in rows and "=" in line
        for name in _STORED.findall(line)
    )


def _constructors(tree: ast.AST) -> Iterator[Any]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.ClassDef, ast.If, ast.Try)):
            yield from _constructors(node)
        elif isinstance(node, ast.FunctionDef) and node.name == "__init__":
            yield node
