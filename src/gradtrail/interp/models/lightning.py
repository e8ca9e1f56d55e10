"""Lightning: the trainer calls the methods of a module, goes backward from what `training_step` gives, and steps.

Source: Lightning-AI/pytorch-lightning, src/lightning/pytorch/loops/optimization/automatic.py (`zero_grad`, `backward`,
the closure), loops/evaluation_loop.py (evaluation in `inference_mode` or `no_grad`), core/module.py (`manual_backward`, `optimizers`,
`freeze`, `toggle_optimizer`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtrail.interp.frames import Frame
from gradtrail.interp.models import fabric as _fabric  # noqa: F401  # of the same package
from gradtrail.interp.models.handing import backward, frozen_perhaps, library_object, moved, placed_anywhere
from gradtrail.interp.models.registry import ALIASES, MODULES, calls, entry, method
from gradtrail.interp.values import (
    INT,
    MISSING,
    UNKNOWN,
    Class,
    Device,
    Function,
    Instance,
    Mapping,
    Sequence,
)

Args = list[Any]
Keywords = dict[str, Any]

_MODULE = "lightning.LightningModule"
_TRAINER = "lightning.Trainer"
for _package in ("pytorch_lightning", "lightning.pytorch"):
    ALIASES[f"{_package}.LightningModule"] = _MODULE
    ALIASES[f"{_package}.core.LightningModule"] = _MODULE
    ALIASES[f"{_package}.core.module.LightningModule"] = _MODULE
    ALIASES[f"{_package}.Trainer"] = _TRAINER
    ALIASES[f"{_package}.trainer.Trainer"] = _TRAINER
MODULES.add(_MODULE)

_OWN_TRAINING = (
    "optimizer_step",
    "optimizer_zero_grad",
    "backward",
    "on_before_backward",
    "on_before_optimizer_step",
    "training_step_end",
)
"""With one of these the program trains in a way of its own."""


def _trains_by_itself(model: Instance) -> bool:
    """Whether the trainer does all of it: backward, steps, clearing."""
    cls = model.cls
    declared = cls.find("automatic_optimization") if type(cls) is Class else MISSING
    automatic = model.attributes.get("automatic_optimization", True if declared is MISSING else declared)
    own = type(cls) is Class and any(type(cls.find(name)) is Function for name in _OWN_TRAINING)
    return automatic is True and not own


def _go_backward(m: Any, model: Instance, result: Any, node: Any, frame: Frame) -> None:
    """From the loss, or from what a dict has under that name; nothing for a step that was left out."""
    result = m.settle(result)
    if type(result) is Mapping:
        result = m.settle(result.entries.get("loss", UNKNOWN))
    if result is not None:
        backward(m, result, [], {}, node, frame)


@entry(_MODULE, "training_step")
def training_step(m: Any, model: Any, function: Any, frame: Frame, call: Callable[[], Any]) -> None:
    result = call()
    if _trains_by_itself(model):
        _go_backward(m, model, result, function.node, frame)


@entry(
    _MODULE, "validation_step", "test_step", "predict_step", "on_validation_epoch_end", "on_test_epoch_end",
    "on_predict_epoch_end", "on_validation_start", "on_validation_end", "on_validation_epoch_start", "on_validation_batch_start",
    "on_validation_batch_end", "on_test_start", "on_test_end", "on_test_epoch_start", "on_test_batch_start", "on_test_batch_end",
    "on_predict_batch_start", "on_predict_batch_end", "validation_epoch_end", "test_epoch_end", "validation_step_end",
    "test_step_end",
)  # fmt: skip
def evaluation(m: Any, model: Any, function: Any, frame: Frame, call: Callable[[], Any]) -> None:
    """In inference mode, or under no_grad where the trainer was told so."""
    m.heap.put(m.modes, "grad_mode", False)
    m.heap.put(m.modes, "inference_mode", None)
    call()


# What a module calls on itself


@method(_MODULE, "manual_backward")
def manual_backward(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    loss = args[1] if len(args) > 1 else keywords.get("loss", UNKNOWN)
    passed = {name: value for name, value in keywords.items() if name != "loss"}
    backward(m, loss, args[2:], passed, node, frame)
    return None


@method(_MODULE, "log", "log_dict", "print", "save_hyperparameters")
def nothing(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """What is logged is detached first."""
    return None


@method(_MODULE, "optimizers")
def optimizers(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """What `configure_optimizers` gives, once for each module: one alone, several as a list."""
    model = args[0]
    known = model.state.get("optimizers")
    if known is None:
        known = _configured(m, model, node, frame)
        m.heap.put(model.state, "optimizers", known)
    return known


@method(_MODULE, "lr_schedulers", "all_gather", "clip_gradients", "configure_callbacks")
def unknown(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return UNKNOWN


@method(_MODULE, "toggle_optimizer", "untoggle_optimizer", "freeze", "unfreeze", "toggled_optimizer")
def flags(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    frozen_perhaps(m, args[0])
    return UNKNOWN


def _configured(m: Any, model: Instance, node: Any, frame: Frame) -> Any:
    """The optimizers that `configure_optimizers` gives, without the schedulers."""
    cls = model.cls
    if type(cls) is not Class or type(cls.find("configure_optimizers")) is not Function:
        return UNKNOWN
    given = m.settle(m.call_method(model, "configure_optimizers", [], {}, node, frame))
    if type(given) is Mapping:
        return given.entries.get("optimizer", UNKNOWN)
    if type(given) is Sequence and len(given.items) == 2:
        first = m.settle(given.items[0])
        given = first if type(first) is Sequence else given
    if type(given) is Sequence and len(given.items) == 1:
        return given.items[0]
    if type(given) is Sequence:
        ones = (m.settle(one) for one in given.items)
        return Sequence(
            "list",
            tuple(one.entries.get("optimizer", UNKNOWN) if type(one) is Mapping else one for one in ones),
        )
    return given


# The trainer


@calls(_TRAINER)
def make(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    made = library_object(m, path, node, frame)
    made.state["callbacks"] = keywords.get("callbacks")
    return made


_ROUNDS = 2
"""So many batches of a training are followed: what one leaves behind meets the next."""


@method(_TRAINER, "fit")
def fit(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """A few batches, each as the trainer does it: forward, clear, backward, step."""
    model = m.settle(args[1] if len(args) > 1 else keywords.get("model", UNKNOWN))
    cls = model.cls if type(model) is Instance else None
    loader = args[2] if len(args) > 2 else keywords.get("train_dataloaders", UNKNOWN)
    if (
        type(cls) is not Class
        or type(cls.find("training_step")) is not Function
        or not _trains_by_itself(model)
        or args[0].state.get("callbacks") is not None
        or _has_own_loop(cls)
    ):
        return m.call_unknown(args[1:], keywords)
    optimizer = m.settle(optimizers(m, [model], {}, node, frame, path))
    placed_anywhere(m, model)
    found = m.items_of(loader, node, frame)
    batches = UNKNOWN if found is None else (*found[0], found[1])[-1]
    for _ in range(_ROUNDS):
        batch = m.settle(batches.make() if hasattr(batches, "make") else batches)
        batch = moved(m, batch, Device("symbol", "trainer"), node, frame)
        given = [batch, INT][: len(cls.find("training_step").node.args.args) - 1]
        result = m.call_method(model, "training_step", given, {}, node, frame)
        if type(optimizer) is Instance:
            m.call_method(optimizer, "zero_grad", [], {}, node, frame)
        _go_backward(m, model, result, node, frame)
        if type(optimizer) is Instance:
            m.call_method(optimizer, "step", [], {}, node, frame)
    m.call_unknown([model], {})
    return None


def _has_own_loop(cls: Class) -> bool:
    """Whether other hooks of the program take part in the training, which are not followed."""
    hooks = ("on_train_batch_start", "on_train_batch_end", "on_train_epoch_start", "on_train_start", "on_fit_start", "setup",
             "training_step_end", "configure_model", "on_after_backward", "on_before_zero_grad")  # fmt: skip
    return any(type(cls.find(name)) is Function for name in hooks)
