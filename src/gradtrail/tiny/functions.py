"""Functions with a gradient of one's own: `forward` computes, and `backward` stands in for the formula.

What `forward` does is not recorded. The whole of it is one node, which runs `backward` when its turn comes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from gradtrail.tiny import words
from gradtrail.tiny.autograd import Node, Saved, Tensor, is_grad_enabled, new, no_grad, node_class, records
from gradtrail.tiny.values import listed


class Context:
    """What `forward` leaves for `backward`."""

    def __init__(self) -> None:
        self.to_save: tuple[Any, ...] = ()
        self.needs_input_grad: tuple[bool, ...] = ()
        self._dirty: tuple[Tensor, ...] = ()
        self._node: Node | None = None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors: their versions are checked, and they are let go of after backward."""
        self.to_save = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say that inputs were written in place."""
        self._dirty = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was kept."""
        if self._node is None:
            return self.to_save
        return tuple(each and each.unpack() for each in self._node.saved)


class Function:
    """An operation with a gradient of one's own: `forward` is not recorded, `backward` stands in for it."""

    def __call__(self, *_: Any) -> NoReturn:
        """The old way, which torch gave up."""
        raise RuntimeError(words.LEGACY)

    @staticmethod
    def forward(*_: Any, **__: Any) -> Any:
        """The result."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(*_: Any) -> Any:
        """The gradients of what went in, from those of what came out."""
        raise NotImplementedError(words.NO_BACKWARD)

    @classmethod
    def apply(cls, *arguments: Any) -> Any:
        """Run the function and record it as one node."""
        context = Context()
        tensors = [each for each in arguments if isinstance(each, Tensor)]
        context.needs_input_grad = tuple(
            isinstance(each, Tensor) and each.requires_grad for each in arguments
        )
        recorded = records(tensors)
        with no_grad():
            given = cls.forward(context, *arguments)
        for each in context._dirty:
            if recorded and each.requires_grad and not each._edge:
                raise RuntimeError(words.LEAF_WRITTEN.replace("is being", "has been"))
            each._counter.value += 1
        results = listed(given)
        made = [_own_result(each, tensors, context._dirty) for each in results]
        if recorded:
            inputs = [each if isinstance(each, Tensor) else new(0.0) for each in arguments]
            node = node_class(f"{cls.__name__}Backward")(inputs, made)
            node.run = functools.partial(_run_custom, cls, context, node)  # type: ignore[method-assign]
            for number, each in enumerate(made):
                if each.dtype.is_floating_point:
                    each._edge, each._seen = (node, number), each._version
            kept = [
                made[index] if each is not None and (index := _index(each, results)) >= 0 else each
                for each in context.to_save
            ]
            node.saved = [
                None if each is None else Saved(each, node, any(each is one for one in made)) for each in kept
            ]
            context._node = node
        return tuple(made) if isinstance(given, tuple) else made[0]


def _index(tensor: Any, among: Sequence[Any]) -> int:
    return next((i for i, each in enumerate(among) if each is tensor), -1)


def _own_result(result: Tensor, inputs: Sequence[Tensor], dirty: Sequence[Tensor]) -> Tensor:
    """A result that is an input, or looks at one, must not be written: its gradient is the Function's."""
    if _index(result, inputs) >= 0 and _index(result, dirty) < 0:
        if result.requires_grad and not is_grad_enabled():
            return result.detach()
        result = result.view(*result.shape)
    if result._view:
        result._view = result._view._replace(how="function")
    return result


def _run_custom(
    kind: type[Function], context: Context, node: Node, gradients: list[Tensor | None]
) -> list[Tensor | None]:
    """`backward` of the Function, with zeros for results that nobody used."""
    filled = [
        new(np.zeros(shape, numbers.numpy), where) if each is None else each
        for each, (shape, numbers, where) in zip(gradients, node.results, strict=True)
    ]
    found = listed(kind.backward(context, *filled))
    wanted = len(node.next_functions)
    while len(found) > wanted and found[-1] is None:
        found.pop()
    if len(found) != wanted and found != [None]:
        raise RuntimeError(
            f"function {type(node).__name__} returned an incorrect number of gradients (expected {wanted}, got"
            f" {len(found)})"
        )
    return found if len(found) == wanted else [None] * wanted
