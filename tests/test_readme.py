"""What the README shows is what gradtrail says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_report_is_not_stale() -> None:
    script = [sys.executable, str(ROOT / "scripts" / "make_readme.py"), "--check"]
    told = subprocess.run(script, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def test_every_command_it_names_exists() -> None:
    from gradtrail.integrations.command import COMMANDS

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = {
        line.split("gradtrail ")[1].split()[0] for line in readme.splitlines() if "    gradtrail " in line
    }
    assert named <= set(COMMANDS)
    assert named
