"""Who calls a function without a graph, told by the rows of files: enough to hold back what only a caller decides."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ENDS = re.compile(r"\b(?:no_grad|inference_mode)\b|set_grad_enabled\(False\)")
_NAME = re.compile(r"(?<![\w\"'])([A-Za-z_]\w*)\s*(?=[(,)])")
_DEFINED = re.compile(r"\s*(?:async\s+)?def\s+(\w+)")
_ROUNDS = 4
"""How far calls of calls are followed."""

MARKS = (b"no_grad", b"inference_mode", b"set_grad_enabled(False)")
"""What a file holds that may end the graph for its callees."""


def called_without_graph(texts: Iterable[str], known: Iterable[str] = ()) -> frozenset[str]:
    """The names that are called, or handed on, in blocks and functions without a graph, beside those that are `known`.

    What a function calls counts as well when the function itself is called so.
    """
    outside: dict[str, set[str]] = {}
    found: set[str] = set(known)
    for text in texts:
        _read(text.splitlines(), found, outside)
    for _ in range(_ROUNDS):
        further = set().union(*(outside[name] for name in found if name in outside)) - found
        if not further:
            break
        found |= further
    return frozenset(found)


def _read(lines: list[str], found: set[str], outside: dict[str, set[str]]) -> None:
    """Put the names of rows without a graph into `found`, those of other functions into `outside` by function."""
    quiet: list[int] = []  # indentations of the blocks without a graph that are open
    functions: list[tuple[int, str]] = []  # those of functions
    marked = False
    for line in lines:
        code = line.lstrip()
        if not code or code.startswith("#"):
            continue
        depth = len(line) - len(code)
        if code.startswith("@"):
            marked = marked or _ENDS.search(code) is not None
            continue
        if code[0] not in ")]}":
            quiet = [one for one in quiet if one < depth]
            functions = [one for one in functions if one[0] < depth]
        defined = _DEFINED.match(line)
        if defined is not None:
            functions.append((depth, defined.group(1)))
            if marked:
                quiet.append(depth)
        elif _ENDS.search(code) is not None:
            if code.startswith(("with ", "async with ")):
                quiet.append(depth)
            elif "set_grad_enabled" in code:
                quiet.append(depth - 1)
        elif quiet:
            found.update(_NAME.findall(line))
        else:
            for _, name in functions[-1:]:
                outside.setdefault(name, set()).update(_NAME.findall(line))
        marked = False
