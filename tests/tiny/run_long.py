"""Run many random programs on torch and on tiny, other ones each time.

usage: python tests/tiny/run_long.py [--examples N] [--seed N]

A program on which they differ is shrunk and printed; the exit status is then 1.
"""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS.parent / "src")]

from support.random_runs import run_long  # noqa: E402
from tiny.programs import programs  # noqa: E402
from tiny.test_random_programs import COVERAGE, agree  # noqa: E402

if __name__ == "__main__":
    sys.exit(run_long(__doc__, programs(), agree, COVERAGE))
