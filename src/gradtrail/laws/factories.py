"""Functions that make tensors: shape, dtype, whether they take `requires_grad`, whether they keep a graph.

A row: `(PARAMETERS) SHAPE DTYPE [grad] [keeps] [shared] [computed]`, the parameters written as in
`gradtrail.laws.operations`. Checked by `tests/laws/test_factories.py`.
"""

from __future__ import annotations

from gradtrail.laws import operations
from gradtrail.laws.dtypes import canonical

SHAPE_RULES = (
    "sizes",
    "like",
    "data",
    "vector",
    "matrix",
    "square",
    "scalar",
    "data-or-sizes",
    "broadcast",
    "?",
)
"""sizes: positional ints, or one tuple of them; like: the shape of the first tensor; data: of what is
handed in; vector: one dimension; matrix: two dimensions; square: `eye(n, m=n)`; data-or-sizes: the old
constructors, `torch.Tensor(2, 3)` is a size and `torch.Tensor([2, 3])` data."""

DTYPE_RULES = ("default", "like", "data", "arange", "fill", "complex", "?")
"""default: the dtype argument, else torch's default; like: the argument, else the first tensor's; data: the
argument, else from the values (ints int64, floats the default dtype, bools bool, arrays theirs); arange:
the argument, else int64 when every argument is an int; fill: the argument, else from the fill value;
any dtype's name: the argument, else that one."""


class Factory:
    """One function that makes tensors.

    `name` is its dotted path without "torch."; `args`, `keywords`, `defaults`, `tensors`, `required` and
    `gathers` are as in Operation. `accepts_requires_grad`: it has that keyword. `keeps_graph`: a tensor
    handed in stays attached (`as_tensor`, not `tensor`). `storage`: "fresh", or "shared" with what is handed
    in
    where that is possible. `leaf` is False where the result is computed from a tensor that requires grad when
    requires_grad=True is given (the windows of torch.signal); else it is a leaf unless a graph is kept.
    """

    __slots__ = (
        "accepts_requires_grad",
        "args",
        "defaults",
        "dtype",
        "gathers",
        "keeps_graph",
        "keywords",
        "leaf",
        "name",
        "required",
        "shape",
        "storage",
        "tensors",
    )

    name: str
    args: tuple[str, ...]
    keywords: tuple[str, ...]
    defaults: dict[str, object]
    tensors: tuple[str, ...]
    required: tuple[str, ...]
    gathers: str
    shape: str
    dtype: str
    accepts_requires_grad: bool
    keeps_graph: bool
    storage: str
    leaf: bool

    def __repr__(self) -> str:
        """The name."""
        return f"<Factory {self.name}>"


_END = "*, dtype=None, device=None, requires_grad=False"
_LIKE = "*, dtype=None, device=None, requires_grad=False, memory_format=None"

