"""Which dtypes an operation refuses: operands that must share one, and arguments that must be of a kind.

Arithmetic promotes its operands and is not here. Every row is asked of torch by
`tests/laws/test_dtype_demands.py`, over the dtypes of `JUDGED`; of other dtypes nothing is said.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

JUDGED = ("float32", "float64", "int64", "int32", "bool")
"""The dtypes that the rows speak of. Half precision differs from kernel to kernel."""

_SHARED: dict[str, tuple[str, ...]] = {
    "nn.functional.linear": ("self", "weight"),
    "linear": ("self", "weight"),
    "matmul": ("self", "other"),
    "matmul.folded": ("self", "other"),
    "mm": ("self", "mat2"),
    "bmm": ("self", "mat2"),
    "mv": ("self", "vec"),
    "dot": ("self", "tensor"),
    "addmm": ("mat1", "mat2"),
    "cdist": ("x1", "x2"),
    "lerp": ("self", "end"),
    "nn.functional.bilinear": ("input1", "input2", "weight"),
    "nn.functional.prelu": ("self", "weight"),
    "nn.functional.conv1d": ("self", "weight"),
    "nn.functional.conv2d": ("self", "weight"),
    "nn.functional.conv3d": ("self", "weight"),
    "nn.functional.conv1d.text": ("self", "weight"),
    "nn.functional.conv2d.text": ("self", "weight"),
    "nn.functional.conv3d.text": ("self", "weight"),
    "nn.functional.scaled_dot_product_attention": ("query", "key", "value"),
    "nn.functional.binary_cross_entropy": ("self", "target"),
    "index_copy": ("self", "source"),
    "index_copy_": ("self", "source"),
}
"""Arguments whose dtypes must be equal."""

_INDEX = ("int64", "int32")
_LONG = ("int64",)
_FLOATING = ("float32", "float64")
_INTEGER = ("int64", "int32", "bool")

_KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "gather": ("index", _INDEX),
    "scatter": ("index", _INDEX),
    "scatter_": ("index", _INDEX),
    "take": ("index", _LONG),
    "take_along_dim": ("indices", _LONG),
    "nn.functional.embedding": ("self", _INDEX),
    "nn.functional.one_hot": ("self", _LONG),
    "masked_fill": ("mask", ("bool",)),
    "masked_fill_": ("mask", ("bool",)),
    "where": ("condition", ("bool",)),
    "std": ("self", _FLOATING),
    "var": ("self", _FLOATING),
    "norm": ("self", _FLOATING),
    "nn.functional.normalize": ("self", _FLOATING),
    "nn.functional.gelu": ("self", _FLOATING),
    "nn.functional.nll_loss": ("target", _LONG),
    "nn.functional.binary_cross_entropy_with_logits": ("target", _FLOATING),
}
"""An argument and the dtypes that it may have. Functions that take `dtype=` are left out, and
`index_select`, in whose row indexing by masks is followed as well."""

_ONLY_WITH: dict[str, str] = {"where": "other"}
"""Operations whose demand holds only in the form of the call that has this argument: `torch.where(x)` is `nonzero`."""

_CLASS_TARGETS = "nn.functional.cross_entropy"


class DtypeRefusal(NamedTuple):
    """What is refused: `key` of the event, the `position` of the tensor, that of the one it does not match
    (None: a kind is asked for), and the dtypes that would do."""

    key: str
    position: int
    other: int | None
    wanted: tuple[str, ...]


def refusal(
    operation: str,
    tensors: Sequence[tuple[str, str | None, int | None]],
    given: Collection[str] | None = None,
) -> DtypeRefusal | None:
    """What `operation` certainly refuses in `tensors`, told as (argument, dtype, number of dimensions).

    A dtype or a number of dimensions that is not known is None; so is the dtype of a tensor that may be
    empty, of which less is asked. `given` names all arguments of the call, None: those of `tensors`.
    The result is None unless it is certain.
    """
    form = _ONLY_WITH.get(operation)
    if form is not None and form not in (given if given is not None else [name for name, _, _ in tensors]):
        return None
    shared = _SHARED.get(operation)
    if shared is not None:
        return _unequal(shared, tensors)
    kind = _KINDS.get(operation)
    if kind is not None:
        return _wrong_kind(kind[0], kind[1], tensors)
    if operation == _CLASS_TARGETS:
        return _wrong_classes(tensors)
    return None


def _unequal(
    shared: tuple[str, ...], tensors: Sequence[tuple[str, str | None, int | None]]
) -> DtypeRefusal | None:
    known = [
        (index, dtype) for index, (name, dtype, _) in enumerate(tensors) if name in shared and dtype in JUDGED
    ]
    for position, (index, dtype) in enumerate(known):
        for other, wanted in known[position + 1 :]:
            if dtype == wanted:
                continue
            # Parameters and most values are float32: what is not is the odd one.
            if wanted == "float32":
                return DtypeRefusal("dtype-mismatch", index, other, (str(wanted),))
            return DtypeRefusal("dtype-mismatch", other, index, (str(dtype),))
    return None


def _wrong_kind(
    argument: str, allowed: tuple[str, ...], tensors: Sequence[tuple[str, str | None, int | None]]
) -> DtypeRefusal | None:
    for index, (name, dtype, _) in enumerate(tensors):
        if name == argument and dtype in JUDGED and dtype not in allowed:
            return DtypeRefusal("dtype-refused", index, None, allowed)
    return None


def _wrong_classes(tensors: Sequence[tuple[str, str | None, int | None]]) -> DtypeRefusal | None:
    """Targets of cross_entropy: long class numbers with a dimension less than the input, or floating point
    probabilities of the input's shape."""
    dims = {name: count for name, _, count in tensors}
    for index, (name, dtype, count) in enumerate(tensors):
        if name != "target" or dtype not in JUDGED:
            continue
        if dtype in ("int32", "bool"):
            return DtypeRefusal("dtype-refused", index, None, _LONG)
        own = dims.get("self")
        if own is None or count is None:
            return None
        if dtype in _FLOATING and count == own - 1:
            return DtypeRefusal("dtype-refused", index, None, _LONG)
        if dtype == "int64" and count == own:
            return DtypeRefusal("dtype-refused", index, None, _FLOATING)
    return None


def operations() -> tuple[str, ...]:
    """Every operation that has a row."""
    return (*_SHARED, *_KINDS, _CLASS_TARGETS)
