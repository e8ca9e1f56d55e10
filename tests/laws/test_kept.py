"""What recurrent layers keep, asked of torch: a write in place, then a backward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from gradtrail.laws import kept


def made(name: str) -> tuple[torch.nn.Module, torch.Tensor, Any]:
    """The layer, an input, and a state (for LSTM a pair)."""
    layer = getattr(torch.nn, name)(3, 4)
    cell = name.endswith("Cell")
    x = torch.rand(2, 3) if cell else torch.rand(5, 2, 3)
    state = torch.rand(2, 4) if cell else torch.rand(1, 2, 4)
    return layer, x, (state, state.clone()) if name.startswith("LSTM") else state


def states(value: Any) -> list[torch.Tensor]:
    """The tensors of a state."""
    return list(value) if isinstance(value, tuple) else [value]


def total(value: Any) -> torch.Tensor:
    """The sum of all that a layer gives."""
    return value.sum() if isinstance(value, torch.Tensor) else sum(total(one) for one in value)


def rows() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every row, pair by pair."""
    for name in kept.names():
        for what, needs in kept.kept(name):
            yield name, what, needs


@pytest.mark.parametrize(("name", "what", "needs"), list(rows()))
def test_a_write_to_what_is_kept_is_noticed(name: str, what: str, needs: tuple[str, ...]) -> None:
    layer, x, state = made(name)
    parameters = dict(layer.named_parameters())
    targets = {"input": [x], "hx": states(state)}.get(what)
    chosen = targets or [one for key, one in parameters.items() if kept.fits(what, key)]
    assert chosen, "the row names what is there"
    for target in chosen:
        if needs:
            for parameter in parameters.values():
                parameter.requires_grad_(False)
            for need in needs:
                for one in {"input": [x], "hx": states(state)}.get(need) or [parameters[need]]:
                    one.requires_grad_()
        out = total(layer(x, state))
        with torch.no_grad():
            target.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            out.backward()
