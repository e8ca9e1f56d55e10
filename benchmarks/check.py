"""Measure what `gradtrail check` costs over whole repositories, against `ast.parse` and other tools.

usage: python benchmarks/check.py [--rounds N] [--sample N] [--torchfix PYTHON] [--json FILE] REPOSITORY...

Each measurement is a process of its own; its user and system time count, the start of the interpreter and
the processes that it starts included. The best of several rounds is told. What is measured:

    ast.parse    read and parse every Python file that `check` would look at
    check        `gradtrail check` on the folder for the first time; what it prints is remembered
    again        the same once more, when nothing has changed
    one process  the same as `check`, in one process and with nothing remembered
    one changed  `check` after one file has changed, in a copy of the folder
    everything   the same with GRADTRAIL_EVERYTHING=1: no byte filter, every file is interpreted
    pyflakes     `pyflakes` on the folder, when it is installed
    TorchFix     `torchfix` on a sample of the torch files, when PYTHON has it; the sample is also parsed
                 and checked
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

PARSE = """
import ast, sys, warnings
warnings.simplefilter("ignore")
for path in open(sys.argv[1], encoding="utf-8").read().splitlines():
    try:
        with open(path, "rb") as file:
            ast.parse(file.read())
    except (SyntaxError, ValueError, RecursionError, OSError):
        pass
"""
SMALL_SAMPLE = 100
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"


class Cost(NamedTuple):
    """CPU time in seconds, the most memory of a process in megabytes, and the seconds that it took by the clock."""

    seconds: float
    megabytes: float
    wall: float


class Repository(NamedTuple):
    """What is measured: its files, and what is told of it."""

    folder: Path
    commit: str
    files: list[str]
    lines: int
    torch_files: list[str]


def files_of(folder: Path) -> list[str]:
    """The Python files that `check` would look at, the ignored ones left out."""
    from gradtrail.source.files import discover

    found = [path for path in discover([str(folder)]) if isinstance(path, str)]
    return [path for path in found if path.endswith(".py")]


def repository(folder: Path) -> Repository:
    """What is to be told of a repository."""
    files = files_of(folder)
    texts = {path: Path(path).read_bytes() for path in files}
    head = subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "--short=12", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    )
    return Repository(
        folder=folder,
        commit=head.stdout.strip() or "no commit",
        files=files,
        lines=sum(text.count(b"\n") for text in texts.values()),
        torch_files=[path for path, text in texts.items() if b"torch" in text],
    )


def cost(command: list[str], **environment: str) -> Cost:
    """Run the command once. A status other than 0 and 1 is told, as the figure may then say little."""
    with open(os.devnull, "wb") as quiet, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=quiet,
            stderr=errors,
            cwd=tempfile.gettempdir(),
            env={**{name: value for name, value in os.environ.items() if name != NO_BYTECODE}, **environment},
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            errors.seek(0)
            last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
            print(f"  status {process.returncode} of {' '.join(command[:5])} ...: {' '.join(last)[:200]}")
    scale = 1024 * 1024 if sys.platform == "darwin" else 1024
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / scale, wall)


def best(rounds: int, command: list[str], **environment: str) -> Cost:
    """The cheapest of several rounds; the memory of the most expensive one."""
    return cheapest([cost(command, **environment) for _ in range(rounds)])


def cheapest(costs: list[Cost]) -> Cost:
    """The times of the cheapest of several rounds; the memory of the most expensive one."""
    return Cost(
        min(each.seconds for each in costs),
        max(each.megabytes for each in costs),
        min(each.wall for each in costs),
    )


def parse_command(files: list[str], folder: str) -> list[str]:
    """The command that parses the files."""
    listing = Path(folder) / f"{len(files)}-{abs(hash(tuple(files)))}.txt"
    listing.write_text("\n".join(files), encoding="utf-8")
    return [sys.executable, "-c", PARSE, str(listing)]


RECHECK = """
import gc, sys, time
from gradtrail.findings.engine import check_paths
times = []
for _ in range(4):
    start = time.process_time()
    check_paths([sys.argv[1]])
    times.append(time.process_time() - start)
