"""Run many random programs both ways, other ones each time.

usage: python tests/random_programs/run_long.py [--examples N] [--seed N]

A program that does not agree is shrunk and printed; the exit status is then 1.
"""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS.parent / "src")]

from random_programs.programs import programs  # noqa: E402
from random_programs.test_random_programs import BOTH_WAYS, agrees  # noqa: E402
from support.random_runs import run_long  # noqa: E402

if __name__ == "__main__":
    sys.exit(run_long(__doc__, programs(), agrees, BOTH_WAYS))
