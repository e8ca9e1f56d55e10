"""The way by which a live tensor became what it is: its graph, and the lines that made it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from gradtrail.interp.events import Step, shortened
from gradtrail.interp.trails import SENTENCES
from gradtrail.laws import operations
from gradtrail.laws.text import text
from gradtrail.runtime.places import Sources
from gradtrail.runtime.recorder import Recorder
from gradtrail.runtime.torch_compat import TORCH, name_of, number_of, parents_of, variable_of
from gradtrail.source.place import Place

LONGEST = 7
"""Steps before the place itself."""

_FURTHEST = 500
"""Nodes that are gone through towards a leaf."""


def of(tensor: Any, recorder: Recorder | None, sources: Sources) -> tuple[Step, ...]:
    """The steps of a live tensor, from its leaf to itself, as far as their lines were recorded, each place once."""
    if recorder is None or not TORCH.is_tensor(tensor):
        return ()
    with TORCH.quietly():
        node = tensor.grad_fn
    steps = [found for one in reversed(list(_way(node))) for found in step(one, recorder, sources)]
    once = {(step.place, step.kind): step for step in steps}
    return tuple(shortened(list(once.values()), LONGEST))


def _way(node: Any) -> Iterator[Any]:
    """The nodes from one to a leaf: at each the first parent, which is what the operation was called on."""
    seen = 0
    while node is not None and variable_of(node) is None and seen < _FURTHEST:
        yield node
        seen += 1
        node = next(parents_of(node), None)


def step(node: Any, recorder: Recorder, sources: Sources) -> Iterator[Step]:
    """The step of the operation that made a node, where its line was recorded."""
    number = number_of(node)
    line = recorder.line_of(number) if number is not None else None
    if line is None:
        return
    for caller, at in recorder.callers_of(number or 0):
        place = sources.row(caller, at)
        statement = sources.statement(place)
        called = place if statement is None else sources.place_of(place.filename, statement)
        yield Step(called, "call", text(SENTENCES["call-of-nameless"]), number or 0)
    code, row = line
    place, operation = _expression(sources.row(code, row), name_of(node), sources)
    yield Step(place, "computed", text(SENTENCES["computed"], op=operation), number or 0)


def _expression(at: Place, node: str, sources: Sources) -> tuple[Place, str]:
    """What on a row made a node of this name: the one expression that can have, else the row; and how the operation is called."""
    tree = sources.tree(at.filename)
    names = operations_of(node)
    plain = names[0] if names else node
    if tree is None:
        return at, plain
    row = sources.whole(at).row
    fitting = [
        (one, said)
        for one in ast.walk(tree)
        if isinstance(one, (ast.expr, ast.AugAssign)) and one.lineno <= row <= (one.end_lineno or one.lineno)
        for said, meant in [_said(one)]
        if meant in names
    ]
    if len(fitting) != 1:
        statement = sources.statement(at)
        return (at if statement is None else sources.place_of(at.filename, statement)), plain
    return sources.place_of(at.filename, fitting[0][0]), fitting[0][1]


_OPERATORS: dict[type, tuple[str, str]] = {
    ast.Add: ("+", "add"),
    ast.Sub: ("-", "sub"),
    ast.Mult: ("*", "mul"),
    ast.Div: ("/", "div"),
    ast.Pow: ("**", "pow"),
    ast.MatMult: ("@", "matmul"),
    ast.USub: ("-", "neg"),
}


def _said(node: ast.AST) -> tuple[str, str]:
    """How an expression writes its operation, and the operation that it means."""
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        return _OPERATORS.get(type(node.op), ("", ""))
    if isinstance(node, ast.AugAssign):
        sign, name = _OPERATORS.get(type(node.op), ("", ""))
        return f"{sign}=", name
    if isinstance(node, ast.Subscript):
        return "[...]", "indexing"
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return called, called.rstrip("_")
    return "", ""


_INDEXING = frozenset(("Select", "Slice", "Index", "Unbind", "Alias", "Unsqueeze"))


@lru_cache(maxsize=512)
def operations_of(node: str) -> tuple[str, ...]:
    """The operations that make a node of this name, as "MulBackward0", by the table of the laws."""
    base = node.rstrip("0123456789")
    if not base.endswith("Backward"):
        return ()
    stem = base.removesuffix("Backward")
    found = dict.fromkeys(
        operations.public_name(name).rpartition(".")[2]
        for name, known in _nodes()
        if known.rstrip("0123456789") == base
    )
    if stem in _INDEXING:
        found.setdefault("indexing")
    if stem == "ToCopy":
        found.update(dict.fromkeys(("to", "cuda", "cpu", "float", "double", "half", "bfloat16", "type")))
    return tuple(found)


@lru_cache(maxsize=1)
def _nodes() -> tuple[tuple[str, str], ...]:
    rows = ((name, operations.operation(name)) for name in operations.names())
    return tuple((name, row.node) for name, row in rows if row is not None and row.node)
