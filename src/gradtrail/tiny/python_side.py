"""What Python asks of a tensor: operators, the one number in it, its rows, a copy.

None of it is new to autograd. An operator is one of the operations by another name, and the results of comparisons
are leaves, because there is no gradient in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradtrail.tiny import words
from gradtrail.tiny.autograd import Tensor, new
from gradtrail.tiny.calls import NUMBERS
from gradtrail.tiny.operations import method, methods, operands
from gradtrail.tiny.values import DTYPES, Array, NotInTiny, axis_of, common_device, warn

# ---------------------------------------------------------------------------------------- operators

Operator = Callable[[Tensor, Any], Any]
"""It computes with what is in NUMBERS; anything else is left to the other side."""


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


def _bitwise(name: str, function: Any) -> Operator:
    """An operator on the bits of whole numbers."""

    def operate(self: Tensor, other: Any) -> Any:
        if not isinstance(other, NUMBERS):
            return NotImplemented
        tensors, (a, b) = operands(self, other)
        if a.dtype.kind == "f":
            raise NotImplementedError(
                f"\"bitwise_{name}_cpu\" not implemented for '{DTYPES[a.dtype.name].title}'"
            )
        return new(function(a, b), common_device(tensors))

    return operate


def _inverted(self: Tensor) -> Tensor:
    if self.dtype.is_floating_point:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return new(~self._array, self.device)


def _lacking(name: str) -> Operator:
    """An operator that tiny has not."""

    def refuse(self: Tensor, other: Any = 0) -> Any:
        if isinstance(other, NUMBERS):
            raise NotInTiny(f"torch.Tensor.{name}")
        return NotImplemented

    return refuse


def _product(self: Tensor, other: Any) -> Any:
    return self.matmul(other) if isinstance(other, Tensor) else NotImplemented


def _holds(self: Tensor, number: Any) -> bool:
    if not isinstance(number, NUMBERS):
        raise RuntimeError(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(number)}."
        )
    _, (numbers, one) = operands(self, number)
    return bool(np.any(numbers == one))


def _divided(self: Tensor, other: Any) -> Any:
    """`other / self`."""
    return self.reciprocal() * other if isinstance(other, NUMBERS) else NotImplemented


methods(
    **{f"__{each}__": _operator(each) for each in ("add", "sub", "mul", "pow")},
    **{
        f"__{side}{each}__": _lacking(f"__{each}__")
        for each in ("mod", "floordiv", "xor", "lshift", "rshift")
        for side in ("", "r", "i")
    },
    **{each: _lacking(each) for each in ("__iand__", "__ior__", "__complex__", "__reversed__")},
    __matmul__=_product,
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
    __and__=_bitwise("and", np.bitwise_and),
    __rand__=_bitwise("and", np.bitwise_and),
    __or__=_bitwise("or", np.bitwise_or),
    __ror__=_bitwise("or", np.bitwise_or),
    __invert__=_inverted,
    __contains__=_holds,
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
    return self.shape if dim is None else self.shape[axis_of(dim, self.ndim)]


def _truth(self: Tensor) -> bool:
    if self._array.size != 1:
        many = "more than one value" if self._array.size else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {many} is ambiguous")
    return bool(self.item())


def _index(self: Tensor) -> int:
    if self.dtype.is_floating_point or self._array.size != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(self.item())


def _number(kind: type) -> Callable[[Tensor], Any]:
    """`float(x)`, `int(x)`: the number leaves the graph."""

    def convert(self: Tensor) -> Any:
        if self.requires_grad and self._array.size == 1:
            warn(words.SCALAR_OF_GRAPH, once=True)
        return kind(self.item())

    return convert


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
    __float__=_number(float),
    __int__=_number(int),
    __index__=_index,
    __len__=_length,
    __iter__=_rows,
    __format__=_formatted,
)


# ------------------------------------------------------------------------------------------- copies


def _copied_memory(array: Array, memo: dict[int, Any]) -> Array:
    """A copy of the memory: tensors that share it share the copy."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    _, fresh = memo.setdefault(id(root), (root, root.ravel("K").copy()))
    offset = array.ctypes.data - root.ctypes.data
    copied: Array = np.ndarray(array.shape, array.dtype, fresh, offset, array.strides)
    return copied


def _copied(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if not self.is_leaf:
        raise RuntimeError(words.NO_DEEPCOPY)  # a copy of the graph is not what anybody means
    copied = memo[id(self)] = new(_copied_memory(self._array, memo), self.device, type(self))
    copied._flag = self.requires_grad
    copied._counter.value = int(type(self) is Tensor)
    if self._grad is not None and type(self) is Tensor:
        copied._grad = self._grad.__deepcopy__(memo)
    return copied


methods(__deepcopy__=_copied)
