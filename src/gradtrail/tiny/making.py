"""Tensors that are made: of numbers, of arrays, of other tensors, and of random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtrail.tiny import words
from gradtrail.tiny.autograd import Tensor, new
from gradtrail.tiny.calls import Made, function
from gradtrail.tiny.values import (
    DTYPES,
    Array,
    NotInTiny,
    boolean,
    device_meant,
    dtype_meant,
    float32,
    float64,
    int64,
    known,
    plain_name,
    sizes_of,
    warn,
)

Maker = Callable[..., Tensor]

RANDOM = np.random.default_rng(0)
"""Where all random numbers come from."""


def manual_seed(seed: int) -> None:
    """Begin the random numbers anew."""
    RANDOM.bit_generator.state = np.random.default_rng(seed).bit_generator.state


def _made_as_torch_does(made: Made) -> Made:
    return function(made, f"torch.{made.__name__}")


def _made(array: Any, dtype: Any = None, device: Any = None, requires_grad: Any = False) -> Tensor:
    if dtype is not None:
        array = np.asarray(array).astype(dtype_meant(dtype).numpy)
    made = new(array, device_meant(device))
    if requires_grad and not made.dtype.is_floating_point:
        raise RuntimeError(words.ONLY_FLOATS)
    made._flag = bool(requires_grad)
    return made


def _tensor_class(cls: type[Tensor], *arguments: Any, **keywords: Any) -> Tensor:
    """`torch.Tensor(2, 3)` and `torch.Tensor([1, 2])`: float32, whatever went in."""
    if keywords or (cls is not Tensor and cls.__new__ is _tensor_class):
        raise NotInTiny(f"torch.Tensor({next(iter(keywords))}=)" if keywords else "a class of torch.Tensor's")
    if not arguments:
        return new(np.zeros(0, "f4"))
    sizes = all(isinstance(each, int) for each in arguments)
    return new(np.zeros(arguments, "f4") if sizes else tensor(arguments[0])._array.astype("f4"))


Tensor.__new__ = _tensor_class  # type: ignore[method-assign, assignment]


class TensorOfType(type):
    """`torch.FloatTensor` and its like: a way to make tensors, and what tensors of a type on the CPU are said to be."""

    kind = float32

    def __call__(cls, *arguments: Any) -> Tensor:
        """Numbers in this type."""
        sizes = all(isinstance(each, int) for each in arguments)
        return zeros(*arguments, dtype=cls.kind) if sizes else tensor(arguments[0], dtype=cls.kind)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.kind and not instance.is_cuda


FloatTensor, LongTensor, DoubleTensor, BoolTensor = (
    TensorOfType(f"{each.title}Tensor", (), {"kind": each, "__module__": "torch"})
    for each in (float32, int64, float64, boolean)
)


@_made_as_torch_does
def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A new leaf with a copy of the numbers; of a tensor only the numbers are taken."""
    if isinstance(data, Tensor):
        warn(words.COPY_OF_TENSOR)
        return _made(data._array.copy(), dtype, device or data.device, requires_grad)
    if isinstance(data, np.ndarray):
        return _made(data.copy() if dtype else known(data).copy(), dtype, device, requires_grad)
    if isinstance(data, str):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    kind = dtype_meant(dtype).numpy if dtype else _kind_of(data)
    return _made(np.array(_numbers(data), kind), None, device, requires_grad)


def _kind_of(data: Any) -> Any:
    """The type of numbers: those of Python are float32 and int64, those of arrays and tensors have their own."""
    if isinstance(data, Tensor):
        return data._array.dtype
    if isinstance(data, np.ndarray | np.generic):
        return known(np.asarray(data)).dtype
    if isinstance(data, list | tuple | range):
        if any(isinstance(each, str) for each in data[1:]) and not isinstance(data[0], str):
            raise TypeError("new(): invalid data type 'str'")
        kinds = [DTYPES[_kind_of(each).name] for each in data]
        return max(kinds, key=list(DTYPES.values()).index, default=float32).numpy
    if isinstance(data, bool):
        return np.dtype("?")
    if isinstance(data, int):
        if not -(2**63) <= data < 2**63:
            raise ValueError("Overflow when unpacking long long")
        return np.dtype("i8")
    if isinstance(data, float):
        return np.dtype("f4")
    if isinstance(data, complex):
        raise NotInTiny("torch.complex64")
    if isinstance(data, str):
        raise ValueError("too many dimensions 'str'")
    raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")


def _numbers(data: Any) -> Any:
    """Nested lists of numbers; rows of unlike length are refused."""
    if isinstance(data, Tensor):
        if data.requires_grad and not data.ndim:
            warn(words.SCALAR_OF_GRAPH, once=True)
        return data.tolist()
    if isinstance(data, np.ndarray):
        return data.tolist()
    if not isinstance(data, list | tuple | range):
        return data
    if data and isinstance(data[0], np.ndarray):
        warn(words.LIST_OF_ARRAYS, once=True)
    rows = [_numbers(each) for each in data]
    for row in rows:
        if isinstance(row, list) and isinstance(rows[0], list) and len(row) != len(rows[0]):
            raise ValueError(f"expected sequence of length {len(rows[0])} at dim 1 (got {len(row)})")
        if isinstance(row, list) != isinstance(rows[0], list):
            if isinstance(rows[0], list):
                raise TypeError("not a sequence")
            raise NotInTiny("torch.tensor of numbers and rows")
    return rows


