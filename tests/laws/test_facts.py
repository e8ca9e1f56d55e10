"""requires_grad, is_leaf and grad_fn of results: kinds of results × grad mode × what the input is."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import pytest
import torch

from gradtrail.laws import grad_mode, operations

KINDS: dict[str, tuple[str, Callable[[torch.Tensor], torch.Tensor]]] = {
    "new": ("mul", lambda x: x * x),
    "clone": ("clone", lambda x: x.clone()),
    "view": ("unsqueeze", lambda x: x.unsqueeze(0)),
    "select": ("__getitem__.number", lambda x: x[0]),
    "slice": ("__getitem__.basic", lambda x: x[:1]),
    "unbind": ("unbind", lambda x: x.unbind()[0]),
    "split": ("split", lambda x: x.split(1)[0]),
    "alias": ("unsafe_split", lambda x: torch.unsafe_split(x, 1)[0]),
    "cast": ("float", lambda x: x.float()),
    "same cast": ("double", lambda x: x.double()),
    "same": ("positive", lambda x: +x),
    "detached": ("detach", lambda x: x.detach()),
    "view by dtype": ("view.dtype", lambda x: x.view(torch.float64)),
    "plain": ("gt", lambda x: x > 0),
    "argmax": ("argmax", lambda x: x.argmax()),
    "long": ("long", lambda x: x.long()),
    "zero": ("round", lambda x: x.round()),
}
MODES: dict[str, tuple[Callable[[], AbstractContextManager[object]], bool, bool]] = {
    "on": (nullcontext, True, False),
    "off": (torch.no_grad, False, False),
    "inference": (torch.inference_mode, False, True),
}
INPUTS: dict[str, Callable[[], torch.Tensor]] = {
    "leaf": lambda: torch.rand(3, dtype=torch.float64, requires_grad=True),
    "computed": lambda: torch.rand(3, dtype=torch.float64, requires_grad=True).clone(),
    "view": lambda: torch.rand(4, dtype=torch.float64, requires_grad=True)[:3],
    "constant": lambda: torch.rand(3, dtype=torch.float64),
}


@pytest.mark.parametrize(("kind", "mode", "made"), list(itertools.product(KINDS, MODES, INPUTS)))
def test_facts_of_a_result(kind: str, mode: str, made: str) -> None:
    name, apply = KINDS[kind]
    context, enabled, inference = MODES[mode]
    row = operations.operation(name)
    assert row is not None
    source = INPUTS[made]()
    with context():
        result = apply(source)
    said = grad_mode.result_facts(
        row,
        [grad_mode.InputFacts(source.requires_grad, source.is_leaf)],
        enabled,
        inference,
        result is source,
        result.dtype.is_floating_point,
        result._is_view() if row.result == "maybe-same" else None,
    )
    assert said == (result.requires_grad, result.is_leaf, result.grad_fn is not None)


WRITES: dict[str, Callable[[torch.Tensor, torch.Tensor], object]] = {
    "mul_": lambda x, y: x.mul_(y),
    "copy_": lambda x, y: x.copy_(y),
    "exp_": lambda x, y: x.exp_(),
    "zero_": lambda x, y: x.zero_(),
}


@pytest.mark.parametrize(
    ("name", "mode", "made", "other"),
    list(itertools.product(WRITES, ("on", "off"), ("computed", "constant"), INPUTS)),
)
def test_facts_of_a_written_tensor(name: str, mode: str, made: str, other: str) -> None:
    context, enabled, inference = MODES[mode]
    row = operations.operation(name)
    assert row is not None
    target, source = INPUTS[made](), INPUTS[other]()
    inputs = [grad_mode.InputFacts(each.requires_grad, each.is_leaf) for each in (target, source)]
    with context():
        WRITES[name](target, source)
    said = grad_mode.result_facts(row, inputs[: len(row.tensors)], enabled, inference)
    assert said == (target.requires_grad, target.is_leaf, target.grad_fn is not None)


def test_what_is_not_known_stays_unknown() -> None:
    row = operations.operation("mul")
    assert row is not None
    unknown = grad_mode.InputFacts(None)
    assert grad_mode.result_facts(row, [unknown]) == (None, None, None)
    assert grad_mode.result_facts(row, [unknown], grad_enabled=False) == (False, True, False)
    tracked = grad_mode.InputFacts(True, True)
    assert grad_mode.result_facts(row, [tracked], grad_enabled=None) == (None, None, None)
    moved = operations.operation("to")
    assert moved is not None
    assert grad_mode.result_facts(moved, [tracked]).requires_grad is True
    assert grad_mode.result_facts(moved, [tracked]).leaf is None


def test_modes_by_their_paths() -> None:
    for path, effect in grad_mode.MODES.items():
        found: object = torch
        for part in path.split(".")[1:]:
            found = getattr(found, part)
        if effect in ("off", "inference"):
            with found():  # type: ignore[operator]
                assert not torch.is_grad_enabled()
                assert torch.is_inference_mode_enabled() == (effect == "inference")
