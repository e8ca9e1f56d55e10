"""The join of two values: what a variable holds after branches that bound it differently.

A name bound in one branch only is taken to hold that value: a program that goes on to use it must
have come that way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtrail.interp.values import (
    BOOL,
    INT,
    MISSING,
    NUMBER,
    PLAIN,
    STR,
    UNKNOWN,
    YES,
    Array,
    AtLeast,
    Bound,
    Device,
    Dtype,
    Instance,
    Mapping,
    Node,
    OneOf,
    Sequence,
    Some,
    Tensor,
    Unknown,
    edge_of,
)

_MOST_ALTERNATIVES = 4
_MOST_REMEMBERED = 64
_BITS = ("requires", "leaf")
_MODES = frozenset(
    (
        "grad_mode",
        "inference_mode",
        "set_by",
        "entered_by",
        "default_dtype",
        "default_device",
        "elsewhere_ended",
        "autocast",
    )
)


class Joiner:
    """Joins values; `serial` hands out numbers for the tensors that come of it."""

    def __init__(self, serial: Callable[[], int]) -> None:
        self.serial = serial

    def join(self, a: Any, b: Any) -> Any:
        """A value that stands for `a` or `b`."""
        if a is b or b is MISSING:
            return a
        if a is MISSING:
            return b
        first, second = type(a), type(b)
        if first is Unknown or second is Unknown:
            return _unknown_of(a, b)
        if first is OneOf or second is OneOf:
            return self._alternatives(a, b)
        if first is second:
            if first is Tensor:
                return self.tensors(a, b)
            if first is Sequence:
                return self._sequences(a, b)
            if first is Mapping:
                return self._mappings(a, b)
            if first in PLAIN and a == b:
                return a
            if first is tuple:
                return a if len(a) >= len(b) else b
            if first is Device:
                if a.kind == b.kind and a.name == b.name:
                    return a
                kind = "unknown" if "unknown" in (a.kind, b.kind) else "symbol"
                return Device(kind, a.name if a.name == b.name else f"{a.name} or {b.name}")
            if first is Dtype:
                return a if a.name == b.name else Dtype(None)
            if first is Array:
                return _arrays(a, b)
            if first is Some:
                return a if a.type == b.type else _wider(a.type, b.type)
            if first is Bound and a.receiver is b.receiver and a.method == b.method:
                return a
        if (
            (first in PLAIN or first is Some)
            and (second in PLAIN or second is Some)
            and a is not None
            and b is not None
        ):
            return _wider(_type_name(a), _type_name(b))
        return self._alternatives(a, b)

    def field(self, container: Any, key: Any, a: Any, b: Any) -> Any:
        """The join of two values of one field of an object of the machine."""
        kind = type(container)
        if key in _MODES:
            return _mode(key, a, b)
        if kind is Tensor and key in _BITS:
            return a | b
        if kind is Sequence and key == "items":
            return self._items(a, b)
        if key in ("node", "base", "same_on_cpu"):
            return self._node(a, b) if key == "node" else None
        if key in ("view_kind", "dtype", "device", "parameter", "inference", "retains", "conj", "shape"):
            return _shape(a, b) if key == "shape" else a if a == b else None
        if key == "version":
            return _version(a, b)
        if key == "shares":
            return a if a == b else None
        if key in ("freed", "position", "spent", "cleared"):
            return a if a == b else UNKNOWN
        if key == "opened":
            return a or b
        if key in ("steps", "writes"):
            return a if len(a) >= len(b) else b
        if key == "perhaps":
            return a | b
        if key == "hooks":
            return tuple(one for one in a or () if one in (b or ()))
        return self.join(a, b)

    def tensors(self, a: Tensor, b: Tensor) -> Tensor:
        """A tensor that is `a` or `b`: the facts of both."""
        told = a if (a.requires, a.leaf) >= (b.requires, b.leaf) else b
        joined = Tensor(self.serial(), told.origin)
        joined.steps = told.steps
        joined.either = (a, b)
        for one in joined.either:
            if len(one.part_of) < _MOST_REMEMBERED:
                one.part_of = (*one.part_of, joined)
        joined.requires = a.requires | b.requires
        joined.leaf = a.leaf | b.leaf
        joined.node = self._edges(a, b)
        if a.storage is b.storage:
            joined.storage = a.storage
        else:
            joined.storage.version = UNKNOWN
        joined.base = a.base if a.base is b.base else None
        joined.view_kind = a.view_kind if a.view_kind == b.view_kind else "ordinary"
        joined.dtype = a.dtype if a.dtype == b.dtype else None
        joined.device = (
            a.device
            if a.device is b.device or (a.device and b.device and a.device.kind == b.device.kind == "cpu")
            else None
        )
        joined.shape = _shape(a.shape, b.shape)
        joined.conj = a.conj if a.conj == b.conj else None
        joined.inference = a.inference if a.inference == b.inference else None
        joined.retains = a.retains if a.retains == b.retains else UNKNOWN
        joined.grad = a.grad if a.grad is b.grad else UNKNOWN
        joined.parameter = a.parameter if a.parameter == b.parameter else None
        joined.name = a.name if a.name == b.name else None
        joined.many = a.many or b.many
        joined.result_of = a.result_of if a.result_of == b.result_of else None
        return joined

    def _edges(self, a: Tensor, b: Tensor) -> Node | None:
        if a.node is b.node and a.node is not None:
            return a.node
        if a.requires == b.requires == 1:
            return None
        edges = tuple(edge for edge in (edge_of(a), edge_of(b)) if edge is not None)
        every = a.requires == b.requires == YES
        return Node("all" if every else "", "join", edges, (), None, a.origin, self.serial())

    def _node(self, a: Node | None, b: Node | None) -> Node | None:
        known = a or b
        if known is None:
            return None
        name = "all" if a is not None and b is not None else ""
        edges = tuple(node for node in (a, b) if node is not None)
        return Node(name, "join", edges, (), None, known.origin, self.serial())

    def _items(self, a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(a) == len(b):
            return tuple(x if x is y else self.join(x, y) for x, y in zip(a, b, strict=False))
        return a[:0]  # the caller takes the elements into `rest`

    def all_of(self, values: tuple[Any, ...]) -> Any:
        """One value that stands for each of `values`; MISSING for none."""
        joined: Any = MISSING
        for value in values:
            joined = value if joined is MISSING else self.join(joined, value)
        return joined

    def _sequences(self, a: Sequence, b: Sequence) -> Any:
        if a.kind != b.kind:
            return self._alternatives(a, b)
        rest = self.join(a.rest, b.rest)
        if len(a.items) == len(b.items):
            return Sequence(a.kind, self._items(a.items, b.items), rest, a.names)
        return Sequence(a.kind, (), self.join(rest, self.all_of(a.items + b.items)), ())

    def _mappings(self, a: Mapping, b: Mapping) -> Mapping:
        entries = dict(a.entries)
        for key, value in b.entries.items():
            entries[key] = self.join(entries.get(key, MISSING), value)
        return Mapping(entries, self.join(a.rest, b.rest), self.join(a.default, b.default))

    def _alternatives(self, a: Any, b: Any) -> Any:
        values: list[Any] = []
        for side in (a, b):
            for value in side.values if type(side) is OneOf else (side,):
                for index, known in enumerate(values):
                    if known is value or _folds(known, value):
                        values[index] = self.join(known, value)
                        break
                else:
                    values.append(value)
        if len(values) > _MOST_ALTERNATIVES:
            return _unknown_of(*values)
        return values[0] if len(values) == 1 else OneOf(tuple(values))


def _arrays(a: Array, b: Array) -> Array:
    """An array that is `a` or `b`."""
    if a.dtype == b.dtype and a.may_be_number == b.may_be_number:
        return a
    joined = Array(a.dtype if a.dtype == b.dtype else None)
    joined.may_be_number = a.may_be_number or b.may_be_number
    return joined


def _unknown_of(*values: Any) -> Unknown:
    """Something unknown that may be one of `values`."""
    either: dict[Any, None] = {}
    for value in values:
        kind = type(value)
        if kind is Tensor or kind is Instance:
            either[value] = None
        elif kind is Unknown or kind is OneOf:
            either.update(dict.fromkeys(_objects_in(value)))
    return Unknown("joined", tuple(either)[:_MOST_REMEMBERED]) if either else UNKNOWN


def _objects_in(value: Any) -> tuple[Any, ...]:
    """The tensors and objects that a value may be."""
    kind = type(value)
    if kind is Unknown:
        return tuple(value.either)
    if kind is OneOf:
        return tuple(one for alternative in value.values for one in _objects_in(alternative))
    return (value,) if kind is Tensor or kind is Instance else ()


_FOLDED = frozenset((Tensor, Sequence, Mapping, Some, Array, Dtype))


def _version(a: Any, b: Any) -> Any:
    """Of two versions: the same one, or a bound below both."""
    if type(a) is int and a == b:
        return a
    bounds = [
        value if type(value) is int else value.number if type(value) is AtLeast else None for value in (a, b)
    ]
    if None in bounds:
        return UNKNOWN
    return AtLeast(min(bound for bound in bounds if bound is not None))


def _folds(a: Any, b: Any) -> bool:
    """Whether two alternatives are told as one joined value."""
    if type(a) is not type(b) or type(a) not in _FOLDED:
        return False
    return type(a) is not Sequence or a.kind == b.kind


def _mode(key: str, a: Any, b: Any) -> Any:
    """The join of one of the modes of autograd, of which None says that it is not known."""
    if a == b:
        return a
    if key == "default_dtype":
        return ""
    if key == "default_device":
        return Device("symbol", "default device")
    if key in ("elsewhere_ended", "autocast"):
        return True
    return None


def _shape(
    a: tuple[int | None, ...] | None, b: tuple[int | None, ...] | None
) -> tuple[int | None, ...] | None:
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=False))


def _type_name(value: Any) -> str:
    return value.type if type(value) is Some else type(value).__name__


def _wider(a: str, b: str) -> Any:
    if a == b:
        return {"int": INT, "bool": BOOL, "str": STR}.get(a) or Some(a)
    numbers = ("int", "float", "bool", "number")
    if a in numbers and b in numbers:
        return NUMBER
    return OneOf((Some(a), Some(b)))
