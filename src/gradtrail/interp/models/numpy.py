"""numpy, and the libraries that make arrays of what they are handed: matplotlib, scikit-learn, pandas, scipy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradtrail.interp.expressions import Rest, SliceValue
from gradtrail.interp.frames import Frame
from gradtrail.interp.models.registry import calls
from gradtrail.interp.models.tensor import refuse_numpy
from gradtrail.interp.values import (
    MISSING,
    NUMBER,
    PLAIN,
    UNKNOWN,
    Array,
    Bound,
    Function,
    Instance,
    Iterator,
    Library,
    Mapping,
    Partial,
    Sequence,
    Some,
    Tensor,
)
from gradtrail.laws import numpy_bridge

Args = list[Any]
Keywords = dict[str, Any]

_PLOTS = frozenset(
    """plot scatter hist bar barh imshow errorbar fill_between axhline axvline semilogy semilogx loglog step stem
    pie boxplot violinplot contour contourf pcolormesh matshow stackplot hist2d quiver hlines vlines plot_surface
    scatter3D plot3D""".split()
)


def convert(
    m: Any, value: Any, node: Any, frame: Frame, how: str, depth: int = 0, trail: tuple[Any, ...] = ()
) -> None:
    """`value` is made into an array: every tensor in it is converted."""
    value = m.settle(value)
    if type(value) is Tensor:
        refuse_numpy(m, value, node, frame, how, trail)
    elif type(value) is Sequence and depth < 3:
        for item in value.items:
            convert(m, item, node, frame, how, depth + 1)
        if value.rest is not MISSING:
            convert(m, value.rest, node, frame, how, depth + 1)


def numpy_call(m: Any, path: str, args: Args, keywords: Keywords, node: Any, frame: Frame) -> Any:
    """A function of numpy."""
    name = path.partition(".")[2]
    first = m.settle(args[0]) if args and type(args[0]) is not Rest else UNKNOWN
    tensors = [value for value in (*args, *keywords.values()) if type(m.settle(value)) is Tensor]
    lists = [value for value in args if type(m.settle(value)) is Sequence]
    if name in numpy_bridge.CONVERTS_TENSOR:
        for value in (*args, *keywords.values()):
            convert(m, value, node, frame, name)
    elif name in numpy_bridge.DELEGATES or name in ("array", "asarray"):
        for value in lists:
            convert(m, value, node, frame, name)
    if name.startswith("random."):
        for value in (*args, *keywords.values()):
            if type(m.settle(value)) is Tensor:
                convert(m, value, node, frame, name)
        if name == "random.default_rng":
            return Instance(
                Library("numpy.random.Generator"),
                "numpy.random.Generator",
                m.serial(),
                m.origin("made", node, frame, cls="Generator"),
            )
        return _random(name.rpartition(".")[2], args, keywords)
    if name in numpy_bridge.DELEGATES_QUIETLY and tensors:
        return m.unknown_tensor(node, frame)
    if name in ("float64", "float32", "int64", "int32"):
        return (
            Array(name, ()) if type(first) is Array else Some("float" if name.startswith("float") else "int")
        )
    if name.endswith("dtype") or name in ("newaxis", "pi", "inf", "nan"):
        return Some("float")
    if not _gives_array(m, name, args, keywords):
        numbers = all(type(m.settle(one)) in (*PLAIN, Some) for one in (*args, *keywords.values()))
        return NUMBER if numbers else UNKNOWN
    return Array(_array_dtype(m, name, args, keywords, first), _array_shape(m, name, args))


def _gives_array(m: Any, name: str, args: Args, keywords: Keywords) -> bool:
    """Whether a function of numpy certainly gives an array: of numbers alone most give a number."""
    if name in _MAKES_ARRAYS:
        return True
    given = [m.settle(one.value if type(one) is Rest else one) for one in args]
    if not any(type(one) in (Array, Sequence, Tensor) for one in given):
        return False
    return name not in _REDUCES or len(args) > 1 or keywords.get("axis") is not None


_MAKES_ARRAYS = frozenset(
    """array asarray ascontiguousarray asanyarray zeros ones empty full zeros_like ones_like empty_like full_like arange
    linspace logspace eye identity meshgrid concatenate stack vstack hstack column_stack dstack fromiter frombuffer
    loadtxt genfromtxt tile repeat atleast_1d atleast_2d hanning hamming blackman bartlett kaiser tri diag vander
    outer""".split()
)
_REDUCES = frozenset(
    """sum mean std var min max amin amax prod median argmin argmax any all ptp average percentile quantile nanmean
    nansum nanmax nanmin trace dot vdot inner count_nonzero linalg.norm linalg.det corrcoef interp searchsorted""".split()
)


_INTEGERS = ("int64", "int32", "bool")
_KEEPS = frozenset(
    """array asarray ascontiguousarray copy square abs absolute flip roll tile repeat reshape ravel transpose
    squeeze expand_dims sort zeros_like ones_like empty_like atleast_1d atleast_2d""".split()
)
_FLOATS = frozenset(
    "sin cos tan sinh cosh tanh exp expm1 log log1p log2 log10 sqrt mean std var median arcsin arccos arctan deg2rad".split()
)
_JOINS = frozenset("concatenate stack vstack hstack column_stack dstack".split())


def _promoted(values: list[Any]) -> str | None:
    """The dtype of what arrays and numbers give together, if it is certain.

    A Python number does not change the dtype of floating point; float64 wins over every other real dtype."""
    found: set[str] = set()
    for value in values:
        if type(value) is Array:
            if value.dtype not in ("float64", "float32", *_INTEGERS):
                return None
            found.add(value.dtype)
        elif type(value) in (int, float) or (type(value) is Some and value.type in ("int", "float")):
            found.add(
                "a float"
                if type(value) is float or (type(value) is Some and value.type == "float")
                else "an int"
            )
        else:
            return None
    kinds = found - {"a float", "an int"}
    if "float64" in kinds:
        return "float64"
    if kinds == {"float32"}:
        return "float32"
    if "float32" not in kinds and "a float" in found:
        return "float64"
    return kinds.pop() if len(kinds) == 1 and found <= {"an int", "int64", "int32"} else None


def _array_dtype(m: Any, name: str, args: Args, keywords: Keywords, first: Any) -> str | None:
    asked = keywords.get("dtype")
    if asked is not None:
        asked = m.settle(asked)
        if type(asked) is Library:
            word = asked.path.rpartition(".")[2]
            return {"float": "float64", "int": "int64", "bool": "bool"}.get(word, word)
        return None
    if name in ("zeros", "ones", "empty", "linspace", "eye"):
        return "float64"
    if name == "arange" and args:
        return (
            "int64"
            if all(type(one) is int for one in args)
            else "float64"
            if any(type(one) is float for one in args)
            else None
        )
    if name in _KEEPS and type(first) is Array:
        return first.dtype
    if name in _FLOATS and type(first) is Array:
        return (
            first.dtype
            if first.dtype in ("float64", "float32")
            else "float64"
            if first.dtype in _INTEGERS
            else None
        )
    if name in ("clip", "maximum", "minimum"):
        return _promoted([m.settle(one) for one in (*args, *keywords.values())])
    if name in ("sum", "prod", "cumsum") and type(first) is Array:
        return first.dtype if first.dtype in ("float64", "float32") else None
    if name in _JOINS and type(first) is Sequence:
        return _promoted(
            [m.settle(one) for one in (*first.items, *(() if first.rest is MISSING else (first.rest,)))]
        )
    if name in ("array", "asarray") and type(first) is Sequence and first.rest is MISSING:
        flat = _flat(first)
        if flat and all(type(one) in (int, float) for one in flat):
            return "float64" if any(type(one) is float for one in flat) else "int64"
    return None


def _flat(value: Sequence) -> list[Any]:
    found: list[Any] = []
    for item in value.items:
        if type(item) is Sequence:
            found.extend(_flat(item) if item.rest is MISSING else [None])
        else:
            found.append(item)
    return found


def _array_shape(m: Any, name: str, args: Args) -> Any:
    if name in ("zeros", "ones", "empty") and args:
        size = args[0]
        if type(size) is int:
            return (size,)
        if type(size) is Sequence and all(type(one) is int for one in size.items) and size.rest is MISSING:
            return tuple(size.items)
    if name == "linspace" and len(args) > 2 and type(args[2]) is int:
        return (args[2],)
    if name in ("array", "asarray") and args and type(args[0]) is Sequence and args[0].rest is MISSING:
        return (len(args[0].items),) if all(type(one) in (int, float) for one in args[0].items) else None
    return None


def _random(name: str, args: Args, keywords: Keywords) -> Any:
    size = keywords.get("size")
    shape = (
        (size,)
        if type(size) is int
        else tuple(size.items)
        if type(size) is Sequence and all(type(x) is int for x in size.items)
        else None
    )
    if name in (
        "normal",
        "uniform",
        "standard_normal",
        "rand",
        "randn",
        "random",
        "random_sample",
        "exponential",
    ):
        if (size is None and name in ("normal", "uniform") and len(args) < 3) or (
            name in ("random", "rand", "randn", "random_sample", "standard_normal", "exponential")
            and not args
            and size is None
        ):
            return Some("float")
        return Array("float64", shape)
    if name in ("integers", "randint"):
        return Array("int64", shape) if size is not None else Some("int")
    if name in ("choice", "permutation"):
        return UNKNOWN
    return Array(None)


def array_method(
    m: Any, value: Array, name: str, args: Args, keywords: Keywords, node: Any, frame: Frame
) -> Any:
    """A method or operator of an array."""
    result = _array_method(m, value, name, args, keywords, node, frame)
    if type(result) is Array and result is not value and value.may_be_number:
        result.may_be_number = all(one.may_be_number for one in args if type(one) is Array)
    return result


def _array_method(
    m: Any, value: Array, name: str, args: Args, keywords: Keywords, node: Any, frame: Frame
) -> Any:
    for one in args:
        one = m.settle(one)
        if type(one) is Tensor and name.startswith("__") and name not in ("__getitem__", "__setitem__"):
            return UNKNOWN
    if name == "__setitem__":
        if len(args) > 1:
            new = m.settle(args[1])
            single = type(new) is Tensor and new.shape == ()
            if (
                type(new) is Tensor
                and not single
                and type(args[0]) not in (int,)
                and type(args[0]).__name__ == "SliceValue"
            ):
                convert(m, new, node, frame, "setitem")
        return None
    if name == "astype":
        wanted = m.settle(args[0]) if args else UNKNOWN
        word = (
            wanted.path.rpartition(".")[2]
            if type(wanted) is Library
            else wanted
            if type(wanted) is str
            else None
        )
        return Array({"float": "float64", "int": "int64", "bool": "bool"}.get(word or "", word), value.shape)
    if name in ("item", "__float__"):
        return Some("float")
    if name in ("tolist",):
        return Sequence("list", (), Some("number"))
    if name in ("__iadd__", "__isub__", "__imul__", "__itruediv__"):
        return value
    if name in ("copy", "__neg__", "__abs__", "round"):
        return Array(value.dtype, value.shape)
    if name in (
        "reshape",
        "transpose",
        "flatten",
        "ravel",
        "squeeze",
        "swapaxes",
        "repeat",
    ):
        return Array(value.dtype)
    if name == "__getitem__":
        key = m.settle(args[0]) if args else UNKNOWN
        # One index of an array of several dimensions gives a row, of one dimension a number.
        return Array(value.dtype) if type(key) in (SliceValue, Array) else UNKNOWN
    if name in _REDUCES and not args and not keywords:
        return NUMBER
    if name in ("max", "min"):
        return Array(value.dtype)
    if name in ("mean", "std", "var"):
        return Array("float64" if value.dtype in _INTEGERS else value.dtype)
    if name in ("sum", "prod", "cumsum"):
        return Array(value.dtype if value.dtype in ("float64", "float32") else None)
    if name.startswith("__") and args:
        word = name[2:-2]
        if word in ("eq", "ne", "lt", "gt", "le", "ge"):
            return Array("bool")
        dtype = _promoted([value, m.settle(args[0])])
        return Array("float64" if dtype in ("int64", "int32") and word in ("truediv", "rtruediv") else dtype)
    return Array(None)


def generator_method(m: Any, name: str, args: Args, keywords: Keywords, node: Any, frame: Frame) -> Any:
    """A method of numpy's random Generator: its array arguments are converted."""
    for value in (*args, *keywords.values()):
        if type(m.settle(value)) is Tensor:
            convert(m, value, node, frame, name)
    return _random(name, args, keywords)


