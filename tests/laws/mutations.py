"""Rows made wrong on purpose: the judge must notice each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtrail.laws import operations
from gradtrail.laws.operations import Operation
from laws import cases

FLIPS: dict[str, Callable[[Operation], Any]] = {
    "result": lambda row: "view" if row.result in ("new", "plain", "written", "same", "python") else "plain",
    "saves": lambda row: (
        row.saves[1:] if row.saves else ((row.tensors[0].rstrip("*"), ()),) if row.tensors else None
    ),
    "frees": lambda row: not row.frees,
    "writes": lambda row: () if row.writes else row.args[:1] or None,
    "node": lambda row: row.node + "X" if row.node else None,
    "gradient": lambda row: {"yes": "zero", "zero": "yes", "no": "yes", "unimplemented": "yes"}[row.gradient],
    "dtype": lambda row: None if row.dtype == "?" else "bool" if row.dtype != "bool" else "int64",
    "shape": lambda row: None if row.shape in ("?", "scalar") else "scalar",
    "outputs": lambda row: ("one", "two", "three", "four", "five", "six", "seven") if not row.outputs else (),
}
"""One wrong value for each field; None where the field says nothing that could be wrong."""


def flipped(row: Operation, field: str) -> Operation | None:
    """The row with one field changed, or None when there is nothing to change."""
    value = FLIPS[field](row)
    if value is None:
        return None
    other = Operation()
    for slot in Operation.__slots__:
        setattr(other, slot, getattr(row, slot))
    setattr(other, field, value)
    return other


def noticed_flips(name: str) -> tuple[list[str], int]:
    """The fields of a row whose flip the judge misses, and how many fields were flipped.

    A field about which no call of the row says anything is not flipped: what a gradient does where none is
    recorded, a rule that is never certain.
    """
    row = operations.operation(name)
    assert row is not None
    verdict = cases.judged(name)
    missed, count = [], 0
    for field in FLIPS:
        if field in ("saves", "frees", "gradient") and not verdict.recorded:
            continue
        if field in ("saves", "frees") and row.gradient == "unimplemented":
            continue
        if field == "gradient" and not verdict.zeros and row.gradient != "unimplemented":
            continue
        if field == "frees" and (not verdict.freed or not _frees_is_said(row)):
            continue
        if field == "node" and not verdict.nodes:
            continue
        if field in ("dtype", "shape") and field not in verdict.rules_spoke:
            continue
        if row.result in ("python", "none") and field != "result":
            continue
        other = flipped(row, field)
        if other is None or (field == "saves" and not _differs(row, other)):
            continue
        count += 1
        if not cases.judged(name, other).problems:
            missed.append(field)
    return missed, count


def _frees_is_said(row: Operation) -> bool:
    """`frees` counts by itself only where `saves` is not the whole truth."""
    return not row.exact_saves or row.frees != bool(row.saves)


def _differs(row: Operation, other: Operation) -> bool:
    """Whether the flipped `saves` says anything else that can be seen from outside."""
    return {what for what, _ in row.saves} - {"copy"} != {what for what, _ in other.saves} - {"copy"}
