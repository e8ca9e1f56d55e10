"""Views: tensors that look at the memory of another one, in another shape or at a part of it.

A write through a view is a write to its base, and both have one version. Whether a view may be written, and how its
history is told afterwards, stands in the core. At the end of the chapter are the operations that copy instead.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtrail.tiny import words
from gradtrail.tiny.autograd import Step, Tensor, View, new, node_class, record, records
from gradtrail.tiny.modes import is_grad_enabled
from gradtrail.tiny.operations import axes_of, check_expand, common_dtype, method, methods, named, operation
from gradtrail.tiny.values import Array, along, axis_of, plain_name, sizes_of, warn


def look(
    name: str,
    source: Tensor,
    lenses: Sequence[Callable[[Array], Array]],
    formula: Callable[..., Any],
    how: str = "",
) -> list[Tensor]:
    """Tensors that look at the memory of `source`, results of one node.

    A view has the version of its base and, while it requires grad, a way to write through to it. Whatever
    hides its history (no_grad, sisters from the same node) is remembered: it forbids a write.
    """
    parent = source._view
    if not is_grad_enabled():
        how = "no_grad"
    made = []
    for lens in lenses:
        view = new(lens(source._array), source.device, counter=source._counter)
        whole = (lambda array, lens=lens: lens(parent.lens(array))) if parent else lens
        view._view = View(parent.base if parent else source, whole, how or (parent.how if parent else ""))
        made.append(view)
    if records((source,)):
        node = node_class(name)((source,), made, formula)
        for number, view in enumerate(made):
            view._edge = (node, number)
    return made


# ------------------------------------------------------------------------------------------- shapes


def _settled(self: Tensor, sizes: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape with its -1 worked out."""
    asked = sizes_of(sizes)
    if sum(1 for each in asked if each == -1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    try:
        return np.empty(self.shape, "?").reshape(asked).shape
    except ValueError:
        message = f"shape '{list(asked)}' is invalid for input of size {self.numel()}"
        raise RuntimeError(message) from None


@method
def view(self: Tensor, *sizes: Any) -> Tensor:
    """The same memory in another shape."""
    shape, old = _settled(self, sizes), self.shape
    if not np.shares_memory(self._array, self._array.reshape(shape)) and self.numel():
        raise RuntimeError(words.NOT_VIEWABLE)
    return look("ViewBackward0", self, [lambda a: a.reshape(shape)], lambda g: g.reshape(*old))[0]


@method
def reshape(self: Tensor, *sizes: Any) -> Tensor:
    """A view where the memory allows it, else a copy."""
    shape = _settled(self, sizes)
    if np.shares_memory(self._array, self._array.reshape(shape)) or not self.numel():
        return view(self, shape)
    return unsafe_view(clone(self), shape)


@operation
@named("_unsafe_view")
def unsafe_view(self: Tensor, shape: Any) -> Step:
    """New memory in another shape: the one it came from is nobody's any more, so this is no view."""
    old = self.shape
    return Step("UnsafeViewBackward0", self._array.reshape(shape), (self,), lambda g: g.reshape(*old))


@method
def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """One dimension in the place of several; one dimension stays the very same tensor."""
    first, last = axis_of(start_dim, self.ndim), axis_of(end_dim, self.ndim)
    if self.ndim and first == last:
        return self
    return reshape(self, *self.shape[:first], -1, *self.shape[last + 1 :])


@method
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """A view in the shape of another tensor."""
    return view(self, *other.shape)


@method
def permute(self: Tensor, *dims: Any) -> Tensor:
    """Dimensions in another order."""
    asked = sizes_of(dims)
    if len(asked) != self.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired"
            f" ordering of dimensions i.e. input.dim() = {self.ndim} is not equal to len(dims) = {len(asked)}"
        )
    order = tuple(axis_of(each, self.ndim) for each in asked)
    if len(set(order)) < len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return _permuted("PermuteBackward0", self, order)


def _permuted(name: str, self: Tensor, order: tuple[int, ...]) -> Tensor:
    back = tuple(int(each) for each in np.argsort(order))
    return look(name, self, [lambda a: a.transpose(order)], lambda g: g.permute(*back))[0]


@method
def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged."""
    order = list(range(self.ndim))
    one, other = axis_of(dim0, self.ndim), axis_of(dim1, self.ndim)
    if order:
        order[one], order[other] = order[other], order[one]
    return _permuted("TransposeBackward0", self, tuple(order))


@method
def t(self: Tensor) -> Tensor:
    """The matrix transposed."""
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return _permuted("TBackward0", self, tuple(reversed(range(self.ndim))))


def _reversed(self: Tensor) -> Tensor:
    if self.ndim != 2:
        warn(words.NO_SUCH_T if self.ndim else words.T_OF_NUMBER, once=True)
    return _permuted("PermuteBackward0", self, tuple(reversed(range(self.ndim))))


methods(T=property(_reversed))


@method
def unsqueeze(self: Tensor, dim: int) -> Tensor:
    """A dimension of size 1 more."""
    axis = axis_of(dim, self.ndim + 1)
    formula = functools.partial(_squeezed, "SqueezeBackward1", axes=(axis,))
    return look("UnsqueezeBackward0", self, [lambda a: np.expand_dims(a, axis)], formula)[0]


@method
def squeeze(self: Tensor, dim: Any = None) -> Tensor:
    """Dimensions of size 1 left out."""
    name = "SqueezeBackward0" if dim is None else "SqueezeBackward1"
    return _squeezed(name, self, axes_of(self, dim))


def _squeezed(name: str, self: Tensor, axes: tuple[int, ...]) -> Tensor:
    axes, old = tuple(each for each in axes if self.ndim and self.shape[each] == 1), self.shape
    return look(name, self, [lambda a: np.squeeze(a, axes)], lambda g: g.reshape(*old))[0]


@method
def expand(self: Tensor, *sizes: Any) -> Tensor:
    """The same numbers again and again, in the same memory: so it is not to be written in place."""
    asked = sizes_of(sizes)
    ahead = len(asked) - self.ndim
    shape = tuple(
        self.shape[i - ahead] if size == -1 and i >= ahead else size for i, size in enumerate(asked)
    )
    check_expand(self, shape)
    old = self.shape

    def lens(array: Array) -> Array:
        return np.lib.stride_tricks.as_strided(
            array,
            shape,
            (0,) * ahead
            + tuple(
                0 if size != target else stride
                for size, target, stride in zip(array.shape, shape[ahead:], array.strides, strict=True)
            ),
        )

    return look("ExpandBackward0", self, [lens], lambda g: g._summed_to(old))[0]


@method
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Expanded to the shape of another tensor."""
    return expand(self, *other.shape)


