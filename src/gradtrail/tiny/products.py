"""Products of matrices and vectors. `matmul` takes the one that fits the dimensions.

The gradient of a factor is a product with the other factor, transposed: so each keeps the other, if its gradient is
wanted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtrail.tiny.autograd import Step, Tensor, new, node_class, records
from gradtrail.tiny.operations import (
    check_broadcast,
    check_expand,
    method,
    operation,
    same_device,
    times,
    wants,
)
from gradtrail.tiny.values import Array, only
from gradtrail.tiny.views import unsafe_view


def _check_product(kernel: str, kinds: str = "", **named: Tensor) -> None:
    same_device(kernel, **named)
    one, other = (each.dtype.title for each in list(named.values())[-2:])
    if one != other:
        raise RuntimeError(
            kinds.format(one, other)
            or f"expected m1 and m2 to have the same dtype, but got: {one.lower()} != {other.lower()}"
        )


@operation
def mm(self: Tensor, mat2: Tensor) -> Step:
    """Product of two matrices."""
    _check_matrices(self, mat2, ("self", "mat2"))
    _check_product("mm", self=self, mat2=mat2)
    kept = (mat2 if wants(self) else None, self if wants(mat2) else None)
    return Step("MmBackward0", self._array @ mat2._array, (self, mat2), _unmultiplied, kept)


def _check_matrices(a: Tensor, b: Tensor, names: tuple[str, str] = ("mat1", "mat2")) -> None:
    for name, each in zip(names, (a, b), strict=True):
        if each.ndim != 2:
            title = f", got {each.ndim}-D tensor" if names[0] == "mat1" else ""
            raise RuntimeError(f"{name} must be a matrix{title}")
    if a.shape[1] != b.shape[0]:
        sizes = f"{a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]}"
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({sizes})")


def _unmultiplied(g: Tensor, right: Tensor | None, left: Tensor | None) -> tuple[Any, Any]:
    return (
        None if right is None else matmul(g, right.transpose(-1, -2)),
        None if left is None else matmul(left.transpose(-1, -2), g),
    )


@operation
def bmm(self: Tensor, mat2: Tensor) -> Step:
    """Products of two rows of matrices."""
    for number, each in enumerate((self, mat2), 1):
        if each.ndim != 3:
            raise RuntimeError(f"batch{number} must be a 3D tensor")
    wanted = [self.shape[0], self.shape[2]]
    if list(mat2.shape[:2]) != wanted:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {wanted} but got:"
            f" {list(mat2.shape[:2])}."
        )
    _check_product("bmm", self=self, mat2=mat2)
    kept = (mat2 if wants(self) else None, self if wants(mat2) else None)
    return Step("BmmBackward0", self._array @ mat2._array, (self, mat2), _unmultiplied, kept)


@operation
def mv(self: Tensor, vec: Tensor) -> Step:
    """Product of a matrix and a vector."""
    if (self.ndim, vec.ndim) != (2, 1):
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {self.ndim}, {vec.ndim}")
    if self.shape[1] != vec.shape[0]:
        sizes = f"input ({self.shape[0]}), mat ({self.shape[0]}x{self.shape[1]}), vec ({vec.shape[0]})"
        raise RuntimeError(f"size mismatch, got {sizes}")
    _check_product("mv", self=self, vec=vec)
    return Step(
        "MvBackward0",
        self._array @ vec._array,
        (self, vec),
        lambda g, a, v: (
            None if v is None else g.unsqueeze(1) * v,
            None if a is None else mv(a.transpose(0, 1), g),
        ),
        (self if wants(vec) else None, vec if wants(self) else None),
    )


@operation
def dot(self: Tensor, tensor: Tensor) -> Step:
    """Product of two vectors."""
    if (self.ndim, tensor.ndim) != (1, 1):
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {tensor.ndim}D tensors")
    if self.shape != tensor.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor {list(self.shape)} and src {list(tensor.shape)} to have the"
            f" same number of elements, but got {self.numel()} and {tensor.numel()} elements respectively"
        )
    _check_product("_dot", self=self, tensor=tensor)
    return Step(
        "DotBackward0",
        np.dot(self._array, tensor._array),
        (self, tensor),
        lambda g, a, b: (times(g, b), times(g, a)),
        (self if wants(tensor) else None, tensor if wants(self) else None),
    )


@operation
def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = only(1), alpha: Any = only(1)) -> Step:
    """A product of matrices with something added: what a linear layer does."""
    _check_matrices(mat1, mat2)
    if self.dtype is not mat2.dtype and self.dtype is not mat1.dtype and mat1.dtype is mat2.dtype:
        raise RuntimeError(
            f"self and mat2 must have the same dtype, but got {self.dtype.title} and {mat2.dtype.title}"
        )
    check_expand(self, (mat1.shape[0], mat2.shape[1]))
    kinds = "mat1 and mat2 must have the same dtype, but got {} and {}"
    _check_product("addmm", kinds, self=self, mat1=mat1, mat2=mat2)
    kept = (mat1 if wants(mat2) else None, mat2 if wants(mat1) else None)

    def formula(g: Tensor, left: Tensor | None, right: Tensor | None) -> tuple[Any, Any, Any]:
        return g, *_unmultiplied(g, right, left)

    value = mat1._array @ mat2._array + self._array
    return Step("AddmmBackward0", value, (self, mat1, mat2), formula, kept)


@method
def matmul(self: Tensor, other: Tensor) -> Tensor:
    """The product that fits the dimensions."""
    match (self.ndim, other.ndim):
        case (1, 1):
            return dot(self, other)
        case (2, 1):
            return mv(self, other)
        case (2, 2):
            return mm(self, other)
        case (1, 2):
            product = mm(self.unsqueeze(0), other)
            return _into(product, "SqueezeBackward4", product._array[0])
        case (0, _) | (_, 0):
            raise RuntimeError(
                "both arguments to matmul need to be at least 1D, but they are"
                f" {self.ndim}D and {other.ndim}D"
            )
        case (_, 1):
            return unsafe_view(mv(self.reshape(-1, self.shape[-1]), other), self.shape[:-1])
        case (1, _):
            turned = other.transpose(-1, -2)
            return unsafe_view(mv(turned.reshape(-1, turned.shape[-1]), self), turned.shape[:-1])
        case (_, 2):
            flat = mm(self.reshape(-1, self.shape[-1]), other)
            return unsafe_view(flat, (*self.shape[:-1], other.shape[-1]))
        case (2, _) if self.requires_grad:
            turned = other.transpose(-1, -2)
            flat = mm(turned.reshape(-1, turned.shape[-1]), self.t())
            made = unsafe_view(flat, (*turned.shape[:-1], self.shape[0]))
            return made.transpose(-1, -2).contiguous()  # type: ignore[no-any-return]
    check_broadcast(self.shape[:-2], other.shape[:-2])
    batch = np.broadcast_shapes(self.shape[:-2], other.shape[:-2])
    one = self.expand(*batch, *self.shape[-2:]).reshape(-1, *self.shape[-2:])
    two = other.expand(*batch, *other.shape[-2:]).reshape(-1, *other.shape[-2:])
    return unsafe_view(bmm(one, two), (*batch, self.shape[-2], other.shape[-1]))


def _into(self: Tensor, name: str, array: Array) -> Tensor:
    """The tensor itself in another shape, changed in place."""
    shape, made = self.shape, new(array, self.device, counter=self._counter)
    made._counter.value += 1
    if records((self,)):
        made._came_from(node_class(name)((self,), [made], lambda g: g.reshape(*shape)))
    return made
