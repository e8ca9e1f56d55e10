"""How a call is taken: by torch's names and options. What tiny has not is refused, never passed over.

An option that torch has and tiny has not either stands in the signature with `only(...)`, the one value that is taken,
or is unknown there: both ways the call ends with `gradtrail.tiny has no ...`. What is annotated as a `Tensor` has to be
one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from gradtrail.tiny.autograd import Node, Tensor
from gradtrail.tiny.values import NotInTiny, only, plain_name

Made = TypeVar("Made", bound=Callable[..., Any])

Operand = Any
"""What stands beside a tensor: another one, or a number."""

NUMBERS = (Tensor, int, float, complex, np.number, np.bool_)

ALSO = {"input": "self", "axis": "dim", "keepdims": "keepdim", "tensor2": "other"}
"""Other names that torch has for an argument."""


class Taken:
    """What a function can be asked for, read from its signature."""

    def __init__(self, function: Callable[..., Any], title: str, more: Sequence[str] = ()) -> None:
        self.title, self.name = title, title.rpartition(".")[2]
        parameters = inspect.signature(function).parameters.values()
        kinds = inspect.Parameter
        self.places = [each for each in parameters if each.kind is kinds.POSITIONAL_OR_KEYWORD]
        many = (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
        self.names = {each.name for each in parameters if each.kind not in many} | set(more)
        self.is_open = any(each.kind is kinds.VAR_POSITIONAL for each in parameters)
        self.takes_all = any(each.kind is kinds.VAR_KEYWORD for each in parameters)
        self.required = [each.name for each in self.places if each.default is kinds.empty]
        self.one_value = {each.name: each.default for each in parameters if isinstance(each.default, only)}
        self.tensors = [
            (i, each.name, Tensor if each.annotation == "Tensor" else NUMBERS)
            for i, each in enumerate(self.places)
            if each.annotation in ("Tensor", "Operand")
        ]

    def renamed(self, keywords: dict[str, Any]) -> dict[str, Any]:
        """The options by the names that they have here."""
        found = {}
        for name, value in keywords.items():
            known = name if name in self.names else ALSO.get(name, name)
            if known not in self.names and not self.takes_all:
                raise NotInTiny(f"{self.title}({name}=)")
            found[known] = value
        return found

    def check_options(self, arguments: Sequence[Any], keywords: dict[str, Any]) -> None:
        """Refuse another value than the only one."""
        if not self.one_value:
            return
        given = dict(zip((each.name for each in self.places), arguments, strict=False))
        for name, value in {**given, **keywords}.items():
            one = self.one_value.get(name)
            if one is not None and value is not one and value is not one.value and value != one.value:
                raise NotInTiny(f"{self.title}({name}=)")

    def check_count(self, arguments: Sequence[Any], keywords: dict[str, Any]) -> None:
        """Refuse what is too much, and what is left out."""
        if len(arguments) > len(self.places) and not self.is_open:
            raise NotInTiny(f"{self.title} of {len(arguments)} arguments")
        for number, name in enumerate(self.required):
            if number >= len(arguments) and name not in keywords:
                raise NotInTiny(f"{self.title} without `{'input' if name == 'self' else name}`")

    def check_tensors(self, arguments: Sequence[Any], keywords: dict[str, Any], begin: int = 1) -> None:
        """Refuse anything else where a tensor has to be."""
        for number, name, kinds in self.tensors:
            place = f" (position {number + begin})" if number < len(arguments) else ""
            value = arguments[number] if place else keywords.get(name)
            if not isinstance(value, kinds) and (place or name in keywords):
                title = "input" if name == "self" else name
                raise TypeError(
                    f"{self.name}(): argument '{title}'{place} must be Tensor, not {plain_name(type(value))}"
                )


def function(made: Made, title: str, more: Sequence[str] = ()) -> Made:
    """A function that takes what torch's does, as far as tiny has it."""
    taken = Taken(made, title, more)
    begin = 0 if title.startswith("torch.Tensor.") else 1

    @functools.wraps(made)
    def call(*arguments: Any, **keywords: Any) -> Any:
        if keywords:
            for name in ("size", "dims", "shape"):  # `x.permute(dims=(1, 0))`
                if taken.is_open and name in keywords and name not in taken.names:
                    arguments = (*arguments, keywords.pop(name))
            keywords = taken.renamed(keywords)
        taken.check_count(arguments, keywords)
        taken.check_options(arguments, keywords)
        taken.check_tensors(arguments, keywords, begin)
        return made(*arguments, **keywords)

    return call  # type: ignore[return-value]


def python_function(made: Made, title: str) -> Made:
    """A function that torch has in Python, with the same signature: Python itself refuses what does not fit."""
    taken = Taken(made, title)

    @functools.wraps(made)
    def call(*arguments: Any, **keywords: Any) -> Any:
        taken.check_options(arguments, keywords)
        taken.check_tensors(arguments, keywords)
        return made(*arguments, **keywords)

    return call  # type: ignore[return-value]


def options(title: str) -> Callable[[type], type]:
    """A class whose methods have torch's signatures, and refuse other values than the only ones."""

    def decorate(kind: type) -> type:
        for name, made in list(vars(kind).items()):
            if inspect.isfunction(made):
                where = title if name == "__init__" else f"{title}.{name}"
                taken = Taken(made, where)
                if taken.one_value:
                    setattr(kind, name, python_function(made, where))
        return kind

    return decorate


def lacking(kind: type, title: str, names: str, ahead: tuple[str, ...] = ()) -> None:
    """Have a class tell of the attributes that torch has and tiny has not; any other is unknown to torch, too."""
    known = set(names.split())
    before = getattr(kind, "__getattr__", None)

    def __getattr__(self: Any, name: str) -> Any:
        if name in known or (ahead and name.startswith(ahead)):
            raise NotInTiny(f"{title}.{name}")
        if before:
            return before(self, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    kind.__getattr__ = __getattr__  # type: ignore[attr-defined]


lacking(
    Node,
    "torch.autograd.graph.Node",
    "metadata register_hook register_prehook requires_grad",
    ("_saved", "_raw", "_sequence", "_set_", "_register", "_input"),
)


for _name in ("requires_grad_", "retain_grad", "register_hook", "backward", "detach", "detach_"):
    setattr(Tensor, _name, python_function(vars(Tensor)[_name], f"torch.Tensor.{_name}"))
