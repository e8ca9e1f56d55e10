"""Calls to measure: from torch's own operator database, and written down here for what it lacks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

from laws.measure import Call

PREFERRED = (
    torch.float64,
    torch.float32,
    torch.complex128,
    torch.complex64,
    torch.int64,
    torch.bool,
    torch.bfloat16,
)

REORDERED: dict[str, Callable[..., tuple[Any, ...]]] = {
    "where": lambda own, condition, *other: (condition, own, *other),
    "nn.functional.embedding": lambda weight, index: (index, weight),
    "nn.functional.embedding_bag": lambda weight, index, *rest: (index, weight, *rest),
    "polygamma": lambda own, n: (n, own),
    "special.polygamma": lambda own, n: (n, own),
    "linalg.lstsq": lambda own, other: (own, other),
}
"""Operators that the database calls with other positions than Python does."""

UNUSABLE = frozenset(
    (
        "svd_lowrank",
        "pca_lowrank",
        "linalg.pinv.singular",
        "einsum",
        "resize_",
        "resize_as_",
        "zero_",
        "normal",
    )
)
"""Operators that the database wraps in a function of its own arguments."""

IGNORED: dict[str, Callable[[Call], bool]] = {
    "diff": lambda call: call.args[1:2] == (0,) or call.kwargs.get("n") == 0,
    "quantile": lambda call: call.kwargs.get("interpolation") in ("lower", "higher", "nearest", "midpoint"),
    "nanquantile": lambda call: (
        call.kwargs.get("interpolation") in ("lower", "higher", "nearest", "midpoint")
    ),
    "nn.functional.local_response_norm": lambda call: call.args[0].numel() == 0,
}
"""Calls that a row does not speak of: `diff` with n=0 computes nothing; a quantile that is picked, not
interpolated, has no gradient for `q`; an empty tensor is not normalized."""

ATTRIBUTES = frozenset(("T", "H", "mT", "mH", "data", "real", "imag"))


def resolve(name: str) -> Callable[..., Any] | None:
    """The function torch.NAME, else the Tensor method or attribute of that name."""
    found: Any = torch
    for part in name.split("."):
        found = getattr(found, part, None)
    if callable(found) and not isinstance(found, type):
        return found  # type: ignore[no-any-return]
    if not hasattr(torch.Tensor, name):
        return None
    method = getattr(torch.Tensor, name)
    if callable(method):
        return method  # type: ignore[no-any-return]
    return lambda self: getattr(self, name)


def small(value: Any, limit: int) -> bool:
    """Whether a value holds no tensor of more than `limit` elements, nor a sparse one."""
    if isinstance(value, torch.Tensor):
        return value.layout == torch.strided and value.numel() <= limit
    if isinstance(value, (list, tuple)):
        return all(small(item, limit) for item in value)
    return True


def entries() -> dict[str, list[Any]]:
    """The operators of the database by name, variants together."""
    result: dict[str, list[Any]] = {}
    for entry in op_db:
        if not entry.name.startswith(("torch.", "jiterator")):
            result.setdefault(entry.name, []).append(entry)
    return result


def dtypes_of(entry: Any) -> list[torch.dtype]:
    """The dtypes to try, floating point first."""
    allowed = entry.supported_dtypes("cpu")
    return [dtype for dtype in PREFERRED if dtype in allowed]


def calls(entry: Any, dtype: torch.dtype, limit: int, numel: int = 4000) -> Iterator[Call]:
    """Up to `limit` sample calls of one operator, small and dense ones."""
    if entry.name in UNUSABLE or f"{entry.name}.{entry.variant_test_name}" in UNUSABLE:
        return
    torch.manual_seed(3)
    count = 0
    function = resolve(entry.name) if entry.name in REORDERED else entry.op
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for sample in entry.sample_inputs("cpu", dtype, requires_grad=False):
                args = (sample.input, *sample.args)
                if not all(small(value, numel) for value in (*args, *sample.kwargs.values())):
                    continue
                if entry.name in REORDERED:
                    args = REORDERED[entry.name](*args)
                found = Call(function, args, dict(sample.kwargs))
                if entry.name in IGNORED and IGNORED[entry.name](found):
                    continue
                yield found
                count += 1
                if count >= limit:
                    return
        except (RuntimeError, NotImplementedError, ModuleNotFoundError):
            return


def f(*shape: int) -> torch.Tensor:
    """A double tensor of the given shape, away from zero."""
    return torch.rand(shape, dtype=torch.float64) * 0.8 + 0.1


def n(*shape: int) -> torch.Tensor:
    """A double tensor with both signs."""
    return torch.randn(shape, dtype=torch.float64)


def i(high: int, *shape: int) -> torch.Tensor:
    """An int64 tensor below `high`."""
    return torch.randint(high, shape)


def b(*shape: int) -> torch.Tensor:
    """A bool tensor."""
    return torch.rand(shape) > 0.5


def c(*shape: int) -> torch.Tensor:
    """A complex tensor."""
    return torch.randn(shape, dtype=torch.complex128)


def s(*shape: int) -> torch.Tensor:
    """A single precision tensor."""
    return torch.rand(shape) + 0.1


RECIPES: dict[str, tuple[str, ...]] = {}


def recipes(name: str) -> list[Call]:
    """The calls that are written down here for an operation; a Tensor method where there is one."""
    result = []
    for text in RECIPES.get(name, ()):
        torch.manual_seed(3)
        collect: Callable[..., Any] = lambda *args, **kwargs: (args, kwargs)  # noqa: E731
        scope = {"f": f, "n": n, "i": i, "b": b, "c": c, "s": s, "torch": torch, "collect": collect}
        args, kwargs = eval(f"collect({text})", scope)
        bare = name.removeprefix("Tensor.")
        own = isinstance(args[0], torch.Tensor) and hasattr(torch.Tensor, bare)
        function = resolve_method(bare) if own and name not in FUNCTIONS_FIRST else resolve(name)
        if function is None:
            raise LookupError(f"torch has no {name}")
        result.append(Call(function, args, kwargs))
    return result


FUNCTIONS_FIRST = frozenset(("where", "polygamma", "normal"))
"""Functions whose method binds its arguments in another order."""


def resolve_method(name: str) -> Callable[..., Any]:
    """The Tensor method, or a function that reads the attribute of that name."""
    if name == "__iter__":
        return lambda self: tuple(self)  # noqa: PLW0108
    method = getattr(torch.Tensor, name)
    if callable(method):
        return method  # type: ignore[no-any-return]
    return lambda self: getattr(self, name)


RECIPES.update(
    {
        # Tensor methods and attributes
        "to": (
            "f(2), torch.float32",
            "f(2), 'cpu'",
            "f(2), torch.float64",
            "f(2), dtype=torch.float64, copy=True",
            "f(2), device='cpu', dtype=torch.float32",
            "f(2), s(2)",
            "f(2), other=s(2)",
            "f(2), f(3)",
        ),
        "cpu": ("f(2)",),
        "type_as": ("f(2), f(3)", "f(2), s(3)"),
        "type": ("f(2), torch.float32", "f(2), torch.float64"),
        "float": ("f(2)", "s(2)", "i(3, 2)"),
        "double": ("f(2)", "s(2)", "i(3, 2)"),
        "half": ("f(2)", "s(2).half()"),
        "bfloat16": ("f(2)", "s(2).bfloat16()"),
        "cfloat": ("f(2)", "c(2)", "c(2).cfloat()"),
        "cdouble": ("f(2)", "c(2)"),
        "chalf": ("f(2)", "c(2).chalf()"),
        "long": ("f(2)", "i(3, 2)"),
        "int": ("f(2)", "i(3, 2).int()"),
        "short": ("f(2)", "i(3, 2).short()"),
        "char": ("f(2)", "i(3, 2).char()"),
        "byte": ("f(2)", "i(3, 2).byte()"),
        "bool": ("f(2)", "b(2)"),
        "contiguous": ("f(2, 3)", "f(2, 3, 2, 2), memory_format=torch.channels_last"),
        "clone": ("f(2, 3)",),
        "detach": ("f(2, 3)", "i(3, 2)"),
        "detach_": ("f(2, 3)",),
        "data": ("f(2, 3)",),
        "requires_grad_": ("f(2, 3)",),
        "item": ("f(1)",),
        "tolist": ("i(3, 2)",),
        "is_nonzero": ("f(1)",),
        "equal": ("f(2), f(2)",),
        "allclose": ("f(2), f(2)",),
        "share_memory_": ("f(2)",),
        "__setitem__": ("f(3), 0, f()", "f(3, 2), 1, f(2)", "f(3, 2), i(3, 2), f(2)", "f(3), b(3), 0.5"),
        "copy_": ("f(3, 2), f(2)", "f(3), s(3)", "i(3, 2), i(3, 2)"),
        "zero_": ("f(3)",),
        "fill_": ("f(3), 2.0", "f(3), f()"),
        "fill_diagonal_": ("f(3, 3), 1.0",),
        "normal_": ("f(3)", "f(3), 1.0, 2.0"),
        "uniform_": ("f(3)", "f(3), -1.0, 2.0"),
        "random_": ("f(3)", "i(3, 4), 2, 9"),
        "bernoulli_": ("f(3)", "f(3), 0.2"),
        "exponential_": ("f(3)",),
        "cauchy_": ("f(3)",),
        "log_normal_": ("f(3)",),
        "geometric_": ("f(3), 0.5",),
        "new_tensor": ("f(3), [1.0, 2.0]",),
        "new_zeros": ("f(3), 2, 3", "f(3), (2, 3)", "i(3, 2), 2"),
        "new_ones": ("f(3), 2, 3", "f(3), (2, 3)"),
        "new_empty": ("f(3), 2, 3", "f(3), (2, 3)"),
        "new_full": ("f(3), (2, 3), 1.5",),
        "new_empty_strided": ("f(3), (2, 3), (3, 1)",),
        "as_subclass": ("f(3), torch.Tensor",),
        "apply_": ("f(3), abs",),
        "map_": ("f(3), f(3), min",),
        "map2_": ("f(3), f(3), f(3), max",),
        "set_": ("f(3), f(4)", "i(3, 2), i(3, 2)"),
        "conj_physical_": ("f(3)", "c(3)"),
        "to_dense": ("f(3)",),
        "to_sparse": ("f(3, 2)",),
        "to_sparse_csr": ("f(3, 2)",),
        "to_sparse_csc": ("f(3, 2)",),
        "to_sparse_bsr": ("f(4, 4), (2, 2)",),
        "to_sparse_bsc": ("f(4, 4), (2, 2)",),
        "to_sparse_coo": ("f(3, 2)",),
        "unsafe_split_with_sizes": ("f(4, 2), (1, 3)",),
        "slice_scatter": ("f(4, 2), f(2, 2), 0, 1, 3", "f(3, 2), f(3, 1), 1, 0, 1"),
        "resize_": ("i(3, 4), (2, 2)",),
        "resize_as_": ("i(3, 4), i(3, 2, 2)",),
        "new": ("f(4), 2, 3", "f(4), [1.0, 2.0]"),
        "real": ("f(2)", "c(2)"),
        "imag": ("c(2)",),
        "conj": ("f(2)", "c(2)"),
        "conj_physical": ("f(2)", "c(2)"),
        "resolve_conj": ("f(2)", "c(2)", "c(2).conj()"),
        "resolve_neg": ("f(2)", "c(2)"),
        "flatten": (
            "f(3)",
            "f(2, 3).t()",
            "f(2, 3)",
            "f(2, 3, 2), 1",
            "f(2, 3, 2), 0, 1",
            "f(2, 3, 2), start_dim=2",
        ),
        "ravel": ("f(3)", "f(2, 3)", "f(2, 3).t()"),
        "reshape": ("f(2, 3), 6", "f(2, 3), (3, -1)", "f(2, 3).t(), -1"),
        "view": ("f(2, 3), 6", "f(2, 3), (3, -1)", "f(2, 3), torch.float32"),
        "view.dtype": (),
        "sum_to_size": ("f(2, 3), 2, 3", "f(2, 3), 1, 3", "f(2, 3), (2, 1)"),
        "positive": ("f(2)",),
        "reshape_as": ("f(2, 3).t(), f(6)",),
        "nn.functional.conv1d": ("n(1, 2, 5), n(3, 2, 2), n(3), padding='same'",),
        "nn.functional.conv3d": ("n(1, 1, 4, 4, 4), n(1, 1, 2, 2, 2), n(1), padding='same'",),
        "nn.functional.smooth_l1_loss": (
            "n(3), n(3)",
            "n(3), n(3), reduction='none'",
            "n(3), n(3), reduction='none', beta=0.5",
        ),
        "unique_consecutive": ("f(3), dim=0", "f(3)"),
        # overloads
        "pow": ("f(3), 2", "f(3), 2.5", "f(3), f(3)", "2, f(3)", "f(3), 0", "f(3), 1"),
        "mul": ("f(3), 2", "f(3), f(2, 3)", "i(3, 3), 2.5", "f(3), True"),
        "add": ("f(3), 2", "f(3), f(2, 3)", "f(3), f(3), alpha=2", "i(3, 2), 2.5"),
        "sub": ("f(3), 2", "f(3), f(2, 3)"),
        "div": ("f(3), 2", "f(3), f(2, 3)", "i(3, 2), 2", "i(3, 2) + 1, i(3, 2) + 1"),
        "max": ("n(2, 3)", "i(9, 4)"),
        "min": ("n(2, 3)", "i(9, 4)"),
        "median": ("n(2, 3)", "i(9, 4)"),
        "nanmedian": ("n(2, 3)", "i(9, 4)"),
        "clamp": ("n(3), 0", "n(3), 0, 1", "n(3), n(3), n(3)", "n(3), max=0.5", "n(3), min=n(3)"),
        "lerp": ("f(3), f(3), 0.3", "f(3), f(3), f(3)"),
        "masked_fill": ("f(3), b(3), 0.5", "f(3), b(3), f()"),
        "index_fill": ("f(3), 0, i(3, 2), 0.5", "f(3), 0, i(3, 2), f()"),
        "scatter": (
            "f(3, 2), 0, i(3, 2, 2), f(2, 2)",
            "f(3, 2), 0, i(3, 2, 2), 0.5",
            "f(3, 2), 0, i(3, 2, 2), value=0.5",
        ),
        "where": ("b(3), f(3), f(3)", "b(3), f(3), 0.0", "b(3), 0.0, f(3)"),
        "normal": ("f(3), f(3)", "f(3), 1.0", "0.0, f(3)", "f(3)"),
        "quantile": ("f(3), 0.5", "f(3), f(2), dim=0"),
        "repeat_interleave": ("f(3), 2", "f(3, 2), i(3, 3), dim=0"),
        "tensordot": ("f(2, 3), f(3, 2), 1", "f(2, 3), f(3, 2), dims=1"),
        "einsum": ("'ij,jk->ik', f(2, 3), f(3, 2)", "'ii->i', f(2, 2)", "'ij->ji', f(2, 3)"),
        "svd_lowrank": ("n(5, 4), 2",),
        "pca_lowrank": ("n(5, 4), 2",),
        "sum": ("f(2, 3), 1", "f(2, 3)", "i(3, 2)"),
        "mean": ("f(2, 3), 1",),
        "prod": ("f(2, 3), 1",),
        "argsort": ("n(3)", "n(2, 3), dim=0"),
        "sort": ("n(3)", "n(2, 3), dim=0"),
        "cdist": ("n(3, 2), n(4, 2)",),
        "Tensor.where": ("f(3), b(3), f(3)",),
        "Tensor.polygamma": ("f(3), 1",),
        "__getitem__": (
            "f(3), 0",
            "f(3, 2), slice(0, 2)",
            "f(3, 2), (slice(None), 1)",
            "f(3, 2), None",
            "f(3, 2), ...",
            "f(3, 2), b(3)",
            "f(3, 2), i(3, 2)",
            "f(3, 2), [0, 1]",
            "f(3, 2), (slice(None), i(2, 3))",
        ),
        "cartesian_prod": ("f(2), f(3)",),
        "nn.functional.grid_sample": (
            "n(1, 2, 4, 4), n(1, 3, 3, 2).tanh()",
            "n(1, 2, 3, 3, 3), n(1, 2, 2, 2, 3).tanh()",
        ),
        "tensor_split": ("f(6), 3", "f(6), (2, 4)"),
        # functions that the database lacks
        "nn.functional.adaptive_avg_pool2d": ("n(1, 2, 4, 4), 1", "n(2, 4, 4), (1, 1)"),
        "nn.functional.adaptive_max_pool1d_with_indices": ("n(1, 2, 6), 3",),
        "nn.functional.adaptive_max_pool2d_with_indices": ("n(1, 2, 6, 6), 3",),
        "nn.functional.adaptive_max_pool3d_with_indices": ("n(1, 2, 4, 4, 4), 2",),
        "nn.functional.max_pool1d_with_indices": ("n(1, 2, 6), 3", "n(2, 6), 2, 1"),
        "nn.functional.max_pool2d_with_indices": ("n(1, 2, 6, 6), 3", "n(2, 6, 6), 2, 1"),
        "nn.functional.max_pool3d_with_indices": ("n(1, 2, 4, 4, 4), 2",),
        "nn.functional.fractional_max_pool2d_with_indices": ("n(1, 2, 6, 6), 2, (3, 3)",),
        "nn.functional.fractional_max_pool3d_with_indices": ("n(1, 2, 6, 6, 6), 2, (3, 3, 3)",),
        "nn.functional.fractional_max_pool2d": (
            "n(1, 2, 6, 6), 2, (3, 3)",
            "n(1, 2, 6, 6), 2, output_ratio=0.5",
        ),
        "nn.functional.fractional_max_pool3d": ("n(1, 2, 6, 6, 6), 2, (3, 3, 3)",),
        "nn.functional.affine_grid": ("n(1, 2, 3), (1, 1, 4, 4)", "n(1, 3, 4), (1, 1, 2, 2, 2)"),
        "nn.functional.conv_tbc": ("n(5, 2, 3), n(3, 3, 4), n(4)", "n(5, 2, 3), n(3, 3, 4), n(4), 1"),
        "nn.functional.ctc_loss": (
            "n(6, 2, 4).log_softmax(2), torch.tensor([[1, 2], [2, 3]]), torch.tensor([6, 6]),"
            " torch.tensor([2, 2])",
            "n(6, 2, 4).log_softmax(2), torch.tensor([[1, 2], [2, 3]]), torch.tensor([6, 6]),"
            " torch.tensor([2, 2]), reduction='none'",
        ),
        "nn.functional.fold": ("n(1, 8, 9), (4, 4), (2, 2)",),
        "nn.functional.gumbel_softmax": ("n(2, 3)", "n(2, 3), tau=0.5"),
        "nn.functional.lp_pool1d": ("n(1, 2, 6), 2, 3",),
        "nn.functional.lp_pool2d": ("n(1, 2, 6, 6), 2, 3",),
        "nn.functional.lp_pool3d": ("n(1, 2, 4, 4, 4), 2, 2",),
        "nn.functional.soft_margin_loss": ("n(3), n(3).sign()", "n(3), n(3).sign(), reduction='none'"),
        "nn.functional.upsample": ("n(1, 2, 3, 3), scale_factor=2",),
        "nn.functional.native_channel_shuffle": ("n(1, 4, 2, 2), 2",),
        "nn.functional.dropout1d": ("n(2, 3, 4)", "n(2, 3, 4), training=False"),
        "nn.functional.dropout": ("n(4)", "n(4), 0.3", "n(4), training=False"),
        "nn.functional.rrelu": ("n(4)", "n(4), training=True"),
        "nn.functional.linear": ("f(2, 3), f(4, 3), f(4)", "f(3), f(4, 3)", "f(2, 2, 3), f(4, 3), f(4)"),
    }
)

for _name in (
    "__array__ __contains__ backward const_data_ptr data_ptr dense_dim device dim dim_order dtype"
    " element_size"
    " get_device grad_dtype grad_fn is_coalesced is_complex is_conj is_contiguous is_cpu is_cuda"
    " is_distributed"
    " is_floating_point is_inference is_ipu is_leaf is_maia is_meta is_mkldnn is_mps is_mtia is_neg is_nested"
    " is_pinned is_quantized is_same_size is_set_to is_shared is_signed is_sparse is_sparse_csr is_vulkan"
    " is_xla"
    " is_xpu itemsize layout name nbytes ndim ndimension nelement numel output_nr requires_grad"
    " retains_grad shape size sparse_dim storage storage_offset storage_type stride type untyped_storage"
    " __len__"
    " __repr__ __hash__ retain_grad numpy volatile"
).split():
    RECIPES.setdefault(_name, ("f(2, 3)",))
for _name in "__float__ __int__ __bool__ __complex__".split():
    RECIPES[_name] = ("f(1)",)
RECIPES.update(
    {
        "__index__": ("i(3)",),
        "__format__": ("f(), '.3f'",),
        "__contains__": ("f(2), f()",),
        "__iter__": ("f(2, 3)",),
        "is_same_size": ("f(2), f(3)",),
        "is_set_to": ("f(2), f(3)",),
        "size": ("f(2, 3)", "f(2, 3), 0"),
        "stride": ("f(2, 3)", "f(2, 3), 0"),
        "is_coalesced": ("f(2, 2).to_sparse()",),
        "sparse_dim": ("f(2, 2).to_sparse()",),
        "dense_dim": ("f(2, 2).to_sparse()",),
        "backward": ("f(1)", "f()"),
        "register_hook": ("f(2), print",),
        "numpy": ("i(3, 2)",),
        "__array__": ("i(3, 2)",),
        "type": ("f(2)", "f(2), torch.float32", "f(2), torch.float64"),
        "unique": ("f(3, 2), dim=0", "f(3)"),
        "linalg.matrix_power": ("n(2, 2), 2", "n(2, 2), -1"),
        "linalg.svd": ("n(3, 2)",),
        "adjoint": ("n(3, 2)", "c(3, 2)"),
        "dropout": ("n(4), 0.5, True", "n(4), 0.5, False"),
        "nn.functional.unfold": ("n(1, 2, 4, 4), 2",),
        "diff": ("f(3)", "f(4), 2"),
        "pow_": ("f(3), f(3)", "f(3), 2"),
        "nn.functional.celu_": ("n(4)", "n(4), 0.5"),
        "nn.functional.elu_": ("n(4)", "n(4), 0.5"),
        "nn.functional.selu_": ("n(4)",),
        "nn.functional.leaky_relu_": ("n(4)", "n(4), 0.2"),
        "nn.functional.rrelu_": ("n(4)", "n(4), training=True"),
        "polygamma_": ("f(3), 1",),
    }
)
