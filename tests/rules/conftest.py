"""Tells at the end of a run how each `off_cpu` example was proven."""

from __future__ import annotations

from typing import Any

import pytest


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line per `off_cpu` example: raised on the stand-in device, or only run on the CPU."""
    proven = [
        (value, report.nodeid.split("[")[-1].rstrip("]"))
        for report in terminalreporter.getreports("passed")
        for name, value in report.user_properties
        if name == "off_cpu"
    ]
    if proven:
        terminalreporter.section("examples that raise only off the CPU")
    for how, title in sorted(proven):
        terminalreporter.write_line(f"{how:<28} {title}")
    _tell_repairs(terminalreporter)


def _tell_repairs(terminalreporter: Any) -> None:
    """How many examples have a fix, and which have none."""
    repairs = [
        (value, report.nodeid.split("[", 1)[-1].removesuffix("]"))
        for report in terminalreporter.getreports("passed")
        for name, value in report.user_properties
        if name == "repair"
    ]
    without = sorted(title for value, title in repairs if value == "no fix")
    if repairs:
        done = len(repairs) - len(without)
        terminalreporter.section(f"{done} of {len(repairs)} examples are repaired; without a fix are")
    for title in without:
        terminalreporter.write_line(title)


@pytest.fixture(scope="session", autouse=True)
def _torch_is_imported_once() -> None:
    """Import torch before the first fork."""
    from support.running import import_what_programs_import

    import_what_programs_import()
