"""How an operation is made: a function that computes a step becomes one that makes a tensor, and a method.

Then what most operations need: operands of one type, on one device, in shapes that fit; and gradients that are
nothing, or a product.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtrail.tiny import words
from gradtrail.tiny.autograd import (
    Step,
    Tensor,
    check_write,
    new,
    record,
    records,
    write,
)
from gradtrail.tiny.calls import Made, function
from gradtrail.tiny.modes import is_grad_enabled
from gradtrail.tiny.values import (
    DTYPES,
    Array,
    NotInTiny,
    axis_of,
    check_memory,
    common_device,
    dtype,
    float32,
    float64,
    listed,
    plain_name,
)

# ---------------------------------------------------------------------------- functions and methods


def named(name: str) -> Callable[[Made], Made]:
    """The name that torch has for a function, where Python has a function of that name: `sum`, `abs`."""

    def rename(function: Made) -> Made:
        function.__name__ = name
        return function

    return rename


def method(made: Made, more: Sequence[str] = ()) -> Made:
    """A function that is a method of tensors as well: `torch.sum(x)` and `x.sum()`."""
    name = made.__name__
    setattr(Tensor, name, function(made, f"torch.Tensor.{name}", more))
    return function(made, f"torch.{name}", more)


def methods(**members: Any) -> None:
    """Give tensors methods and properties, by name."""
    for name, member in members.items():
        plain = inspect.isfunction(member) and not name.startswith("__")
        setattr(Tensor, name, function(member, f"torch.Tensor.{name}") if plain else member)


def recorded(step: Callable[..., Step]) -> Callable[..., Tensor]:
    """A function that records the step and gives its result."""

    @functools.wraps(step)
    def made(*arguments: Any, out: Tensor | None = None, **keywords: Any) -> Tensor:
        with np.errstate(all="ignore"):
            taken = step(*arguments, **keywords)
        if out is None:
            return record(taken)
        if records((*taken.inputs, out)):
            raise RuntimeError(f"{step.__name__}(): {words.NO_OUT}")
        if out.shape != np.shape(taken.value):
            raise NotInTiny(f"torch.{step.__name__}(out=) that changes the shape of `out`")
        check_memory(out._array, [each._array for each in taken.inputs])
        return write(out, taken)

    return made


def operation(step: Callable[..., Step]) -> Callable[..., Tensor]:
    """An operation that makes a new tensor, as a function and as a method."""
    return method(recorded(step), ("out",))


def elementwise(step: Callable[..., Step]) -> Callable[..., Tensor]:
    """An operation that can be done in place too: `mul` and `mul_`."""

    def in_place(self: Tensor, *arguments: Any, **keywords: Any) -> Tensor:
        others = [each for each in arguments if isinstance(each, Tensor)]
        if records((self, *others)):
            check_write(self)
        if others or step.__name__ != "fill":  # a number may fill a place several times
            read = [] if step.__name__ == "fill" else [each._array for each in others]
            check_memory(self._array, read)
        with np.errstate(all="ignore"):
            return write(self, step(self, *arguments, **keywords))

    in_place.__signature__ = inspect.signature(step)  # type: ignore[attr-defined]
    methods(**{f"{step.__name__}_": in_place})
    return operation(step)


# ----------------------------------------------------------------------------------------- operands


def wrapped(value: Any) -> Tensor:
    """A number as a tensor: its type gives way to that of a tensor of the same kind."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, complex) and not isinstance(value, int | float):
        raise NotInTiny("torch.complex64")
    if not isinstance(value, int | float | np.number | np.bool_):
        raise TypeError(f"argument must be Tensor or Number, not {plain_name(type(value))}")
    number = new(np.asarray(value, _kind_of(value)))
    number._is_number = True
    return number


def _kind_of(value: Any) -> str:
    whole = isinstance(value, int | np.integer)
    return "bool" if isinstance(value, bool | np.bool_) else "int64" if whole else "float64"


