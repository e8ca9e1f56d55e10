"""Indexing: `x[...]` and `x[...] = y`, by numbers, slices and None, or by tensors that choose.

What numbers and slices ask for is a view. What index tensors choose is a copy of the elements at their *places*, the
positions in the flat tensor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtrail.tiny import words
from gradtrail.tiny.arithmetic import where
from gradtrail.tiny.autograd import Step, Tensor, new, record, write
from gradtrail.tiny.making import tensor
from gradtrail.tiny.operations import check_expand, method, methods, wrapped
from gradtrail.tiny.values import Array, NotInTiny, along, boolean, expands, int64, plain_name
from gradtrail.tiny.views import look

# ------------------------------------------------------------------------------------------- places


@method
def _at(self: Tensor, places: Array) -> Tensor:
    """The elements at places of the flat tensor."""
    shape = self.shape
    value = self._array.reshape(-1)[places]
    return record(Step("TakeBackward0", value, (self,), lambda g: g._put(places, shape)))


@method
def _put(self: Tensor, places: Array, shape: Sequence[int]) -> Tensor:
    """Zeros of a shape with the tensor added at places; it undoes `_at`, and `_at` is its gradient."""
    flat = np.zeros(math.prod(shape), self._array.dtype)
    np.add.at(flat, places, self._array)
    return record(Step("PutBackward0", flat.reshape(shape), (self,), lambda g: g._at(places)))


@method
def _without(self: Tensor, places: Array) -> Tensor:
    """The tensor with zeros at places."""
    hidden = np.isin(np.arange(self.numel()), places).reshape(self.shape)
    return where(new(hidden, self.device), 0.0, self)


# ---------------------------------------------------------------------------- numbers, slices, None


def _select(self: Tensor, axis: int, number: int, place: int = 0) -> Tensor:
    size = self.shape[axis]
    if not -size <= number < size:
        raise IndexError(f"index {number} is out of bounds for dimension {place} with size {size}")
    return _part("SelectBackward0", self, lambda a: a[along(axis, number)])


def _slice(self: Tensor, axis: int, part: slice) -> Tensor:
    if part.step is not None and part.step < 1:
        raise ValueError("step must be greater than zero")
    return _part("SliceBackward0", self, lambda a: a[along(axis, part)])


def _part(name: str, self: Tensor, lens: Callable[[Array], Array]) -> Tensor:
    """A view of some elements: its gradient is theirs, and zero for the others."""
    shape = self.shape

    def formula(g: Tensor) -> Any:
        return g._put(np.asarray(lens(np.arange(math.prod(shape)).reshape(shape))), shape)

    return look(name, self, [lens], formula)[0]


def _viewed(self: Tensor, index: Any) -> tuple[Tensor, list[tuple[int, Any]]]:
    """The part of the index that numbers, slices, None and ... ask for, as a view; and what is left over."""
    items = list(index) if isinstance(index, tuple) else [index]
    used = sum(each.ndim if _is_mask(each) else not (each is None or each is Ellipsis) for each in items)
    if used > self.ndim:
        if not isinstance(index, tuple):
            _check_number(index)
        raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
    axis, seen, rest = 0, self, []
    for place, item in enumerate(items):
        if isinstance(item, bool):
            raise NotInTiny("torch.Tensor.__getitem__(bool)")
        if isinstance(item, int | np.integer):
            seen = _select(seen, axis, int(item), place)
        elif isinstance(item, slice):
            start_to_end = item.start in (None, 0) and item.stop is None and item.step in (None, 1)
            seen = seen if start_to_end else _slice(seen, axis, item)
            axis += 1
        elif item is None:
            seen, axis = seen.unsqueeze(axis), axis + 1
        elif item is Ellipsis:
            axis += self.ndim - used
        elif isinstance(item, Tensor) and item.dtype is int64 and not item.ndim and len(items) == 1:
            seen = _select(seen, axis, int(item))
        elif isinstance(item, Tensor | list | np.ndarray):
            chosen = item if isinstance(item, Tensor) else tensor(item)
            if chosen.dtype.is_floating_point:
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
            if chosen.dtype is boolean and not chosen.ndim:
                seen, chosen = seen.unsqueeze(axis), chosen.reshape(1)
            rest.append((axis, chosen))
            axis += chosen.ndim if chosen.dtype is boolean else 1
        elif isinstance(item, str):
            raise TypeError(f"new(): invalid data type '{type(item).__name__}'")
        else:
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid"
                f" indices (got {type(item).__name__})"
            )
    return seen, rest


def _check_number(index: Any) -> None:
    """What a tensor without dimensions says to one index."""
    if isinstance(index, slice):
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if isinstance(index, int) and index:
        raise IndexError(f"index {index} is out of bounds for dimension 0 with size 0")
    if isinstance(index, int):
        raise IndexError(words.INDEX_OF_NUMBER)


def _is_mask(item: Any) -> bool:
    return isinstance(item, Tensor | np.ndarray) and item.dtype in (boolean, np.bool_)


def _positions(self: Tensor, chosen: list[tuple[int, Any]]) -> Array:
    """The places in the flat tensor that index tensors choose."""
    whole: list[Any] = []
    for axis, each in chosen:
        whole += [slice(None)] * (axis - sum(_width(one) for one in whole))
        among = sum(not isinstance(one, slice) for one in whole)
        whole.append(each._array)
        if each.dtype is boolean:
            for back, (size, own) in enumerate(zip(each.shape, self.shape[axis:], strict=False)):
                if size != own:
                    raise IndexError(
                        f"The shape of the mask {list(each.shape)} at index {back} does not match the shape of the"
                        f" indexed tensor {list(self.shape)} at index {axis + back}"
                    )
        if each.dtype is not boolean and each.numel():
            for number in each._array.reshape(-1):
                if not -self.shape[axis] <= number < self.shape[axis]:
                    raise IndexError(
                        f"index {number} is out of bounds for dimension {among} with size {self.shape[axis]}"
                    )
    return np.asarray(np.arange(self.numel()).reshape(self.shape)[tuple(whole)])


def _width(item: Any) -> int:
    return int(item.ndim) if isinstance(item, np.ndarray) and item.dtype == np.bool_ else 1


def _part_of(self: Tensor, index: Any) -> Tensor:
    """A part: a view of it, or, when tensors choose, a copy of the places."""
    seen, rest = _viewed(self, index)
    if not rest:
        if seen is not self:
            return seen
        whole = "AliasBackward0" if index is Ellipsis or index == () else "SliceBackward0"
        return look(whole, self, [lambda a: a[...]], lambda g: g)[0]
    places, shape = _positions(seen, rest), seen.shape
    return record(
        Step(
            "IndexBackward0",
            seen._array.reshape(-1)[places],
            (seen,),
            lambda g, *_: g._put(places, shape),
            tuple(each for _, each in rest),
        )
    )


def _set_part(self: Tensor, index: Any, value: Any) -> None:
    """A write to a part: to a view of it, or, when tensors choose, to the places."""
    if not isinstance(value, Tensor | int | float | complex | np.generic):
        raise TypeError(f"can't assign a {plain_name(type(value))} to a {self.type()}")
    seen, rest = _viewed(self, index)
    source = wrapped(value)
    if not rest:
        if not source.ndim and (seen.ndim or source._is_number):
            seen.fill_(source)
        else:
            while source.ndim > seen.ndim and source.shape[0] == 1:
                source = source.squeeze(0)
            check_expand(source, seen.shape)
            seen.copy_(source)
        return
    places = _positions(seen, rest)
    if source.dtype is not seen.dtype and not source._is_number:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got"
            f" {seen.dtype.title} for the destination and {source.dtype.title} for the source."
        )
    cast = source._array.astype(seen._array.dtype)
    if not expands(cast.shape, places.shape):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(cast.shape)} cannot be broadcast to indexing result"
            f" of shape {list(places.shape)}"
        )

    def formula(g: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
        return g._without(places), g._at(places)._summed_to(source.shape)

    kept = tuple(each for _, each in rest)
    write(seen, Step("IndexPutBackward0", cast, (seen, source), formula, kept), places)


def _no_deleting(self: Tensor, index: Any) -> None:
    raise TypeError("Tensor does not support deleting items")


methods(__getitem__=_part_of, __setitem__=_set_part, __delitem__=_no_deleting)
