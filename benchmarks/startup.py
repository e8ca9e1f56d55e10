"""Measure the start of `gradtrail check`: its CPU time beyond a bare interpreter's, and what it imports.

usage: python benchmarks/startup.py [--rounds N] [--file PROGRAM]

Without `--file` a program of nine lines with one mistake is checked. Bytecode is cached, as an
installation has it.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = """\
import torch

w = torch.randn(3, requires_grad=True) * 0.1
optimizer = torch.optim.SGD([w], lr=0.1)
for step in range(10):
    loss = (w**2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
IMPORTED = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \| ( *)(\S+)")
START = "from gradtrail.integrations.command import console; console()"
MOST_SHOWN = 15


def milliseconds(command: list[str], environment: dict[str, str]) -> float:
    """The CPU time of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def imports(command: list[str], environment: dict[str, str]) -> list[tuple[int, str]]:
    """The modules that a run imports beyond a bare interpreter's, with the microseconds of each."""
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    bare = subprocess.run(
        [*command[:3], "-c", "pass"], env=environment, capture_output=True, text=True, check=False
    )
    always = {found[4] for found in IMPORTED.finditer(bare.stderr)}
    taken = [(int(found[1]), found[4]) for found in IMPORTED.finditer(finished.stderr)]
    return sorted(((time, name) for time, name in taken if name not in always), reverse=True)


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--file", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        program = options.file or Path(scratch) / "train.py"
        if not options.file:
            program.write_text(PROGRAM, encoding="utf-8")
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "PYTHONPYCACHEPREFIX": str(Path(scratch) / "bytecode"),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        bare_command = [sys.executable, "-c", "pass"]
        check_command = [sys.executable, "-c", START, "check", str(program)]
        milliseconds(check_command, environment)
        bare = [milliseconds(bare_command, environment) for _ in range(options.rounds)]
        check = [milliseconds(check_command, environment) for _ in range(options.rounds)]
        print(f"a bare interpreter  {min(bare):6.1f} ms of CPU time, best of {options.rounds}")
        print(f"gradtrail check     {min(check):6.1f} ms")
        print(f"beyond the start    {min(check) - min(bare):6.1f} ms")
        timed = [sys.executable, "-X", "importtime", "-c", START, "check", str(program)]
        found = imports(timed, environment)
    whole = sum(time for time, _ in found) / 1000
    print(f"\n{len(found)} modules imported, {whole:.1f} ms by themselves; the slowest:")
    for time, name in found[:MOST_SHOWN]:
        print(f"  {time / 1000:6.1f} ms  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
