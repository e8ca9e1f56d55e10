"""What tiny has goes by torch's names, and what it has not is said so."""

from __future__ import annotations

import importlib

import pytest

from gradtrail import tiny


@pytest.mark.parametrize("name", tiny.modules())
def test_torch_has_every_name(name: str) -> None:
    theirs = importlib.import_module(name)
    ours = {each for each in vars(tiny.modules()[name]) if not each.startswith("__")}
    assert ours and not {each for each in ours if not hasattr(theirs, each)}


def test_tiny_can_be_used_as_torch_is() -> None:
    w = tiny.tensor([1.0, 2.0], requires_grad=True)
    (slope,) = tiny.autograd.grad(tiny.nn.functional.relu(w).sum(), w)
    assert slope.tolist() == [1, 1]
    assert "randn" in dir(tiny)


@pytest.mark.parametrize("where", [tiny, tiny.nn, tiny.ones(1)], ids=["torch", "nn", "tensor"])
def test_what_tiny_lacks_is_said(where: object) -> None:
    with pytest.raises(tiny.NotInTiny, match=r"^gradtrail\.tiny has no `torch\..*wanted`$"):
        where.wanted  # type: ignore[attr-defined]
