"""Tells at the end of a run what the random programs were made of."""

from __future__ import annotations

from typing import Any

from .test_random_programs import BOTH_WAYS, ON_TORCH


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The coverage of the generator, for the tests that ran."""
    for title, coverage in (("on torch", ON_TORCH), ("both ways", BOTH_WAYS)):
        if coverage.programs:
            terminalreporter.section(f"random programs {title}")
            for line in coverage.lines():
                terminalreporter.write_line(line)
