"""Lightning Fabric: `setup` wraps and moves, `backward` goes backward.

Source: Lightning-AI/pytorch-lightning, src/lightning/fabric/fabric.py (`setup`, `backward`, `to_device`, `clip_gradients`).
"""

from __future__ import annotations

from typing import Any

from gradtrail.interp.frames import Frame
from gradtrail.interp.models.handing import alone_or_tuple, backward, library_object, moved, placed_anywhere
from gradtrail.interp.models.registry import ALIASES, calls, method
from gradtrail.interp.values import BOOL, INT, OPAQUE, UNKNOWN, Device

Args = list[Any]
Keywords = dict[str, Any]

_CLASS = "lightning.fabric.Fabric"
for _path in ("lightning.Fabric", "lightning_fabric.Fabric", "lightning.fabric.fabric.Fabric"):
    ALIASES[_path] = _CLASS


@calls(_CLASS)
def make(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    made = library_object(m, path, node, frame)
    made.attributes.update(
        device=Device("symbol", "fabric.device"),
        global_rank=INT,
        local_rank=INT,
        world_size=INT,
        is_global_zero=BOOL,
    )
    return made


@method(_CLASS, "setup", "setup_module", "setup_optimizers", "setup_dataloaders")
def setup(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """What comes back behaves as what was given; parameters are moved in place."""
    given = [*args[1:], *(keywords[name] for name in ("module",) if name in keywords)]
    for one in given:
        placed_anywhere(m, m.settle(one))
    return alone_or_tuple(given) if given else UNKNOWN


@method(_CLASS, "backward")
def go_backward(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    passed = {name: value for name, value in keywords.items() if name not in ("model", "tensor")}
    loss = args[1] if len(args) > 1 else keywords.get("tensor", UNKNOWN)
    backward(m, loss, args[2:], passed, node, frame)
    return None


@method(_CLASS, "to_device")
def to_device(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[1]) if len(args) > 1 else UNKNOWN
    placed_anywhere(m, value)
    return moved(m, value, args[0].attributes["device"], node, frame)


@method(
    _CLASS, "autocast", "no_backward_sync", "init_module", "init_tensor", "sharded_model", "rank_zero_first"
)
def context(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return OPAQUE


@method(_CLASS, "launch", "print", "log", "log_dict", "barrier", "save", "call", "seed_everything")
def nothing(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return None


@method(_CLASS, "clip_gradients", "all_gather", "all_reduce", "broadcast")
def unknown(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """These read what they are given; clipping changes the size of gradients, nothing else."""
    return UNKNOWN
