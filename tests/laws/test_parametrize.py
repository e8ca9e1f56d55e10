"""What reparametrizing does to a module, asked of torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from gradtrail.laws import parametrize

EXTRA: dict[str, dict[str, Any]] = {
    "torch.nn.utils.prune.random_unstructured": {"amount": 1},
    "torch.nn.utils.prune.l1_unstructured": {"amount": 1},
    "torch.nn.utils.prune.random_structured": {"amount": 1, "dim": 0},
    "torch.nn.utils.prune.ln_structured": {"amount": 1, "dim": 0, "n": 2},
    "torch.nn.utils.prune.custom_from_mask": {"mask": torch.ones(3, 2)},
    "torch.nn.utils.parametrize.register_parametrization": {"parametrization": torch.nn.Softplus()},
}


def resolve(path: str) -> Any:
    found: Any = torch
    for part in path.split(".")[1:]:
        found = getattr(found, part)
    return found


def parametrized(path: str) -> torch.nn.Linear:
    import torch.nn.utils.parametrizations
    import torch.nn.utils.prune

    law = parametrize.parametrization(path)
    assert law is not None
    layer = torch.nn.Linear(2, 3)
    resolve(path)(layer, **{law.name_argument: "weight"}, **EXTRA.get(path, {}))
    return layer


@pytest.mark.parametrize("path", parametrize.paths())
def test_what_stands_behind_the_name(path: str) -> None:
    law = parametrize.parametrization(path)
    assert law is not None
    layer = parametrized(path)
    assert layer.weight.is_leaf == (not law.tracked_at_once)
    assert layer.weight.requires_grad == law.tracked_at_once
    layer(torch.rand(1, 2))
    assert not layer.weight.is_leaf
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        torch.optim.SGD([layer.weight], lr=0.1)
    names = {name for name, _ in layer.named_parameters()} - {"bias"}
    assert names == {each.format(name="weight") for each in law.parameters}
    buffers = {name for name, _ in layer.named_buffers()}
    assert buffers == {each.format(name="weight") for each in law.buffers}


@pytest.mark.parametrize("path", parametrize.paths())
def test_when_it_is_recomputed(path: str) -> None:
    law = parametrize.parametrization(path)
    assert law is not None
    layer = parametrized(path)
    assert (layer.weight is layer.weight) == (law.recomputed == "on-forward")
    before = layer.weight
    layer(torch.rand(1, 2))
    assert layer.weight is not before


@pytest.mark.parametrize("path", parametrize.UNDONE_BY)
def test_undoing_puts_a_parameter_back(path: str) -> None:
    made_by = parametrize.UNDONE_BY[path]
    made = next(each for each in parametrize.paths() if each.startswith(made_by))
    layer = parametrized(made)
    undo = resolve(path)
    undo(layer, "weight") if "remove_parametrizations" in path or "prune" in path else undo(layer)
    assert isinstance(layer.weight, torch.nn.Parameter)
    assert layer.weight.is_leaf


def test_strangers() -> None:
    assert parametrize.parametrization("torch.nn.utils.clip_grad_norm_") is None
