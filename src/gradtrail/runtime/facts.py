"""What a live tensor is, in the words in which the interpreter tells the facts of an abstract one (`interp.events.Seen`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradtrail.runtime.torch_compat import TORCH, name_of


def of(tensor: Any) -> dict[str, Any]:
    """The facts of a tensor. Nothing of it is kept, and nothing is computed."""
    with TORCH.quietly():
        node = tensor.grad_fn
        return {
            "requires": "yes" if tensor.requires_grad else "no",
            "leaf": "yes" if tensor.is_leaf else "no",
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "device": tensor.device.type,
            "parameter": isinstance(tensor, TORCH.module.nn.Parameter),
            "shape": tuple(tensor.shape),
            "node": None if node is None else name_of(node),
        }


def contradiction(told: Mapping[str, Any], live: Mapping[str, Any]) -> str:
    """The fact in which what was told of an abstract tensor differs from the live one; empty where none does.

    What is not known contradicts nothing.
    """
    for name in ("requires", "leaf"):
        said = told.get(name)
        if said in ("yes", "no") and live.get(name) in ("yes", "no") and said != live[name]:
            return f"{name}: {said}, live {live[name]}"
    if told.get("leaf") == "no-off-cpu" and (live["leaf"] == "yes") != (live["device"] == "cpu"):
        return f"leaf: {told['leaf']}, live {live['leaf']} on {live['device']}"
    if told.get("dtype") not in (None, live["dtype"]):
        return f"dtype: {told['dtype']}, live {live['dtype']}"
    shape = told.get("shape")
    if shape is not None and not _fits(shape, live["shape"]):
        return f"shape: {shape}, live {live['shape']}"
    return ""


def _fits(told: tuple[int | None, ...], live: tuple[int, ...]) -> bool:
    return len(told) == len(live) and all(said in (None, size) for said, size in zip(told, live, strict=True))
