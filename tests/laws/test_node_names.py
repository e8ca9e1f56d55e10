"""The names of nodes that depend on how an operation is called: what is said of a call, and what torch makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from gradtrail.interp.inspect import values_at

SETUP = """\
import torch
import torch.nn.functional as F
v = torch.ones(3, requires_grad=True)
m = torch.ones(3, 3, requires_grad=True)
b = torch.ones(2, 3, 3, requires_grad=True)
"""

CALLS = [
    "m.sum()", "m.sum(0)", "m.sum(dim=1)", "torch.sum(m)", "m.mean()", "m.mean(1)", "torch.mean(m, dim=0)",
    "1 - v", "torch.rsub(v, v)", "torch.rsub(v, 2)", "v + 1", "v + v", "v - 1", "v * 2", "v * v", "v / 2", "v / v", "2 / v",
    "v.add(1)", "v.sub(v)", "v.mul(2)", "v.div(v)", "torch.div(v, 2, rounding_mode='floor')",
    "v.round()", "v.round(decimals=1)", "m.sort()[0]", "m.sort(stable=True)[0]", "m.split(1)[0]", "m.split([1, 2])[0]",
    "v.clamp(0, 1)", "v.clamp(min=0)", "v.clamp(v, v)", "v.pow(2)", "v.pow(v)", "2 ** v", "m.prod()", "m.prod(0)", "m.squeeze()",
    "m.squeeze(0)", "m.max()", "m.max(0)[0]", "v.lerp(v, 0.5)", "v.lerp(v, v)", "m.masked_fill(m > 2, 1.0)",
    "v @ v", "m @ v", "m @ m", "v @ m", "b @ m", "b @ b", "torch.matmul(m, m)", "F.linear(m, m)", "F.linear(m, m, v)",
    "F.linear(v, m)", "F.linear(b, m, v)", "torch.nn.Linear(3, 2)(m)", "torch.nn.Linear(3, 2, bias=False)(m)",
    "torch.nn.Linear(3, 2)(v)", "torch.nn.Linear(3, 2)(b)", "F.cross_entropy(m, torch.tensor([0, 1, 2]))", "F.relu(v)",
    "v.clone().add_(1)", "v.clone().sub_(v)", "v.clone().mul_(2)", "v.clone().div_(v)", "v.clone().relu_()",
    "v.clone().clamp_(0, 1)", "v.clone().copy_(v)", "v.clone().fill_(2)", "v.clone().exp_()",
    "v.clone().index_put_((torch.tensor([0]),), torch.tensor(1.0))",
]  # fmt: skip
"""Calls whose node is told, with its number or without."""


@pytest.mark.parametrize("call", CALLS)
def test_torch_makes_the_node_that_is_told(call: str, tmp_path: Path) -> None:
    program = SETUP + f"y = {call}\nprint(y)\n"
    path = tmp_path / "program.py"
    path.write_text(program, encoding="utf-8")
    (seen,) = values_at(str(path), program.count("\n"), "y")
    told = str(seen.facts.get("grad_fn", ""))
    scope: dict[str, Any] = {"torch": torch}
    exec(compile(program.rpartition("print")[0], str(path), "exec"), scope)
    made = type(scope["y"].grad_fn).__name__
    if told.endswith("..."):
        assert made.removeprefix(told[:-3]).isdigit(), f"told {told}, made {made}"
    else:
        assert told in ("", made)


def test_most_calls_are_told_whole(tmp_path: Path) -> None:
    told = []
    for call in CALLS:
        path = tmp_path / "program.py"
        path.write_text(SETUP + f"y = {call}\nprint(y)\n", encoding="utf-8")
        (seen,) = values_at(str(path), SETUP.count("\n") + 2, "y")
        told.append(str(seen.facts.get("grad_fn", "")))
    whole = [one for one in told if one and not one.endswith("...")]
    assert len(whole) >= 0.6 * len(CALLS), told