def plotting_call(m: Any, name: str, args: Args, keywords: Keywords, node: Any, frame: Frame) -> Any:
    """A call on pyplot, a figure or axes: what is plotted is converted at once."""
    if name in _PLOTS:
        for value in (
            *args,
            *(keywords.get(key) for key in ("x", "y", "height", "width", "yerr", "c", "s", "X")),
        ):
            convert(m, value, node, frame, name)
    if name == "subplots":
        return Sequence("tuple", (plot_object(m, node, frame), plot_object(m, node, frame)))
    return plot_object(m, node, frame)


def plot_object(m: Any, node: Any, frame: Frame) -> Instance:
    """Axes, a figure, an array of axes: all answer alike."""
    return Instance(
        Library("matplotlib.artist"),
        "matplotlib.artist",
        m.serial(),
        m.origin("made", node, frame, cls="Axes"),
    )


def sklearn_call(m: Any, path: str, args: Args, keywords: Keywords, node: Any, frame: Frame) -> Any:
    """scikit-learn: its functions convert what they are handed; classes make estimators."""
    name = path.rpartition(".")[2]
    if name[:1].isupper():
        return Instance(
            Library("sklearn.base.BaseEstimator"),
            "sklearn.base.BaseEstimator",
            m.serial(),
            m.origin("made", node, frame, cls=name),
        )
    if ".metrics" in path or name in ("train_test_split", "scale", "normalize"):
        if name != "train_test_split":
            for value in args:
                convert(m, value, node, frame, name)
        return UNKNOWN
    return UNKNOWN


