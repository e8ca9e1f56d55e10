"""What a tensor is made of: numbers of a type, on a device, in a shape, in memory.

None of this knows of gradients. The rules are about types that mix, shapes that fit each other, and memory that can
be written.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradtrail.tiny import words

Array = np.ndarray[Any, Any]


class NotInTiny(AttributeError):
    """What torch may have and tiny has not."""

    __module__ = "gradtrail.tiny"

    def __init__(self, name: str) -> None:
        super().__init__(f"gradtrail.tiny has no `{name}`")


# -------------------------------------------------------------------------------------------- types


class dtype:
    """The type of a tensor's numbers. In a mix the greater kind wins: bool, integer, floating point."""

    __module__ = "torch"

    def __init__(self, name: str, title: str, kind: int) -> None:
        self.name, self.title, self.kind, self.numpy = name, title, kind, np.dtype(name)
        self.is_floating_point = kind == 2

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __deepcopy__(self, memo: dict[int, Any]) -> dtype:
        return self


boolean = dtype("bool", "Bool", 0)
int64 = dtype("int64", "Long", 1)
float32 = dtype("float32", "Float", 2)
float64 = dtype("float64", "Double", 2)
DTYPES = {each.name: each for each in (boolean, int64, float32, float64)}


def check_kind(value: Array, target: Array) -> None:
    """Refuse to write numbers of a greater kind than the target has."""
    one, other = DTYPES[value.dtype.name], DTYPES[target.dtype.name]
    if one.kind > other.kind:
        raise RuntimeError(f"result type {one.title} can't be cast to the desired output type {other.title}")


# ------------------------------------------------------------------------------------------ devices


class device:
    """Where memory is: `cpu`, or `cuda`, a pretend device whose memory numpy cannot reach."""

    __module__ = "torch"

    def __init__(self, name: str | device, index: int | None = None) -> None:
        self.type, _, number = str(name).partition(":")
        if self.type not in ("cpu", "cuda"):
            raise NotInTiny(f"device {self.type}")
        self.index = int(number) if number else index

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"device(type={self.type!r}{'' if self.index is None else f', index={self.index}'})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


CPU = device("cpu")


def device_meant(asked: Any) -> device:
    """The device that is meant: "cuda" is the current one, which is `cuda:0`."""
    found = device("cuda", asked) if isinstance(asked, int) else device(CPU if asked is None else asked)
    return device("cuda", found.index or 0) if found.type == "cuda" else CPU


def common_device(tensors: Iterable[Any]) -> device:
    """The one device of all; numbers, and tensors without dimensions on the CPU, go anywhere."""
    places = dict.fromkeys(each.device for each in tensors if each.ndim or each.is_cuda)
    if len(places) > 1:
        raise RuntimeError(f"{words.DEVICES}, but found at least two devices, cuda:0 and cpu!")
    return next(iter(places), CPU)


# ------------------------------------------------------------------------------------------- shapes


class Size(tuple[int, ...]):
    """A shape."""

    __module__ = "torch"

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def numel(self) -> int:
        """How many elements a tensor of this shape has."""
        return math.prod(self)


def listed(value: Any) -> list[Any]:
    """Several things, or one alone, as a list."""
    return list(value) if isinstance(value, tuple | list) else [value]


def sizes_of(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    """Sizes that were given one by one, `(2, 3)`, or together, `([2, 3],)`."""
    return tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else sizes


def axis_of(dim: int, dimensions: int) -> int:
    """The number of a dimension, where -1 is the last."""
    reach = max(dimensions, 1)
    if not -reach <= dim < reach:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-reach}, {reach - 1}], but got {dim})"
        )
    return dim % reach


def along(axis: int, item: Any) -> tuple[Any, ...]:
    """The index that is `item` in one dimension and takes all of the others."""
    return (*itertools.repeat(slice(None), axis), item, ...)


def expands(shape: Sequence[int], target: Sequence[int]) -> bool:
    """Whether `shape` broadcasts to `target`."""
    ends = zip(reversed(shape), reversed(target), strict=False)
    return len(shape) <= len(target) and all(one in (1, other) for one, other in ends)


# ------------------------------------------------------------------------------------------- memory


def check_memory(target: Array, sources: Iterable[Array]) -> None:
    """Refuse to write one place several times, and to read what is written meanwhile, askew."""
    if any(size > 1 and not stride for size, stride in zip(target.shape, target.strides, strict=True)):
        raise RuntimeError(words.OVERLAP)
    for source in sources:
        same = (target.ctypes.data, target.strides) == (source.ctypes.data, source.strides)
        if _dense(target) and _dense(source) and not same and np.shares_memory(target, source):
            raise RuntimeError(words.PARTLY)


def _dense(array: Array) -> bool:
    return bool(array.transpose(np.argsort(array.strides)[::-1]).flags.c_contiguous)
