"""Random programs on torch and on tiny: the same numbers, the same facts, the same refusals."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from .both import Coverage, differences, told
from .programs import Program, programs

COVERAGE = Coverage()

SETTINGS = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=400,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


def agree(program: Program) -> None:
    """Fail with the program when tiny does something else than torch."""
    found = differences(program, COVERAGE)
    assert not found, told(program, found)


@SETTINGS
@given(programs())
def test_tiny_does_what_torch_does(program: Program) -> None:
    agree(program)
