"""Grad modes, and the facts of a result: whether it requires grad, and whether it is a leaf.

Checked on torch by `tests/laws/test_facts.py`: every kind of result by grad mode, by inputs that require
grad or not, leaves and computed tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gradtrail.laws.operations import Operation

MODES = {
    "torch.no_grad": "off",
    "torch.enable_grad": "on",
    "torch.inference_mode": "inference",
    "torch.set_grad_enabled": "argument",
    "torch.autograd.no_grad": "off",
    "torch.autograd.enable_grad": "on",
    "torch.autograd.inference_mode": "inference",
    "torch.autograd.set_grad_enabled": "argument",
    "torch.autograd.grad_mode.no_grad": "off",
    "torch.autograd.grad_mode.enable_grad": "on",
    "torch.autograd.grad_mode.inference_mode": "inference",
    "torch.autograd.grad_mode.set_grad_enabled": "argument",
}
"""What each mode does: "off", "on", "inference" (off, and its tensors stay outside autograd; its first
argument False switches it out), "argument" (the first argument says). All but `set_grad_enabled` may
decorate a function without parentheses; only `set_grad_enabled(...)` acts as a statement."""


class InputFacts(NamedTuple):
    """What matters of an input: does it require grad, is it a leaf, is it an inference tensor (None: not
    known)."""

    requires_grad: bool | None
    leaf: bool | None = None
    inference: bool | None = False


class ResultFacts(NamedTuple):
    """A result's `requires_grad`, `is_leaf` and whether it has a `grad_fn`; None is "not known"."""

    requires_grad: bool | None
    leaf: bool | None
    grad_fn: bool | None


_PLAIN = ResultFacts(False, True, False)
_TRACKED = ResultFacts(True, False, True)
_UNKNOWN = ResultFacts(None, None, None)


def any_of(values: Sequence[bool | None]) -> bool | None:
    """True if one is true, None if one is not known, else False."""
    if True in values:
        return True
    return None if None in values else False


def result_facts(  # noqa: PLR0917 - the facts of a call
    operation: Operation,
    inputs: Sequence[InputFacts],
    grad_enabled: bool | None = True,
    inference: bool | None = False,
    same: bool | None = None,
    differentiable: bool | None = True,
    view: bool | None = None,
) -> ResultFacts:
    """The facts of an operation's (first differentiable) result.

    `inputs` are the tensors of the call but for those that are `untracked` there, the one that may come back
    or be viewed first. `same` says for a
    "maybe-same" operation whether the tensor itself comes back, `view` for a result that may be a view
    whether it is one; `differentiable` whether the result's dtype can carry a gradient (`float().long()`
    cannot).
    """
    own = inputs[0] if inputs else InputFacts(False)
    kind = operation.result
    if kind in ("python", "none"):
        return _PLAIN
    if kind in ("detached", "cut", "plain") or (operation.gradient == "no" and kind != "maybe-same"):
        if kind in ("same", "written"):
            return _as_it_is(own)
        return _PLAIN
    if kind == "same" or (kind == "maybe-same" and same):
        return _as_it_is(own)
    if kind == "maybe-same" and same is None:
        moved = result_facts(operation, inputs, grad_enabled, inference, False, differentiable, view)
        return _join(_as_it_is(own), moved)
    needs = any_of([each.requires_grad for each in inputs])
    if differentiable is False or operation.gradient == "no":
        return _PLAIN
    if kind == "written":
        return _written(own, needs, grad_enabled)
    if kind == "alias" and inference:
        kind = "view"  # without autograd nothing hides that the memory is shared
    recorded = _recorded(needs, grad_enabled, inference)
    if kind == "maybe-same":
        kind = operation.otherwise
    if kind in ("view", "views", "maybe-view"):
        is_view = True if kind != "maybe-view" else view
        return _view(own, recorded, grad_enabled, is_view)
    return recorded if differentiable else _join(recorded, _PLAIN)


def _as_it_is(own: InputFacts) -> ResultFacts:
    tracked = None if own.requires_grad is None or own.leaf is None else own.requires_grad and not own.leaf
    return ResultFacts(own.requires_grad, own.leaf, tracked)


def _recorded(needs: bool | None, grad_enabled: bool | None, inference: bool | None) -> ResultFacts:
    """A fresh result: tracked when an input requires grad and grad mode is on, else a plain leaf."""
    if needs is False or grad_enabled is False or inference is True:
        return _PLAIN
    return _TRACKED if needs and grad_enabled and inference is False else _UNKNOWN


def _written(own: InputFacts, needs: bool | None, grad_enabled: bool | None) -> ResultFacts:
    """An in-place result: unchanged without recording, else part of the graph."""
    if grad_enabled is False or needs is False:
        return _as_it_is(own)
    return _TRACKED if needs and grad_enabled else _UNKNOWN


def _view(
    own: InputFacts, recorded: ResultFacts, grad_enabled: bool | None, is_view: bool | None
) -> ResultFacts:
    """A view made without recording keeps its base's `requires_grad`, and has no grad_fn: a leaf."""
    if is_view is False or grad_enabled:
        return recorded
    silent = ResultFacts(own.requires_grad, True, False)
    if grad_enabled is None:
        return _join(recorded, silent)
    return silent if is_view else _join(silent, recorded)


def _join(one: ResultFacts, other: ResultFacts) -> ResultFacts:
    return ResultFacts(*(left if left == right else None for left, right in zip(one, other, strict=False)))
