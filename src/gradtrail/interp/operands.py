"""Arguments as the laws take them: plain values, sizes, devices; what a row was given."""

from __future__ import annotations

from typing import Any

from gradtrail.interp.values import (
    CPU,
    MISSING,
    PLAIN,
    UNKNOWN,
    Device,
    Dtype,
    Range,
    Sequence,
    Some,
    Tensor,
    Unknown,
)

Shape = Any


class Bound:
    """The arguments of one application of a row, by name, and the tensors among them."""

    __slots__ = ("any_device", "doubt", "tensors", "values")

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.tensors: list[tuple[str, Tensor]] = []
        self.any_device = False  # an index may be on another device
        self.doubt = False  # an argument that may hold further tensors is not known


def is_contiguous(tensor: Tensor) -> bool:
    """Whether a tensor is certainly contiguous: made by a factory and never viewed otherwise."""
    return (
        tensor.base is None
        and tensor.origin.kind in ("created", "created-no-grad", "parameter", "module-parameter")
        and tensor.shape is not None
    )


def value_kind(value: Any) -> str:
    """How the laws tell an argument's value apart when they choose an overload."""
    kind = type(value)
    if kind is Tensor:
        if value.shape is None:
            return "tensor"
        return "matrix" if len(value.shape) <= 2 else "batch"
    if kind is bool:
        return "true" if value else "false"
    if kind is int and value == 1:
        return "one"
    if kind in (int, float) or (kind is Some and value.type in ("int", "float", "number")):
        return "number"
    if kind is Dtype:
        return "dtype"
    if kind is str:
        return "text"
    if value is Ellipsis or kind.__name__ == "SliceValue":
        return "basic"
    if kind is Sequence:
        ones = value.items and all(type(one) is int and one == 1 for one in value.items)
        if ones and value.kind == "tuple" and value.rest is MISSING:
            return "ones"
        if value.kind == "list" or any(type(one) is Tensor or type(one) is Sequence for one in value.items):
            return "advanced"
        return "basic" if value.rest is MISSING else "value"
    return "value"


def plain_value(value: Any) -> Any:
    """An argument as the laws take it: numbers, strings, tuples of them, dtypes by name; else UNKNOWN."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is Dtype:
        return value.name if value.name is not None else UNKNOWN
    if kind is Sequence:
        if value.rest is not MISSING:
            return UNKNOWN
        return tuple(plain_size(item) for item in value.items)
    if kind is Range and value.length is not None and value.length < 16:
        return tuple(range(value.start, value.stop, value.step))
    return UNKNOWN


def plain_size(value: Any) -> Any:
    """A size: an int, or None where it is some int; nested sequences as tuples."""
    kind = type(value)
    if kind is int:
        return value
    if kind is Some or kind is Unknown:
        return None
    return plain_value(value)


def device_from(value: Any) -> Device | None:
    """The device that a value names, or None when it names none."""
    if type(value) is Device:
        return value
    if type(value) is str:
        head = value.partition(":")[0]
        if head == "cpu":
            return CPU
        if head.isidentifier() and head not in ("float", "double", "half"):
            return Device("other", value)
    if type(value) is int and type(value) is not bool:
        return Device("other", f"cuda:{value}")
    return None
