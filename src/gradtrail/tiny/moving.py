"""Moving: to another type, to another device, and to numpy.

A move is an operation as any other: its result is computed, and no leaf. Only where there is nothing to move, the very
same tensor comes back. To numpy a tensor goes only where no gradient could be expected.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gradtrail.tiny.autograd import Tensor, new, node_class, records
from gradtrail.tiny.making import from_numpy
from gradtrail.tiny.modes import is_grad_enabled
from gradtrail.tiny.operations import method, methods
from gradtrail.tiny.values import (
    CPU,
    Array,
    NotInTiny,
    boolean,
    device,
    device_meant,
    dtype,
    dtype_meant,
    float32,
    float64,
    int64,
    plain_name,
)


@method
def to(self: Tensor, *arguments: Any, **keywords: Any) -> Tensor:
    """Another type or device. Where nothing changes it is the very same tensor; else a computed one."""
    kind, where = self.dtype, self.device
    for name in keywords.keys() - {"dtype", "device", "copy", "non_blocking", "other"}:
        raise NotInTiny(f"torch.Tensor.to({name}=)")
    for each in (*arguments, *(keywords.get(key) for key in ("dtype", "device", "other"))):
        if isinstance(each, Tensor):
            kind, where = each.dtype, each.device
        elif isinstance(each, dtype | type):
            kind = dtype_meant(each)
        elif isinstance(each, str | device | int) and not isinstance(each, bool):
            where = device_meant(each)
        elif each is not None and not isinstance(each, bool):
            raise TypeError(
                f"to() received an invalid combination of arguments - got ({plain_name(type(each))})"
            )
    if sum(isinstance(each, bool) for each in arguments) > 1:
        raise NotInTiny("torch.Tensor.to with `copy` by position")
    if kind is self.dtype and where == self.device and not keywords.get("copy"):
        return self
    old = (self.dtype, self.device)
    made = new(self._array.astype(kind.numpy), where)
    if records((self,)) and kind.is_floating_point:
        made._edge = (node_class("ToCopyBackward0")((self,), [made], lambda g: g.to(*old)), 0)
    return made


@method
def cpu(self: Tensor) -> Tensor:
    """To the CPU, where numpy can reach it."""
    return to(self, CPU)


@method
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """To the type of another tensor, and to its device."""
    return to(self, other)


def _type(self: Tensor, kind: Any = None) -> Any:
    """The name of the type; with a type, the tensor in it."""
    if isinstance(kind, str | type):
        raise NotInTiny("torch.Tensor.type of a name")
    return f"torch.{'cuda.' * self.is_cuda}{self.dtype.title}Tensor" if kind is None else to(self, kind)


methods(
    type=_type,
    is_floating_point=lambda self: self.dtype.is_floating_point,
    float=functools.partialmethod(to, float32),
    double=functools.partialmethod(to, float64),
    long=functools.partialmethod(to, int64),
    bool=functools.partialmethod(to, boolean),
    cuda=lambda self, index=0: to(self, index),
)


def typename(value: Any) -> str:
    """The name of a value's type, as messages have it."""
    if isinstance(value, Tensor):
        return str(value.type())
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


@method
def numpy(self: Tensor, *, force: bool = False) -> Array:
    """The memory itself as numpy's: only from the CPU, and only where no gradient could be expected."""
    if force:
        return self.detach().cpu().numpy()  # type: ignore[no-any-return]
    if self.is_cuda:
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to"
            " host memory first."
        )
    if self.requires_grad and is_grad_enabled():
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    return self._array


def _as_array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Array:
    array = self.numpy()
    return np.array(array, dtype, copy=copy) if dtype is not None or copy else array


methods(
    __array__=_as_array,
    __array_wrap__=lambda self, array, *_: from_numpy(np.asarray(array)),
    __array_priority__=1000,  # numpy steps back from `array * tensor`
)
