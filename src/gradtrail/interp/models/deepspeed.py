"""DeepSpeed: the engine holds the model, goes backward, and steps; a step clears the gradients too.

Source: microsoft/DeepSpeed, deepspeed/__init__.py (`initialize`) and deepspeed/runtime/engine.py (`backward`,
`step`, `_take_model_step`, which calls `zero_grad` where the accumulation ends).
"""

from __future__ import annotations

from typing import Any

from gradtrail.interp.frames import Frame
from gradtrail.interp.models.handing import backward, library_object, placed_anywhere
from gradtrail.interp.models.registry import argument, calls, method
from gradtrail.interp.modules import is_module
from gradtrail.interp.values import INT, UNKNOWN, Device, Instance, Sequence

Args = list[Any]
Keywords = dict[str, Any]

_ENGINE = "deepspeed.DeepSpeedEngine"


@calls("deepspeed.initialize")
def initialize(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """`(engine, optimizer, dataloader, lr_scheduler)`."""
    model = m.settle(argument(args, keywords, 1, "model", UNKNOWN))
    optimizer = argument(args, keywords, 2, "optimizer")
    placed_anywhere(m, model)
    m.call_unknown([model], {})  # partitioned, cast, offloaded: the tensors may be others
    engine = library_object(m, _ENGINE, node, frame)
    engine.attributes.update(
        module=model,
        optimizer=UNKNOWN if optimizer is None else optimizer,
        device=Device("symbol", "engine.device"),
        local_rank=INT,
        global_rank=INT,
    )
    return Sequence("tuple", (engine, UNKNOWN if optimizer is None else optimizer, UNKNOWN, UNKNOWN))


@method(_ENGINE, "backward")
def go_backward(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    loss = args[1] if len(args) > 1 else keywords.get("loss", UNKNOWN)
    passed = {name: value for name, value in keywords.items() if name == "retain_graph"}
    backward(m, loss, [], passed, node, frame)
    return loss


@method(_ENGINE, "step")
def step(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """A step and `zero_grad` where the accumulation ends, nothing before; which it is, is not known."""
    optimizer = args[0].attributes.get("optimizer")
    m.unseen_backward = True
    m.call_unknown([optimizer, args[0].attributes.get("module")], {})
    return None


@method(_ENGINE, "__call__", "forward", "parameters", "named_parameters", "state_dict", "train", "eval", "modules",
        "named_modules", "children", "buffers")  # fmt: skip
def of_the_model(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    model = m.settle(args[0].attributes.get("module", UNKNOWN))
    if type(model) is Instance and is_module(model):
        result = m.call_method(model, path, args[1:], keywords, node, frame)
        return args[0] if path in ("train", "eval") else result
    return m.call_unknown(args[1:], keywords)


@method(
    _ENGINE,
    "save_checkpoint",
    "zero_grad",
    "is_gradient_accumulation_boundary",
    "get_lr",
    "gradient_accumulation_steps",
)
def nothing(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return UNKNOWN
