"""How a person calls a live tensor: by the names of the program, or of the module that it is a parameter of.

Only plain containers, modules and the program's own objects are looked into, and no code of theirs is run: what an object
says of itself is not asked, its `__dict__` is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import FrameType, FunctionType, ModuleType
from typing import Any

from gradtrail.runtime.torch_compat import TORCH, memory_of

_DEEPEST = 3
_MOST_ITEMS = 1_000
_MOST_OBJECTS = 20_000

_CLOSED = (ModuleType, type, FunctionType, str, bytes, int, float, complex, type(None))


class Names:
    """The names of the tensors that are at hand in some frames, the innermost frame first."""

    def __init__(self, frames: Iterable[FrameType]) -> None:
        self._by_id: dict[int, list[str]] = {}
        self._seen: set[int] = set()
        self._found: list[Any] = []
        """Held while the names are: an address is a name only as long as what lies there lives."""
        told: set[int] = set()
        for frame in frames:
            for space in (frame.f_locals, frame.f_globals):
                if id(space) not in told:
                    told.add(id(space))
                    self._held = space
                    self._look_into_space(space)

    def of(self, value: object) -> str:
        """The first name of a tensor, of a module or of an optimizer; empty without one."""
        return next(iter(self._by_id.get(id(value), ())), "")

    def all_of(self, value: object) -> tuple[str, ...]:
        """All names of it."""
        return tuple(self._by_id.get(id(value), ()))

    def tensors(self) -> Iterator[tuple[str, Any]]:
        """Each tensor that has a name, with its first one."""
        for value in self._found:
            if TORCH.is_tensor(value):
                yield self.of(value), value

    def modules(self) -> Iterator[Any]:
        """The modules that have a name."""
        return filter(TORCH.is_module, self._found)

    def in_memory(self, begins: int) -> Iterator[tuple[str, Any]]:
        """The tensors whose memory begins there."""
        for name, tensor in self.tensors():
            if memory_of(tensor) == begins:
                yield name, tensor

    def _look_into_space(self, space: Mapping[str, Any]) -> None:
        later = []
        for name, value in list(space.items()):
            if not name.startswith("__"):
                if TORCH.is_tensor(value):
                    self._add(name, value)
                else:
                    later.append((name, value))
        for name, value in later:
            self._look(name, value, 0)

    def _add(self, name: str, value: Any) -> None:
        known = self._by_id.setdefault(id(value), [])
        if not known:
            self._found.append(value)
        if name not in known:
            known.append(name)

    def _look(self, name: str, value: Any, depth: int) -> None:
        if isinstance(value, _CLOSED) or depth > _DEEPEST or len(self._seen) > _MOST_OBJECTS:
            return
        if TORCH.is_tensor(value):
            self._add(name, value)
            return
        if id(value) in self._seen:
            if TORCH.is_module(value) or TORCH.is_optimizer(value):
                self._add(name, value)
            return
        self._seen.add(id(value))
        self._found_container(name, value)
        for part, inner in _parts(value):
            self._look(f"{name}{part}", inner, depth + (not TORCH.is_module(value)))

    def _found_container(self, name: str, value: Any) -> None:
        if TORCH.is_module(value) or TORCH.is_optimizer(value):
            self._add(name, value)
        else:
            self._found.append(value)
            self._by_id.setdefault(id(value), [])


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    kind = type(value)
    if kind in (list, tuple):
        if len(value) <= _MOST_ITEMS:
            yield from ((f"[{index}]", item) for index, item in enumerate(value))
        return
    if kind is dict:
        if len(value) <= _MOST_ITEMS:
            yield from ((f"[{key!r}]", item) for key, item in list(value.items()) if type(key) in (str, int))
        return
    own = attributes_of(value)
    if own is None or TORCH.is_optimizer(value):
        return
    if TORCH.is_module(value):
        for inside in ("_parameters", "_buffers", "_modules"):
            for key, item in list(own.get(inside, {}).items()):
                yield (f".{key}" if not key.isdigit() else f"[{key}]"), item
    for key, item in list(own.items()):
        if (
            type(key) is str
            and not key.startswith("__")
            and not (key.startswith("_") and TORCH.is_module(value))
        ):
            yield f".{key}", item


def attributes_of(value: Any) -> dict[str, Any] | None:
    """The attributes that an object keeps itself, when it is one of the program's or a module; its class is not asked."""
    if type(value).__module__.partition(".")[0] in ("builtins", "numpy", "torch") and not TORCH.is_module(
        value
    ):
        return None
    try:
        own = object.__getattribute__(value, "__dict__")
    except (AttributeError, TypeError):
        return None
    return own if type(own) is dict else None
