"""Where an exception was raised: the frames, the expression, and what its parts stand for, without running anything."""

from __future__ import annotations

import ast
from types import TracebackType
from typing import Any

from gradtrail.runtime.names import Names
from gradtrail.runtime.places import Sources
from gradtrail.runtime.torch_compat import TORCH
from gradtrail.runtime.user_code import Station, stations
from gradtrail.source.place import Place


class Missing:
    """Stands for what could not be told."""


MISSING = Missing()


class Scene:
    """The frames of an exception, and what it says. `own` is the innermost of the user's, `inner` those of libraries below it."""

    def __init__(self, trace: TracebackType | None, sources: Sources, said: str = "") -> None:
        self.said = said
        self.stations = stations(trace)
        self.sources = sources
        users = [index for index, one in enumerate(self.stations) if one.is_users]
        self.own: Station | None = self.stations[users[-1]] if users else None
        self.inner = self.stations[users[-1] + 1 :] if users else self.stations
        self._users = [self.stations[index] for index in users]
        self._names: Names | None = None

    @property
    def names(self) -> Names:
        """The names in the user's frames."""
        if self._names is None:
            self._names = Names(one.frame for one in reversed(self._users))
        return self._names

    @property
    def rows(self) -> list[Place]:
        """The user's rows, the innermost first."""
        return [self.sources.row(one.code, one.row) for one in reversed(self._users)]

    @property
    def place(self) -> Place | None:
        """The expression that failed, in the user's code."""
        return None if self.own is None else self.sources.place(self.own.code, self.own.offset, self.own.row)

    @property
    def node(self) -> ast.expr | ast.stmt | None:
        """The tree of it."""
        return None if self.own is None else self.sources.node(self.own.code, self.own.offset, self.own.row)

    def local(self, function: str, name: str) -> Any:
        """What a name stands for in the innermost frame of a library's function."""
        for one in reversed(self.inner):
            if one.code.co_name == function:
                return one.frame.f_locals.get(name, MISSING)
        return MISSING

    def value_of(self, owner: Any, name: str) -> Any:
        """An attribute of an object, where that can be told without running code of anybody's; else MISSING."""
        return _attribute(owner, name)

    def code(self, node: ast.AST | None) -> str:
        """An expression as the program writes it, on one line."""
        if self.own is None or not isinstance(node, (ast.expr, ast.stmt)):
            return ""
        filename = self.sources.row(self.own.code, self.own.row).filename
        return self.sources.segment(self.sources.place_of(filename, node))

    def value(self, node: ast.AST | None) -> Any:
        """What an expression stands for, where that can be told without running code of anybody's; else MISSING."""
        if self.own is None or node is None:
            return MISSING
        frame = self.own.frame
        if isinstance(node, ast.Name):
            for space in (frame.f_locals, frame.f_globals):
                if node.id in space:
                    return space[node.id]
            return MISSING
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Attribute):
            return _attribute(self.value(node.value), node.attr)
        if isinstance(node, ast.Subscript):
            return _item(self.value(node.value), self.value(node.slice))
        return MISSING


def _attribute(owner: Any, name: str) -> Any:
    try:
        own = object.__getattribute__(owner, "__dict__")
    except (AttributeError, TypeError):
        own = {}
    if name in own:
        return own[name]
    if TORCH.is_module(owner):
        for inside in ("_parameters", "_buffers", "_modules"):
            if name in own.get(inside, ()):
                return own[inside][name]
    if TORCH.is_tensor(owner) and name in ("grad", "data"):
        with TORCH.quietly():
            return owner.grad if name == "grad" else MISSING
    return MISSING


def _item(owner: Any, key: Any) -> Any:
    if type(owner) in (list, tuple, dict) and type(key) in (int, str):
        try:
            return owner[key]
        except (LookupError, TypeError):
            return MISSING
    if TORCH.is_module(owner) and type(key) in (int, str):
        inside = object.__getattribute__(owner, "__dict__").get("_modules", {})
        return inside.get(str(key), MISSING)
    return MISSING
