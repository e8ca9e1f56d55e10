"""What a tensor is made of: numbers of a type, on a device, in a shape, in memory.

None of this knows of gradients. The rules are about types that mix, shapes that fit each other, and memory that can
be written.
"""

from __future__ import annotations

import itertools
import math
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from gradtrail.tiny import words

Array = np.ndarray[Any, Any]


class NotInTiny(AttributeError):
    """What torch may have and tiny has not."""

    __module__ = "gradtrail.tiny"

    def __init__(self, name: str) -> None:
        super().__init__(f"gradtrail.tiny has no `{name}`")


class only:
    """The default of an option of which tiny has this value alone: any other is refused, never passed over."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


class read_only(property):
    """A property that torch refuses to have set."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __set__(self, instance: Any, value: Any) -> NoReturn:
        raise AttributeError(f"attribute '{self.name}' of 'torch._C.TensorBase' objects is not writable")


def plain_name(kind: type) -> str:
    """The name of a type, as messages of torch's own side have it."""
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


_told: set[str] = set()


def warn(text: str, category: type[Warning] = UserWarning, once: bool = False) -> None:
    """Warn, and name the line of the program that came here. Some things are told once in a process."""
    if once and text in _told:
        return
    _told.add(text)
    frame: Any = sys._getframe()
    depth = 1
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("gradtrail.tiny"):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, category, stacklevel=depth)


# -------------------------------------------------------------------------------------------- types


class dtype:
    """The type of a tensor's numbers. In a mix the greater kind wins: bool, integer, floating point."""

    __module__ = "torch"

    def __init__(self, name: str, title: str, long_title: str, kind: int) -> None:
        self.name, self.title, self.long_title, self.kind = name, title, long_title, kind
        self.numpy = np.dtype(name)
        self.is_floating_point, self.is_complex, self.is_signed = kind == 2, False, kind > 0
        self.itemsize = self.numpy.itemsize

    def __getattr__(self, name: str) -> NoReturn:
        if name in ("abbr", "to_complex", "to_real"):
            raise NotInTiny(f"torch.dtype.{name}")
        raise AttributeError(f"'torch.dtype' object has no attribute '{name}'")

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __deepcopy__(self, memo: dict[int, Any]) -> dtype:
        return self


boolean = dtype("bool", "Bool", "bool", 0)
int64 = dtype("int64", "Long", "long int", 1)
float32 = dtype("float32", "Float", "float", 2)
float64 = dtype("float64", "Double", "double", 2)
DTYPES = {each.name: each for each in (boolean, int64, float32, float64)}


def known(array: Array) -> Array:
    """The array, if its type is one that tiny has."""
    if array.dtype.name not in DTYPES:
        raise NotInTiny(f"torch.{array.dtype.name}")
    return array


def dtype_meant(asked: Any) -> dtype:
    """The type that is meant: those of Python's numbers stand for the widest ones."""
    found = (
        {float: float64, int: int64, bool: boolean}.get(asked, asked) if isinstance(asked, type) else asked
    )
    if not isinstance(found, dtype):
        raise TypeError(f"argument 'dtype' must be torch.dtype, not {plain_name(type(asked))}")
    return found


def check_kind(value: Array, target: Array) -> None:
    """Refuse to write numbers of a greater kind than the target has."""
    one, other = DTYPES[value.dtype.name], DTYPES[target.dtype.name]
    if one.kind > other.kind:
        raise RuntimeError(f"result type {one.title} can't be cast to the desired output type {other.title}")


# ------------------------------------------------------------------------------------------ devices


class device:
    """Where memory is: `cpu`, or `cuda`, a pretend device whose memory numpy cannot reach."""

    __module__ = "torch"

    def __init__(self, type: str | device, index: int | None = None) -> None:
        self.type, _, number = str(type).partition(":")
        if self.type not in ("cpu", "cuda"):
            raise NotInTiny(f"device {self.type}")
        self.index = int(number) if number else index

    def __enter__(self) -> NoReturn:
        raise NotInTiny("torch.device as a context")

    def __exit__(self, *_: Any) -> None: ...

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

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, other))

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

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
        one, other = ((each.ctypes.data, each.nbytes, each.strides) for each in (target, source))
        if _dense(target) and _dense(source) and one != other and np.shares_memory(target, source):
            raise RuntimeError(words.PARTLY)


def same_memory(one: Array, other: Array) -> bool:
    """Whether two arrays are the same numbers in the same places."""
    return one.dtype == other.dtype and one.__array_interface__ == other.__array_interface__


def _dense(array: Array) -> bool:
    return bool(array.transpose(np.argsort(array.strides)[::-1]).flags.c_contiguous)
