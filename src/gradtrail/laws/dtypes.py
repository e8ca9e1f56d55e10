"""Dtypes by name, and torch's rules for the dtype of a result.

Source: `torch.promote_types`, `torch.result_type`, `torch.can_cast`, all compared in
`tests/laws/test_dtypes.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

CATEGORIES = ("bool", "integer", "floating", "complex")
"""From the lowest to the highest: a tensor never takes a result to a lower category."""

_CATEGORY = {
    "bool": "bool",
    "uint8": "integer",
    "int8": "integer",
    "int16": "integer",
    "int32": "integer",
    "int64": "integer",
    "uint16": "integer",
    "uint32": "integer",
    "uint64": "integer",
    "float16": "floating",
    "bfloat16": "floating",
    "float32": "floating",
    "float64": "floating",
    "complex32": "complex",
    "complex64": "complex",
    "complex128": "complex",
}

ALIASES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "chalf": "complex32",
    "cfloat": "complex64",
    "cdouble": "complex128",
}
"""`torch.long` is `torch.int64`, and so on."""

SCALAR_NAMES = {
    "bool": "Bool",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "float32": "Float",
    "float64": "Double",
    "complex32": "ComplexHalf",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}
"""What torch's messages call a dtype ("result type Float can't be cast to ... Long")."""

REAL_OF = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
COMPLEX_OF = {
    "float16": "complex32",
    "bfloat16": "complex64",
    "float32": "complex64",
    "float64": "complex128",
}

_INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_BITS = {"uint8": 8, "int8": 8, "int16": 16, "int32": 32, "int64": 64}


def canonical(name: str) -> str | None:
    """The one name of a dtype ("float" is "float32"), or None when there is no such dtype."""
    name = ALIASES.get(name, name)
    return name if name in _CATEGORY else None


def category(name: str) -> str | None:
    """One of `CATEGORIES`, or None for a dtype that is not known here."""
    return _CATEGORY.get(ALIASES.get(name, name))


def can_require_grad(name: str) -> bool | None:
    """Whether a tensor of this dtype may require grad: floating point and complex ones may."""
    kind = category(name)
    return None if kind is None else kind in ("floating", "complex")


def can_cast(source: str, target: str) -> bool | None:
    """Whether a result of dtype `source` may be written into a tensor of dtype `target`.

    False is torch's "result type Float can't be cast to the desired output type Long". None when a
    dtype is not known.
    """
    one, other = category(source), category(target)
    if one is None or other is None:
        return None
    return CATEGORIES.index(one) <= CATEGORIES.index(other)


def promote_two(one: str, other: str) -> str | None:
    """What two tensors with dimensions give together (torch.promote_types), or None when not known."""
    if one == other:
        return one
    if one == "bool" or other == "bool":
        found = other if one == "bool" else one
        return found if found in _CATEGORY else None
    kinds = category(one), category(other)
    if (
        None in kinds
        or (one.startswith("uint") and one != "uint8")
        or (other.startswith("uint") and other != "uint8")
    ):
        return None
    if kinds == ("integer", "integer"):
        return _promote_integers(one, other)
    if "complex" in kinds:
        parts = [REAL_OF.get(name, name) for name in (one, other) if category(name) != "integer"]
        real = parts[0] if len(parts) == 1 else promote_two(parts[0], parts[1])
        return None if real is None else COMPLEX_OF[real]
    if "integer" in kinds:
        return other if kinds[0] == "integer" else one
    if {one, other} == {"float16", "bfloat16"}:
        return "float32"
    return one if _FLOATS.index(one) > _FLOATS.index(other) else other


def _promote_integers(one: str, other: str) -> str:
    if "uint8" not in (one, other):
        return one if _BITS[one] > _BITS[other] else other
    signed = other if one == "uint8" else one
    return "int16" if signed == "int8" else signed


