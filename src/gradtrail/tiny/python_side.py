"""What Python asks of a tensor: operators, the one number in it, its rows, its text, a copy.

None of it is new to autograd. An operator is one of the operations by another name, and the results of comparisons
are leaves, because there is no gradient in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradtrail.tiny import words
from gradtrail.tiny.autograd import Tensor, new
from gradtrail.tiny.operations import method, methods, operands
from gradtrail.tiny.values import Array, common_device, float64

# ---------------------------------------------------------------------------------------- operators

NUMBERS = (Tensor, int, float, np.number)
"""What an operator computes with; anything else is left to the other side."""

Operator = Callable[[Tensor, Any], Any]


def _operator(name: str) -> Operator:
    """An operator that is a method of another name."""

    def operate(self: Tensor, other: Any) -> Any:
        return getattr(self, name)(other) if isinstance(other, NUMBERS) else NotImplemented

    return operate


def _comparison(function: Any) -> Operator:
    """An operator that compares, number by number."""

    def compare(self: Tensor, other: Any) -> Any:
        if not isinstance(other, NUMBERS):
            return NotImplemented
        tensors, (a, b) = operands(self, other)
        return new(function(a, b), common_device(tensors))

    return compare


def _divided(self: Tensor, other: Any) -> Any:
    """`other / self`."""
    return self.reciprocal() * other if isinstance(other, NUMBERS) else NotImplemented


methods(
    **{f"__{each}__": _operator(each) for each in ("add", "sub", "mul", "pow", "matmul")},
    **{f"__i{each}__": _operator(f"{each}_") for each in ("add", "sub", "mul", "pow")},
    __radd__=_operator("add"),
    __rmul__=_operator("mul"),
    __rsub__=_operator("rsub"),
    __rpow__=_operator("_raise"),
    __truediv__=_operator("div"),
    __itruediv__=_operator("div_"),
    __rtruediv__=_divided,
    __eq__=_comparison(np.equal),
    __ne__=_comparison(np.not_equal),
    __lt__=_comparison(np.less),
    __le__=_comparison(np.less_equal),
    __gt__=_comparison(np.greater),
    __ge__=_comparison(np.greater_equal),
    __and__=_comparison(np.logical_and),
    __or__=_comparison(np.logical_or),
    __invert__=lambda self: new(~self._array, self.device),
    __neg__=lambda self: self.neg(),
    __pos__=lambda self: self,
    __abs__=lambda self: self.abs(),
)


# ---------------------------------------------------------------------------- numbers and sequences


@method
def item(self: Tensor) -> Any:
    """The one number of the tensor, without its history."""
    if self._array.size != 1:
        raise RuntimeError(f"a Tensor with {self._array.size} elements cannot be converted to Scalar")
    return self._array.item()


@method
def tolist(self: Tensor) -> Any:
    """The numbers as lists, without their history."""
    return self._array.tolist()


@method
def numel(self: Tensor) -> int:
    """How many numbers there are."""
    return self._array.size


@method
def dim(self: Tensor) -> int:
    """How many dimensions there are."""
    return self._array.ndim


def _size(self: Tensor, dim: int | None = None) -> Any:
    return self.shape if dim is None else self.shape[dim]


def _truth(self: Tensor) -> bool:
    if self._array.size != 1:
        many = "more than one value" if self._array.size else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {many} is ambiguous")
    return bool(self.item())


def _index(self: Tensor) -> int:
    if self.dtype.is_floating_point or self._array.size != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(self.item())


def _length(self: Tensor) -> int:
    if not self.ndim:
        raise TypeError("len() of a 0-d tensor")
    return int(self.shape[0])


def _rows(self: Tensor) -> Iterator[Tensor]:
    """The rows are views, and non-leaves: so `Adam(w)` cannot mean `Adam([w])`."""
    if not self.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def _formatted(self: Tensor, spec: str) -> str:
    return object.__format__(self, spec) if self.ndim else format(self.item(), spec)


methods(
    size=_size,
    __bool__=_truth,
    __float__=lambda self: float(self.item()),
    __int__=lambda self: int(self.item()),
    __index__=_index,
    __len__=_length,
    __iter__=_rows,
    __format__=_formatted,
)


# ---------------------------------------------------------------------------------- text and copies


def _text(self: Tensor) -> str:
    form: Any = {"float_kind": _number_form(self._array)}
    text = np.array2string(self._array, separator=", ", prefix="tensor(", formatter=form)
    notes = [f"device='{self.device}'"] if self.is_cuda else []
    notes += ["dtype=torch.float64"] if self.dtype is float64 else []
    node = self.grad_fn
    notes += [f"grad_fn=<{type(node).__name__}>"] if node else []
    notes += ["requires_grad=True"] if self.requires_grad and not node else []
    return f"tensor({', '.join([text, *notes])})"


def _number_form(array: Array) -> Callable[[Any], str]:
    """How numbers are shown: four places, none for whole numbers, powers where sizes differ much."""
    signed = array[np.isfinite(array) & (array != 0)] if array.dtype.kind == "f" else np.ones(1)
    finite = np.abs(signed)
    least, most = (finite.min(), finite.max()) if finite.size else (1, 1)
    whole = np.all(finite == np.rint(finite))
    powers = most / least > 1000 or most > 1e8 or (not whole and least < 1e-4)
    form = "{:.4e}" if powers else "{:.0f}." if whole else "{:.4f}"

    def shown(number: Any) -> str:
        return form.format(number) if np.isfinite(number) else str(number)

    width = max((len(shown(each)) for each in signed), default=0)
    return lambda number: shown(number).rjust(width)


def _copied(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if not self.is_leaf:
        raise RuntimeError(words.NO_DEEPCOPY)  # a copy of the graph is not what anybody means
    copied = memo[id(self)] = new(self._array.copy(), self.device, type(self))
    copied._flag = self.requires_grad
    copied._counter.value = int(type(self) is Tensor)
    if self._grad is not None and type(self) is Tensor:
        copied._grad = self._grad.__deepcopy__(memo)
    return copied


methods(__repr__=_text, __deepcopy__=_copied)
