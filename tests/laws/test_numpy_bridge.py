"""The order of the checks of Tensor.numpy(), and what goes through it."""

from __future__ import annotations

import itertools
import warnings

import numpy
import pytest
import torch

from gradtrail.laws import messages, numpy_bridge
from gradtrail.laws.numpy_bridge import BridgeFacts


def tensor(  # noqa: PLR0917 - one for each check
    requires_grad: bool, device: str, conj: bool, neg: bool, dtype: str, strided: bool
) -> torch.Tensor:
    value = torch.ones(2, dtype=getattr(torch, dtype))
    if conj:
        value = torch.ones(2, dtype=torch.complex64).conj()
    if neg:
        value = torch.ones(2, dtype=torch.complex64).conj().imag
    if not strided:
        value = value.to_sparse()
    return value.to(device).requires_grad_(requires_grad)


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("grad", [True, False])
def test_the_order_of_the_checks(grad: bool, force: bool) -> None:
    for requires_grad, device, conj, neg, dtype, strided in itertools.product(
        (True, False), ("cpu", "meta"), (True, False), (True, False), ("float32", "bfloat16"), (True, False)
    ):
        if (
            (conj and neg)
            or (not strided and (conj or neg or device == "meta"))
            or (conj and dtype == "bfloat16")
        ):
            continue
        if force and (device == "meta" or not strided):
            continue
        value = tensor(requires_grad, device, conj, neg, dtype, strided)
        real = str(value.dtype).rpartition(".")[2]
        said = numpy_bridge.refusal(
            BridgeFacts(requires_grad, device, value.is_conj(), value.is_neg(), real, strided), grad, force
        )
        with torch.set_grad_enabled(grad):
            try:
                value.numpy(force=force)
            except Exception as error:
                assert said is not None, error
                entry = messages.message(said)
                assert entry.error == type(error).__name__
                assert entry.piece in str(error)
            else:
                assert said is None


def loss() -> torch.Tensor:
    return torch.rand(4, 4, dtype=torch.float64, requires_grad=True)


ARGUMENTS: dict[str, tuple[object, ...]] = {
    "concatenate": ([0],),
    "stack": ([0],),
    "vstack": ([0],),
    "hstack": ([0],),
    "dstack": ([0],),
    "column_stack": ([0],),
}
TWO = frozenset(
    "add subtract multiply divide power maximum minimum dot matmul allclose isclose outer inner cross".split()
)
MORE: dict[str, tuple[object, ...]] = {
    "percentile": (50,),
    "quantile": (0.5,),
    "tile": (2,),
    "pad": (1,),
    "expand_dims": (0,),
    "take": ([0],),
    "clip": (0, 1),
    "repeat": (2,),
    "reshape": ((2, 8),),
    "roll": (1,),
    "interp": ([0.0, 1.0], [0.0, 1.0]),
    "polyfit": (numpy.ones(4), 1),
    "where": (1, 0),
}
FILES = frozenset(("save", "savez", "savetxt"))


@pytest.mark.parametrize("name", sorted(numpy_bridge.CONVERTS_TENSOR - FILES))
def test_functions_that_convert(name: str) -> None:
    function: object = numpy
    for part in name.split("."):
        function = getattr(function, part)
    value = loss()
    first: object = [value, value] if name in ARGUMENTS else value
    if name in ("float32", "int32", "int64"):
        first = value.sum()
    arguments = (first, first) if name in TWO else (first, *MORE.get(name, ()))
    with pytest.raises(RuntimeError, match="numpy\\(\\) on Tensor that requires grad"):
        function(*arguments)  # type: ignore[operator]


@pytest.mark.parametrize("name", sorted(FILES))
def test_functions_that_convert_into_a_file(name: str, tmp_path: object) -> None:
    with pytest.raises(RuntimeError, match="requires grad"):
        getattr(numpy, name)(f"{tmp_path}/out", loss())


@pytest.mark.parametrize("name", sorted(numpy_bridge.DELEGATES))
def test_functions_that_delegate(name: str) -> None:
    with warnings.catch_warnings(), pytest.raises(TypeError) as caught:
        warnings.simplefilter("ignore")
        getattr(numpy, name)(loss())
    assert "numpy()" not in str(caught.value)


@pytest.mark.parametrize("name", sorted(numpy_bridge.DELEGATES_QUIETLY))
def test_functions_that_return_a_tensor(name: str) -> None:
    arguments = (0, 1) if name == "swapaxes" else ()
    assert isinstance(getattr(numpy, name)(loss(), *arguments), torch.Tensor)


@pytest.mark.parametrize("name", sorted(numpy_bridge.NEVER_REFUSES))
def test_functions_that_never_refuse(name: str) -> None:
    arguments = (loss(),) if name == "array_equal" else ()
    getattr(numpy, name)(loss(), *arguments)


def test_what_never_refuses() -> None:
    value = loss().sum()
    assert isinstance(numpy.float64(value), numpy.float64)
    for name in numpy_bridge.PYTHON_NUMBERS - {"__index__", "__format__"}:
        getattr(value, name)()
    assert format(value, ".2f")
    array = numpy.zeros(2)
    array[0] = value
    with pytest.raises(RuntimeError):
        array[:] = loss()[0, :2]
