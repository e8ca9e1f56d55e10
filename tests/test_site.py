"""The site builds without a warning or a dead link, has a page for each rule and language, and names real commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gradtrail.findings.registry import all_rules
from gradtrail.integrations.command import COMMANDS

ROOT = Path(__file__).resolve().parent.parent


def test_the_site_builds() -> None:
    script = [sys.executable, str(ROOT / "scripts" / "make_site.py")]
    told = subprocess.run(script, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    for rule in all_rules():
        for ending in ("", ".zh_CN", ".ja"):
            assert (ROOT / "build" / "site" / "rules" / (rule.name + ending) / "index.html").exists()


@pytest.mark.parametrize("name", ["getting_started", "getting_started.zh_CN", "getting_started.ja"])
def test_the_commands_of_getting_started(name: str) -> None:
    lines = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8").splitlines()
    shown = [
        line.split("gradtrail ", 1)[1].split()[0]
        for line in lines
        if line.startswith("    ") and "gradtrail " in line
    ]
    assert {"check", "explain", "rule", "op", "why"} <= set(shown) <= set(COMMANDS)
