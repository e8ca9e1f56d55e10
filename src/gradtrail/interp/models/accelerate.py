"""Accelerate: `prepare` wraps and moves, `backward` divides the loss by the accumulation steps and goes backward.

Source: huggingface/accelerate, src/accelerate/accelerator.py (`prepare`, `backward`, `clip_grad_norm_`, `unwrap_model`).
"""

from __future__ import annotations

from typing import Any

from gradtrail.interp.frames import Frame
from gradtrail.interp.models.handing import alone_or_tuple, backward, library_object, placed_anywhere
from gradtrail.interp.models.registry import ALIASES, calls, method
from gradtrail.interp.values import BOOL, INT, OPAQUE, UNKNOWN, Device

Args = list[Any]
Keywords = dict[str, Any]

_CLASS = "accelerate.Accelerator"
ALIASES["accelerate.accelerator.Accelerator"] = _CLASS


@calls(_CLASS)
def make(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    made = library_object(m, path, node, frame)
    made.attributes.update(
        device=Device("symbol", "accelerator.device"),
        is_main_process=BOOL,
        is_local_main_process=BOOL,
        sync_gradients=BOOL,
        num_processes=INT,
        process_index=INT,
        gradient_accumulation_steps=INT,
        optimizer_step_was_skipped=BOOL,
        state=UNKNOWN,
        mixed_precision=UNKNOWN,
        scaler=UNKNOWN,
    )
    return made


@method(_CLASS, "prepare", "prepare_model", "prepare_optimizer", "prepare_data_loader", "prepare_scheduler")
def prepare(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """Wrappers behave as what they wrap; parameters are moved in place, so optimizers go on holding them."""
    for one in args[1:]:
        placed_anywhere(m, m.settle(one))
    return alone_or_tuple(args[1:]) if len(args) > 1 else UNKNOWN


@method(_CLASS, "backward")
def go_backward(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    if len(args) > 1:
        backward(m, args[1], args[2:], keywords, node, frame)
    return None


@method(
    _CLASS,
    "accumulate",
    "autocast",
    "no_sync",
    "join_uneven_inputs",
    "profile",
    "main_process_first",
    "split_between_processes",
)
def context(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return OPAQUE


@method(_CLASS, "clip_grad_norm_", "clip_grad_value_")
def clip(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return m.call_library(f"torch.nn.utils.{path}", args[1:], keywords, node, frame)


@method(_CLASS, "unwrap_model")
def unwrap(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return args[1] if len(args) > 1 else UNKNOWN


@method(_CLASS, "print", "log", "wait_for_everyone", "end_training", "init_trackers", "save_state", "save_model", "save",
        "register_for_checkpointing", "set_trigger")  # fmt: skip
def nothing(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return None


@method(
    _CLASS,
    "gather",
    "gather_for_metrics",
    "reduce",
    "pad_across_processes",
    "get_state_dict",
    "check_trigger",
)
def unknown(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """These read what they are given: nothing of it changes."""
    return UNKNOWN
