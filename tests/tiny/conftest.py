"""Tells at the end of a run how many of the rules' loud examples tiny can run."""

from __future__ import annotations

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line with the counts, and one with what tiny lacks for the others."""
    told = [
        value
        for outcome in ("passed", "skipped")
        for report in terminalreporter.getreports(outcome)
        for name, value in report.user_properties
        if name == "tiny"
    ]
    if told:
        run = told.count("runs")
        terminalreporter.section("loud examples on tiny")
        terminalreporter.write_line(f"{run} of {len(told)} run, with the error that torch raises")
        for why in sorted(set(told) - {"runs"}):
            terminalreporter.write_line(f"  {why}")