def common_dtype(tensors: Sequence[Tensor]) -> dtype:
    """The type of a result: tensors with dimensions decide, then those without, then numbers."""
    found: dtype | None = None
    for rank in (2, 1, 0):
        ranked = [each for each in tensors if (0 if each._is_number else 2 if each.ndim else 1) == rank]
        kinds = [float32 if each._is_number and each.dtype is float64 else each.dtype for each in ranked]
        best = max(kinds, key=list(DTYPES.values()).index, default=None)
        if best and (found is None or best.kind > found.kind):
            found = best
    assert found is not None
    return found


def same_device(kernel: str, **tensors: Tensor) -> None:
    """What operations with a kernel of their own say: the first tensor decides, another one is named."""
    first = next(iter(tensors.values())).device
    for name, each in tensors.items():
        if each.device != first:
            raise RuntimeError(
                f"{words.DEVICES}, but got {name} is on {each.device}, different from other tensors on {first}"
                f" (when checking argument in method wrapper_CUDA_{kernel})"
            )


def check_broadcast(one: Sequence[int], other: Sequence[int]) -> None:
    """Refuse shapes that do not broadcast."""
    for back, (first, second) in enumerate(zip(reversed(one), reversed(other), strict=False)):
        if first != second and 1 not in (first, second):
            raise RuntimeError(
                f"The size of tensor a ({first}) must match the size of tensor b ({second}) at"
                f" non-singleton dimension {max(len(one), len(other)) - 1 - back}"
            )


def operands(*values: Any) -> tuple[list[Tensor], list[Array]]:
    """Operands as tensors, and their arrays in a common type; shapes that do not broadcast are refused."""
    tensors = [wrapped(each) for each in values]
    common_device(tensors)
    common = common_dtype(tensors)
    for one, other in itertools.pairwise(each.shape for each in tensors):
        check_broadcast(one, other)
    return tensors, [each._array.astype(common.numpy, copy=False) for each in tensors]


def floating(self: Tensor) -> Array:
    """The array, integers as float32: what functions such as `exp` compute with."""
    return self._array if self.dtype.is_floating_point else self._array.astype("f4")


def axes_of(self: Tensor, dim: Any) -> tuple[int, ...]:
    """The dimensions that are meant: one, several, or None for all."""
    if dim is None or dim in ((), []):
        return tuple(range(self.ndim))
    return tuple(axis_of(each, self.ndim) for each in listed(dim))


def check_expand(self: Tensor, shape: Sequence[int]) -> None:
    """Refuse a shape that the tensor does not broadcast to."""
    if len(shape) < self.ndim:
        raise RuntimeError(
            f"expand({self.type()}{{{list(self.shape)}}}, size={list(shape)}): the number of sizes provided"
            f" ({len(shape)}) must be greater or equal to the number of dimensions in the tensor ({self.ndim})"
        )
    for back, (size, target) in enumerate(zip(reversed(self.shape), reversed(shape), strict=False), 1):
        if size not in (1, target):
            raise RuntimeError(
                f"The expanded size of the tensor ({target}) must match the existing size ({size}) at"
                f" non-singleton dimension {len(shape) - back}.  Target sizes: {list(shape)}.  Tensor sizes:"
                f" {list(self.shape)}"
            )


# ---------------------------------------------------------------------------------------- gradients


def nothing(gradient: Tensor) -> Tensor:
    """The gradient of what does not depend on its input."""
    return new(np.zeros(gradient.shape, gradient._array.dtype), gradient.device)


def times(gradient: Tensor, factor: Tensor | None) -> Tensor | None:
    """The product; None where the factor was not kept because nobody wants that gradient."""
    return None if factor is None else gradient * factor


def wants(self: Tensor) -> bool:
    """Whether there is a node for its gradient to go to: a view made under no_grad has none."""
    return is_grad_enabled() and self.requires_grad and self._inward()[0] is not None