def python_number_dtype(kind: str, default: str = "float32") -> str | None:
    """The dtype that a Python number has among tensors.

    `kind` is "bool", "int", "float" or "complex"; `default` is torch's default dtype.
    """
    return {"bool": "bool", "int": "int64", "float": default, "complex": COMPLEX_OF.get(default)}.get(kind)


def promote(operands: Iterable[tuple[str | None, bool | None, bool]], default: str = "float32") -> str | None:
    """The dtype that several operands give together, by torch's rule (torch.result_type).

    Each operand is (dtype name, whether it has no dimensions, whether it is a Python number); a number's
    dtype is "bool", "int64", or "float32"/"complex64" standing for any float or complex. Tensors with
    dimensions come first, then tensors without, then numbers: a lower group counts only when it brings a
    higher category. `default` is the default dtype, "" when it is not known. None when something that
    matters is not known.
    """
    given = list(operands)
    open_ones = [at for at, (_, zero_dim, number) in enumerate(given) if zero_dim is None and not number]
    if open_ones:
        return _either_way(given, open_ones, default)
    groups: list[str | None] = [None, None, None]
    for name, zero_dim, number in given:
        if name is None or category(name) is None:
            return None
        index = 2 if number else 1 if zero_dim else 0
        if number and category(name) in ("floating", "complex"):
            if not default:
                return None
            named = default if category(name) == "floating" else COMPLEX_OF[default]
        else:
            named = name
        before = groups[index]
        groups[index] = named if before is None else promote_two(before, named)
        if groups[index] is None:
            return None
    result: str | None = None
    for name in groups:
        if name is not None:
            result = name if result is None else _higher(result, name, default)
    return result


def _either_way(
    operands: list[tuple[str | None, bool | None, bool]], open_ones: list[int], default: str
) -> str | None:
    """The same whether or not the tensors at `open_ones` have dimensions, or None."""
    if len(open_ones) > _MOST_OPEN or any(name is None for name, _, _ in operands):
        return None
    at = open_ones[0]
    name, _, number = operands[at]
    with_dims, without = (
        promote([*operands[:at], (name, zero_dim, number), *operands[at + 1 :]], default)
        for zero_dim in (False, True)
    )
    return with_dims if with_dims == without else None


_MOST_OPEN = 4


def _higher(high: str, low: str, default: str) -> str | None:
    """`high` unless `low`, of a group that counts less, is of a higher category."""
    one, other = category(high), category(low)
    if one is None or other is None:
        return None
    if CATEGORIES.index(other) <= CATEGORIES.index(one):
        return high
    if one == "floating" and other == "complex":
        return COMPLEX_OF.get(high)
    return low


def dtype_of(
    rule: str,
    operands: Sequence[tuple[str | None, bool | None, bool]],
    arguments: Mapping[str, object] | None = None,
    default: str = "float32",
) -> str | None:
    """The dtype of a result by the rule key of its row, or None when it is not certain.

    `operands` are those of the call's tensor arguments, as `promote` takes them, `self` first;
    `arguments` holds the plain arguments by name (dtypes as names).
    """
    first = operands[0][0] if operands else None
    if rule == "promote":
        return promote(operands, default)
    if rule == "promote-float":
        return _floating(promote(operands, default), default)
    if rule == "of-second":
        return operands[1][0] if len(operands) > 1 else None
    if rule in ("arg:dtype", "sum"):
        asked = (arguments or {}).get("dtype")
        if isinstance(asked, str):
            return canonical(asked)
        if asked is not None or first is None:
            return None
        return "int64" if rule == "sum" and category(first) in ("bool", "integer") else first
    if rule in _CATEGORY:
        return rule
    if first is None or category(first) is None:
        return None
    if rule == "same":
        return first
    if rule == "float":
        return _floating(first, default)
    if rule == "real":
        return REAL_OF.get(first, first)
    if rule == "complex":
        return first if category(first) == "complex" else COMPLEX_OF.get(_floating(first, default) or "")
    return None


def _floating(name: str | None, default: str) -> str | None:
    if name is None:
        return None
    return default if category(name) in ("bool", "integer") else name
