"""Every class of torch.nn built and run: constructor, parameters, buffers, children, what is saved."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.testing._internal.common_modules import module_db

from gradtrail.laws import modules
from gradtrail.laws.modules import ModuleLaw
from gradtrail.laws.operations import RowError
from laws.measure import MODIFIED, flat, write

nn = torch.nn


def classes() -> list[str]:
    return [
        name
        for name in dir(nn)
        if isinstance(getattr(nn, name), type) and issubclass(getattr(nn, name), nn.Module)
    ]


def r(*shape: int) -> torch.Tensor:
    return torch.rand(shape) * 0.8 + 0.1


def integers(*shape: int) -> torch.Tensor:
    return torch.randint(3, shape)


Built = tuple[Callable[[], nn.Module], tuple[Any, ...]]

OWN: dict[str, Built] = {
    "AdaptiveLogSoftmaxWithLoss": (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2]), (r(3, 4), integers(3))),
    "AlphaDropout": (nn.AlphaDropout, (r(3),)),
    "ChannelShuffle": (lambda: nn.ChannelShuffle(2), (r(1, 4, 2, 2),)),
    "CosineSimilarity": (nn.CosineSimilarity, (r(2, 3), r(2, 3))),
    "CrossMapLRN2d": (lambda: nn.CrossMapLRN2d(2), (r(1, 2, 3, 3),)),
    "Dropout": (nn.Dropout, (r(3),)),
    "Dropout1d": (nn.Dropout1d, (r(2, 3, 4),)),
    "Dropout2d": (nn.Dropout2d, (r(2, 3, 4, 4),)),
    "Dropout3d": (nn.Dropout3d, (r(2, 3, 2, 2, 2),)),
    "EmbeddingBag": (lambda: nn.EmbeddingBag(4, 3), (integers(2, 3),)),
    "FeatureAlphaDropout": (nn.FeatureAlphaDropout, (r(2, 3, 4),)),
    "Flatten": (nn.Flatten, (r(2, 3, 4),)),
    "Fold": (lambda: nn.Fold((4, 5), (2, 2)), (r(1, 12, 12),)),
    "Hardsigmoid": (nn.Hardsigmoid, (r(3),)),
    "FractionalMaxPool2d": (lambda: nn.FractionalMaxPool2d(2, 3), (r(1, 2, 6, 6),)),
    "FractionalMaxPool3d": (lambda: nn.FractionalMaxPool3d(2, 3), (r(1, 2, 6, 6, 6),)),
    "Identity": (nn.Identity, (r(3),)),
    "LinearCrossEntropyLoss": (lambda: nn.LinearCrossEntropyLoss(3, 4), (r(2, 3), integers(2))),
    "LSTM": (lambda: nn.LSTM(3, 4, 2, bidirectional=True), (r(5, 2, 3),)),
    "GRU": (lambda: nn.GRU(3, 4), (r(5, 2, 3),)),
    "RNN": (lambda: nn.RNN(3, 4), (r(5, 2, 3),)),
    "MaxUnpool1d": (lambda: nn.MaxUnpool1d(2), nn.functional.max_pool1d(r(1, 2, 4), 2, return_indices=True)),
    "MaxUnpool2d": (
        lambda: nn.MaxUnpool2d(2),
        nn.functional.max_pool2d(r(1, 2, 4, 4), 2, return_indices=True),
    ),
    "MaxUnpool3d": (
        lambda: nn.MaxUnpool3d(2),
        nn.functional.max_pool3d(r(1, 2, 4, 4, 4), 2, return_indices=True),
    ),
    "TripletMarginLoss": (nn.TripletMarginLoss, (r(2, 3), r(2, 3), r(2, 3))),
    "PairwiseDistance": (nn.PairwiseDistance, (r(2, 3), r(2, 3))),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), (r(1, 4, 2, 2),)),
    "PixelUnshuffle": (lambda: nn.PixelUnshuffle(2), (r(1, 1, 4, 4),)),
    "RReLU": (nn.RReLU, (r(3),)),
    "Softmax2d": (nn.Softmax2d, (r(1, 2, 3, 3),)),
    "SyncBatchNorm": (lambda: nn.SyncBatchNorm(3).eval(), (r(2, 3, 4),)),
    "TripletMarginWithDistanceLoss": (nn.TripletMarginWithDistanceLoss, (r(2, 3), r(2, 3), r(2, 3))),
    "Unflatten": (lambda: nn.Unflatten(1, (2, 2)), (r(2, 4),)),
    "Unfold": (lambda: nn.Unfold(2), (r(1, 2, 4, 4),)),
    "Upsample": (lambda: nn.Upsample(scale_factor=2), (r(1, 2, 3, 3),)),
    "UpsamplingBilinear2d": (lambda: nn.UpsamplingBilinear2d(scale_factor=2), (r(1, 2, 3, 3),)),
    "UpsamplingNearest2d": (lambda: nn.UpsamplingNearest2d(scale_factor=2), (r(1, 2, 3, 3),)),
    "DataParallel": (lambda: nn.DataParallel(nn.Linear(3, 2)), (r(2, 3),)),
    "Sequential": (lambda: nn.Sequential(nn.Linear(3, 2)), (r(2, 3),)),
    "NLLLoss2d": (nn.NLLLoss2d, (r(1, 3, 2, 2), integers(1, 2, 2))),
    "MultiheadAttention": (lambda: nn.MultiheadAttention(4, 2), (r(3, 2, 4), r(3, 2, 4), r(3, 2, 4))),
    "TransformerEncoder": (
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 1, nn.LayerNorm(4)),
        (r(3, 2, 4),),
    ),
    "TransformerDecoder": (
        lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8), 1, nn.LayerNorm(4)),
        (r(3, 2, 4), r(3, 2, 4)),
    ),
    "TransformerEncoderLayer": (lambda: nn.TransformerEncoderLayer(4, 2, 8), (r(3, 2, 4),)),
    "TransformerDecoderLayer": (lambda: nn.TransformerDecoderLayer(4, 2, 8), (r(3, 2, 4), r(3, 2, 4))),
    "Transformer": (lambda: nn.Transformer(4, 2, 1, 1, 8), (r(3, 2, 4), r(3, 2, 4))),
    "CTCLoss": (
        nn.CTCLoss,
        (
            r(6, 2, 4).log_softmax(2),
            torch.tensor([[1, 2], [2, 3]]),
            torch.tensor([6, 6]),
            torch.tensor([2, 2]),
        ),
    ),
    "SoftMarginLoss": (nn.SoftMarginLoss, (r(3), torch.ones(3, dtype=torch.int64))),
    "Embedding": (lambda: nn.Embedding(4, 3), (integers(2, 3),)),
    "PReLU": (lambda: nn.PReLU(3), (r(2, 3),)),
    "Bilinear": (lambda: nn.Bilinear(2, 3, 4), (r(5, 2), r(5, 3))),
}
for _d, _shape in {"1d": (2, 3, 4), "2d": (2, 3, 4, 4), "3d": (2, 3, 4, 4, 4)}.items():
    for _kind in ("LazyBatchNorm", "LazyInstanceNorm"):
        OWN[_kind + _d] = (getattr(nn, _kind + _d), (r(*_shape),))
    for _kind in ("LazyConv", "LazyConvTranspose"):
        OWN[_kind + _d] = (lambda kind=_kind + _d: getattr(nn, kind)(2, 2), (r(*_shape),))  # type: ignore[misc]
    OWN["ZeroPad" + _d] = (lambda kind="ZeroPad" + _d: getattr(nn, kind)(1), (r(*_shape),))  # type: ignore[misc]
    OWN["LPPool" + _d] = (lambda kind="LPPool" + _d: getattr(nn, kind)(2, 2), (r(*_shape),))  # type: ignore[misc]
OWN["LazyLinear"] = (lambda: nn.LazyLinear(2), (r(3, 4),))

WITHOUT_FORWARD = frozenset(
    "Module Container ModuleList ModuleDict ParameterList ParameterDict RNNBase RNNCellBase".split()
)
"""Containers and bases: nothing to run."""


def from_torch(name: str) -> Built | None:
    """The first sample that torch's own tests have for a class."""
    for info in module_db:
        if info.module_cls is getattr(nn, name):
            torch.manual_seed(2)
            for sample in info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=False, training=True
            ):
                made, forward = sample.constructor_input, sample.forward_input
                if forward is None or forward.kwargs:
                    continue
                return functools.partial(info.module_cls, *made.args, **made.kwargs), tuple(forward.args)
    return None


