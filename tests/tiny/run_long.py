"""Run many random programs on torch and on tiny, other ones each time.

usage: python tests/tiny/run_long.py [--examples N] [--seed N]

A program on which they differ is shrunk and printed; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS.parent / "src")]
sys.path.remove(str(TESTS / "tiny"))


def main() -> int:
    """Run the programs and tell what they were made of."""
    from hypothesis import given, seed, settings

    from tiny.programs import programs
    from tiny.test_random_programs import COVERAGE, SETTINGS, agree

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--examples", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    long = settings(SETTINGS, derandomize=False, max_examples=options.examples)
    try:
        seed(options.seed)(long(given(programs())(agree)))()
    except AssertionError as error:
        print(error)
        return 1
    finally:
        print("\n".join(COVERAGE.lines()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
