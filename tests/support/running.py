"""Run a program on torch, apart from the tests' own process, and tell what happened.

A program runs in a forked child, so torch is imported once. A program that starts processes of its
own runs in a fresh interpreter instead.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

TESTS = Path(__file__).resolve().parent.parent
SECONDS = 100
"""A program that has not ended by then counts as raising "killed"."""

STARTS_PROCESSES = ("torch.distributed", "multiprocessing")


class Outcome(NamedTuple):
    """How a program ended: the value of the proof (None: none was asked for), or the exception.

    `row` is the innermost row of the program's own file in the traceback. `inner_file` and `inner_row`
    are the innermost place in any file of the program's folder.
    """

    proof: bool | None = None
    error_type: str = ""
    text: str = ""
    row: int | None = None
    inner_file: str = ""
    inner_row: int | None = None

    @property
    def raised(self) -> bool:
        """Whether it ended with an exception."""
        return bool(self.error_type)


def outcome(path: Path, proof: str = "") -> Outcome:
    """Run the program at `path` as `__main__`.

    When it ended well the expression `proof` is evaluated in its namespace.
    """
    source = path.read_text(encoding="utf-8")
    if any(word in source for word in STARTS_PROCESSES) or not hasattr(os, "fork"):
        return ran_alone(path, proof)
    return ran_forked(path, proof)


def outcome_of_text(source: str, folder: Path, proof: str = "") -> Outcome:
    """The same for source text, written to a file in `folder` first."""
    path = folder / "program.py"
    path.write_text(source, encoding="utf-8")
    return outcome(path, proof)


def ran_alone(path: Path, proof: str) -> Outcome:
    """The outcome in a fresh interpreter."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from support.running import tell; tell(*sys.argv[2:])"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, str(TESTS), str(path), proof]
    finished = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, cwd=path.parent, check=False
    )
    lines = [line for line in finished.stdout.splitlines() if line.startswith("outcome: ")]
    return Outcome(*json.loads(lines[-1][9:])) if lines else Outcome(None, "killed", finished.stderr[-300:])


def tell(path: str, proof: str) -> None:
    """Run the program here and print its outcome as one line."""
    print("\noutcome: " + json.dumps(ran_here(Path(path), proof)))


def ran_forked(path: Path, proof: str) -> Outcome:
    """The outcome in a forked child, which is ended after `SECONDS`."""
    told = in_a_child(path.parent, lambda: ran_here(path, proof))
    return Outcome(*told) if told is not None else Outcome(None, "killed", f"no answer in {SECONDS} s")


def in_a_child(folder: Path, function: Callable[[], Any]) -> Any:
    """What `function` returns in a forked child that works in `folder`, by way of JSON; None where no answer came."""
    import_what_programs_import()
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of a fork while there are threads; ours are idle
        child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os.chdir(folder)
        try:
            told = json.dumps([function(), ""])
        except BaseException:
            told = json.dumps([None, traceback.format_exc()])
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(told.encode())
        os._exit(0)  # the child is no second run of the tests
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    answer, raised = json.loads(told) if told else (None, "")
    assert not raised, raised
    return answer


@functools.cache
def import_what_programs_import() -> None:
    """Import once, before the first fork, what most programs need: an optimizer imports half of torch."""
    import matplotlib
    import torch

    matplotlib.use("Agg")
    weight = torch.nn.Linear(1, 1)
    optimizer = torch.optim.Adam(weight.parameters())
    weight(torch.ones(1)).sum().backward()
    optimizer.step()


def ran_here(path: Path, proof: str) -> Outcome:
    """Run the program in this process."""
    import torch

    os.environ.setdefault("MPLBACKEND", "Agg")
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)  # after a fork, OpenMP's pool of the parent is not there any more
    sys.path.insert(0, str(path.parent))
    sys.argv = [str(path)]
    space: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
    try:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)
        return Outcome(bool(eval(proof, space)) if proof else None)
    except BaseException as error:
        own = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if folder_of(frame) == str(path.parent)
        ]
        rows = [frame.lineno for frame in own if frame.filename == str(path)]
        inner = (os.path.basename(own[-1].filename), own[-1].lineno) if own else ("", None)
        return Outcome(None, type(error).__name__, str(error), rows[-1] if rows else None, *inner)


def folder_of(frame: traceback.FrameSummary) -> str:
    """The folder of the file that a frame of a traceback is in."""
    return os.path.dirname(os.path.abspath(frame.filename))
