"""The vocabulary of facts about a value, and how torch is asked whether one holds.

    leaf, non-leaf                      is_leaf
    requires grad, no grad              requires_grad
    grad_fn=MulBackward0                the name of the node that made it
    Parameter                           an nn.Parameter
    same as y                           the very object that the expression `y` gives
    shares storage with y               the same memory
    device=cpu, dtype=float32, shape=(2, 3)
    one element, many elements          exactly one, or more than one
    version=1                           the version counter
    reaches b, w                        the leaves that its gradient reaches, all of them and no others
    reaches nothing                     no leaf

Names in facts are expressions in the scope where the value is revealed.
"""

from __future__ import annotations

import re
from types import FrameType
from typing import Any

PLAIN = frozenset(
    ("leaf", "non-leaf", "requires grad", "no grad", "Parameter", "one element", "many elements")
)
ASKING = re.compile(
    r"(grad_fn=\w+|device=\w+(:\d+)?|dtype=\w+|shape=\(.*\)|version=\d+"
    r"|same as .+|shares storage with .+|reaches .+)\Z"
)
NOTHING = "nothing"


class BadFact(Exception):
    """A fact outside the vocabulary, or one that speaks of a name that is not in scope."""


def split_facts(text: str) -> list[str]:
    """The facts of a comment, separated by commas; `reaches` takes all that follows it.

    Raises `BadFact` for what is not in the vocabulary.
    """
    before, word, names = text.partition("reaches ")
    facts = [part.strip() for part in re.split(r",(?![^(]*\))", before) if part.strip()]
    if word:
        facts.append(reaching(names.split(",")))
    for fact in facts:
        if fact not in PLAIN and not ASKING.match(fact):
            raise BadFact(fact)
    return facts


def reaching(names: list[str]) -> str:
    """The fact that a gradient reaches the leaves of these names, in its one spelling."""
    return "reaches " + ", ".join(sorted(name.strip() for name in names))


def holds(fact: str, value: Any, frame: FrameType) -> bool:
    """Whether the fact is true of the value, asked of torch now. Names are looked up in `frame`.

    Raises `BadFact` when a name of the fact is not in scope.
    """
    if fact in PLAIN:
        return fact in plain_facts(value)
    word, _, rest = fact.partition("=")
    if word == "grad_fn":
        return grad_fn_of(value) == rest
    if word == "device":
        return hasattr(value, "device") and str(value.device) == rest
    if word == "dtype":
        return hasattr(value, "dtype") and str(value.dtype).rpartition(".")[2] == rest
    if word == "shape":
        return hasattr(value, "shape") and str(tuple(value.shape)) == rest
    if word == "version":
        return version_of(value) == int(rest)
    return holds_between(fact, value, frame)


def holds_between(fact: str, value: Any, frame: FrameType) -> bool:
    """Whether a fact that names other values is true."""
    if fact.startswith("same as "):
        return look_up(fact[len("same as ") :], frame) is value
    if fact.startswith("shares storage with "):
        return memory_of(look_up(fact[len("shares storage with ") :], frame)) == memory_of(value)
    names = fact[len("reaches ") :]
    leaves = [] if names == NOTHING else [look_up(name, frame) for name in names.split(", ")]
    return {id(leaf) for leaf in leaves} == {id(leaf) for leaf in leaves_reached(value)}


def look_up(expression: str, frame: FrameType) -> Any:
    """What the expression gives in the scope of `frame`. Raises `BadFact`."""
    try:
        return eval(expression, frame.f_globals, frame.f_locals)
    except (AttributeError, IndexError, KeyError, NameError, SyntaxError, TypeError) as error:
        raise BadFact(f"{expression}: {error}") from error


def plain_facts(value: Any) -> set[str]:
    """Those facts of `PLAIN` that are true of the value. None for what is no tensor."""
    import torch

    if not isinstance(value, torch.Tensor):
        return set()
    facts = {
        "leaf" if value.is_leaf else "non-leaf",
        "requires grad" if value.requires_grad else "no grad",
    }
    if isinstance(value, torch.nn.Parameter):
        facts.add("Parameter")
    if value.numel() > 0:
        facts.add("one element" if value.numel() == 1 else "many elements")
    return facts


def known_facts(value: Any) -> set[str]:
    """Every fact that is true of the value and names no other one."""
    import torch

    facts = plain_facts(value)
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).rpartition(".")[2]
        facts |= {f"device={value.device}", f"dtype={dtype}", f"shape={tuple(value.shape)}"}
        if grad_fn_of(value):
            facts.add(f"grad_fn={grad_fn_of(value)}")
        if version_of(value) is not None:
            facts.add(f"version={version_of(value)}")
    return facts


def grad_fn_of(value: Any) -> str | None:
    """The name of the node that made the value, as torch prints it, or None."""
    node = getattr(value, "grad_fn", None)
    return None if node is None else str(node.name()).rpartition("::")[2]


def version_of(value: Any) -> int | None:
    """The version counter; None where there is none, as for inference tensors."""
    try:
        return int(value._version)
    except (AttributeError, RuntimeError):
        return None


def memory_of(value: Any) -> int | None:
    """Where the memory of a tensor or an array begins. For an array that is a view, where its base begins."""
    import numpy

    if isinstance(value, numpy.ndarray):
        while isinstance(value.base, numpy.ndarray):
            value = value.base
        return int(value.__array_interface__["data"][0])
    return int(value.untyped_storage().data_ptr()) if hasattr(value, "untyped_storage") else None


def leaves_reached(value: Any) -> list[Any]:
    """The leaves that a gradient of the value reaches: itself when it is a leaf that requires grad."""
    node = getattr(value, "grad_fn", None)
    if node is None:
        return [value] if getattr(value, "requires_grad", False) else []
    leaves, seen, waiting = [], {node}, [node]
    while waiting:
        node = waiting.pop()
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return leaves
