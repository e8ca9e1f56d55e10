"""What optimizers take and refuse, asked of torch in the same words."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import pytest
import torch

from gradtrail.laws import optimizers
from gradtrail.laws.optimizers import ParamSeen, ParamsSeen


def classes() -> list[str]:
    return [name for name in dir(torch.optim) if isinstance(getattr(torch.optim, name), type)]


def test_every_class_has_its_constructor() -> None:
    assert set(classes()) == set(optimizers.names())
    for name in classes():
        law = optimizers.optimizer(name)
        assert law is not None
        parameters = list(inspect.signature(getattr(torch.optim, name).__init__).parameters.values())[1:]
        positional = [each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
        assert law.args == tuple(each.name for each in positional), name
        assert law.keywords == tuple(each.name for each in parameters if each.kind is each.KEYWORD_ONLY), name
        assert law.defaults == {
            each.name: each.default for each in parameters if each.default is not each.empty
        }, name


def leaf(*shape: int) -> torch.Tensor:
    return torch.rand(shape or (2, 2), requires_grad=True)


def retained() -> torch.Tensor:
    value = leaf() * 1
    value.retain_grad()
    return value


def seen(value: Any) -> ParamSeen:
    """What the interpreter would say of an element, read from the real thing."""
    if isinstance(value, torch.Tensor):
        return ParamSeen("tensor", value.is_leaf, value.retains_grad, id(value), value.dim())
    if isinstance(value, tuple):
        return ParamSeen("named", value=seen(value[1]))
    if isinstance(value, dict):
        return ParamSeen("group", params=whole(value["params"]) if "params" in value else None)
    return ParamSeen("other")


def whole(value: Any) -> ParamsSeen:
    if isinstance(value, torch.Tensor):
        return ParamsSeen((seen(value),), "tensor")
    if isinstance(value, set):
        return ParamsSeen(tuple(map(seen, value)), "set")
    if not hasattr(value, "__iter__"):
        return ParamsSeen((), "not-iterable")
    return ParamsSeen(tuple(map(seen, value)))


A, B = leaf(), leaf()
CASES: dict[str, Any] = {
    "leaves": [A, B],
    "a frozen leaf": [torch.rand(2, 2)],
    "an integer leaf": [torch.ones(2, 2, dtype=torch.int64)],
    "a bare tensor": A,
    "a bare parameter": torch.nn.Parameter(torch.rand(2)),
    "nothing": [],
    "an empty group": [{"params": []}],
    "a module": torch.nn.Linear(2, 2),
    "a method": torch.nn.Linear(2, 2).parameters,
    "a module in a list": [torch.nn.Linear(2, 2)],
    "names": torch.nn.Linear(2, 2).state_dict(),
    "a number": [0.5],
    "none": [None],
    "a list in a list": [[A, B]],
    "a computed tensor": [A, B * 2],
    "a retained tensor": [retained()],
    "computed first, then no tensor": [B * 2, 3],
    "no tensor first, then computed": [3, B * 2],
    "named": [("a", A), ("b", B)],
    "two tensors as a pair": [(A, B)],
    "named computed": [("a", A * 2)],
    "named no tensor": [("a", "b")],
    "some named": [("a", A), B],
    "some named and a computed one": [B * 2, ("a", A)],
    "groups": [{"params": [A]}, {"params": [B], "lr": 0.1}],
    "a bare tensor in a group": [{"params": A}],
    "a set": {A, B},
    "a set in a group": [{"params": {A, B}}],
    "a module in a group": [{"params": torch.nn.Linear(2, 2)}],
    "a group without params": [{"lr": 0.1}],
    "a group, then a tensor": [{"params": [A]}, B],
    "a tensor, then a group": [B, {"params": [A]}],
    "computed in a group": [{"params": [A]}, {"params": [B * 2]}],
    "twice in one group": [A, A],
    "in two groups": [{"params": [A]}, {"params": [B, A]}],
    "twice, and in two groups": [{"params": [A, A]}, {"params": [A]}],
    "groups with and without names": [{"params": [("a", A)]}, {"params": [B]}],
    "rows of a tensor": list(A),
    "a vector": [leaf(3)],
}


def handed(case: str) -> Any:
    """What to hand to torch, which writes into the dicts it is given."""
    value = CASES[case]
    if isinstance(value, list):
        return [dict(each) if isinstance(each, dict) else each for each in value]
    return value


def torch_says(make: Any) -> tuple[str, str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            make()
        except Exception as error:
            return type(error).__name__, str(error)
    for warning in caught:
        return warning.category.__name__, str(warning.message)
    return "", ""


@pytest.mark.parametrize("name", ["Adam", "SGD", "LBFGS", "Muon"])
@pytest.mark.parametrize("case", CASES)
def test_refusals(name: str, case: str) -> None:
    error, text = torch_says(lambda: getattr(torch.optim, name)(handed(case), lr=0.1))
    said = optimizers.refusal(whole(CASES[case]), False, name)
    if said is None:
        assert not error, text
    else:
        assert said.error == error
        assert said.text in text
        assert said.raises == (not error.endswith("Warning"))


@pytest.mark.parametrize("case", CASES)
def test_refusals_of_a_differentiable_optimizer(case: str) -> None:
    error, text = torch_says(lambda: torch.optim.SGD(handed(case), lr=0.1, differentiable=True))
    said = optimizers.refusal(whole(CASES[case]), True, "SGD")
    assert (said.error if said else "") == error, text


def test_what_is_not_known_is_not_refused() -> None:
    unknown = ParamSeen("unknown")
    assert optimizers.refusal([unknown]) is None
    assert optimizers.refusal([ParamSeen("tensor", leaf=None)]) is None
    assert optimizers.refusal(ParamsSeen((), complete=False)) is None
    assert optimizers.refusal(ParamsSeen((), "unknown")) is None
    found = optimizers.refusal([ParamSeen("tensor", leaf=True), unknown, ParamSeen("tensor", leaf=False)])
    assert found is not None
    assert found.path == (2,)
