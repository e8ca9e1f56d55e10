"""Which live object an error is about: for each of torch's refusals, where in the frames it is found."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NamedTuple

from gradtrail.runtime.crash.scene import MISSING, Scene
from gradtrail.runtime.torch_compat import FREED, MODIFIED, TORCH, parents_of, saved_of


class Subject(NamedTuple):
    """What an error is about: the object, MISSING where it is not at hand; how the program calls it; words for the sentence."""

    value: Any
    name: str
    fields: dict[str, Any]


Reader = Callable[[Scene], Subject]


def of(key: str, scene: Scene) -> Subject:
    """What a refusal of kind `key` is about."""
    reader = _READERS.get(key)
    return reader(scene) if reader is not None else _receiver(scene)


def _named(scene: Scene, value: Any, code: str, **fields: Any) -> Subject:
    name = code or (scene.names.of(value) if value is not MISSING else "")
    return Subject(value, name, fields)


def _optimized(scene: Scene) -> Subject:
    """The tensor that an optimizer was given. `add_param_group` calls it `param`."""
    tensor = scene.local("add_param_group", "param")
    optimizer = scene.local("add_param_group", "self")
    name = scene.names.of(tensor) if tensor is not MISSING else ""
    return Subject(tensor, name or _first_argument(scene), {"optimizer": type(optimizer).__name__})


def _given(scene: Scene) -> Subject:
    """What an optimizer was made of, as the program writes it."""
    called = scene.node.func if isinstance(scene.node, ast.Call) else None
    optimizer = scene.code(called).rpartition(".")[2] or "the optimizer"
    for function in ("add_param_group", "__init__"):
        owner = scene.local(function, "self")
        if TORCH.is_optimizer(owner):
            optimizer = type(owner).__name__
            break
    return Subject(MISSING, _first_argument(scene), {"optimizer": optimizer})


def _first_argument(scene: Scene) -> str:
    if not isinstance(scene.node, ast.Call):
        return ""
    given = [*scene.node.args, *(one.value for one in scene.node.keywords if one.arg == "params")]
    return scene.code(given[0]) if given else ""


def _receiver(scene: Scene) -> Subject:
    """What a method was called on, an attribute asked of, or an operator applied to."""
    node = scene.node
    for one in reversed(scene.inner):
        value = one.frame.f_locals.get("self", MISSING)
        if TORCH.is_tensor(value):
            return _named(scene, value, scene.code(_operand(node)))
    operand = _operand(node)
    return _named(scene, scene.value(operand), scene.code(operand), op=_operation(node, scene))


def _operand(node: ast.AST | None) -> ast.expr | None:
    if isinstance(node, ast.Call):
        return node.func.value if isinstance(node.func, ast.Attribute) else next(iter(node.args), None)
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return node.value
    if isinstance(node, ast.BinOp):
        return node.left
    if isinstance(node, ast.AugAssign):
        return node.target
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        return target.value if isinstance(target, (ast.Attribute, ast.Subscript)) else target
    return node.value if isinstance(node, ast.Expr) and _operand(node.value) is None else None


def _operation(node: ast.AST | None, scene: Scene) -> str:
    if isinstance(node, ast.Call):
        return scene.code(node.func).rpartition(".")[2]
    return ""


def _written(scene: Scene) -> Subject:
    """What was written in place: the target of the statement, or what the method was called on."""
    node = scene.node
    if isinstance(node, ast.Subscript) or (
        isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript)
    ):
        subscript = node if isinstance(node, ast.Subscript) else node.target
        assert isinstance(subscript, ast.Subscript)
        return _named(scene, scene.value(subscript.value), scene.code(subscript.value), op="[...] =")
    target = _operand(node)
    written = {"op": _sign(node)} if isinstance(node, ast.AugAssign) else {"op": _operation(node, scene)}
    return Subject(scene.value(target), scene.code(target), written)


_SIGNS = {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.Div: "/=", ast.Pow: "**=", ast.MatMult: "@="}


def _sign(node: ast.AugAssign) -> str:
    return _SIGNS.get(type(node.op), "in place")


def _root(scene: Scene) -> Subject:
    """What the backward began at. In torch's Python it is `self`, `tensors` or `outputs`."""
    for one in scene.inner:
        space = one.frame.f_locals
        for name in ("self", "tensors", "t_outputs", "outputs"):
            value = space.get(name, MISSING)
            if type(value) in (tuple, list) and value:
                value = value[0]
            if TORCH.is_tensor(value):
                operand = _operand(scene.node)
                code = scene.code(operand) if TORCH.is_tensor(scene.value(operand)) else ""
                return _named(scene, value, code)
    return _receiver(scene)


def _modified(scene: Scene) -> Subject:
    """The tensor whose memory was written after a node of the graph had saved it; by its name, where one is left."""
    root = _root(scene)
    for memory in _memories(root.value, MODIFIED):
        for name, tensor in scene.names.in_memory(memory):
            return Subject(tensor, name, root.fields)
    return Subject(MISSING, "", root.fields)


def _memories(root: Any, state: str) -> list[int]:
    if not TORCH.is_tensor(root):
        return []
    found = []
    with TORCH.quietly():
        waiting: list[Any] = [root.grad_fn]
        seen: set[Any] = set()
        while waiting and len(seen) < _MOST_NODES:
            node = waiting.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            found += [memory for _, how, memory in saved_of(node) if how == state and memory is not None]
            waiting.extend(parents_of(node))
    return found


_MOST_NODES = 20_000

_READERS: dict[str, Reader] = {
    "non-leaf-optimizer": _optimized,
    **dict.fromkeys(
        (
            "optimizer-empty",
            "optimizer-not-tensor",
            "optimizer-not-iterable",
            "optimizer-bare-tensor",
            "optimizer-group-not-dict",
            "optimizer-group-without-params",
            "optimizer-set-in-group",
            "optimizer-names-missing",
            "optimizer-groups-names",
            "optimizer-two-groups",
            "optimizer-lbfgs-groups",
            "optimizer-muon-dims",
        ),
        _given,
    ),
    **dict.fromkeys(
        (
            "leaf-in-place",
            "leaf-view-in-place",
            "multi-view-in-place",
            "no-grad-view-in-place",
            "function-view-in-place",
            "expanded-in-place",
            "inference-in-place",
            "result-type-cast",
        ),
        _written,
    ),
    **dict.fromkeys(("backward-twice", "backward-no-grad-fn", "backward-non-scalar"), _root),
    "saved-modified": _modified,
}

__all__ = ["FREED", "Reader", "Subject", "of"]
