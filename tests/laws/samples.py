"""Calls to measure: from torch's own operator database, and written down here for what it lacks."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import torch
from measure import Call
from torch.testing._internal.common_methods_invocations import op_db

PREFERRED = (torch.float64, torch.float32, torch.complex128, torch.complex64, torch.int64, torch.bool, torch.bfloat16)


def small(value: Any, limit: int) -> bool:
    if isinstance(value, torch.Tensor):
        return value.numel() <= limit and value.layout == torch.strided
    if isinstance(value, (list, tuple)):
        return all(small(item, limit) for item in value)
    return True


def entries() -> dict[str, list[Any]]:
    """The operators of the database by name, variants together."""
    result: dict[str, list[Any]] = {}
    for entry in op_db:
        if entry.name.startswith("torch."):
            continue
        result.setdefault(entry.name, []).append(entry)
    return result


def dtypes_of(entry: Any) -> list[torch.dtype]:
    allowed = entry.supported_dtypes("cpu")
    return [dtype for dtype in PREFERRED if dtype in allowed]


def calls(entry: Any, dtype: torch.dtype, limit: int, numel: int = 4000) -> Iterator[Call]:
    """Up to `limit` sample calls of one operator, small and dense ones."""
    torch.manual_seed(3)
    count = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for sample in entry.sample_inputs("cpu", dtype, requires_grad=False):
                everything = (sample.input, *sample.args, *sample.kwargs.values())
                if not all(small(value, numel) for value in everything):
                    continue
                yield Call(entry.op, (sample.input, *sample.args), dict(sample.kwargs))
                count += 1
                if count >= limit:
                    return
        except (RuntimeError, NotImplementedError, ModuleNotFoundError):
            return
