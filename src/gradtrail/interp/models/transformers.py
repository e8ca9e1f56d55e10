"""Transformers: `Trainer.compute_loss` gives the loss that the trainer goes backward from; schedules change the rate only.

Source: huggingface/transformers, src/transformers/trainer.py (`training_step` calls `self.accelerator.backward(loss)` on what
`compute_loss` gives; `prediction_step` calls it under `torch.no_grad()`), src/transformers/optimization.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtrail.interp.frames import Frame
from gradtrail.interp.models.handing import backward
from gradtrail.interp.models.registry import ALIASES, OPTIMIZERS, calls, entry
from gradtrail.interp.values import OPAQUE, Mapping, Sequence

_CLASS = "transformers.Trainer"
ALIASES["transformers.trainer.Trainer"] = _CLASS
ALIASES["transformers.Seq2SeqTrainer"] = _CLASS
OPTIMIZERS.update(("transformers.AdamW", "transformers.Adafactor", "transformers.optimization.Adafactor"))


@entry(_CLASS, "compute_loss")
def compute_loss(m: Any, trainer: Any, function: Any, frame: Frame, call: Callable[[], Any]) -> None:
    """A loss, or a loss and the outputs of the model where these were asked for."""
    result = m.settle(call())
    if type(result) is Sequence and result.kind == "tuple" and result.items:
        result = m.settle(result.items[0])
    if type(result) is not Mapping:
        backward(m, result, [], {}, function.node, frame)


@calls(
    "transformers.get_scheduler", "transformers.get_constant_schedule", "transformers.get_constant_schedule_with_warmup",
    "transformers.get_linear_schedule_with_warmup", "transformers.get_cosine_schedule_with_warmup",
    "transformers.get_cosine_with_hard_restarts_schedule_with_warmup", "transformers.get_polynomial_decay_schedule_with_warmup",
    "transformers.get_inverse_sqrt_schedule",
)  # fmt: skip
def schedule(m: Any, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame, path: str) -> Any:
    return OPAQUE