_ROWS: dict[str, str] = {
    "empty": f"(size..., {_END}) sizes default grad",
    "empty_permuted": f"(size:, physical_layout:, {_END}) sizes default grad",
    "empty_strided": f"(size:, stride:, {_END}) sizes default grad",
    "zeros": f"(size..., {_END}) sizes default grad",
    "ones": f"(size..., {_END}) sizes default grad",
    "rand": f"(size..., {_END}, generator=None) sizes default grad",
    "randn": f"(size..., {_END}, generator=None) sizes default grad",
    "full": f"(size:, fill_value:, {_END}) sizes fill grad",
    "randint": f"(low=0, high=None, size=None, {_END}, generator=None) ? int64 grad",
    "randperm": f"(n:, {_END}, generator=None) vector int64 grad",
    "arange": f"(start=0, end=None, step=1, {_END}) vector arange grad",
    "range": f"(start=0, end=None, step=1, {_END}) vector default grad",
    "linspace": f"(start:, end:, steps:, {_END}) vector default grad",
    "logspace": f"(start:, end:, steps:, base=10.0, {_END}) vector default grad",
    "eye": f"(n:, m=None, {_END}) square default grad",
    "tril_indices": f"(row:, col:, offset=0, {_END}) matrix int64 grad",
    "triu_indices": f"(row:, col:, offset=0, {_END}) matrix int64 grad",
    "scalar_tensor": f"(s:, {_END}) scalar default grad",
    "tensor": f"(data, {_END}) data data grad",
    "as_tensor": "(data, dtype=None, device=None) data data keeps shared",
    "asarray": "(obj, *, dtype=None, device=None, copy=None, requires_grad=None) data data grad keeps shared",
    "from_numpy": "(ndarray:) data data shared",
    "frombuffer": "(buffer:, *, dtype=None, count=-1, offset=0, requires_grad=False) vector ? grad shared",
    "from_dlpack": "(ext_tensor, *, device=None, copy=None) data data shared",
    "empty_like": f"(self, {_LIKE}) like like grad",
    "zeros_like": f"(self, {_LIKE}) like like grad",
    "ones_like": f"(self, {_LIKE}) like like grad",
    "full_like": f"(self, fill_value:, {_LIKE}) like like grad",
    "rand_like": f"(self, {_LIKE}) like like grad",
    "randn_like": f"(self, {_LIKE}) like like grad",
    "randint_like": f"(self, low=0, high=None, {_LIKE}) like like grad",
    "Tensor.new_empty": f"(self, size..., {_END}) sizes like grad",
    "Tensor.new_zeros": f"(self, size..., {_END}) sizes like grad",
    "Tensor.new_ones": f"(self, size..., {_END}) sizes like grad",
    "Tensor.new_full": f"(self, size:, fill_value:, {_END}) sizes like grad",
    "Tensor.new_empty_strided": f"(self, size:, stride:, {_END}) sizes like grad",
    "Tensor.new_tensor": f"(self, data, {_END}) data like grad",
    "Tensor.new": "(self, data...) data-or-sizes like",
    "Tensor": "(data...) data-or-sizes default keeps shared",
    "FloatTensor": "(data...) data-or-sizes float32 keeps shared",
    "DoubleTensor": "(data...) data-or-sizes float64 keeps shared",
    "HalfTensor": "(data...) data-or-sizes float16 keeps shared",
    "BFloat16Tensor": "(data...) data-or-sizes bfloat16 keeps shared",
    "LongTensor": "(data...) data-or-sizes int64 shared",
    "IntTensor": "(data...) data-or-sizes int32 shared",
    "ShortTensor": "(data...) data-or-sizes int16 shared",
    "CharTensor": "(data...) data-or-sizes int8 shared",
    "ByteTensor": "(data...) data-or-sizes uint8 shared",
    "BoolTensor": "(data...) data-or-sizes bool shared",
    "nn.Parameter": "(data=None, requires_grad=True) data data grad shared",
    "nn.parameter.Buffer": "(data=None, *, persistent=True) data data shared",
    "autograd.Variable": "(data=None, requires_grad=False) data data grad shared",
    "hann_window": f"(window_length:, periodic=True, {_END}) vector default grad",
    "hamming_window": f"(window_length:, periodic=True, alpha=0.54, beta=0.46, {_END}) vector default grad",
    "blackman_window": f"(window_length:, periodic=True, {_END}) vector default grad",
    "bartlett_window": f"(window_length:, periodic=True, {_END}) vector default grad",
    "kaiser_window": f"(window_length:, periodic=True, beta=12.0, {_END}) vector default grad",
    "fft.fftfreq": f"(n:, d=1.0, {_END}) vector default grad",
    "fft.rfftfreq": f"(n:, d=1.0, {_END}) vector default grad",
    "sparse_coo_tensor": f"(indices, values, size=None, {_END}) ? data grad keeps",
    "sparse_csr_tensor": f"(crow_indices, col_indices, values, size=None, {_END}) ? data grad keeps",
    **{
        "signal.windows." + name: f"(M:, *, {middle}sym=True, {_END[3:]}) vector default grad computed"
        for name, middle in {
            "bartlett": "",
            "blackman": "",
            "cosine": "",
            "exponential": "center=None, tau=1.0, ",
            "gaussian": "std=1.0, ",
            "general_cosine": "a:, ",
            "general_hamming": "alpha=0.54, ",
            "hamming": "",
            "hann": "",
            "kaiser": "beta=12.0, ",
            "nuttall": "",
        }.items()
    },
}

_ALIASES = {
    "nn.parameter.Parameter": "nn.Parameter",
    "nn.Buffer": "nn.parameter.Buffer",
    "autograd.variable.Variable": "autograd.Variable",
    "utils.dlpack.from_dlpack": "from_dlpack",
}

_cache: dict[str, Factory | None] = {}


def factory(path: str) -> Factory | None:
    """The factory at a dotted path ("torch.randn", "torch.Tensor.new_zeros", "torch.nn.Parameter"), or
    None."""
    if path not in _cache:
        name = path[len("torch.") :] if path.startswith("torch.") else ""
        name = _ALIASES.get(name, name)
        row = _ROWS.get(name)
        _cache[path] = None if row is None else parse(name, row)
    return _cache[path]


def parse(name: str, row: str) -> Factory:
    """The factory that `row` describes. Raises `operations.RowError`, which names the row."""
    end = row.find(") ")
    shape, _, rest = row[end + 2 :].partition(" ")
    dtype, _, words = rest.partition(" ")
    if end == -1 or shape not in SHAPE_RULES:
        raise operations.RowError(name, f"no shape rule in {row!r}")
    if dtype not in DTYPE_RULES and canonical(dtype) != dtype:
        raise operations.RowError(name, f"no dtype rule in {row!r}")
    for word in words.split():
        if word not in ("grad", "keeps", "shared", "computed"):
            raise operations.RowError(name, f"{word!r} has no meaning in {row!r}")
    signature = operations.parse(name, row[: end + 1] + " plain")
    result = Factory()
    for field in ("name", "args", "keywords", "defaults", "tensors", "required", "gathers"):
        setattr(result, field, getattr(signature, field))
    given = words.split()
    result.shape, result.dtype = shape, dtype
    result.accepts_requires_grad = "grad" in given
    result.keeps_graph = "keeps" in given
    result.storage = "shared" if "shared" in given else "fresh"
    result.leaf = "computed" not in given
    return result


def names() -> tuple[str, ...]:
    """The names of all rows, without "torch."."""
    return tuple(_ROWS)


def rows() -> dict[str, str]:
    """All rows as they are written."""
    return dict(_ROWS)
