"""Operations that take many numbers together: sums, means, the greatest and the least.

What went into a sum gets all of its gradient; what was the greatest gets it alone.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradtrail.tiny.arithmetic import where
from gradtrail.tiny.autograd import RESULT, Step, Tensor, new, record
from gradtrail.tiny.operations import axes_of, method, named, operands, operation
from gradtrail.tiny.values import NotInTiny, Size, axis_of, dtype_meant, int64, plain_name


def _unsummed(gradient: Tensor, shape: Size, axes: tuple[int, ...], keepdim: bool) -> Any:
    """The gradient of a sum: each that went in gets what came out."""
    if shape and not keepdim:
        gradient = gradient.reshape(*(1 if i in axes else size for i, size in enumerate(shape)))
    return gradient.expand(*shape)


@operation
@named("sum")
def total(self: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Step:
    """The sum, of all or along dimensions."""
    shape, axes = self.shape, axes_of(self, dim)
    own = self.dtype if self.dtype.is_floating_point else int64
    kind = own if dtype is None else dtype_meant(dtype)
    value = self._array.sum(axes if self.ndim else None, dtype=kind.numpy, keepdims=keepdim)
    name = "SumBackward0" if dim is None else "SumBackward1"
    return Step(name, value, (self,), lambda g: _unsummed(g, shape, axes, keepdim))


@operation
def mean(self: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Step:
    """The mean, of all or along dimensions."""
    if dtype is not None and dtype is not self.dtype:
        raise NotInTiny("torch.mean(dtype=)")
    if not self.dtype.is_floating_point:
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex"
            f" dtype. Got: {self.dtype.title}"
        )
    shape, axes = self.shape, axes_of(self, dim)
    count = math.prod(shape[each] for each in axes) if shape else 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy tells of a mean of nothing; it is nan
        value = self._array.mean(axes if self.ndim else None, keepdims=keepdim)
    name = "MeanBackward0" if dim is None else "MeanBackward1"
    return Step(name, value, (self,), lambda g: _unsummed(g, shape, axes, keepdim) / count)


class Found(NamedTuple):
    """What is greatest, or least, along a dimension, and where."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        return (
            f"torch.return_types.{type(self).__name__}(\nvalues={self.values!r},\nindices={self.indices!r})"
        )


def _extreme(title: str, all_of: Any, position: Any, of_two: Any) -> Callable[..., Any]:
    """`max` and `min`: of all (equals share the gradient), along a dimension, or of two tensors."""
    name = title.lower()
    found_type = type(name, (Found,), {"__module__": "torch.return_types"})

    def share(g: Tensor, result: Tensor, x: Tensor) -> Tensor:
        equal = new(np.isnan(x._array), x.device) if np.isnan(result._array) else x == result
        return where(equal, g / total(equal), 0.0)

    def greater(self: Tensor, other: Tensor) -> Step:
        inputs, (a, b) = operands(self, other)

        def formula(g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            half, ahead = g / 2, x > y if title == "Max" else x < y
            equal = x == y
            return where(equal, half, where(ahead, g, 0.0)), where(equal, half, where(ahead, 0.0, g))

        return Step(f"{title}imumBackward0", of_two(a, b), tuple(inputs), formula, (inputs[1], inputs[0]))

    def extreme(self: Tensor, dim: Any = None, keepdim: bool = False, other: Any = None) -> Any:
        if isinstance(dim, Tensor) or isinstance(other, Tensor):
            return record(greater(self, dim if other is None else other))
        if dim is None:
            if not self.numel():
                raise RuntimeError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction"
                    " dim with the 'dim' argument."
                )
            return record(Step(f"{title}Backward1", all_of(self._array), (self,), share, (RESULT, self)))
        if not isinstance(dim, int):
            raise NotInTiny(f"torch.{name}(dim={plain_name(type(dim))})")
        axis, shape = axis_of(dim, self.ndim), self.shape
        if shape and not shape[axis]:
            raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")
        found = np.expand_dims(position(self._array, axis), axis) if self.ndim else np.zeros((), "i8")
        values = np.take_along_axis(self._array, found, axis) if self.ndim else self._array.copy()
        squeeze = self.ndim and not keepdim
        indices = new(found.squeeze(axis) if squeeze else found, self.device)
        places = (
            np.take_along_axis(np.arange(self.numel()).reshape(shape), found, axis) if self.ndim else found
        )

        def formula(g: Tensor, _: Tensor) -> Any:
            return g.reshape(*places.shape)._put(places, shape)

        value = values.squeeze(axis) if squeeze else values
        return found_type(record(Step(f"{title}Backward0", value, (self,), formula, (indices,))), indices)

    extreme.__name__ = name
    return method(extreme)


greatest = _extreme("Max", np.max, np.argmax, np.maximum)
least = _extreme("Min", np.min, np.argmin, np.minimum)


@method
def argmax(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Where the greatest is: a position has no gradient."""
    return new(np.argmax(self._array, dim, keepdims=keepdim), self.device)
