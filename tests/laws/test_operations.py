"""Every row parses, says something true, and a wrong one would be noticed."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from gradtrail.laws import operations, shapes
from gradtrail.laws.operations import RowError
from gradtrail.laws.tables import rows
from laws import cases, mutations

UNJUDGED = frozenset("cuda pin_memory reinforce register_post_accumulate_grad_hook __getitem__".split())
"""Rows without a call here: no other device on this machine, tensors that need hooks, and the join of rows
that are judged one by one (`__getitem__`)."""

NAMES = cases.all_names()


def test_all_rows_parse_and_name_known_rules() -> None:
    for name in operations.names():
        row = operations.operation(name)
        assert row is not None, name
        assert row.shape in shapes.RULES, name
        for _, _, target in row.overloads:
            assert operations.operation(target) is not None, (name, target)


@pytest.mark.parametrize(
    "row",
    [
        "self, other) new",
        "(self)",
        "(self) fresh",
        "(self) new saves other",
        "(self) new shape",
        "(self) new dtype=nonsense",
        "(self) maybe-same",
        "(self) new same=always",
        "(self, self) new",
        "(self, a b) new",
        "(self, p=x) new",
        "(self) new writes=other",
        "(self, p=0) new overloads=p",
    ],
)
def test_a_wrong_row_fails_with_its_name(row: str) -> None:
    with pytest.raises(RowError, match="'mine'"):
        operations.parse("mine", row)


@pytest.mark.parametrize("part", range(8))
def test_torch_agrees_with_every_row(part: int) -> None:
    problems = {}
    silent = set()
    for name in NAMES[part::8]:
        verdict = cases.judged(name)
        if verdict.problems:
            problems[name] = verdict.problems
        if not verdict.calls:
            silent.add(name)
    assert not problems
    assert silent <= UNJUDGED


def test_the_judge_notices_flipped_fields() -> None:
    small = [name for name in NAMES if name not in UNJUDGED and name not in cases.DEEPER]
    chosen = random.Random(20).sample(small, 24)
    verdicts = {name: mutations.noticed_flips(name) for name in chosen}
    assert not {name: missed for name, (missed, _) in verdicts.items() if missed}
    assert sum(count for _, count in verdicts.values()) > 80


def test_a_row_is_read_when_it_is_asked_for() -> None:
    code = "import gradtrail.laws.operations as o; o.operation('mul'); print(len(o._cache))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
    assert int(told) < 5


def test_lookups() -> None:
    assert operations.function("torch.clip") is not None
    assert operations.function("torch.nn.functional.tanh") is not None
    assert operations.function("torch.special.expit") is not None
    assert operations.function("torch.backward") is None
    assert operations.function("torch.Tensor.backward") is not None
    assert operations.function("numpy.exp") is None
    assert operations.operation("no_such_operation") is None
    assert set(rows()) <= set(operations.names())
