"""Random programs: the same few in each run of the tests, and as many others as are asked for by hand."""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from hypothesis import HealthCheck, given, seed, settings
from hypothesis.strategies import SearchStrategy

SETTINGS = settings(
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
"""In a test the programs are always the same, and none is kept for the next run."""


class Coverage(Protocol):
    """Counts what programs were made of."""

    def lines(self) -> Iterator[str]:
        """What is told at the end of a run."""
        ...


def run_long(
    about: str | None, programs: SearchStrategy[Any], agrees: Callable[[Any], None], coverage: Coverage
) -> int:
    """Run as many programs as the command line asks for, other ones each time; the exit status comes back.

    A program that does not agree is shrunk and printed.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    long = settings(SETTINGS, derandomize=False, max_examples=options.examples)
    try:
        seed(options.seed)(long(given(programs)(agrees)))()
    except AssertionError as error:
        print(error)
        return 1
    finally:
        print("\n".join(coverage.lines()))
    return 0
