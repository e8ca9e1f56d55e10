"""Where the models of libraries are found: a dotted path and what a call of it means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Handler = Callable[[Any, list[Any], dict[str, Any], Any, Any, str], Any]
"""Called with the machine, arguments, keywords, the node, the frame, and the path that was called."""

CALLS: dict[str, Handler] = {}
"""Functions and classes of libraries by their dotted path."""

OBJECT_METHODS: dict[str, dict[str, Handler]] = {}
"""Methods of library objects, by the dotted path of their class; the receiver is the first argument."""

TENSOR_METHODS: dict[str, Handler] = {}
"""Tensor methods that are more than a row of the laws; the tensor is the first argument."""

TENSOR_ATTRIBUTES: dict[str, Callable[[Any, Any, Any, Any], Any]] = {}


def calls(*paths: str) -> Callable[[Handler], Handler]:
    """Register what a call of each of `paths` means."""

    def take(handler: Handler) -> Handler:
        for path in paths:
            if path in CALLS:
                raise ValueError(f"two models for {path}")
            CALLS[path] = handler
        return handler

    return take


def method(cls: str, *names: str) -> Callable[[Handler], Handler]:
    """Register methods of objects of the library class `cls`."""

    def take(handler: Handler) -> Handler:
        for name in names:
            OBJECT_METHODS.setdefault(cls, {})[name] = handler
        return handler

    return take


def tensor_method(*names: str) -> Callable[[Handler], Handler]:
    """Register Tensor methods."""

    def take(handler: Handler) -> Handler:
        for name in names:
            TENSOR_METHODS[name] = handler
        return handler

    return take


def tensor_attribute(*names: str) -> Callable[[Any], Any]:
    """Register Tensor attributes: called with the machine, the tensor, the node and the frame."""

    def take(handler: Any) -> Any:
        for name in names:
            TENSOR_ATTRIBUTES[name] = handler
        return handler

    return take


def argument(args: list[Any], keywords: dict[str, Any], index: int, name: str, default: Any = None) -> Any:
    """The argument at a position or under a name."""
    return args[index] if index < len(args) else keywords.get(name, default)
