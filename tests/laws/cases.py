"""Which calls each row is judged by."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import torch

from gradtrail.laws import operations
from gradtrail.laws.operations import Operation
from laws import judge, samples
from laws.measure import Call

DEEP = 4
"""Calls per operator and dtype that are written in place and run backward."""

LIMIT = 60
"""Calls per operator and dtype of which the facts are looked at."""

DEEPER = dict.fromkeys(
    (
        "masked.amax masked.amin masked.norm masked.cumsum masked.prod linalg.norm stft"
        " nn.functional.smooth_l1_loss.beta"
    ).split(),
    40,
)
"""Composites that keep different tensors in different calls: they need more of them."""


@functools.lru_cache(maxsize=1)
def owners() -> dict[str, str]:
    """For rows that only overloads lead to: the name of the operation that has the overload."""
    result: dict[str, str] = {}
    for name in operations.names():
        row = operations.operation(name)
        for _, _, target in row.overloads if row is not None else ():
            if "." in target and target.rpartition(".")[0] == name:
                result[target] = name
    return result


@functools.lru_cache(maxsize=1)
def database() -> dict[str, list[Any]]:
    """Torch's operator database by name."""
    return samples.entries()


def raw_calls(name: str, deep: int, limit: int) -> Iterator[tuple[Call, bool]]:
    """The calls of an operation, and whether to write in place and run backward."""
    for call in samples.recipes(name):
        yield call, True
    for entry in database().get(name, ()):
        for index, dtype in enumerate(samples.dtypes_of(entry)):
            if index and dtype in (torch.float32, torch.complex64):
                continue
            found = list(samples.calls(entry, dtype, limit))
            differentiable = dtype in (torch.float64, torch.float32, torch.complex128, torch.complex64)
            step = max(1, len(found) // (deep if index == 0 else max(1, deep // 2)))
            for position, call in enumerate(found):
                yield call, differentiable and position % step == 0


def calls_for(name: str, deep: int = DEEP, limit: int = LIMIT) -> list[tuple[Call, bool]]:
    """The calls that the row `name` is judged by."""
    deep, limit = max(deep, DEEPER.get(name, 0)), max(limit, DEEPER.get(name, 0))
    base = owners().get(name, name)
    row = operations.operation(base)
    target = operations.operation(name)
    assert row is not None and target is not None
    found = list(raw_calls(base, deep, limit))
    if not found:
        found = list(_borrowed(base, deep, limit))
    wanted = row if base == name else target
    return [(call, deeply) for call, deeply in found if judge.overload_of(row, call).name == wanted.name]


def _borrowed(name: str, deep: int, limit: int) -> Iterator[tuple[Call, bool]]:
    """Calls of an alias, a dunder or an in-place form: those of the operation it belongs to."""
    other = operations.alias_of(name)
    in_place = False
    if not other and name.endswith("_") and not name.startswith("_"):
        other, in_place = name[:-1], True
        other = operations.alias_of(other) or other
    elif other.endswith("_") and operations.row_of(other) is None:
        other, in_place = other[:-1], True
    if not other:
        return
    bare = name.rpartition(".")[2] if in_place and "." in name else name
    method = samples.resolve_method(bare) if hasattr(torch.Tensor, bare) else None
    function = method if method is not None else samples.resolve(name)
    if function is None and in_place and other.startswith("nn.functional."):
        function = functools.partial(samples.resolve(other), inplace=True)  # type: ignore[arg-type]
    if function is None:
        return
    for call, deeply in raw_calls(other, deep, limit):
        if method is not None and not (call.args and isinstance(call.args[0], torch.Tensor)):
            continue
        if name.startswith("__") and (len(call.args) > 2 or call.kwargs):
            continue
        if in_place and "dropout" in other and (0.0 in call.args[1:] or call.kwargs.get("p", 0.5) in (0, 1)):
            continue  # nothing is written when nothing, or everything, is dropped
        kwargs = {key: value for key, value in call.kwargs.items() if not (in_place and key == "inplace")}
        yield call._replace(function=function, kwargs=kwargs), deeply


def judged(name: str, row: Operation | None = None, deep: int = DEEP, limit: int = LIMIT) -> judge.Verdict:
    """The verdict on a row (or on another row put in its place, for the test of the judge)."""
    found = row if row is not None else operations.operation(name)
    assert found is not None
    verdict = judge.Verdict(found)
    calls = calls_for(name, deep, limit)
    if len(found.tensors) > 8:
        calls = calls[:3]  # every parameter is tried by itself
    for call, deeply in calls:
        verdict.add(call, deeply)
    borrowed = bool(operations.alias_of(name)) or operations.row_of(name) is None
    if not borrowed:
        some = [call for call, _ in calls]
        for call in some[:3]:
            verdict.problems += judge.check_names(found, call)
        verdict.problems += judge.check_defaults(found, some[:10])
    verdict.finish()
    verdict.problems = list(dict.fromkeys(verdict.problems))
    return verdict


def in_place_methods() -> list[str]:
    """Public Tensor methods that end in `_` and have no row of their own."""
    found = [name for name in dir(torch.Tensor) if name.endswith("_") and not name.startswith("_")]
    return [
        name for name in found if operations.row_of(name) is None and operations.operation(name) is not None
    ]


def all_names() -> list[str]:
    """Everything that is judged: rows, aliases, derived in-place methods."""
    functional = []
    for name in operations.names():
        row = operations.operation(name)
        if row is not None and "inplace" in row.args and operations.row_of(name + "_") is None:
            if operations.operation(name + "_") is None:
                continue
            functional.append(name + "_")  # what the function is with inplace=True
    return [*operations.names(), *in_place_methods(), *functional]
