"""What torch refuses for its dtypes, and that it refuses nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from gradtrail.laws import dtype_demands

Call = Callable[..., torch.Tensor]

SQUARES: dict[str, tuple[tuple[str, ...], Call]] = {
    "nn.functional.linear": (("self", "weight"), F.linear),
    "linear": (("self", "weight"), F.linear),
    "matmul": (("self", "other"), torch.matmul),
    "matmul.folded": (("self", "other"), lambda a, b: torch.matmul(a[None], b)),
    "mm": (("self", "mat2"), torch.mm),
    "bmm": (("self", "mat2"), lambda a, b: torch.bmm(a[None], b[None])),
    "mv": (("self", "vec"), lambda a, b: torch.mv(a, b[0])),
    "dot": (("self", "tensor"), lambda a, b: torch.dot(a[0], b[0])),
    "addmm": (("mat1", "mat2"), lambda a, b: torch.addmm(torch.zeros(2, 2, dtype=a.dtype), a, b)),
    "cdist": (("x1", "x2"), torch.cdist),
    "lerp": (("self", "end"), lambda a, b: torch.lerp(a, b, 0.5)),
    "nn.functional.bilinear": (
        ("input1", "input2", "weight"),
        lambda a, b, c: F.bilinear(a, b, torch.stack([c, c])),
    ),
    "nn.functional.prelu": (("self", "weight"), lambda a, b: F.prelu(a, b[0])),
    "nn.functional.conv1d": (("self", "weight"), lambda a, b: F.conv1d(a[None], b[:, :, None])),
    "nn.functional.conv2d": (
        ("self", "weight"),
        lambda a, b: F.conv2d(a[None, :, :, None], b[:, :, None, None]),
    ),
    "nn.functional.conv3d": (
        ("self", "weight"),
        lambda a, b: F.conv3d(a[None, :, :, None, None], b[:, :, None, None, None]),
    ),
    "nn.functional.conv1d.text": (
        ("self", "weight"),
        lambda a, b: F.conv1d(a[None], b[:, :, None], padding="same"),
    ),
    "nn.functional.conv2d.text": (
        ("self", "weight"),
        lambda a, b: F.conv2d(a[None, :, :, None], b[:, :, None, None], padding="same"),
    ),
    "nn.functional.conv3d.text": (
        ("self", "weight"),
        lambda a, b: F.conv3d(a[None, :, :, None, None], b[:, :, None, None, None], padding="same"),
    ),
    "nn.functional.scaled_dot_product_attention": (
        ("query", "key", "value"),
        lambda a, b, c: F.scaled_dot_product_attention(a[None], b[None], c[None]),
    ),
    "nn.functional.binary_cross_entropy": (("self", "target"), F.binary_cross_entropy),
    "index_copy": (("self", "source"), lambda a, b: a.index_copy(0, torch.arange(2), b)),
    "index_copy_": (("self", "source"), lambda a, b: a.clone().index_copy_(0, torch.arange(2), b)),
    "gather": (("index",), lambda a: torch.zeros(2, 2).gather(0, a)),
    "scatter": (("index",), lambda a: torch.zeros(2, 2).scatter(0, a, 1.0)),
    "scatter_": (("index",), lambda a: torch.zeros(2, 2).scatter_(0, a, 1.0)),
    "take": (("index",), lambda a: torch.zeros(2, 2).take(a)),
    "take_along_dim": (("indices",), lambda a: torch.zeros(2, 2).take_along_dim(a, 0)),
    "nn.functional.embedding": (("self",), lambda a: F.embedding(a, torch.zeros(2, 2))),
    "nn.functional.one_hot": (("self",), F.one_hot),
    "masked_fill": (("mask",), lambda a: torch.zeros(2, 2).masked_fill(a, 1.0)),
    "masked_fill_": (("mask",), lambda a: torch.zeros(2, 2).masked_fill_(a, 1.0)),
    "where": (("condition",), lambda a: torch.where(a, torch.zeros(2, 2), torch.ones(2, 2))),
    "std": (("self",), torch.std),
    "var": (("self",), torch.var),
    "norm": (("self",), lambda a: a.norm()),
    "nn.functional.normalize": (("self",), F.normalize),
    "nn.functional.gelu": (("self",), F.gelu),
    "nn.functional.nll_loss": (("target",), lambda a: F.nll_loss(torch.zeros(2, 2), a[0])),
    "nn.functional.binary_cross_entropy_with_logits": (
        ("target",),
        lambda a: F.binary_cross_entropy_with_logits(torch.zeros(2, 2), a[0]),
    ),
}
"""Argument names and a call on 2 x 2 tensors of zeros and ones."""


def refused(call: Call, tensors: list[torch.Tensor]) -> bool:
    """Whether torch raises."""
    try:
        call(*tensors)
    except (RuntimeError, IndexError, ValueError, TypeError):
        return True
    return False


def told(tensor: torch.Tensor) -> str:
    """The name of a dtype."""
    return str(tensor.dtype).rpartition(".")[2]


def test_every_row_has_a_call() -> None:
    assert {*SQUARES, "nn.functional.cross_entropy"} == set(dtype_demands.operations())


@pytest.mark.parametrize("operation", SQUARES)
def test_what_is_said_to_be_refused_is_refused(operation: str) -> None:
    names, call = SQUARES[operation]
    for combination in itertools.product(dtype_demands.JUDGED, repeat=len(names)):
        tensors = [torch.eye(2).to(getattr(torch, dtype)) for dtype in combination]
        facts = [(name, told(one), one.dim()) for name, one in zip(names, tensors, strict=True)]
        said = dtype_demands.refusal(operation, facts, (*names, "other"))
        if said is not None:
            assert refused(call, tensors), combination


@pytest.mark.parametrize("operation", SQUARES)
def test_what_fits_is_not_said_to_be_refused(operation: str) -> None:
    names, call = SQUARES[operation]
    for combination in itertools.product(dtype_demands.JUDGED, repeat=len(names)):
        tensors = [torch.eye(2).to(getattr(torch, dtype)) for dtype in combination]
        if not refused(call, tensors):
            facts = [(name, told(one), one.dim()) for name, one in zip(names, tensors, strict=True)]
            said = dtype_demands.refusal(operation, facts, (*names, "other"))
            assert said is None, combination


@pytest.mark.parametrize("shape", [(2,), (2, 3), (2, 3, 4)])
@pytest.mark.parametrize("dtype", dtype_demands.JUDGED)
def test_targets_of_cross_entropy(dtype: str, shape: tuple[int, ...]) -> None:
    logits = torch.zeros(shape)
    classes = torch.zeros(shape[:1] + shape[2:] if len(shape) > 1 else ()).to(getattr(torch, dtype))
    for target in (classes, torch.zeros(shape).to(getattr(torch, dtype))):
        facts: list[tuple[str, str | None, int | None]] = [
            ("self", "float32", logits.dim()),
            ("target", dtype, target.dim()),
        ]
        said = dtype_demands.refusal("nn.functional.cross_entropy", facts)
        assert (said is not None) == refused(F.cross_entropy, [logits, target]), target.shape


def test_where_of_one_argument_takes_every_dtype() -> None:
    for dtype in dtype_demands.JUDGED:
        torch.where(torch.ones(2).to(getattr(torch, dtype)))
        assert dtype_demands.refusal("where", [("condition", dtype, 1)], ("condition",)) is None


def test_what_is_not_known_is_not_refused() -> None:
    assert dtype_demands.refusal("mm", [("self", None, 2), ("mat2", "float64", 2)]) is None
    assert dtype_demands.refusal("mm", [("self", "float16", 2), ("mat2", "float64", 2)]) is None
    assert dtype_demands.refusal("add", [("self", "int64", 2), ("other", "float64", 2)]) is None
    assert (
        dtype_demands.refusal(
            "nn.functional.cross_entropy", [("self", "float32", None), ("target", "float32", 1)]
        )
        is None
    )