def built(name: str) -> Built | None:
    return OWN.get(name) or from_torch(name)


RUNNABLE = [name for name in classes() if name not in WITHOUT_FORWARD]


def law_of(name: str) -> ModuleLaw:
    law = modules.module(name)
    assert law is not None, name
    return law


def test_every_class_has_a_law() -> None:
    assert set(classes()) == set(modules.names())


@pytest.mark.parametrize("name", classes())
def test_constructor(name: str) -> None:
    law = law_of(name)
    found = list(inspect.signature(getattr(nn, name).__init__).parameters.values())[1:]
    if any(each.kind is each.VAR_POSITIONAL for each in found):
        if name in ("RNN", "LSTM", "GRU"):
            base = list(inspect.signature(nn.RNNBase.__init__).parameters)[2:]
            allowed = {*base, "nonlinearity"}
            assert set(law.args) <= allowed
            getattr(nn, name)(2, 3, **{word: law.defaults[word] for word in law.defaults})
        return
    positional = [each for each in found if each.kind is each.POSITIONAL_OR_KEYWORD]
    assert law.args == tuple(each.name for each in positional)
    assert law.keywords == tuple(each.name for each in found if each.kind is each.KEYWORD_ONLY)
    for each in found:
        if each.default is each.empty:
            assert each.name in law.required or each.kind is each.VAR_KEYWORD
        elif each.name == "activation":
            assert law.defaults["activation"] is None  # a function, which a table of literals cannot hold
        else:
            assert law.defaults[each.name] == each.default, each.name


