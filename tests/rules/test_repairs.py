"""The fixes of every rule on its own examples: made, run on torch, and looked at again.

An example without a fix counts as such in the summary of the run; one with a fix has to be right.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from gradtrail.findings.engine import Report, check_paths
from gradtrail.findings.repairs import Repaired, repaired
from rules.test_rule_examples import EXAMPLES, marked, on_the_stand_in, program
from support.running import outcome_of_text

MOST_ROWS = 12
"""A repair is small: more rows than these are another program."""

NEVER = ("retain_graph=True", "allow_unused=True", "force=True", "strict=False", "pass")
"""What only silences an error: no repair adds it."""


def repair(path: Path, unsafe: bool = True) -> Repaired:
    """The repair of the program at `path`; nothing is written."""

    def look(texts: Any) -> Report:
        return check_paths([str(path)], texts=texts)

    with mock.patch.dict(os.environ, GRADTRAIL_STRICT="1"):
        return repaired(look, unsafe)


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_what_is_repaired_is_right(
    rule: Any, example: Any, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    bad = program(example.bad)
    path = tmp_path / "program.py"
    path.write_text(bad, encoding="utf-8")
    made = repair(path)
    if not made.texts:
        record_property("repair", "no fix")
        return
    fixed = made.texts[str(path)].decode()
    record_property("repair", "repaired")
    rows = [line for line in difflib.ndiff(bad.splitlines(), fixed.splitlines()) if line[:1] in "+-"]
    assert len(rows) <= 2 * MOST_ROWS, fixed
    assert all(fixed.count(words) <= bad.count(words) for words in NEVER), fixed
    assert made.report.findings == [], fixed
    result = outcome_of_text(fixed, tmp_path, example.proof)
    assert not result.raised, (fixed, result)
    assert not result.proof, fixed
    if example.off_cpu:
        stand_in = outcome_of_text(on_the_stand_in(fixed), tmp_path, example.proof)
        assert example.raises not in stand_in.text, (fixed, stand_in)
    if example.raises:
        assert _still_there(bad.splitlines()[marked(example.bad, "error")[0] - 1], fixed), fixed


def _still_there(statement: str, fixed: str) -> bool:
    """Whether the statement that failed is still there, save for the edit."""
    lines = [line.strip() for line in fixed.splitlines()]
    return bool(difflib.get_close_matches(statement.strip(), lines, cutoff=0.6))


VARIATIONS = {
    "carried in a row of several statements": (
        """
        import torch
        net = torch.nn.RNNCell(2, 3)
        h = torch.zeros(1, 3)
        for t in range(4):
            h = net(torch.ones(1, 2), h)
            loss = h.sum(); net.zero_grad(); loss.backward(); loss = None
        """,
        "loss.backward();",
        "loss.backward(); h = h.detach();",
    ),
    "a sum of losses": (
        """
        import torch
        net = torch.nn.Linear(2, 1)
        total = 0
        for t in range(4):
            total += net(torch.ones(1, 2)).sum()
            total.backward()
        """,
        "    total.backward()",
        "    total.backward()\n    total = total.detach()",
    ),
    "the name of a device that has no value yet": (
        """
        import torch
        device = "cuda" if torch.cuda.is_available() else "cpu"
        net = torch.nn.Linear(2, 2).to(device)
        y = torch.ones(1, 2)
        x = torch.ones(1, 2).to(device)
        loss = torch.nn.functional.mse_loss(x, y)
        """,
        "(x, y)",
        "(x, y.to(x.device))",
    ),
    "Parameters in a list that was made before": (
        """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                ws = [nn.Parameter(torch.ones(2)) for _ in range(3)]
                self.ws = ws

        opt = torch.optim.SGD(Net().parameters(), lr=0.1)
        """,
        "self.ws = ws",
        "self.ws = nn.ParameterList(ws)",
    ),
    "an update by hand in a loop over a dict": (
        """
        import torch
        params = {"a": torch.ones(2, requires_grad=True)}
        for _ in range(2):
            sum(p.sum() for p in params.values()).backward()
            for name, p in params.items():
                if p.grad is None:
                    continue
                params[name] = p - 0.1 * p.grad
        """,
        "        params[name] = p - 0.1 * p.grad",
        "        with torch.no_grad():\n            p -= 0.1 * p.grad\n        p.grad = None",
    ),
    "written with a function that ends in an underscore": (
        """
        import torch
        h = torch.sigmoid(torch.ones(2, requires_grad=True))
        y = h.mul_(2)
        y.sum().backward()
        """,
        "h.mul_(2)",
        "h.mul(2)",
    ),
    "the gradient of an input is asked for": (
        """
        import torch
        x = torch.randn(4)
        y = (x ** 2).sum()
        y.backward()
        print(x.grad)
        """,
        "torch.randn(4)",
        "torch.randn(4).requires_grad_()",
    ),
}


@pytest.mark.parametrize("name", VARIATIONS)
def test_variations(name: str, tmp_path: Path) -> None:
    source, old, new = VARIATIONS[name]
    path = tmp_path / "program.py"
    bad = program(source)
    path.write_text(bad, encoding="utf-8")
    made = repair(path)
    fixed = made.texts[str(path)].decode()
    assert fixed == bad.replace(old, new)
    assert made.report.findings == []
    assert not outcome_of_text(fixed, tmp_path).raised
