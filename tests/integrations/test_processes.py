"""Several processes find what one finds, and tell what goes wrong as one does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradtrail.findings import processes

LONG_AGO = 1_600_000_000
MANY = 50

LOOP = """\
import torch
from shared import start
w = start()
loss = (w * {number}).sum()
loss.backward()
loss.backward()
"""
BROKEN = {
    "broken.py": "import torch\ndef (:\n",
    "cells.ipynb": '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
    "binary.py": "import torch\0",
}

COMMAND = """
import os, signal, sys
from gradtrail.findings import engine
from gradtrail.integrations import command
PARENT = os.getpid()
hear = engine._Run.hear
def told(self, filename):
    where = "HERE" if os.getpid() == PARENT else "THERE"
    sys.stderr.write(f"{where} {filename}\\n")
    sys.stderr.flush()
    %s
    hear(self, filename)
engine._Run.hear = told
sys.argv[1:] = ["check", *sys.argv[1:]]
command.console()
"""

pytestmark = pytest.mark.skipif(processes.there_may_be(2) < 2, reason="no process can be forked here")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    texts = {f"loop_{number}.py": LOOP.format(number=number) for number in range(MANY)} | BROKEN
    texts["shared.py"] = "import torch\ndef start():\n    return torch.ones(2, requires_grad=True)\n"
    for name, text in texts.items():
        (folder / name).write_text(text)
    for path in (*folder.iterdir(), folder):
        os.utime(path, (LONG_AGO, LONG_AGO))
    return folder


def run(folder: Path, number: int, *arguments: str, then: str = "", cache: str = "") -> tuple[str, list[str]]:
    """The status and output with so many processes, and which files were interpreted where."""
    environment = {**os.environ, "GRADTRAIL_CACHE_DIR": cache, "GRADTRAIL_PROCESSES": str(number)}
    environment.pop("GRADTRAIL_STRICT", None)
    done = subprocess.run(
        [sys.executable, "-c", COMMAND % then, *arguments],
        check=False,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    rows = [row for row in done.stderr.splitlines() if row.startswith(("HERE ", "THERE "))]
    return f"{done.returncode}\n{done.stdout}", rows


@pytest.mark.parametrize("form", ["terminal", "json", "concise", "markdown"])
def test_how_many_there_are_does_not_show(project: Path, form: str) -> None:
    options = ("--output-format", form)
    alone, here = run(project, 1, *options)
    assert all(row.startswith("HERE ") for row in here) and len(here) > MANY
    together, rows = run(project, 3, *options)
    assert together == alone and "broken.py" in alone and "binary.py" in alone
    assert sum(row.startswith("THERE ") for row in rows) > MANY


def test_few_files_are_not_shared_out(project: Path) -> None:
    _, rows = run(project, 3, *(f"loop_{number}.py" for number in range(10)))
    assert all(row.startswith("HERE ") for row in rows)


def test_a_mistake_of_ours_is_told(project: Path) -> None:
    then = "assert 'loop_7.py' not in filename"
    alone, _ = run(project, 1, then=then)
    assert "internal error" in alone and alone.startswith("3\n")
    assert run(project, 3, then=then)[0] == alone


def test_what_a_process_has_not_told_its_parent_does(project: Path) -> None:
    then = "os.getpid() != PARENT and 'loop_7.py' in filename and os.kill(os.getpid(), signal.SIGKILL)"
    together, rows = run(project, 3, then=then)
    assert together == run(project, 1)[0]
    assert any(row.startswith("HERE ") and "loop_7.py" in row for row in rows)


def test_what_they_found_is_remembered(project: Path) -> None:
    cache = str(project.parent / "kept")
    first, _ = run(project, 3, cache=cache)
    assert run(project, 3, cache=cache) == (first, [])
    (project / "loop_7.py").write_text(LOOP.format(number=70))
    os.utime(project / "loop_7.py", (LONG_AGO + 1, LONG_AGO + 1))
    changed, rows = run(project, 3, cache=cache)
    assert changed == run(project, 1)[0]
    assert {os.path.basename(row) for row in rows} == {"loop_7.py", "broken.py"}  # a paste is looked at anew
