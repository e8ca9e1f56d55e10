"""Functions with a gradient of one's own: `forward` computes, and `backward` stands in for the formula.

What `forward` does is not recorded. The whole of it is one node, which runs `backward` when its turn comes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from gradtrail.tiny import words
from gradtrail.tiny.autograd import Node, Saved, Tensor, check_write, new, rebase, records
from gradtrail.tiny.modes import is_grad_enabled, no_grad
from gradtrail.tiny.values import CPU, NotInTiny, Size, float32, plain_name, warn

_LACKING = {
    "name",
    "metadata",
    "next_functions",
    "register_hook",
    "register_prehook",
    "save_for_forward",
    "maybe_clear_saved_tensors",
}


class Context:
    """What `forward` leaves for `backward`."""

    _node: Node | None = None
    _dirty: tuple[Tensor, ...] = ()
    _constant: tuple[Tensor, ...] = ()
    _zeros = True
    to_save: tuple[Any, ...] = ()
    needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors: their versions are checked, and they are let go of after backward."""
        self.to_save = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say that inputs were written in place."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say that results have no gradient."""
        self._constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros for results that nobody used, or None."""
        self._zeros = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was kept."""
        if self._node is None:
            return self.to_save
        return tuple(each and each.unpack() for each in self._node.saved)

    def __getattr__(self, name: str) -> Any:
        if name in _LACKING or name.startswith(("_raw", "_saved", "_input")):
            raise NotInTiny(f"torch.autograd.Function's ctx.{name}")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


class Function:
    """An operation with a gradient of one's own: `forward` is not recorded, `backward` stands in for it."""

    def __init__(self, *_: Any, **__: Any) -> None:
        warn(words.NO_INSTANCES.format(type(self)), DeprecationWarning)

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        """The old way, which torch gave up."""
        raise RuntimeError(words.LEGACY)

    @staticmethod
    def forward(*_: Any, **__: Any) -> Any:
        """The result."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """What is kept, where `forward` does not tell it itself."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(*_: Any) -> Any:
        """The gradients of what went in, from those of what came out."""
        raise NotImplementedError(words.NO_BACKWARD)

    @classmethod
    def apply(cls, *arguments: Any, **keywords: Any) -> Any:
        """Run the function and record it as one node."""
        if any(name in vars(each) for each in cls.__mro__[:-2] for name in ("vmap", "jvp", "vjp")):
            raise NotInTiny("torch.autograd.Function with vmap, jvp or vjp")
        context = type(f"{cls.__name__}Backward", (Context,), {})()
        given_tensors = [isinstance(each, Tensor) for each in arguments]
        tensors = [each for each in arguments if isinstance(each, Tensor)]
        context.needs_input_grad = tuple(
            isinstance(each, Tensor) and each.requires_grad for each in arguments
        )
        recorded = records(tensors)
        node = _node_class(cls)(  # type: ignore[arg-type]
            tensors if recorded else (), ()
        )
        with no_grad():
            if cls.setup_context is Function.setup_context:
                given = cls.forward(context, *arguments, **keywords)
            else:
                given = cls.forward(*arguments, **keywords)
                cls.setup_context(context, arguments, given)
        results = given if isinstance(given, tuple) else (given,)
        _check_dirty(context, tensors, results, recorded)
        made = [_own_result(each, tensors, context._dirty) for each in results]
        if recorded:
            node.results = [
                (each.shape, each.dtype, each.device) if isinstance(each, Tensor) else (Size(), float32, CPU)
                for each in made
            ]
            node.run = functools.partial(_run_custom, cls, context, node, given_tensors)  # type: ignore[method-assign]
            for number, each in enumerate(made):
                if isinstance(each, Tensor) and each.dtype.is_floating_point:
                    _link(each, results[number], node, number, context)
            node.saved = [
                _kept(each, number, results, made, node) for number, each in enumerate(context.to_save)
            ]
            context._node = node
            node.context = context  # type: ignore[attr-defined]
        return tuple(made) if isinstance(given, tuple) else made[0]


