"""What libraries that run a training have in common: backward passes on behalf of the program, and devices they choose."""

from __future__ import annotations

from typing import Any

from gradtrail.interp.frames import Frame
from gradtrail.interp.modules import is_module
from gradtrail.interp.values import (
    ANY_LEAF,
    MAYBE,
    Device,
    Instance,
    Library,
    Mapping,
    Sequence,
    Tensor,
)

Args = list[Any]
Keywords = dict[str, Any]


def library_object(m: Any, path: str, node: Any, frame: Frame) -> Instance:
    """An object of a library class."""
    made = m.origin("made", node, frame, cls=path.rpartition(".")[2])
    return Instance(Library(path), path, m.serial(), made)


def backward(m: Any, loss: Any, args: Args, keywords: Keywords, node: Any, frame: Frame) -> None:
    """`loss.backward(...)` on behalf of the program."""
    m.call_method(m.settle(loss), "backward", args, keywords, node, frame)


def placed_anywhere(m: Any, value: Any) -> None:
    """A module is moved, in place, to a device that the library chooses."""
    if is_module(value):
        tensors = [one for _, one in m.parameters_of(value)[0]] + [one for _, one in m.buffers_of(value)]
        for tensor in tensors:
            if type(tensor) is Tensor:
                m.heap.put(tensor, "device", None)


def moved(m: Any, value: Any, device: Device, node: Any, frame: Frame) -> Any:
    """A batch with its tensors on a device that the library chooses."""
    value = m.settle(value)
    if type(value) is Tensor:
        return m.call_method(value, "to", [device], {}, node, frame)
    if type(value) is Sequence:
        items = tuple(moved(m, one, device, node, frame) for one in value.items)
        return Sequence(value.kind, items, value.rest)
    if type(value) is Mapping:
        entries = {key: moved(m, one, device, node, frame) for key, one in value.entries.items()}
        return Mapping(entries, value.rest)
    return value


def frozen_perhaps(m: Any, module: Any) -> None:
    """The library may have frozen any parameter of a module."""
    if is_module(module):
        for _, tensor in m.parameters_of(module)[0]:
            if type(tensor) is Tensor:
                m.heap.put(tensor, "requires", MAYBE)
                m.heap.put(tensor, "leaf", ANY_LEAF)


def alone_or_tuple(values: Args) -> Any:
    """One value as it is, several as a tuple: what functions give back that take any number."""
    return values[0] if len(values) == 1 else Sequence("tuple", tuple(values))
