"""After a change only the files that depend on it are looked at again, and the output is as without a memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

LONG_AGO = 1_600_000_000

FILES = {
    "train.py": """\
import torch
from helper import start
optimizer = torch.optim.SGD([start() * 0.01], lr=0.1)
""",
    "helper.py": """\
import torch
from package.deeper import shape
def start():
    return torch.randn(shape(), requires_grad=True)
""",
    "package/__init__.py": "",
    "package/deeper.py": "def shape():\n    return 3\n",
    "alone.py": """\
import torch
w = torch.ones(2, requires_grad=True)
loss = (w * 2).sum()
loss.backward()
loss.backward()
""",
    "hidden.py": """\
import torch
w = torch.ones(2, requires_grad=True)  # gradtrail: ignore[second-backward]
loss = (w * 2).sum()
loss.backward()
loss.backward()  # gradtrail: ignore[second-backward]
""",
    "plain.py": "x = 1\n",
    "cells.ipynb": """{"cells": [{"cell_type": "code", "metadata": {}, "execution_count": null, "outputs": [],
"source": ["import torch\\n", "w = torch.ones(2, requires_grad=True)\\n", "w.numpy()"]}],
"metadata": {}, "nbformat": 4, "nbformat_minor": 5}""",
}

COMMAND = """
import sys
from gradtrail.findings import engine
from gradtrail.integrations import command
hear = engine._Run.hear
def told(self, filename):
    sys.stderr.write(f"HEARD {filename}\\n")
    hear(self, filename)
engine._Run.hear = told
sys.argv[1:] = ["check", *sys.argv[1:]]
command.console()
"""


class Project:
    """A folder of programs that were written long ago, and the runs of the command there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._age = 0
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        """Write a file so that its time differs from before."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self._age += 1
        for each in (path, *path.relative_to(self.folder).parents):
            os.utime(self.folder / each, (LONG_AGO + self._age, LONG_AGO + self._age))

    def run(self, *arguments: str) -> tuple[str, set[str]]:
        """The output of a run, and the names of the files that were interpreted."""
        environment = {**os.environ, "GRADTRAIL_CACHE_DIR": str(self.folder.parent / "kept")}
        environment.pop("GRADTRAIL_STRICT", None)
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, *arguments],
            check=False,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        rows = done.stderr.splitlines()
        heard = {os.path.basename(row[6:]) for row in rows if row.startswith("HEARD ")}
        assert "Traceback" not in done.stderr, done.stderr
        return f"{done.returncode}\n{done.stdout}", heard

    def again(self, *arguments: str) -> set[str]:
        """What was interpreted in a run, which prints the same as one without a memory."""
        output, heard = self.run(*arguments)
        assert output == self.run("--no-cache", *arguments)[0]
        return heard


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


TORCH = {"train.py", "helper.py", "alone.py", "hidden.py", "cells.ipynb"}


@pytest.mark.parametrize("form", ["terminal", "json", "concise", "markdown"])
def test_only_what_depends_on_a_change_is_looked_at(project: Project, form: str) -> None:
    options = ("--output-format", form)
    assert project.again(*options) == TORCH
    assert project.again(*options) == set()
    project.write("alone.py", FILES["alone.py"] + "print(w)\n")
    assert project.again(*options) == {"alone.py"}
    project.write("package/deeper.py", "def shape():\n    return 4\n")
    assert project.again(*options) == {"train.py", "helper.py"}
    project.write("cells.ipynb", FILES["cells.ipynb"].replace("w.numpy", '\\n", "w.numpy'))
    assert project.again(*options) == {"cells.ipynb"}
    project.write("plain.py", "import torch\nloss = torch.ones(1).sum()\nloss.backward()\n")
    assert project.again(*options) == {"plain.py"}


def test_a_finding_goes_with_what_it_comes_from(project: Project) -> None:
    assert "non-leaf-in-optimizer" in project.run()[0]
    project.write("helper.py", FILES["helper.py"].replace("True", "False"))
    project.again()


def test_comments_hide_as_before(project: Project) -> None:
    first, _ = project.run("--output-format", "concise")
    assert "unused-ignore" in first and "hidden.py:5" not in first
    project.write("hidden.py", FILES["hidden.py"].replace("  # gradtrail: ignore[second-backward]", "", 1))
    assert project.again("--output-format", "concise") == {"hidden.py"}
    project.write("alone.py", FILES["alone.py"] + "\n")
    assert project.again("--output-format", "concise") == {"alone.py"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("helper/__init__.py", "def start():\n    return 1\n"),
        ("pyproject.toml", "[tool.gradtrail]\nignore = ['non-leaf-in-optimizer']\n"),
        (".gitignore", "alone.py\n"),
    ],
)
def test_what_was_not_there_counts(project: Project, name: str, text: str) -> None:
    project.run()
    project.write(name, text)
    project.again()


def test_a_file_that_is_gone_is_gone(project: Project) -> None:
    project.run()
    (project.folder / "helper.py").unlink()
    project.again()


@pytest.mark.parametrize("broken", ["", "x", "[]", '["gradtrail files 1", "k", [], [], []]', "\x00" * 50])
def test_a_broken_memory_is_no_memory(project: Project, broken: str) -> None:
    project.run()
    for file in (project.folder.parent / "kept").glob("*"):
        file.write_text(broken)
    assert project.again() == TORCH