@_made_as_torch_does
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """The very same tensor where there is one."""
    if isinstance(data, np.ndarray):
        data = from_numpy(data)
    return data.to(dtype, device) if isinstance(data, Tensor) else tensor(data, dtype=dtype, device=device)


@_made_as_torch_does
def from_numpy(array: Array) -> Tensor:
    """A tensor around the array's memory, with its type: numpy's own numbers are float64."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return new(known(array))


def _makers(name: str, draw: Callable[[tuple[int, ...]], Any]) -> tuple[Maker, Maker]:
    """`torch.zeros(2, 3)`, and `torch.zeros_like(x)`, for a way to draw the numbers."""

    def make(
        *sizes: Any, size: Any = None, dtype: Any = None, device: Any = None, requires_grad: Any = False
    ) -> Tensor:
        shape = _shape(name, sizes if size is None else (size,))
        return _made(np.asarray(draw(shape)), dtype or float32, device, requires_grad)

    def make_like(
        self: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: Any = False
    ) -> Tensor:
        kind, where = dtype or self.dtype, device or self.device
        return make(*self.shape, dtype=kind, device=where, requires_grad=requires_grad)

    return function(make, f"torch.{name}"), function(make_like, f"torch.{name}_like")


def _shape(name: str, sizes: tuple[Any, ...]) -> tuple[int, ...]:
    shape = sizes_of(sizes)
    for each in shape:
        if not isinstance(each, int | np.integer | Tensor) or isinstance(each, bool):
            raise TypeError(
                f"{name}(): argument 'size' (position 1) must be tuple of ints, not {plain_name(type(each))}"
            )
    whole = tuple(map(int, shape))
    if any(each < 0 for each in whole):
        raise RuntimeError(f"{name}: Dimension size must be non-negative.")
    return whole


zeros, zeros_like = _makers("zeros", np.zeros)
ones, ones_like = _makers("ones", np.ones)
empty, empty_like = _makers("empty", np.zeros)
rand, rand_like = _makers("rand", RANDOM.random)
randn, randn_like = _makers("randn", RANDOM.standard_normal)


@_made_as_torch_does
def full(
    size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: Any = False
) -> Tensor:
    """A tensor of one number."""
    if not isinstance(size, tuple | list):
        raise TypeError(
            f"full(): argument 'size' (position 1) must be tuple of ints, not {plain_name(type(size))}"
        )
    if isinstance(fill_value, Tensor):
        raise NotInTiny("torch.full of a tensor")
    if not isinstance(fill_value, int | float | np.number | np.bool_):
        raise TypeError(
            f"full(): argument 'fill_value' (position 2) must be Number, not {plain_name(type(fill_value))}"
        )
    number = fill_value.item() if isinstance(fill_value, np.generic) else fill_value
    return _made(
        np.full(_shape("full", (tuple(size),)), number, _kind_of(number)), dtype, device, requires_grad
    )


@_made_as_torch_does
def eye(
    n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: Any = False
) -> Tensor:
    """Ones on the diagonal."""
    return _made(np.eye(n, m), dtype or float32, device, requires_grad)


@_made_as_torch_does
def arange(
    *bounds: Any,
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    dtype: Any = None,
    device: Any = None,
    requires_grad: Any = False,
) -> Tensor:
    """Numbers in a row."""
    if len(bounds) == 1 and end is None:
        end = bounds[0]
    elif len(bounds) == 1:
        start = bounds[0]
    elif bounds:
        start, end, step = bounds if len(bounds) == 3 else (*bounds, step)
    if end is None or len(bounds) > 3:
        raise NotInTiny("torch.arange without `end`" if end is None else "torch.arange of 4 arguments")
    numbers = [each.item() if isinstance(each, Tensor | np.generic) else each for each in (start, end, step)]
    array = np.arange(*numbers)
    return _made(array, dtype or (float32 if array.dtype.kind == "f" else int64), device, requires_grad)


@_made_as_torch_does
def linspace(
    start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None, requires_grad: Any = False
) -> Tensor:
    """Numbers at equal distances."""
    return _made(np.linspace(float(start), float(end), steps), dtype or float32, device, requires_grad)


@_made_as_torch_does
def randint(
    *bounds: Any,
    low: int = 0,
    high: Any = None,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: Any = False,
) -> Tensor:
    """Random integers: `randint(high, size)` or `randint(low, high, size)`."""
    numbers = [each for each in bounds if not isinstance(each, tuple | list)]
    shape = next((each for each in bounds if isinstance(each, tuple | list)), size)
    low, high = (low, *numbers)[-2:] if numbers and high is None else ((*numbers, low)[0], high)
    if shape is None or high is None or len(numbers) > 2:
        raise NotInTiny("torch.randint with such arguments")
    return _made(RANDOM.integers(low, high, tuple(shape)), dtype, device, requires_grad)


@_made_as_torch_does
def randperm(n: int, *, dtype: Any = None, device: Any = None, requires_grad: Any = False) -> Tensor:
    """The numbers below n in random order."""
    return _made(RANDOM.permutation(n), dtype, device, requires_grad)
