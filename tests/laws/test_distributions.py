"""Torch is asked which distributions draw with a gradient, and to which optimizers the scale of a gradient matters."""

from __future__ import annotations

import pytest
import torch
import torch.distributions

from gradtrail.laws.distributions import REPARAMETERISED, WRAPPING
from gradtrail.laws.optimizers import SCALE_MATTERS

_MADE = {
    "Gumbel": lambda: torch.distributions.Gumbel(0.0, 1.0),
    "Pareto": lambda: torch.distributions.Pareto(1.0, 1.0),
    "Weibull": lambda: torch.distributions.Weibull(1.0, 1.0),
}
"""Distributions that say it of an object only: they are made of another one by a transform."""


def _kinds() -> list[str]:
    found = [getattr(torch.distributions, name) for name in torch.distributions.__all__]
    classes = [
        one for one in found if isinstance(one, type) and issubclass(one, torch.distributions.Distribution)
    ]
    return sorted(one.__name__ for one in classes)


@pytest.mark.parametrize("name", _kinds())
def test_what_draws_with_a_gradient(name: str) -> None:
    kind = getattr(torch.distributions, name)
    says = kind.has_rsample
    if not isinstance(says, bool):  # it depends on what it is made of
        says = name in _MADE and _MADE[name]().has_rsample
    assert (name in REPARAMETERISED) is says


@pytest.mark.parametrize("name", sorted(WRAPPING))
def test_what_is_around_another_one_draws_as_it_does(name: str) -> None:
    kind, given = getattr(torch.distributions, name), {"Independent": 1, "TransformedDistribution": []}[name]
    ones = torch.ones(2, 2)
    assert kind(torch.distributions.Normal(ones, ones), given).has_rsample
    assert not kind(torch.distributions.Poisson(ones), given).has_rsample


def test_every_name_is_one_of_torch() -> None:
    assert set(_kinds()) >= REPARAMETERISED | WRAPPING


@pytest.mark.parametrize("name", ["SGD", "ASGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adamax", "NAdam"])
def test_to_which_optimizers_the_scale_matters(name: str) -> None:
    def moved(scale: float) -> float:
        weight = torch.ones(1, requires_grad=True)
        optimizer = getattr(torch.optim, name)([weight], lr=0.01)
        weight.grad = torch.full((1,), scale)
        optimizer.step()
        return float(1 - weight.detach())

    one, four = moved(1.0), moved(4.0)
    assert (abs(four - 4 * one) < 1e-5) is (name in SCALE_MATTERS)
    assert (abs(four - one) < 1e-5) is (name not in SCALE_MATTERS)
