"""Every factory called: its parameters, shape, dtype, requires_grad, graph and storage."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest
import torch

from gradtrail.laws import factories
from gradtrail.laws.operations import RowError
from laws.measure import share


def like() -> torch.Tensor:
    return torch.rand(2, 3, dtype=torch.float64)


CALLS: dict[str, tuple[Any, ...]] = {
    "full": ((2, 3), 1.5),
    "randint": (5, (2, 3)),
    "randperm": (4,),
    "arange": (4,),
    "range": (0, 3),
    "linspace": (0, 1, 4),
    "logspace": (0, 1, 4),
    "eye": (3,),
    "tril_indices": (3, 3),
    "triu_indices": (3, 3),
    "scalar_tensor": (2.0,),
    "empty_permuted": ((2, 3), (0, 1)),
    "empty_strided": ((2, 3), (3, 1)),
    "from_numpy": (numpy.ones(3),),
    "frombuffer": (bytearray(8),),
    "sparse_coo_tensor": (torch.tensor([[0], [1]]), torch.ones(1), (2, 2)),
    "sparse_csr_tensor": (torch.tensor([0, 1, 1]), torch.tensor([0]), torch.ones(1), (2, 2)),
    "Tensor.new_full": (like(), (2, 3), 1.5),
    "Tensor.new_empty_strided": (like(), (2, 3), (3, 1)),
    "Tensor.new_tensor": (like(), [1.0, 2.0]),
    "Tensor.new": (like(), 2, 3),
    "full_like": (like(), 1.5),
    "randint_like": (like(), 5),
    "fft.fftfreq": (4,),
    "fft.rfftfreq": (4,),
    "signal.windows.general_cosine": (4,),
}
KEYWORDS: dict[str, dict[str, Any]] = {
    "frombuffer": {"dtype": torch.float32},
    "signal.windows.general_cosine": {"a": [0.5, 0.5]},
}


def arguments(name: str) -> tuple[Any, ...]:
    law = factories.factory("torch." + name)
    assert law is not None
    if name in CALLS:
        return CALLS[name]
    if law.shape == "like":
        return (like(),)
    if law.shape in ("data", "data-or-sizes"):
        return (torch.rand(2, 3).to(getattr(torch, law.dtype, torch.float32)),)
    if law.shape == "vector":
        return (4,)
    return (like(), 2, 3) if name.startswith("Tensor.") else (2, 3)


def function(name: str) -> Any:
    found: Any = torch
    for part in name.split("."):
        found = getattr(found, part)
    return found


def call(name: str, *args: Any, **kwargs: Any) -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = function(name)(*args, **{**KEYWORDS.get(name, {}), **kwargs})
    assert isinstance(result, torch.Tensor)
    return result


@pytest.mark.parametrize("name", factories.names())
def test_shape_and_dtype(name: str) -> None:
    law = factories.factory("torch." + name)
    assert law is not None
    result = call(name, *arguments(name))
    dtype = str(result.dtype).rpartition(".")[2]
    expected = {
        "default": "float32",
        "like": "float64",
        "arange": "int64",
        "fill": "float32",
        "data": "float64" if name == "from_numpy" else "float32",
        "?": dtype,
    }.get(law.dtype, law.dtype)
    assert dtype == expected
    dims = {"vector": 1, "matrix": 2, "square": 2, "scalar": 0, "sizes": 2, "like": 2}.get(
        law.shape, result.dim()
    )
    assert result.dim() == dims
    if law.shape in ("sizes", "like"):
        assert result.shape == (2, 3)


def test_dtypes_by_values() -> None:
    for values, word in (([1], "int64"), ([1.0], "float32"), ([True], "bool"), ([1j], "complex64")):
        assert str(torch.tensor(values).dtype) == "torch." + word
    for fill, word in ((1, "int64"), (1.0, "float32"), (True, "bool")):
        assert str(torch.full((2,), fill).dtype) == "torch." + word
    assert torch.arange(3.0).dtype == torch.arange(0, 3, 0.5).dtype == torch.float32
    assert torch.Tensor(2, 3).shape == (2, 3)
    assert torch.Tensor([2, 3]).shape == (2,)


@pytest.mark.parametrize("name", factories.names())
def test_requires_grad(name: str) -> None:
    law = factories.factory("torch." + name)
    assert law is not None
    integers = law.dtype in ("int64", "arange")
    if law.accepts_requires_grad:
        with_dtype = {"dtype": torch.float32} if integers and "indices" not in name else {}
        if "indices" in name:  # they take the keyword, and no dtype that could use it
            with pytest.raises(RuntimeError, match="can require gradients"):
                call(name, *arguments(name), requires_grad=True)
            return
        result = call(name, *arguments(name), requires_grad=True, **with_dtype)
        assert result.requires_grad
        assert result.is_leaf == law.leaf
    else:
        with pytest.raises(TypeError):
            call(name, *arguments(name), requires_grad=True)


def takes_tensor(name: str) -> bool:
    return name in GRAPH_ARGUMENTS or (arguments(name) != () and isinstance(arguments(name)[0], torch.Tensor))


GRAPH_ARGUMENTS = {"sparse_coo_tensor": 1, "sparse_csr_tensor": 2, "Tensor.new_tensor": 1}


@pytest.mark.parametrize("name", [name for name in factories.names() if takes_tensor(name)])
def test_graph_and_storage(name: str) -> None:
    law = factories.factory("torch." + name)
    assert law is not None
    index = GRAPH_ARGUMENTS.get(name, 0)
    given = list(arguments(name))
    source = given[index] if isinstance(given[index], torch.Tensor) else torch.rand(2)
    if source.dtype.is_floating_point:
        source = source.detach().requires_grad_() * 1
    given[index] = source
    try:
        result = call(name, *given)
    except BufferError:
        assert name == "from_dlpack"
        return
    assert (result.grad_fn is not None) == law.keeps_graph
    if result.layout == torch.strided and law.shape != "like" and not name.startswith("Tensor.new"):
        assert share(result, source) == (law.storage == "shared")


def test_from_numpy_shares_memory() -> None:
    array = numpy.ones(2)
    made = torch.from_numpy(array)
    array[0] = 5
    assert made[0] == 5


@pytest.mark.parametrize("name", factories.names())
def test_defaults_are_torchs(name: str) -> None:
    law = factories.factory("torch." + name)
    assert law is not None
    if name == "asarray":
        return  # requires_grad=None is what it takes, and follows its argument
    given = arguments(name)
    for word, value in law.defaults.items():
        if (
            word == law.gathers
            or value is None
            or word in law.args[: len(given)]
            or word in KEYWORDS.get(name, {})
        ):
            continue
        if word in law.args and name in ("randint", "arange", "range", "randint_like"):
            continue  # their first arguments shift when only one is given
        torch.manual_seed(1)
        before = call(name, *given)
        torch.manual_seed(1)
        before_it = law.args[len(given) : law.args.index(word)] if word in law.args else ()
        after = call(name, *given, **{each: law.defaults[each] for each in before_it}, **{word: value})
        assert before.requires_grad == after.requires_grad
        if "empty" not in name and before.layout == torch.strided:
            assert torch.equal(before, after), word


def test_a_wrong_row_fails_with_its_name() -> None:
    for row in (
        "(size...) round default",
        "(size...) sizes nonsense",
        "(size...) sizes default often",
        "size sizes",
    ):
        with pytest.raises(RowError, match="'mine'"):
            factories.parse("mine", row)


def test_aliases_and_strangers() -> None:
    assert factories.factory("torch.nn.parameter.Parameter") is not None
    assert factories.factory("torch.mul") is None
    assert factories.factory("numpy.zeros") is None
