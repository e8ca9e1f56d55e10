"""The page of an operation, and whether torch agrees with its sentences."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from gradtrail.laws.operations import RESULTS, SAME_WHEN, VALUE_KINDS, names, operation
from gradtrail.reports import op_page
from gradtrail.reports.op_page import facts, render, spellings


def page(name: str) -> dict[str, list[str]]:
    row = next(found for found in map(operation, spellings(name)) if found is not None)
    told: dict[str, list[str]] = {}
    for label, sentence in facts(row):
        told.setdefault(label, []).append(str(sentence))
    return told


def test_a_page() -> None:
    row = operation("mul")
    assert row is not None
    assert (
        render(row)
        == """\
mul(self, other)

  gives back      a new tensor, with storage of its own
  requires grad   when grad mode is on and `self` or `other` requires grad
  leaf            only when it does not require grad
  grad_fn         MulBackward0 where the result requires grad
  saves           `other`, when `self` requires grad
                  `self`, when `other` requires grad
  backward        frees what is saved, unless it is called with
                  retain_graph=True
"""
    )


REFUSED: dict[str, tuple[Callable[[], object], ...]] = {
    "numpy": (
        lambda: torch.ones(2, requires_grad=True).numpy(),
        lambda: torch.ones(2, device="meta").numpy(),
    ),
    "backward": (
        lambda: torch.ones(()).backward(),
        lambda: torch.ones(2, requires_grad=True).backward(),
        lambda: [
            torch.autograd.grad(root, root.grad_fn and LEAF) for root in [LEAF.exp().sum()] for _ in "ab"
        ],
    ),
    "detach_": ((torch.ones(2, requires_grad=True) * 1)[:1].detach_,),
    "requires_grad_": (
        lambda: (torch.ones(2, requires_grad=True) * 1).requires_grad_(False),
        lambda: torch.ones(2, dtype=torch.int64).requires_grad_(),
    ),
    "retain_grad": (lambda: torch.ones(2).retain_grad(),),
    "register_hook": (lambda: torch.ones(2).register_hook(print),),
}
LEAF = torch.ones(2, requires_grad=True)


@pytest.mark.parametrize("name", op_page._REFUSES)
def test_torch_refuses_what_the_page_says(name: str) -> None:
    told = page(name)["refuses"]
    assert len(told) == len(REFUSED[name])
    for sentence, refused in zip(told, REFUSED[name], strict=True):
        with pytest.raises((RuntimeError, TypeError)) as raised:
            refused()
        assert sentence.partition(": ")[2].removeprefix("... ") in str(raised.value)


def test_what_is_refused_is_taken_otherwise() -> None:
    torch.ones(2, requires_grad=True).numpy(force=True)
    with torch.no_grad():
        torch.ones(2, requires_grad=True).numpy()
    torch.ones(2, requires_grad=True).backward(torch.ones(2))
    (torch.ones(2, requires_grad=True) * 1).requires_grad_()


def test_every_word_of_the_rows_has_its_sentence() -> None:
    assert set(op_page._COMES_BACK) == set(RESULTS)
    assert set(op_page._SAME_WHEN) == set(SAME_WHEN)
    assert set(op_page._ARGUMENT_KINDS) == {*VALUE_KINDS, ""}


@pytest.mark.parametrize("name", names())
def test_every_row_has_a_page_within_its_width(name: str) -> None:
    row = operation(name)
    assert row is not None
    for line in render(row, 80).splitlines():
        assert len(line) <= 80 or " " not in line.strip()


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("torch.Tensor.mul_", "mul_"),
        ("torch.matmul", "matmul"),
        ("detach()", "detach"),
        ("F.linear", "nn.functional.linear"),
        ("torch.nn.functional.linear", "nn.functional.linear"),
        ("linear", "nn.functional.linear"),
    ],
)
def test_names_are_found_as_people_write_them(asked: str, found: str) -> None:
    row = next(one for one in map(operation, spellings(asked)) if one is not None)
    assert row.name == found


IN_PLACE: dict[str, Callable[[torch.Tensor], object]] = {
    "mul_": lambda x: x.mul_(2),
    "add_": lambda x: x.add_(1),
    "exp_": lambda x: x.exp_(),
    "relu_": lambda x: x.relu_(),
    "zero_": lambda x: x.zero_(),
    "fill_": lambda x: x.fill_(1),
    "copy_": lambda x: x.copy_(torch.ones(3)),
    "clamp_": lambda x: x.clamp_(0),
    "floor_": lambda x: x.floor_(),
    "normal_": lambda x: x.normal_(),
    "masked_fill_": lambda x: x.masked_fill_(x > 0, 0),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_torch_refuses_to_write_a_leaf_where_the_page_says_so(name: str) -> None:
    refuses = any("refuses to write a leaf" in sentence for sentence in page(name)["leaf"])
    leaf = torch.ones(3, requires_grad=True)
    if refuses:
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            IN_PLACE[name](leaf)
    else:
        IN_PLACE[name](leaf)
    with torch.no_grad():
        IN_PLACE[name](leaf)
    assert leaf.is_leaf


def test_the_same_tensor_comes_back_when_the_page_says_so() -> None:
    x = torch.ones(3)
    assert "the very same tensor when neither device nor dtype changes" in page("to")["gives back"][0]
    assert x.to("cpu") is x
    assert x.to(torch.float64) is not x
    assert "the very same tensor when it has that dtype already" in page("float")["gives back"][0]
    assert x.float() is x
    assert page("detach_")["gives back"] == ["the same tensor, its history taken away in place"]
    y = (x.requires_grad_() * 2).detach_()
    assert y.is_leaf
    assert not y.requires_grad


def test_what_is_saved_cannot_be_written_before_backward() -> None:
    assert page("exp")["saves"] == ["its result, when it is recorded for backward"]
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    with torch.no_grad():
        y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_the_name_of_a_saved_result() -> None:
    assert page("sort")["saves"] == ["its result `indices`, when it is recorded for backward"]