@method
def _summed_to(gradient: Tensor, shape: Sequence[int]) -> Tensor:
    """The gradient of what was broadcast: the sum over all its copies."""
    ahead = gradient.ndim - len(shape)
    if ahead > 0:
        gradient = gradient.sum(tuple(range(ahead)))
    grown = tuple(i for i, size in enumerate(shape) if size == 1 and gradient.shape[i] != 1)
    return gradient.sum(grown, True) if grown else gradient


# ------------------------------------------------------------------------------------------- pieces


@method
def unbind(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The rows: views of one memory, results of one node."""
    axis = axis_of(dim, self.ndim)
    lenses = [lambda a, i=i: a[along(axis, i)] for i in range(self.shape[axis])]
    shape = self.shape[:axis] + self.shape[axis + 1 :]

    def formula(*gradients: Tensor | None) -> Tensor:
        return stack([_or_zeros(each, shape, self) for each in gradients], axis)

    return tuple(look("UnbindBackward0", self, lenses, formula, "several"))


def _or_zeros(gradient: Tensor | None, shape: Sequence[int], like: Tensor) -> Tensor:
    return new(np.zeros(shape, like._array.dtype), like.device) if gradient is None else gradient


@method
def split(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of a size, the last one perhaps smaller, or of given sizes: views, results of one node."""
    axis, name = axis_of(dim, self.ndim), "SplitBackward0"
    if isinstance(split_size, int):
        parts = [slice(i, i + split_size) for i in range(0, self.shape[axis], split_size)]
    else:
        ends, name = list(itertools.accumulate(split_size, initial=0)), "SplitWithSizesBackward0"
        if ends[-1] != self.shape[axis]:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {self.shape[axis]} (input tensor's size"
                f" at dimension {axis}), but got split_sizes={list(split_size)}"
            )
        parts = [slice(start, end) for start, end in itertools.pairwise(ends)]
    lenses = [lambda a, part=part: a[along(axis, part)] for part in parts]
    shapes = [np.empty(self.shape, "?")[along(axis, part)].shape for part in parts]

    def formula(*gradients: Tensor | None) -> Tensor:
        return cat([_or_zeros(g, shape, self) for g, shape in zip(gradients, shapes, strict=True)], axis)

    return tuple(look(name, self, lenses, formula, "several"))


@method
def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """A number of pieces."""
    return split(self, -(-self.shape[axis_of(dim, self.ndim)] // chunks), dim)


# ------------------------------------------------------------------------------------------- copies


def _check_tensors(tensors: Any, name: str) -> None:
    if isinstance(tensors, Tensor):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    for number, each in enumerate(tensors):
        if not isinstance(each, Tensor):
            raise TypeError(
                f"expected Tensor as element {number} in argument 0, but got {plain_name(type(each))}"
            )


@operation
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Step:
    """Tensors one after another, in new memory."""
    _check_tensors(tensors, "cat")
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    first, axis = tensors[0], axis_of(dim, tensors[0].ndim)
    if not first.ndim:
        raise RuntimeError("zero-dimensional tensor (at position 0) cannot be concatenated")
    for number, each in enumerate(tensors):
        if each.ndim != first.ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {each.ndim}"
            )
        for i, (expected, got) in enumerate(zip(first.shape, each.shape, strict=False)):
            if i != axis and expected != got:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {axis}. Expected size {expected} but got"
                    f" size {got} for tensor number {number} in the list."
                )
    kind = common_dtype(tensors).numpy
    ends = list(itertools.accumulate((each.shape[axis] for each in tensors), initial=0))
    value = np.concatenate([each._array.astype(kind) for each in tensors], axis)

    def formula(g: Tensor) -> list[Tensor]:
        return [g[along(axis, slice(start, end))] for start, end in itertools.pairwise(ends)]

    return Step("CatBackward0", value, tuple(tensors), formula)


@operation
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Step:
    """Tensors along a new dimension."""
    _check_tensors(tensors, "stack")
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    for number, each in enumerate(tensors):
        if each.shape != tensors[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and"
                f" {list(each.shape)} at entry {number}"
            )
    axis, kind = axis_of(dim, tensors[0].ndim + 1), common_dtype(tensors).numpy
    value = np.stack([each._array.astype(kind) for each in tensors], axis)
    return Step("StackBackward0", value, tuple(tensors), lambda g: list(g.unbind(axis)))


@operation
def clone(self: Tensor) -> Step:
    """A copy that stays in the graph."""
    return Step("CloneBackward0", self._array.copy(order="K"), (self,), lambda g: g)


@method
def contiguous(self: Tensor) -> Tensor:
    """The very same tensor where its memory is in order, else a copy."""
    if self._array.flags.c_contiguous:
        return self
    return record(Step("CloneBackward0", np.ascontiguousarray(self._array), (self,), lambda g: g))
