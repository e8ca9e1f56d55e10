"""Shapes of results, as far as they are certain.

A shape is a tuple whose items are sizes or None (a size that is not known), or None when not even the
number of dimensions is known. Every rule is compared with torch by `tests/laws`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

Shape = tuple[int | None, ...] | None

_MISSING = object()


def numel(shape: Shape) -> str | None:
    """Whether a shape holds one element: "one", "many" (any other number), None when not certain."""
    if shape is None:
        return None
    product = 1
    for size in shape:
        if size is None:
            return "many" if any(known not in (1, None) for known in shape) else None
        product *= size
    return "one" if product == 1 else "many"


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """The common shape that torch broadcasts `shapes` to; None when unknown or when they do not fit."""
    if not shapes or any(shape is None for shape in shapes):
        return None
    known = [shape for shape in shapes if shape is not None]
    length = max(len(shape) for shape in known)
    result: list[int | None] = []
    for position in range(-length, 0):
        sizes = [shape[position] for shape in known if len(shape) >= -position]
        found = _broadcast_sizes(sizes)
        if found is _MISSING:
            return None
        result.append(found)  # type: ignore[arg-type]
    return tuple(result)


def _broadcast_sizes(sizes: list[int | None]) -> object:
    """The common size, None when not known, `_MISSING` when they do not fit."""
    big = {size for size in sizes if size is not None and size != 1}
    if len(big) > 1:
        return _MISSING
    if big:
        return big.pop()
    return None if None in sizes else 1


def _dims(value: object, length: int) -> tuple[int, ...] | None:
    """The dimensions that an argument names, counted from 0; all of them for None or ()."""
    if value is None or value == ():
        return tuple(range(length))
    items = (value,) if isinstance(value, int) else value
    if not isinstance(items, (tuple, list)):
        return None
    result = []
    for item in items:
        if not isinstance(item, int) or isinstance(item, bool):
            return None
        if length == 0 and item in (0, -1):
            continue
        if not -length <= item < length:
            return None
        result.append(item % length)
    return tuple(result)


def _one_dim(
    arguments: Mapping[str, object], name: str, length: int, default: object = _MISSING
) -> int | None:
    value = arguments.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not -length <= value < length:
        return None
    return value % length


def _same(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    return shapes[0] if shapes else None


def _broadcast(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    return broadcast(shapes)


def _scalar(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    return ()


def _reduce(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    shape = shapes[0]
    dim, keepdim = arguments.get("dim"), arguments.get("keepdim", False)
    if dim is None and not keepdim:
        return ()
    if shape is None or not isinstance(keepdim, bool):
        return None
    dims = _dims(dim, len(shape))
    if dims is None:
        return None
    if keepdim:
        return tuple(1 if index in dims else size for index, size in enumerate(shape))
    return tuple(size for index, size in enumerate(shape) if index not in dims)


def _reduce_dim(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    """As `reduce`, but a missing dim is -1 (`sort`-like reductions: mode, kthvalue, ...)."""
    return _reduce(shapes, {"dim": -1, **arguments} if arguments.get("dim") is None else arguments)


def _matmul(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    one, other = shapes[0], shapes[1] if len(shapes) > 1 else None
    if one is None or other is None or not one or not other:
        return None
    left = (1, *one) if len(one) == 1 else one
    right = (*other, 1) if len(other) == 1 else other
    batch = broadcast([left[:-2], right[:-2]])
    if batch is None:
        return None
    rows = () if len(one) == 1 else (left[-2],)
    columns = () if len(other) == 1 else (right[-1],)
    return (*batch, *rows, *columns)


def _added_matmul(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    """`addmm(self, mat1, mat2)`: as the product of the last two."""
    return _matmul(shapes[1:], arguments) if len(shapes) == 3 else None


def _cat(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    if not shapes or any(shape is None for shape in shapes):
        return None
    known = [shape for shape in shapes if shape is not None and shape != (0,)] or [(0,)]
    length = len(known[0])
    dim = _one_dim(arguments, "dim", length, 0)
    if dim is None or any(len(shape) != length for shape in known):
        return None
    result: list[int | None] = []
    for index in range(length):
        sizes = [shape[index] for shape in known]
        if index == dim:
            result.append(None if None in sizes else sum(size for size in sizes if size is not None))
        else:
            result.append(next((size for size in sizes if size is not None), None))
    return tuple(result)


def _stack(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    if not shapes or any(shape is None for shape in shapes):
        return None
    first = next((shape for shape in shapes if shape is not None and None not in shape), shapes[0])
    if first is None:
        return None
    dim = _one_dim(arguments, "dim", len(first) + 1, 0)
    return None if dim is None else (*first[:dim], len(shapes), *first[dim:])


def _sizes_argument(value: object) -> tuple[int | None, ...] | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,)
    if not isinstance(value, (tuple, list)):
        return None
    if len(value) == 1 and isinstance(value[0], (tuple, list)):
        value = value[0]
    result: list[int | None] = []
    for item in value:
        if item is not None and (not isinstance(item, int) or isinstance(item, bool)):
            return None
        result.append(item)
    return tuple(result)


def _view(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    sizes = _sizes_argument(arguments.get("shape", arguments.get("size")))
    if sizes is None:
        return None
    if -1 not in sizes:
        return sizes
    shape = shapes[0]
    rest = [size for size in sizes if size != -1]
    if shape is None or None in shape or None in rest:
        return tuple(None if size == -1 else size for size in sizes)
    total, known = _product(shape), _product(rest)
    if known == 0 or total % known:
        return None
    return tuple(total // known if size == -1 else size for size in sizes)


def _product(sizes: Sequence[int | None]) -> int:
    result = 1
    for size in sizes:
        result *= size if size is not None else 1
    return result


def _expand(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    sizes = _sizes_argument(arguments.get("size", arguments.get("shape")))
    shape = shapes[0]
    if sizes is None:
        return None
    if -1 not in sizes:
        return sizes
    if shape is None or len(sizes) < len(shape):
        return None
    padded = (*([None] * (len(sizes) - len(shape))), *shape)
    return tuple(own if size == -1 else size for own, size in zip(padded, sizes, strict=False))


def _sizes(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    return _sizes_argument(arguments.get("size", arguments.get("shape")))


def _unsqueeze(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    shape = shapes[0]
    if shape is None:
        return None
    dim = _one_dim(arguments, "dim", len(shape) + 1)
    return None if dim is None else (*shape[:dim], 1, *shape[dim:])


def _squeeze(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    shape = shapes[0]
    if shape is None:
        return None
    dims = _dims(arguments.get("dim"), len(shape))
    if arguments.get("dim") == ():
        dims = ()
    if dims is None or any(shape[dim] is None for dim in dims):
        return None
    return tuple(size for index, size in enumerate(shape) if index not in dims or size != 1)


def _transpose(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    shape = shapes[0]
    if shape is None:
        return None
    if not shape:
        return ()
    one, other = _one_dim(arguments, "dim0", len(shape)), _one_dim(arguments, "dim1", len(shape))
    if one is None or other is None:
        return None
    result = list(shape)
    result[one], result[other] = result[other], result[one]
    return tuple(result)


def _transpose_last(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    shape = shapes[0]
    if shape is None:
        return None
    return shape if len(shape) < 2 else (*shape[:-2], shape[-1], shape[-2])


def _reverse(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    shape = shapes[0]
    return None if shape is None else tuple(reversed(shape))


def _permute(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    shape = shapes[0]
    dims = _sizes_argument(arguments.get("dims"))
    if shape is None or dims is None or len(dims) != len(shape):
        return None
    if any(dim is None or not -len(shape) <= dim < len(shape) for dim in dims):
        return None
    return tuple(shape[dim] for dim in dims if dim is not None)


def _flatten(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    shape = shapes[0]
    if shape is None:
        return None
    if not shape:
        return (1,)
    start = _one_dim(arguments, "start_dim", len(shape), 0)
    end = _one_dim(arguments, "end_dim", len(shape), -1)
    if start is None or end is None or start > end:
        return None
    middle = shape[start : end + 1]
    size = middle[0] if len(middle) == 1 else None if None in middle else _product(middle)
    return (*shape[:start], size, *shape[end + 1 :])


def _linear(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    one, weight = shapes[0], shapes[1] if len(shapes) > 1 else None
    if one is None or not one or weight is None or not weight:
        return None
    return one[:-1] if len(weight) == 1 else (*one[:-1], weight[0])


def _loss(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    """One number unless reduction="none"; the old `size_average` and `reduce` make it uncertain."""
    if arguments.get("reduce") is not None or arguments.get("size_average") is not None:
        return None
    return () if arguments.get("reduction", "mean") in ("mean", "sum", "batchmean") else None


def _narrow(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    """`narrow(dim, start, length)`: one dimension cut to `length`."""
    shape = shapes[0]
    if shape is None:
        return None
    dim, length = _one_dim(arguments, "dim", len(shape)), arguments.get("length")
    if dim is None:
        return None
    return (*shape[:dim], length if isinstance(length, int) else None, *shape[dim + 1 :])


UNREDUCED = {
    "nn.functional.mse_loss": "elementwise-loss",
    "nn.functional.l1_loss": "elementwise-loss",
    "nn.functional.smooth_l1_loss": "elementwise-loss",
    "nn.functional.huber_loss": "elementwise-loss",
    "nn.functional.binary_cross_entropy": "elementwise-loss",
    "nn.functional.binary_cross_entropy_with_logits": "elementwise-loss",
    "nn.functional.kl_div": "elementwise-loss",
    "nn.functional.poisson_nll_loss": "elementwise-loss",
    "nn.functional.soft_margin_loss": "elementwise-loss",
    "nn.functional.cross_entropy": "class-loss",
    "nn.functional.nll_loss": "class-loss",
}
"""What the shape of a loss is with reduction="none", by its row."""


def _elementwise_loss(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    """As `_loss`; with reduction="none" one value for each pair of elements."""
    if arguments.get("reduction", "mean") == "none" and arguments.get("reduce") is None:
        return broadcast(shapes[:2])
    return _loss(shapes, arguments)


def _class_loss(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    """As `_loss`; with reduction="none" one value for each class index of the target."""
    if arguments.get("reduction", "mean") == "none" and arguments.get("reduce") is None and len(shapes) > 1:
        scores, target = shapes[0], shapes[1]
        if scores is not None and target is not None and len(target) == len(scores) - 1:
            return target
        return None
    return _loss(shapes, arguments)


def _select(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    shape = shapes[0]
    dim = None if shape is None else _one_dim(arguments, "dim", len(shape))
    return None if shape is None or dim is None else (*shape[:dim], *shape[dim + 1 :])


def _of_second(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    """As the second tensor (`gather` has the shape of its index, `view_as` of the other tensor)."""
    return shapes[1] if len(shapes) > 1 else None


def _embedding(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    index, weight = shapes[0], shapes[1] if len(shapes) > 1 else None
    return None if index is None or weight is None or len(weight) != 2 else (*index, weight[1])


def _outer(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    one, other = shapes[0], shapes[1] if len(shapes) > 1 else None
    return None if one is None or other is None else (*one, *other)


def _vector(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    return (None,)


def _ravel(shapes: Sequence[Shape], arguments: Mapping[str, object]) -> Shape:
    shape = shapes[0]
    return (None,) if shape is None or None in shape else (_product(shape),)


_RULES: dict[str, Callable[[Sequence[Shape], Mapping[str, object]], Shape]] = {
    "same": _same,
    "like": _same,
    "broadcast": _broadcast,
    "scalar": _scalar,
    "reduce": _reduce,
    "reduce-dim": _reduce_dim,
    "matmul": _matmul,
    "added-matmul": _added_matmul,
    "cat": _cat,
    "stack": _stack,
    "view": _view,
    "expand": _expand,
    "sizes": _sizes,
    "unsqueeze": _unsqueeze,
    "squeeze": _squeeze,
    "transpose": _transpose,
    "transpose-last": _transpose_last,
    "reverse": _reverse,
    "permute": _permute,
    "flatten": _flatten,
    "ravel": _ravel,
    "linear": _linear,
    "loss": _loss,
    "elementwise-loss": _elementwise_loss,
    "narrow": _narrow,
    "class-loss": _class_loss,
    "select": _select,
    "of-second": _of_second,
    "embedding": _embedding,
    "outer": _outer,
    "vector": _vector,
}

RULES = (*_RULES, "?")
"""The keys that a row may name; "?" is never certain."""


def shape_of(rule: str, shapes: Sequence[Shape], arguments: Mapping[str, object] | None = None) -> Shape:
    """The shape of a result by the rule key of its row.

    `shapes` are those of the call's tensors in the order of the parameters (lists of tensors in their
    place, left-out tensors left out); `arguments` holds the plain arguments by name, defaults included
    or not. None, or None for a size, whenever it is not certain.
    """
    found = _RULES.get(rule)
    if found is None or (not shapes and rule not in ("scalar", "sizes", "vector")):
        return None
    return found(shapes, arguments or {})
