"""Tensors that are made: of numbers, of arrays, of other tensors, and of random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtrail.tiny import words
from gradtrail.tiny.autograd import Tensor, new
from gradtrail.tiny.values import DTYPES, Array, NotInTiny, device_meant, float32, sizes_of

Maker = Callable[..., Tensor]

RANDOM = np.random.default_rng(0)
"""Where all random numbers come from."""


def manual_seed(seed: int) -> None:
    """Begin the random numbers anew."""
    RANDOM.bit_generator.state = np.random.default_rng(seed).bit_generator.state


def _made(array: Any, dtype: Any = None, device: Any = None, requires_grad: Any = False) -> Tensor:
    if dtype is not None:
        array = np.asarray(array).astype(dtype.numpy)
    made = new(array, device_meant(device))
    if requires_grad and not made.dtype.is_floating_point:
        raise RuntimeError(words.ONLY_FLOATS)
    made._flag = bool(requires_grad)
    return made


def _tensor_class(cls: type[Tensor], *arguments: Any) -> Tensor:
    """`torch.Tensor(2, 3)` and `torch.Tensor([1, 2])`: float32, whatever went in."""
    sizes = all(isinstance(each, int) for each in arguments)
    return new(np.zeros(arguments, "f4") if sizes else np.array(arguments[0], "f4"))


Tensor.__new__ = _tensor_class  # type: ignore[method-assign, assignment]


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A new leaf with a copy of the numbers; of a tensor only the numbers are taken."""
    if isinstance(data, Tensor):
        return _made(data._array.copy(), dtype, device or data.device, requires_grad)
    if isinstance(data, str):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    array = data.copy() if isinstance(data, np.ndarray) else np.asarray(_numbers(data))
    if not isinstance(data, np.ndarray) and array.dtype.kind == "f" and dtype is None:
        array = array.astype("f4")
    return _made(array, dtype, device, requires_grad)


def _numbers(data: Any) -> Any:
    """Nested lists of numbers; rows of unlike length are refused."""
    if not isinstance(data, list | tuple):
        return data.item() if isinstance(data, Tensor) and not data.ndim else data
    rows = [_numbers(each.tolist() if isinstance(each, Tensor) else each) for each in data]
    for row in rows:
        if isinstance(row, list) and isinstance(rows[0], list) and len(row) != len(rows[0]):
            raise ValueError(f"expected sequence of length {len(rows[0])} at dim 1 (got {len(row)})")
    return rows


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """The very same tensor where there is one."""
    if isinstance(data, np.ndarray):
        data = from_numpy(data)
    return data.to(dtype, device) if isinstance(data, Tensor) else tensor(data, dtype=dtype)


def from_numpy(array: Array) -> Tensor:
    """A tensor around the array's memory, with its type: numpy's own numbers are float64."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    if array.dtype.name not in DTYPES:
        raise NotInTiny(f"torch.{array.dtype.name}")
    return new(array)


def _makers(draw: Callable[[tuple[int, ...]], Any]) -> tuple[Maker, Maker]:
    """`torch.zeros(2, 3)`, and `torch.zeros_like(x)`, for a way to draw the numbers."""

    def make(*sizes: Any, dtype: Any = None, device: Any = None, requires_grad: Any = False) -> Tensor:
        return _made(np.asarray(draw(sizes_of(sizes))), dtype or float32, device, requires_grad)

    def make_like(
        self: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: Any = False
    ) -> Tensor:
        kind, where = dtype or self.dtype, device or self.device
        return make(*self.shape, dtype=kind, device=where, requires_grad=requires_grad)

    return make, make_like


zeros, zeros_like = _makers(np.zeros)
ones, ones_like = _makers(np.ones)
empty, empty_like = _makers(np.zeros)
rand, rand_like = _makers(RANDOM.random)
randn, randn_like = _makers(RANDOM.standard_normal)


def full(size: Any, fill_value: Any, **keywords: Any) -> Tensor:
    """A tensor of one number."""
    return _made(tensor(np.full(size, fill_value).tolist())._array, **keywords)


def eye(n: int, m: int | None = None, *, dtype: Any = None, **keywords: Any) -> Tensor:
    """Ones on the diagonal."""
    return _made(np.eye(n, m), dtype or float32, **keywords)


def arange(*bounds: Any, dtype: Any = None, **keywords: Any) -> Tensor:
    """Numbers in a row."""
    array = np.arange(*bounds)
    return _made(array, dtype or (float32 if array.dtype.kind == "f" else None), **keywords)


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, **keywords: Any) -> Tensor:
    """Numbers at equal distances."""
    return _made(np.linspace(float(start), float(end), steps), dtype or float32, **keywords)


def randint(*bounds: Any, dtype: Any = None, **keywords: Any) -> Tensor:
    """Random integers: `randint(high, size)` or `randint(low, high, size)`."""
    low, high, size = (0, *bounds) if len(bounds) == 2 else bounds
    return _made(RANDOM.integers(low, high, tuple(size)), dtype, **keywords)


def randperm(n: int) -> Tensor:
    """The numbers below n in random order."""
    return new(RANDOM.permutation(n))
