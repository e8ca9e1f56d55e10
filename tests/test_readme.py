"""What the README shows is what gradtrail says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def test_the_report_is_not_stale() -> None:
    script = [sys.executable, str(ROOT / "scripts" / "make_readme.py"), "--check"]
    told = subprocess.run(script, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def commands_in(name: str) -> list[str]:
    """The command lines that a README shows, without what is said of them."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [line[4:44].strip() for line in lines if line.startswith("    ") and "gradtrail " in line]


@pytest.mark.parametrize("name", ["README.md", "README.zh_CN.md", "README.ja.md"])
def test_every_command_it_names_exists(name: str) -> None:
    from gradtrail.integrations.command import COMMANDS

    named = {line.split("gradtrail ")[1].split()[0] for line in commands_in(name) if "gradtrail " in line}
    assert named <= set(COMMANDS)
    assert named


def test_the_readmes_show_the_same() -> None:
    assert commands_in("README.zh_CN.md") == commands_in("README.ja.md") == commands_in("README.md")
