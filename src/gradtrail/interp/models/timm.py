"""timm: optimizers that derive from torch's, schedulers that change the learning rate only.

Source: huggingface/pytorch-image-models, timm/optim/__init__.py, timm/scheduler/scheduler.py (`update_groups` writes `lr`).
"""

from __future__ import annotations

from typing import Any

from gradtrail.interp.frames import Frame
from gradtrail.interp.models.registry import OPTIMIZERS, calls
from gradtrail.interp.values import OPAQUE, Sequence

OPTIMIZERS.update(
    f"timm.optim.{name}"
    for name in """AdaBelief Adafactor AdafactorBigVision AdamP AdamW AdamWLegacy Adan Adopt Kron LaProp Lamb Lars Lion MADGRAD
    Mars NAdam NadamW NvNovoGrad RAdam RMSpropTF SGDP SGDW""".split()
)


@calls(
    "timm.scheduler.CosineLRScheduler", "timm.scheduler.MultiStepLRScheduler", "timm.scheduler.PlateauLRScheduler",
    "timm.scheduler.PolyLRScheduler", "timm.scheduler.StepLRScheduler", "timm.scheduler.TanhLRScheduler",
)  # fmt: skip
def scheduler(m: Any, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame, path: str) -> Any:
    return OPAQUE


@calls("timm.scheduler.create_scheduler", "timm.scheduler.create_scheduler_v2")
def create(m: Any, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame, path: str) -> Any:
    return Sequence("tuple", (OPAQUE, OPAQUE))
