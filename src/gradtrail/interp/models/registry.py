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


ON_DEMAND: dict[str, str] = {
    "accelerate": "accelerate",
    "bitsandbytes": "other_optimizers",
    "deepspeed": "deepspeed",
    "einops": "einops",
    "lightning": "lightning",
    "lightning_fabric": "fabric",
    "lion_pytorch": "other_optimizers",
    "peft": "peft",
    "pyro": "pyro",
    "pytorch_lightning": "lightning",
    "schedulefree": "other_optimizers",
    "timm": "timm",
    "torch_geometric": "torch_geometric",
    "torch_optimizer": "other_optimizers",
    "transformers": "transformers",
    "torch.amp.GradScaler": "grad_scaler",
    "torch.cuda.amp.GradScaler": "grad_scaler",
    "torch.cuda.amp.grad_scaler.GradScaler": "grad_scaler",
}
"""The file that knows a library, by its name or by a whole path: imported when a program first speaks of it."""

ALIASES: dict[str, str] = {}
"""Other paths of what a library has, and the path that its file knows it by."""

MODULES: set[str] = set()
"""Classes of libraries that derive from `torch.nn.Module`."""

MADE_BY_INDEX: set[str] = set()
"""Classes whose subscripts are other classes: `PyroModule[nn.Linear]`."""

OPTIMIZERS: set[str] = set()
"""Classes of libraries that derive from `torch.optim.Optimizer` and take parameters first."""

Entry = Callable[[Any, Any, Any, Any, Callable[[], Any]], None]
"""Called with the machine, the object, its method, the frame, and the call of the method that the library makes."""

ENTRIES: dict[str, dict[str, Entry]] = {}
"""What a library does around a method that a program gives to it, by the library class and the method's name."""


def load(path: str) -> None:
    """Import the file that knows a path, if there is one."""
    name = ON_DEMAND.get(path.partition(".")[0]) or ON_DEMAND.get(path)
    if name is not None:
        __import__(f"gradtrail.interp.models.{name}")


def entry(cls: str, *names: str) -> Callable[[Entry], Entry]:
    """Register what a library does around the methods `names` of classes that derive from `cls`."""

    def take(handler: Entry) -> Entry:
        for name in names:
            ENTRIES.setdefault(cls, {})[name] = handler
        return handler

    return take


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
