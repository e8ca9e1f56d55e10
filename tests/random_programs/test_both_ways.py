"""The comparison itself: an interpreter that states what is false is found out."""

from __future__ import annotations

from collections import Counter

import pytest

from specs.adapter import Stated

from . import both_ways
from .both_ways import MAIN, Coverage, disagreements
from .programs import Program

PROGRAM = Program(
    """\
import torch
w = torch.rand(4, requires_grad=True)
if flag():
    w = w * 2
reveal(w)
w.detach().numpy()
for _ in range(20):
    if flag():
        w.numpy()
""",
    (),
)
REVEAL, DETACHED, NUMPY = (MAIN, 5), (MAIN, 6), (MAIN, 9)


@pytest.mark.parametrize(
    ("facts", "certain", "wrong"),
    [
        ({"requires grad", "shape=(4,)"}, [(NUMPY, "numpy-requires-grad")], 0),
        ({"leaf"}, [], 1),
        ({"no grad"}, [], 1),
        ({"same as a_name_that_is_not_there"}, [], 0),
        (set(), [(DETACHED, "numpy-requires-grad")], 1),
        (set(), [(NUMPY, "backward-twice")], 1),
        (set(), [((MAIN, 99), "numpy-requires-grad")], 0),
    ],
)
def test_what_is_false_is_found(
    monkeypatch: pytest.MonkeyPatch,
    facts: set[str],
    certain: list[tuple[tuple[str, int], str]],
    wrong: int,
) -> None:
    monkeypatch.setattr(both_ways, "stated", lambda *_: [Stated(REVEAL, frozenset(facts), not facts)])
    monkeypatch.setattr(both_ways, "refused", lambda *_: certain)
    monkeypatch.setattr(both_ways, "event_kinds", lambda *_: Counter())
    assert len({line.split(",")[0] for line in disagreements(PROGRAM, Coverage())}) == wrong
