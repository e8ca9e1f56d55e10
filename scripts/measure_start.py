"""Measure how long the first result takes, in CPU time, and write the figure into README.md.

usage: python scripts/measure_start.py [--write]

The time is that of `gradtrail check` on the program in README.md, less the time of an interpreter that does
nothing, each the median of 21 runs, with bytecode cached as an installation has it.
"""

from __future__ import annotations

import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from make_readme import PROGRAM, READMES, ROOT

README = READMES["en"]

RUNS = 21
FIGURE = re.compile(r"(<!-- start: [^\n]*-->\n)(?:[^\n]+\n)*")


def processor_time(command: list[str], status: int, folder: str, environment: dict[str, str]) -> float:
    """The CPU time of one run of `command`, which has to end with `status`, in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=False)
    if told.returncode != status:
        raise SystemExit(f"{command} exits with {told.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def first_result() -> tuple[float, float]:
    """The median CPU time of a bare interpreter, and of a check, in milliseconds."""
    program = PROGRAM.search(README.read_text(encoding="utf-8"))
    assert program is not None
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "train.py").write_text(program.group(1), encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        bare = [sys.executable, "-c", "pass"]
        start = "from gradtrail.integrations.command import console; console()"
        check = [sys.executable, "-c", start, "check", "train.py"]
        times: dict[str, list[float]] = {"bare": [], "check": []}
        for _ in range(RUNS + 1):
            times["bare"].append(processor_time(bare, 0, folder, environment))
            times["check"].append(processor_time(check, 1, folder, environment))
    return statistics.median(times["bare"][1:]), statistics.median(times["check"][1:])


def main() -> int:
    """Print the figure; with `--write` put it into README.md."""
    bare, check = first_result()
    sentence = (
        f"The report above took {check - bare:.0f} ms of CPU time after the interpreter's own start"
        f" ({bare:.0f} ms; Python {platform.python_version()})."
    )
    print(sentence)
    if "--write" in sys.argv[1:]:
        readme = README.read_text(encoding="utf-8")
        README.write_text(
            FIGURE.sub(lambda found: found.group(1) + sentence + "\n", readme), encoding="utf-8"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
