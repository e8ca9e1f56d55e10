"""`torch.amp.GradScaler`: `scale` multiplies, `step` makes the optimizer's step, `update` changes the factor.

Source: torch/amp/grad_scaler.py of 2.13. A step is left out when a gradient is not finite; the program
then goes on as if it had been made, so nothing that is told here depends on it.
"""

from __future__ import annotations

from typing import Any

from gradtrail.interp.frames import Frame
from gradtrail.interp.models.handing import library_object
from gradtrail.interp.models.registry import ALIASES, calls, method
from gradtrail.interp.values import BOOL, FLOAT, UNKNOWN, Mapping, Sequence, Tensor

Args = list[Any]
Keywords = dict[str, Any]

_CLASS = "torch.amp.GradScaler"
for _path in ("torch.cuda.amp.GradScaler", "torch.cuda.amp.grad_scaler.GradScaler"):
    ALIASES[_path] = _CLASS


@calls(_CLASS)
def make(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    made = library_object(m, path, node, frame)
    made.state["enabled"] = keywords.get("enabled", True)
    return made


@method(_CLASS, "scale")
def scale(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """Each tensor times the factor; the same tensor where scaling is off."""
    value = m.settle(args[1] if len(args) > 1 else keywords.get("outputs", UNKNOWN))
    enabled = args[0].state.get("enabled")
    if enabled is False:
        return value
    if type(value) is Sequence:
        items = tuple(scale(m, [args[0], one], {}, node, frame, path) for one in value.items)
        return Sequence(value.kind, items, value.rest)
    if type(value) is not Tensor:
        return UNKNOWN
    return m.call_method(value, "mul", [FLOAT], {}, node, frame)


@method(_CLASS, "step")
def step(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    if len(args) > 1:
        m.call_method(m.settle(args[1]), "step", args[2:], keywords, node, frame)
    return UNKNOWN


@method(_CLASS, "unscale_", "update", "load_state_dict", "set_growth_factor", "set_backoff_factor")
def nothing(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return None


@method(_CLASS, "get_scale", "get_growth_factor", "get_backoff_factor")
def factor(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return FLOAT


@method(_CLASS, "is_enabled")
def is_enabled(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return BOOL


@method(_CLASS, "state_dict")
def state_dict(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return Mapping({}, UNKNOWN)
