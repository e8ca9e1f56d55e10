"""Every fact that a `case.toml` states, put to torch: the error, its text and its line, or the proof.

A case runs in a forked process, so torch is imported once. Cases that start processes of their own
run in a fresh interpreter.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest

from .judge import HERE, case_folders, facts_of

CASES = [folder for name in ("loud_one", "loud_two", "silent") for folder in case_folders(name)]
NEEDED = {
    "raises": ["error_type", "error", "error_line"],
    "silent": ["proof"],
    "correct": ["looks_like"],
    "raises-on-gpu": [],
}
SECONDS = 100


@pytest.fixture(scope="session", autouse=True)
def _torch_is_warm() -> None:
    """Import once, before any fork, what most cases import."""
    import matplotlib
    import torch

    matplotlib.use("Agg")
    weight = torch.nn.Linear(1, 1)
    optimizer = torch.optim.Adam(weight.parameters())
    weight(torch.ones(1)).sum().backward()
    optimizer.step()


def outcome(path: Path, proof: str) -> dict[str, Any]:
    """What running the program gives: `proof` as true or false, or `type`, `text` and `line` of the exception."""
    return ran_alone(path, proof) if "distributed" in path.read_text(encoding="utf-8") else ran_forked(path, proof)


def ran_alone(path: Path, proof: str) -> dict[str, Any]:
    """The outcome in a fresh interpreter."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); from cases.test_cases_on_torch import tell; tell(*sys.argv[2:])"
    command = [sys.executable, "-W", "ignore", "-c", code, str(HERE.parent), str(path), proof]
    told = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, cwd=path.parent).stdout
    lines = [line for line in told.splitlines() if line.startswith("outcome: ")]
    return json.loads(lines[-1][9:]) if lines else {"type": "killed", "text": told[-300:], "line": None}


def tell(path: str, proof: str) -> None:
    """Run the program here and print the outcome as one line."""
    print("\noutcome: " + json.dumps(ran_here(Path(path), proof)))


def ran_forked(path: Path, proof: str) -> dict[str, Any]:
    """The outcome in a forked child, which is ended after `SECONDS`."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os.chdir(path.parent)
        os.write(writer, json.dumps(ran_here(path, proof)).encode()[:60000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return json.loads(told) if told else {"type": "killed", "text": f"no answer in {SECONDS} s", "line": None}


def ran_here(path: Path, proof: str) -> dict[str, Any]:
    """Run the program in this process."""
    import warnings

    import torch

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    sys.path.insert(0, str(path.parent))
    sys.argv = [str(path)]
    space = {"__name__": "__main__", "__file__": str(path)}
    try:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)
        return {"proof": bool(eval(proof, space))} if proof else {}
    except BaseException as error:  # noqa: BLE001 (a case may end in SystemExit as well)
        rows = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        return {"type": type(error).__name__, "text": str(error), "line": rows[-1] if rows else None}


def name_of(folder: Path) -> str:
    """The set and the case."""
    return f"{folder.parent.name}/{folder.name}"


@pytest.mark.parametrize("folder", CASES, ids=name_of)
def test_the_wrong_program_does_what_is_said(folder: Path) -> None:
    facts = facts_of(folder)
    if not facts.get("runs_here", True):
        return  # it needs a GPU: its facts were read, not run
    result = outcome(folder / "case.py", facts.get("proof", ""))
    if facts["kind"] == "raises":
        assert (result.get("type"), result.get("line")) == (facts["error_type"], facts["error_line"]), result
        assert facts["error"] in result["text"]
    elif facts["kind"] == "silent":
        assert result == {"proof": True}
    else:
        assert result == {}


@pytest.mark.parametrize("folder", [folder for folder in CASES if (folder / "fixed.py").exists()], ids=name_of)
def test_the_program_put_right_runs(folder: Path) -> None:
    facts = facts_of(folder)
    if facts.get("runs_here", True):
        proof = facts.get("proof", "") if facts["kind"] == "silent" else ""
        assert outcome(folder / "fixed.py", proof) == ({"proof": False} if proof else {})


@pytest.mark.parametrize("folder", CASES, ids=name_of)
def test_the_facts_are_complete(folder: Path) -> None:
    facts = facts_of(folder)
    wrong = facts["kind"] != "correct"
    needed = ["title", "kind", "why", *NEEDED[facts["kind"]], *(["family", "cause_line", "symbol", "fix"] if wrong else [])]
    assert [name for name in needed if name not in facts] == []
    assert (folder / "fixed.py").exists() == wrong
    if wrong and "cause_file" not in facts:
        assert (folder / "case.py").read_text(encoding="utf-8").splitlines()[facts["cause_line"] - 1].strip()
