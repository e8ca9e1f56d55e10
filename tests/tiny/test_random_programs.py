"""Random programs on torch and on tiny: the same numbers, the same facts, the same refusals."""

from __future__ import annotations

from hypothesis import given, settings

from support.random_runs import SETTINGS

from .both import Coverage, differences, told
from .programs import Program, programs

COVERAGE = Coverage()


def agree(program: Program) -> None:
    """Fail with the program when tiny does something else than torch."""
    found = differences(program, COVERAGE)
    assert not found, told(program, found)


@settings(SETTINGS, max_examples=400)
@given(programs())
def test_tiny_does_what_torch_does(program: Program) -> None:
    agree(program)