def expected_names(law: ModuleLaw, entries: tuple[tuple[str, str, str], ...], module: nn.Module) -> set[str]:
    """The names that the law expects of parameters or buffers, for the module's own constructor arguments."""

    def holds(condition: str) -> bool:
        return all(_truthy(law, module, word) for word in condition.split("&") if word)

    result: set[str] = set()
    for name, condition, _ in entries:
        if not holds(condition):
            continue
        if "*" not in name:
            result.add(name)
            continue
        layers = range(module.num_layers)  # type: ignore[arg-type]
        endings = ("", "_reverse") if module.bidirectional else ("",)
        result.update(name.replace("*", f"{layer}{ending}") for layer in layers for ending in endings)
    return result


def _truthy(law: ModuleLaw, module: nn.Module, word: str) -> bool:
    if word in ("same-dims", "other-dims"):
        return bool(module._qkv_same_embed_dim) == (word == "same-dims")
    if word in ("bias", "add_bias_kv"):
        attribute = {"MultiheadAttention": {"bias": "in_proj_bias", "add_bias_kv": "bias_k"}}.get(
            law.name, {}
        ).get(word)
        if attribute:
            return getattr(module, attribute) is not None
        if word == "bias" and isinstance(getattr(module, "bias", None), bool):
            return bool(module.bias)
        return getattr(module, "bias", None) is not None or getattr(module, "bias_ih", None) is not None
    value = getattr(module, word)
    return value is not None if isinstance(value, torch.Tensor) or value is None else bool(value)


@pytest.mark.parametrize("name", RUNNABLE)
def test_parameters_buffers_and_children(name: str) -> None:
    law = law_of(name)
    sample = built(name)
    assert sample is not None
    module = sample[0]()
    if name.startswith("Lazy"):
        module(*sample[1])
    if name not in ("Sequential", "DataParallel"):
        assert expected_names(law, law.parameters, module) == {
            key for key, value in module._parameters.items() if value is not None
        }
        assert expected_names(law, law.buffers, module) == {
            key for key, value in module._buffers.items() if value is not None
        }
        real = dict(module.named_children())
        assert set(real) == {child for child, _ in law.children}
        for child, kind in law.children:
            assert isinstance(real[child], getattr(nn, kind))
    for parameter in module.parameters():
        assert parameter.requires_grad
    _shapes_fit(law, module)


def _shapes_fit(law: ModuleLaw, module: nn.Module) -> None:
    for name, _, shape in (*law.parameters, *law.buffers):
        value = getattr(module, name, None)
        if not shape or value is None:
            continue
        sizes: list[int] = []
        for word in shape.split(","):
            size = getattr(module, word)
            sizes += size if isinstance(size, (tuple, list)) else [size]
        assert tuple(value.shape) == tuple(sizes), name


CONDITIONS: dict[str, tuple[Callable[[], nn.Module], ...]] = {
    "Linear": (lambda: nn.Linear(2, 3, bias=False),),
    "BatchNorm1d": (
        lambda: nn.BatchNorm1d(3, affine=False),
        lambda: nn.BatchNorm1d(3, bias=False),
        lambda: nn.BatchNorm1d(3, track_running_stats=False),
    ),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(3, affine=True, track_running_stats=True),),
    "GroupNorm": (lambda: nn.GroupNorm(1, 2, affine=False), lambda: nn.GroupNorm(1, 2, bias=False)),
    "LayerNorm": (
        lambda: nn.LayerNorm(3, elementwise_affine=False),
        lambda: nn.LayerNorm((2, 3), bias=False),
    ),
    "RMSNorm": (lambda: nn.RMSNorm(3, elementwise_affine=False),),
    "Conv2d": (lambda: nn.Conv2d(1, 2, 3, bias=False),),
    "LSTM": (lambda: nn.LSTM(2, 3, bias=False), lambda: nn.LSTM(2, 3, proj_size=1)),
    "MultiheadAttention": (
        lambda: nn.MultiheadAttention(4, 2, kdim=3),
        lambda: nn.MultiheadAttention(4, 2, bias=False),
        lambda: nn.MultiheadAttention(4, 2, add_bias_kv=True),
    ),
    "CrossEntropyLoss": (lambda: nn.CrossEntropyLoss(torch.ones(3)),),
    "BCEWithLogitsLoss": (lambda: nn.BCEWithLogitsLoss(pos_weight=torch.ones(3)),),
    "GRUCell": (lambda: nn.GRUCell(2, 3, bias=False),),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions(name: str) -> None:
    law = law_of(name)
    for make in CONDITIONS[name]:
        module = make()
        names = {key for key, value in module._parameters.items() if value is not None}
        buffers = {key for key, value in module._buffers.items() if value is not None}
        assert expected_names(law, law.parameters, module) == names
        assert expected_names(law, law.buffers, module) == buffers
        _shapes_fit(law, module)


