"""What a check has printed is printed again while nothing has changed, and only then."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradtrail.integrations import remembered

PROGRAM = """\
import torch
from helper import start
optimizer = torch.optim.SGD([start() * 0.01], lr=0.1)
"""
HELPER = "import torch\ndef start():\n    return torch.randn(3, requires_grad=True)\n"
LONG_AGO = 1_600_000_000


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A program in two files that were written long ago."""
    folder = tmp_path / "project"
    (folder / "empty").mkdir(parents=True)
    (folder / "train.py").write_text(PROGRAM)
    (folder / "helper.py").write_text(HELPER)
    _age(folder)
    return folder


def _age(folder: Path, seconds: int = 0) -> None:
    for path in (folder, *folder.rglob("*")):
        os.utime(path, (LONG_AGO + seconds, LONG_AGO + seconds))


class Run:
    """One run of the command, with a hook that counts what is interpreted."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        environment = {**os.environ, "GRADTRAIL_CACHE_DIR": str(folder.parent / "kept")}
        environment.pop("GRADTRAIL_STRICT", None)
        done = subprocess.run(
            [sys.executable, "-v", "-m", "gradtrail", "check", *arguments],
            check=False,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        self.output, self.status = done.stdout, done.returncode
        self.anew = "import 'gradtrail.findings.engine'" in done.stderr


def test_the_same_is_printed_again(project: Path) -> None:
    first, second = Run(project), Run(project)
    assert "non-leaf-in-optimizer" in first.output
    assert first.anew and not second.anew
    assert (second.output, second.status) == (first.output, first.status) == (first.output, 1)


def test_a_changed_file_is_looked_at(project: Path) -> None:
    Run(project)
    (project / "train.py").write_text(PROGRAM.replace(" * 0.01", ""))
    _age(project, 5)
    run = Run(project)
    assert run.anew and run.status == 0


def test_what_is_imported_counts(project: Path) -> None:
    Run(project, "train.py")
    (project / "helper.py").write_text(HELPER.replace("requires_grad=True", "requires_grad=False"))
    _age(project, 5)
    assert Run(project, "train.py").anew


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("empty/new.py", "import torch\n"),
        (".gitignore", "train.py\n"),
        ("pyproject.toml", "[tool.gradtrail]\nignore = ['non-leaf-in-optimizer']\n"),
        ("helper/__init__.py", "def start():\n    return 1\n"),
    ],
)
def test_what_was_not_there_counts(project: Path, name: str, text: str) -> None:
    Run(project)
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text(text)
    assert Run(project).anew


def test_other_arguments_are_another_run(project: Path) -> None:
    Run(project)
    assert Run(project, "--output-format", "concise").anew
    assert not Run(project).anew


def test_what_was_just_written_is_not_kept(project: Path) -> None:
    (project / "train.py").write_text(PROGRAM)
    Run(project)
    assert Run(project).anew


def test_it_can_be_left_out(project: Path) -> None:
    Run(project)
    assert Run(project, "--no-cache").anew
    assert not Run(project).anew


@pytest.mark.parametrize(
    "broken", ["", "x", "gradtrail remembers 1\n", "\x00" * 50, "gradtrail remembers 1\nk\n1\n9\n"]
)
def test_a_broken_memory_is_no_memory(project: Path, broken: str) -> None:
    first = Run(project)
    for file in (project.parent / "kept").iterdir():
        file.write_text(broken)
    second = Run(project)
    assert second.anew and second.output == first.output


def test_nothing_is_written_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GRADTRAIL_STRICT", raising=False)
    monkeypatch.setenv("GRADTRAIL_CACHE_DIR", "")
    assert remembered.memory([], "en") is None
    monkeypatch.setenv("GRADTRAIL_CACHE_DIR", str(tmp_path))
    assert remembered.memory([], "en") is not None
    for argument in ("-", "--fix", "--diff", "--no-cache", "--write-baseline=x"):
        assert remembered.memory([argument], "en") is None
