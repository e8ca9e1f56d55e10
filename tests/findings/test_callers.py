"""What only a caller decides is not told where the callers record no graph, in this file or in one beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtrail.findings.engine import check_paths
from gradtrail.interp.callers import called_without_graph

GENERATOR = """\
import torch


class Generator:
    def __init__(self, layer):
        self.layer = torch.nn.Linear(2, 1)

    def act(self, state):
        return self.layer(state).numpy()

    def rollout(self, state):
        return self.act(state)
"""
PLAY = """\
import torch
from parts.generator import Generator

with torch.no_grad():
    for _ in range(3):
        print(Generator(None).rollout(torch.ones(2)))
"""


@pytest.mark.parametrize(
    ("caller", "found"), [(PLAY, []), (PLAY.replace("torch.no_grad()", "open('x')"), [9])]
)
def test_a_caller_in_the_folder_above(tmp_path: Path, caller: str, found: list[int]) -> None:
    """The call stands in another file, and reaches the refusal by way of a method in between."""
    (tmp_path / "parts").mkdir()
    file = tmp_path / "parts" / "generator.py"
    file.write_text(GENERATOR)
    (tmp_path / "play.py").write_text(caller)
    assert [one.place.row for one in check_paths([str(file)]).findings] == found


def test_calls_of_calls() -> None:
    rows = "def rollout(self):\n    return self.act()\n\ndef act(self):\n    return 1\n"
    assert "act" in called_without_graph([rows], {"rollout"})
    assert "act" not in called_without_graph([rows])