def estimator_method(
    m: Any, name: str, args: Args, keywords: Keywords, node: Any, frame: Frame, receiver: Any
) -> Any:
    """fit, transform, predict and their kin."""
    if name in (
        "fit",
        "transform",
        "fit_transform",
        "predict",
        "fit_predict",
        "predict_proba",
        "score",
        "partial_fit",
        "decision_function",
    ):
        for value in args:
            convert(m, value, node, frame, name)
    return receiver if name == "fit" else Array(None)


@calls("pandas.DataFrame", "pandas.Series")
def frame_of(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """A tensor is converted; a list of tensors becomes a column of objects, which does not raise."""
    value = m.settle(args[0]) if args else m.settle(keywords.get("data"))
    if type(value) is Tensor:
        convert(m, value, node, frame, path)
    elif type(value) is Mapping:
        for one in value.entries.values():
            if type(m.settle(one)) is Tensor:
                convert(m, one, node, frame, path)
    return UNKNOWN


@calls(
    "scipy.optimize.minimize",
    "scipy.optimize.least_squares",
    "scipy.optimize.root",
    "scipy.optimize.fmin_l_bfgs_b",
)
def minimize(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """The objective is called back with a float64 array, and what it returns is made into one."""
    objective = args[0] if args else keywords.get("fun")
    if type(objective) in (Function, Bound, Partial):
        result = m.call(objective, [Array("float64"), *_extra(m, keywords, node, frame)], {}, node, frame)
        result = m.settle(result)
        values = result.items if type(result) is Sequence and result.kind == "tuple" else (result,)
        for value in values:
            convert(m, value, node, frame, path.rpartition(".")[2], trail=m.return_step(objective))
    for name in ("jac", "hess"):
        other = keywords.get(name)
        if type(other) in (Function, Bound, Partial):
            convert(
                m,
                m.call(other, [Array("float64"), *_extra(m, keywords, node, frame)], {}, node, frame),
                node,
                frame,
                name,
            )
    return UNKNOWN


def _extra(m: Any, keywords: Keywords, node: Any, frame: Frame) -> Args:
    found = m.items_of(keywords["args"], node, frame) if "args" in keywords else None
    return list(found[0]) if found is not None else []


__all__ = [
    "Iterator",
    "array_method",
    "estimator_method",
    "generator_method",
    "numpy_call",
    "plotting_call",
    "sklearn_call",
]


_MOST_SOURCES = 8


def with_sources(result: Any, given: Iterable[Any]) -> Any:
    """`result`, which an operation of numpy has made of `given`, with the tensors that these came from."""
    if type(result) is Array:
        found = dict.fromkeys(
            source
            for one in given
            for source in (one.sources if type(one) is Array else (one,) if type(one) is Tensor else ())
        )
        result.sources = tuple(found)[:_MOST_SOURCES]
    return result