@pytest.mark.parametrize("name", RUNNABLE)
def test_forward(name: str) -> None:
    law = law_of(name)
    sample = built(name)
    assert sample is not None
    given = list(inspect.signature(getattr(nn, name).forward).parameters)[1:]
    if name not in (
        "Identity",
        "DataParallel",
        "Sequential",
        "Transformer",
        "TransformerDecoder",
        "TransformerDecoderLayer",
    ):
        assert law.call_args == tuple(given[: len(law.call_args)])
    result = _forward(sample)[2]
    outputs = flat(result)
    if law.outputs:
        assert isinstance(result, tuple)
        assert len(result) == len(law.outputs.replace("(h,c)", "state").split(","))
    else:
        assert isinstance(result, torch.Tensor)
    first = sample[1][0]
    if law.shape == "same":
        assert outputs[0].shape == first.shape
    elif law.shape == "loss":
        assert outputs[0].shape == () or getattr(sample[0](), "reduction", "") == "none"
    elif law.shape.startswith("last:"):
        assert outputs[0].shape[-1] == getattr(sample[0](), law.shape[5:])
    elif law.shape.startswith("channels:"):
        assert outputs[0].shape[1] == getattr(sample[0](), law.shape[9:])
    elif law.shape.startswith("append:"):
        assert outputs[0].shape == (*first.shape, getattr(sample[0](), law.shape[7:]))


def _forward(sample: Built) -> tuple[nn.Module, list[Any], Any]:
    torch.manual_seed(4)
    module = sample[0]()
    if any(nn.parameter.is_lazy(each) for each in module.parameters()):
        module(*sample[1])
        torch.manual_seed(5)
    inputs = [
        value.detach().clone().requires_grad_(value.dtype.is_floating_point).clone()
        if isinstance(value, torch.Tensor)
        else value
        for value in sample[1]
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return module, inputs, module(*inputs)


def _backward(result: Any) -> str:
    roots = [each for each in flat(result) if each.grad_fn is not None]
    try:
        torch.autograd.backward(roots, [torch.ones_like(root) for root in roots])
    except RuntimeError as error:
        return str(error)
    return ""


REFUSING = frozenset(("NLLLoss2d",))


@pytest.mark.parametrize(
    "name", [name for name in RUNNABLE if name not in ("Identity", "Sequential", "DataParallel")]
)
def test_what_is_saved(name: str) -> None:
    law = law_of(name)
    sample = built(name)
    assert sample is not None
    module, _, result = _forward(sample)
    if not any(each.grad_fn is not None for each in flat(result)):
        pytest.fail("nothing is recorded")
    assert _backward(result) == ""
    freed = "second time" in _backward(result)
    assert freed == law.frees if law.exact_saves else freed or not law.frees
    targets = [
        *law.call_args,
        *(key for key, value in module._parameters.items() if value is not None),
        "result",
    ]
    saved = set()
    for target in dict.fromkeys(targets):
        module, inputs, result = _forward(sample)
        if target == "result":
            written: Any = flat(result)[0]
        elif target in module._parameters:
            written = module._parameters[target]
        else:
            index = law.call_args.index(target)
            written = inputs[index] if index < len(inputs) else None
        if not isinstance(written, torch.Tensor):
            continue
        write(written)
        if MODIFIED in _backward(result):
            saved.add(target)
    present = {key for key, value in module._parameters.items() if value is not None} | {"result"}
    present |= {
        word for word, value in zip(law.call_args, sample[1], strict=False) if isinstance(value, torch.Tensor)
    }
    tracked = present - {
        word
        for word, value in zip(law.call_args, sample[1], strict=False)
        if isinstance(value, torch.Tensor) and not value.dtype.is_floating_point
    }
    said = {what for what, needs in law.saves if what in present and (not needs or tracked & set(needs))}
    if law.exact_saves:
        assert saved - {"result"} == said - {"result"}
    else:
        assert said <= saved


def test_a_wrong_row_fails_with_its_name() -> None:
    for row in ("(x:) thing", "() layer nonsense", "(x:) layer call=nn.functional.nothing(input)", "x layer"):
        with pytest.raises(RowError, match="'Mine'"):
            modules.parse("Mine", row)