print(min(times[1:]))
"""


def recheck(repository: Repository, paths: dict[str, str]) -> None:
    """Print what it takes to look again, in a process that lives on, at the file of about a thousand lines."""
    torch_files = [
        (abs(Path(path).read_bytes().count(b"\n") - 1000), path) for path in repository.torch_files
    ]
    if not torch_files:
        return
    _, path = min(torch_files)
    done = subprocess.run(
        [sys.executable, "-c", RECHECK, path],
        env={**os.environ, **paths},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = Path(path).read_bytes().count(b"\n")
    print(
        f"  {Path(path).name}, {lines} lines, again in one process: {float(done.stdout or 0) * 1000:.0f} ms"
    )


def after_a_change(repository: Repository, scratch: str, paths: dict[str, str]) -> Cost:
    """What a check costs after a line was added to the torch file in the middle; the check before is not counted."""
    copy = Path(scratch) / "copies" / repository.folder.name
    shutil.copytree(repository.folder, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    check = [sys.executable, "-m", "gradtrail", "check", "--output-format", "json", str(copy)]
    kept = {"GRADTRAIL_CACHE_DIR": str(copy) + "-kept", **paths}
    cost(check, **kept)
    middle = repository.torch_files[len(repository.torch_files) // 2]
    changed = copy / Path(middle).relative_to(repository.folder)
    long_ago = changed.stat().st_mtime - 60
    changed.write_bytes(changed.read_bytes() + b"\n_added = 1\n")
    os.utime(changed, (long_ago, long_ago))
    return cost(check, **kept)


def measured(repository: Repository, options: argparse.Namespace, scratch: str) -> dict[str, Cost]:
    """Every measurement of a repository, by name."""
    paths = {"PYTHONPATH": str(ROOT / "src"), "PYTHONPYCACHEPREFIX": str(Path(scratch) / "bytecode")}
    # An installation writes the bytecode.
    cost([sys.executable, "-m", "compileall", "-q", str(ROOT / "src")], **paths)
    check = [sys.executable, "-m", "gradtrail", "check", "--output-format", "json", str(repository.folder)]
    costs = {"ast.parse": best(options.rounds, parse_command(repository.files, scratch))}
    kept = [str(Path(scratch) / f"{repository.folder.name}-{number}") for number in range(options.rounds)]
    costs["check"] = cheapest([cost(check, GRADTRAIL_CACHE_DIR=folder, **paths) for folder in kept])
    costs["again"] = cheapest([cost(check, GRADTRAIL_CACHE_DIR=folder, **paths) for folder in kept])
    costs["one process"] = best(
        options.rounds, check, GRADTRAIL_PROCESSES="1", GRADTRAIL_CACHE_DIR="", **paths
    )
    costs["one changed"] = after_a_change(repository, scratch, paths)
    costs["everything"] = best(1, check, GRADTRAIL_EVERYTHING="1", GRADTRAIL_CACHE_DIR="", **paths)
    recheck(repository, paths)
    if importlib.util.find_spec("pyflakes"):
        costs["pyflakes"] = best(1, [sys.executable, "-m", "pyflakes", str(repository.folder)])
    if options.torchfix:
        sample = sorted(
            random.Random(0).sample(repository.torch_files, min(options.sample, len(repository.torch_files)))
        )
        costs["ast.parse, sample"] = best(options.rounds, parse_command(sample, scratch))
        costs["check, sample"] = best(options.rounds, [*check[:-1], *sample], **paths)
        costs["TorchFix, sample"] = best(1, [options.torchfix, "-m", "torchfix", "--select", "ALL", *sample])
    return costs


def table(rows: dict[str, Cost]) -> list[str]:
    """The measurements as lines, each with its ratio to parsing the same files."""
    lines = [f"  {'':20} {'CPU s':>8} {'× parse':>8} {'MB':>7} {'clock s':>8}"]
    for name, each in rows.items():
        whole = rows["ast.parse, sample" if name.endswith("sample") else "ast.parse"].seconds
        lines.append(
            f"  {name:20} {each.seconds:8.2f} {each.seconds / whole:8.2f} {each.megabytes:7.0f} {each.wall:8.2f}"
        )
    return lines


def total(all_rows: list[dict[str, Cost]]) -> dict[str, Cost]:
    """The sums of the times and the maxima of the memory, over what every repository has."""
    names = [name for name in all_rows[0] if all(name in rows for rows in all_rows)]
    return {
        name: Cost(
            sum(rows[name].seconds for rows in all_rows),
            max(rows[name].megabytes for rows in all_rows),
            sum(rows[name].wall for rows in all_rows),
        )
        for name in names
    }


def main() -> int:
    """Measure every repository, print a table for each and one for all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPOSITORY")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sample", type=int, default=SMALL_SAMPLE, help="files for TorchFix")
    parser.add_argument("--torchfix", metavar="PYTHON", help="an interpreter that has TorchFix")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, best of {options.rounds} rounds, CPU time of whole processes")
    told, all_rows = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for folder in options.repositories:
            each = repository(folder.resolve())
            share = len(each.torch_files) / max(1, len(each.files))
            print(
                f"\n{folder.name} at {each.commit}: {len(each.files)} files, {each.lines} lines,"
                f" {share:.0%} of the files say torch",
                flush=True,
            )
            rows = measured(each, options, scratch)
            print("\n".join(table(rows)), flush=True)
            all_rows.append(rows)
            figures = {name: row._asdict() for name, row in rows.items()}
            told.append(
                {"name": folder.name, "commit": each.commit, "files": len(each.files), "lines": each.lines}
                | {"torch_files": len(each.torch_files), "costs": figures}
            )
    if len(all_rows) > 1:
        print("\nall together")
        print("\n".join(table(total(all_rows))))
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
