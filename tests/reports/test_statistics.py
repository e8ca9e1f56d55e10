"""How often each rule found something."""

from __future__ import annotations

from gradtrail.findings.diagnostic import NotLookedAt
from gradtrail.laws.text import text
from gradtrail.reports.statistics import render
from reports.sample import FINDING


def test_the_most_frequent_comes_first() -> None:
    rare = FINDING._replace(rule="rare", severity="warning")
    also_rare = FINDING._replace(rule="also-rare")
    left_out = [NotLookedAt("/a/bad.py", text("no such file or folder"))]
    assert render([rare, *[FINDING] * 12, also_rare], left_out, 3, "/a") == (
        "12  error    non-leaf-in-optimizer\n"
        " 1  error    also-rare\n"
        " 1  warning  rare\n"
        "bad.py: not looked at: no such file or folder\n"
        "Found 13 errors and 1 warning in 3 files.\n"
    )


def test_nothing_found() -> None:
    assert render([], [], 0) == "Nothing was looked at.\n"
    assert render([], [], 2) == "Found nothing in 2 files.\n"