@functools.cache
def _node_class(kind: type[Function]) -> type[Node]:
    """The class of a Function's nodes. What `forward` left in its context is found at the node, too."""

    def of_context(self: Any, name: str) -> Any:
        if "context" in vars(self) and not name.startswith("__"):
            return getattr(self.context, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    body = {"__module__": "torch.autograd.function", "__getattr__": of_context}
    return type(f"{kind.__name__}Backward", (Node,), body)


def _index(tensor: Any, among: Sequence[Any]) -> int:
    return next((i for i, each in enumerate(among) if each is tensor), -1)


def _check_dirty(context: Context, inputs: Sequence[Tensor], results: Sequence[Any], recorded: bool) -> None:
    """What was written in place has to be an input and a result, and must not be a leaf."""
    for each in context._dirty:
        each._counter.value += 1
    for each in context._dirty:
        if recorded and each.requires_grad and not each._edge:
            raise RuntimeError(words.LEAF_WRITTEN.replace("is being", "has been"))
        if _index(each, results) < 0:
            raise RuntimeError(words.DIRTY_IS_LOST)
        if _index(each, inputs) < 0:
            warn(words.DIRTY_IS_NO_INPUT)


def _own_result(result: Any, inputs: Sequence[Tensor], dirty: Sequence[Tensor]) -> Any:
    """A result that is an input, or looks at one, must not be written: its gradient is the Function's."""
    if not isinstance(result, Tensor) or _index(result, dirty) >= 0:
        return result
    if _index(result, inputs) >= 0:
        if result.requires_grad and not is_grad_enabled():
            return result.detach()
        result = result.view(*result.shape)
    if result._view:
        result._view = result._view._replace(how="function")
    return result


def _link(made: Tensor, result: Tensor, node: Node, number: int, context: Context) -> None:
    """Give a result its place in the graph; behind a view that was written, it is the base that has a new one."""
    if _index(result, context._constant) >= 0:
        made._edge, made._flag = None, False
        return
    is_dirty = _index(result, context._dirty) >= 0
    if is_dirty:
        made._grad = None
    if made._view and is_dirty:
        if len(node.results) > 1:
            raise NotInTiny("torch.autograd.Function that writes a view and has several results")
        check_write(made)
        rebase(made, node)
    else:
        made._edge, made._seen = (node, number), made._version


def _kept(tensor: Any, number: int, results: Sequence[Any], made: Sequence[Any], node: Node) -> Saved | None:
    if tensor is None:
        return None
    if not isinstance(tensor, Tensor):
        raise TypeError(words.KEEPS_TENSORS.format(number, plain_name(type(tensor))))
    index = _index(tensor, results)
    if index < 0:
        return Saved(tensor)
    return Saved(made[index], (node, index) if made[index]._edge else None)


def _run_custom(
    kind: type[Function],
    context: Context,
    node: Node,
    given_tensors: list[bool],
    gradients: list[Tensor | None],
) -> list[Tensor | None]:
    """`backward` of the Function, with zeros for results that nobody used."""
    filled = [
        new(np.zeros(shape, numbers.numpy), where) if each is None and context._zeros else each
        for each, (shape, numbers, where) in zip(gradients, node.results, strict=True)
    ]
    answer = kind.backward(context, *filled)
    found = list(answer) if isinstance(answer, tuple) else [answer]
    wanted = len(given_tensors)
    while len(found) > wanted and found[-1] is None:
        found.pop()
    if len(found) != wanted and found != [None]:
        raise RuntimeError(
            f"function {type(node).__name__} returned an incorrect number of gradients (expected {wanted}, got"
            f" {len(found)})"
        )
    if len(found) != wanted:
        found = [None] * wanted
    for number, (gradient, is_tensor) in enumerate(zip(found, given_tensors, strict=True), 1):
        if gradient is not None and not is_tensor:
            raise RuntimeError(words.GRADIENT_OF_NO_TENSOR.format(type(node).__name__, number))
    return [each for each, is_tensor in zip(found, given_tensors, strict=True) if is_tensor]
