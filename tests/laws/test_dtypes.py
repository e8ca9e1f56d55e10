"""The dtype rules against torch's own functions."""

from __future__ import annotations

import itertools

import pytest
import torch

from gradtrail.laws import dtypes

NAMES = [name for name in dtypes._CATEGORY if hasattr(torch, name)]
COMMON = [
    "bool",
    "uint8",
    "int8",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
NUMBERS = {"bool": True, "int64": 2, "float32": 2.5, "complex64": 2j}


def word(dtype: torch.dtype) -> str:
    return str(dtype).rpartition(".")[2]


def test_promotion_of_two_dtypes() -> None:
    for one, other in itertools.product(NAMES, NAMES):
        said = dtypes.promote_two(one, other)
        try:
            expected = word(torch.promote_types(getattr(torch, one), getattr(torch, other)))
        except RuntimeError:  # some pairs of unsigned dtypes do not promote
            continue
        assert said in (None, expected), (one, other)
    common = list(itertools.product(COMMON, COMMON))
    assert all(dtypes.promote_two(*pair) is not None for pair in common)


@pytest.mark.parametrize("shapes", [((2,), (2,)), ((2,), ()), ((), (2,)), ((), ())])
def test_promotion_of_two_tensors(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    for one, other in itertools.product(COMMON, COMMON):
        a = torch.zeros(shapes[0], dtype=getattr(torch, one))
        b = torch.zeros(shapes[1], dtype=getattr(torch, other))
        said = dtypes.promote([(one, shapes[0] == (), False), (other, shapes[1] == (), False)])
        assert said == word(torch.result_type(a, b)), (one, other)


def test_promotion_of_a_tensor_and_a_number() -> None:
    for name, (kind, value), shape in itertools.product(COMMON, NUMBERS.items(), ((2,), ())):
        tensor = torch.zeros(shape, dtype=getattr(torch, name))
        said = dtypes.promote([(name, shape == (), False), (kind, None, True)])
        assert said == word(torch.result_type(tensor, value)), (name, kind, shape)


def test_an_unknown_operand_keeps_the_dtype_unknown() -> None:
    assert dtypes.promote([("float32", False, False), (None, False, False)]) is None
    assert dtypes.promote([("float32", None, False), ("float64", None, False)]) is None
    assert dtypes.promote([("float32", None, False), ("int64", None, True)]) == "float32"


def test_dimensions_that_do_not_matter_need_not_be_known() -> None:
    assert dtypes.promote([("int64", None, False), ("float32", None, True)]) == "float32"
    assert dtypes.promote([("int64", None, False), ("float32", False, False)]) == "float32"
    assert dtypes.promote([("float64", None, False), ("float32", False, False)]) is None


def test_casts() -> None:
    for one, other in itertools.product(COMMON, COMMON):
        assert dtypes.can_cast(one, other) == torch.can_cast(getattr(torch, one), getattr(torch, other)), (
            one,
            other,
        )


def test_which_dtypes_can_require_grad() -> None:
    for name in COMMON:
        tensor = torch.zeros(1, dtype=getattr(torch, name))
        if dtypes.can_require_grad(name):
            assert tensor.requires_grad_().requires_grad
        else:
            with pytest.raises(RuntimeError):
                tensor.requires_grad_()


def test_names() -> None:
    for alias, name in dtypes.ALIASES.items():
        assert getattr(torch, alias) is getattr(torch, name)
    for name, shown in dtypes.SCALAR_NAMES.items():
        tensor = torch.zeros(1, dtype=getattr(torch, name))
        assert shown in tensor.type() or name.startswith("complex")
    for name, real in dtypes.REAL_OF.items():
        assert word(torch.zeros(1, dtype=getattr(torch, name)).real.dtype) == real
    for name, wide in dtypes.COMPLEX_OF.items():
        assert word(torch.promote_types(getattr(torch, name), torch.complex32)) == wide
    for kind, value in {"bool": True, "int": 1, "float": 1.5, "complex": 1j}.items():
        assert dtypes.python_number_dtype(kind) == word(torch.tensor(value).dtype)
