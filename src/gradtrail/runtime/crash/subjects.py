"""Which live object an error is about: for each of torch's refusals, where in the frames it is found."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from gradtrail.runtime import facts
from gradtrail.runtime.crash.scene import MISSING, Scene
from gradtrail.runtime.torch_compat import MODIFIED, TORCH, name_of, parents_of, saved_of


class Subject(NamedTuple):
    """What an error is about: the object, MISSING where it is not at hand; how the program calls it; words for the sentence.

    Unless `exact`, the error is about a part of the object: a view that the failing statement made of it.
    """

    value: Any
    name: str
    fields: dict[str, Any]
    exact: bool = True


Reader = Callable[[Scene], Subject]


def of(key: str, scene: Scene) -> Subject | None:
    """What a refusal of kind `key` is about; None where that is not known."""
    reader = _READERS.get(key)
    found = reader(scene) if reader is not None else None
    if found is not None and found.exact and TORCH.is_tensor(found.value) and not _fits(key, found.value):
        return None  # the error is about another tensor, which has no name here
    return found


def _fits(key: str, tensor: Any) -> bool:
    """Whether a tensor is what the refusal is about: of the facts that the law speaks of, none is otherwise."""
    known = facts.of(tensor)
    return all(known[name] == wanted for name, wanted in _WANTED.get(key, ()))


_WANTED: dict[str, tuple[tuple[str, str], ...]] = {
    "non-leaf-optimizer": (("leaf", "no"),),
    "numpy-requires-grad": (("requires", "yes"),),
    "leaf-in-place": (("leaf", "yes"), ("requires", "yes")),
    "leaf-view-in-place": (("leaf", "no"), ("requires", "yes")),
    "multi-view-in-place": (("leaf", "no"), ("requires", "yes")),
    "function-view-in-place": (("leaf", "no"), ("requires", "yes")),
    "backward-no-grad-fn": (("requires", "no"),),
    "backward-twice": (("requires", "yes"),),
    "flag-of-non-leaf": (("leaf", "no"),),
    "retain-grad-of-untracked": (("requires", "no"),),
    "hook-of-untracked": (("requires", "no"),),
}
"""What holds of the tensor that a refusal is about."""


def _named(scene: Scene, value: Any, code: str, **fields: Any) -> Subject:
    name = code or (scene.names.of(value) if value is not MISSING else "")
    return Subject(value, name, fields)


def _optimized(scene: Scene) -> Subject:
    """The tensor that an optimizer was given. `add_param_group` calls it `param`."""
    tensor = scene.local("add_param_group", "param")
    optimizer = scene.local("add_param_group", "self")
    return _named(scene, tensor, "", optimizer=type(optimizer).__name__)


def _no_tensor(scene: Scene) -> Subject:
    """What stands where an optimizer wants a tensor."""
    given = _given(scene)
    other = scene.local("add_param_group", "param")
    kind = TORCH.module.typename(other) if other is not MISSING else ""
    return given._replace(fields={**given.fields, "type": kind})


def _in_two_groups(scene: Scene) -> Subject:
    """The parameter that an optimizer holds already, and is given once more."""
    given = _given(scene)
    optimizer = scene.local("add_param_group", "self")
    group = scene.local("add_param_group", "param_group")
    if TORCH.is_optimizer(optimizer) and type(group) is dict:
        held = {id(one) for known in optimizer.param_groups for one in known["params"]}
        for tensor in group.get("params", ()):
            if id(tensor) in held:
                return _named(scene, tensor, "", **given.fields)
    return Subject(MISSING, "", given.fields)


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
    operand = _operand(node, scene)
    code, written = scene.code(operand), scene.value(operand)
    for one in reversed(scene.inner):
        value = one.frame.f_locals.get("self", MISSING)
        if TORCH.is_tensor(value):
            is_written = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            is_same = written is value or (written is MISSING and is_written)
            return _named(scene, value, code if is_same else "", op=_operation(node, scene))
    if written is not MISSING and not TORCH.is_tensor(written):
        return Subject(MISSING, "", {})
    return _named(scene, written, code, op=_operation(node, scene))


def _operand(node: ast.AST | None, scene: Scene) -> ast.expr | None:
    """What a method is called on, or a function with; the left side of an operator; the target of an assignment."""
    if isinstance(node, ast.Call):
        first = next(iter(node.args), None)
        if not isinstance(node.func, ast.Attribute) or isinstance(scene.value(node.func.value), ModuleType):
            return first
        return node.func.value
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return node.value
    if isinstance(node, ast.BinOp):
        return node.left
    if isinstance(node, ast.AugAssign):
        return node.target
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        return target.value if isinstance(target, (ast.Attribute, ast.Subscript)) else target
    return _operand(node.value, scene) if isinstance(node, ast.Expr) else None


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
        written = {"op": "[...] ="}
        return Subject(scene.value(subscript.value), scene.code(subscript.value), written, exact=False)
    target = _operand(node, scene)
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
                operand = _operand(scene.node, scene)
                code = scene.code(operand) if TORCH.is_tensor(scene.value(operand)) else ""
                return _named(scene, value, code, shape=_size(value))
    return _receiver(scene)


def _size(tensor: Any) -> str:
    with TORCH.quietly():
        sizes = tuple(tensor.shape)
    return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"


def _modified(scene: Scene) -> Subject:
    """The tensor whose memory was written after a node of the graph had saved it; by its name, where one is left."""
    root = _root(scene)
    for node, memory in _saved(root.value, MODIFIED):
        for name, tensor in scene.names.in_memory(memory):
            return Subject(tensor, name, {"op": node}, exact=False)  # a view of it may have been kept
    return Subject(MISSING, "", {})


def _saved(root: Any, state: str) -> list[tuple[str, int]]:
    """The nodes behind a tensor that saved what is now in that state: their names, and where its memory begins."""
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
            found += [
                (name_of(node), memory)
                for _, how, memory in saved_of(node)
                if how == state and memory is not None
            ]
            waiting.extend(parents_of(node))
    return found


_MOST_NODES = 20_000


def _without_gradient(scene: Scene) -> Subject:
    """The parameters that DDP waits for: the error has their numbers, in the order in which the wrapper holds them."""
    told = _INDICES.search(scene.said)
    wrapper = scene.local("forward", "self")
    module = scene.value_of(wrapper, "module")
    if told is None or not TORCH.is_module(module):
        return Subject(MISSING, "", {})
    left_out = getattr(wrapper, "parameters_to_ignore", ())
    held = [
        (name, one) for name, one in module.named_parameters() if one.requires_grad and name not in left_out
    ]
    numbers = [int(number) for number in told[1].split()]
    if not numbers or max(numbers) >= len(held):
        return Subject(MISSING, "", {})
    names = tuple(held[number][0] for number in numbers)
    return Subject(held[numbers[0]][1], names[0], {"names": names}, exact=False)


_INDICES = re.compile(r"Parameter indices which did not receive grad for rank \d+: ([\d ]+)")

_READERS: dict[str, Reader] = {
    "non-leaf-optimizer": _optimized,
    **dict.fromkeys(
        (
            "optimizer-empty",
            "optimizer-not-iterable",
            "optimizer-bare-tensor",
            "optimizer-group-not-dict",
            "optimizer-group-without-params",
            "optimizer-set-in-group",
            "optimizer-names-missing",
            "optimizer-groups-names",
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
    **dict.fromkeys(
        (
            "numpy-requires-grad",
            "numpy-off-cpu",
            "numpy-conj",
            "flag-of-non-leaf",
            "retain-grad-of-untracked",
            "hook-of-untracked",
            "requires-grad-integer-method",
            "detach-view-in-place",
            "inference-requires-grad",
        ),
        _receiver,
    ),
    **dict.fromkeys(("backward-twice", "backward-no-grad-fn", "backward-non-scalar"), _root),
    "saved-modified": _modified,
    "ddp-unused": _without_gradient,
    "optimizer-not-tensor": _no_tensor,
    "optimizer-two-groups": _in_two_groups,
}
