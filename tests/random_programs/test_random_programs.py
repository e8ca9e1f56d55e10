"""Random programs run both ways: what the interpreter states is true, and what it says raises, raises.

`python tests/random_programs/run_long.py` runs as many programs as are asked for.
"""

from __future__ import annotations

from hypothesis import given, settings

from support.random_runs import SETTINGS

from .both_ways import Coverage, disagreements, explained, torch_runs
from .programs import ALL_NAMES, Program, programs

ON_TORCH = Coverage()
BOTH_WAYS = Coverage()

REFUSALS = {
    "backward-no-grad-fn",
    "backward-non-scalar",
    "backward-twice",
    "deepcopy-non-leaf",
    "detach-view-in-place",
    "flag-of-non-leaf",
    "inference-in-place",
    "inference-saved",
    "leaf-in-place",
    "leaf-view-in-place",
    "multi-view-in-place",
    "no-grad-view-in-place",
    "non-leaf-optimizer",
    "numpy-requires-grad",
    "retain-grad-of-untracked",
    "saved-modified",
}
"""What the programs have to bring about, for a run to be worth its time."""


def agrees(program: Program) -> None:
    """Fail with the program when the two ways do not agree."""
    wrong = disagreements(program, BOTH_WAYS)
    assert not wrong, explained(program, wrong)


@settings(SETTINGS, max_examples=300)
@given(programs())
def test_both_ways_agree(program: Program) -> None:
    agrees(program)


@settings(SETTINGS, max_examples=1000)
@given(programs())
def run_on_torch(program: Program) -> None:
    """Run the program on torch. It may be refused, but not by a slip of the writer."""
    for record in torch_runs(program, {}, ON_TORCH):
        slip = (record.ended_by or "").split(":")[0]
        assert slip not in (
            "NameError",
            "UnboundLocalError",
            "SyntaxError",
            "AttributeError",
            "IndexError",
        ), explained(program, [str(record.ended_by)])


def test_the_programs_are_worth_running() -> None:
    run_on_torch()
    assert len(ALL_NAMES - set(ON_TORCH.operations)) <= len(ALL_NAMES) // 20
    assert {*ON_TORCH.refusals, *ON_TORCH.caught} >= REFUSALS
    assert ON_TORCH.reveals > 5 * ON_TORCH.programs
