"""Write `expected.toml` anew from what gradtrail does now, and say what changed.

usage: python tests/cases/renew_expected.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from cases.judge import EXPECTED, SETS, case_folders, expected_sets, gathered, judged

HEADING = """\
# What gradtrail does with the field cases: see README.md.
# Written by renew_expected.py: read every difference.
"""


def main() -> None:
    """Judge every case, print the differences, write the file."""
    before = expected_sets() if EXPECTED.exists() else {}
    now: dict[str, dict[str, Any]] = {}
    for name in SETS:
        verdicts = {folder.name: judged(folder) for folder in case_folders(name)}
        now[name] = gathered(verdicts)
        for case, verdict in verdicts.items():
            if verdict.alarms:
                print(f"ALARM {name}/{case}: {', '.join(verdict.alarms)}")
        print_differences(name, before.get(name, {}), now[name])
        print_shares(name, now[name])
    sections = [section(name, table) for name, table in now.items()]
    EXPECTED.write_text(HEADING + "".join(sections), encoding="utf-8")


def print_differences(name: str, before: dict[str, Any], now: dict[str, Any]) -> None:
    """One line for every case whose grade is another one than before."""
    old = grades(before)
    for case, grade in sorted(grades(now).items()):
        if old.get(case) != grade:
            print(f"{name}/{case}: {old.get(case, 'new')} -> {grade}")


def grades(table: dict[str, Any]) -> dict[str, str]:
    """The grade of each case that the table names."""
    return {case: grade for grade in ("exact", "caught", "missed") for case in table.get(grade, [])}


def print_shares(name: str, table: dict[str, Any]) -> None:
    """How many of the wrong programs are caught and exact."""
    exact, caught, missed = (len(table[grade]) for grade in ("exact", "caught", "missed"))
    wrong = exact + caught + missed
    extra = sum(len(findings) for findings in table["extra"].values())
    print(f"{name}: {exact + caught} of {wrong} caught, {exact} exact, {extra} extra")


def section(name: str, table: dict[str, Any]) -> str:
    """A set as a piece of TOML."""
    lines = [f"\n[{name}]"]
    for grade in ("exact", "caught", "missed"):
        lines += [f"{grade} = [", *(f'    "{case}",' for case in table[grade]), "]"]
    lines.append(f"\n[{name}.extra]")
    for case, findings in table["extra"].items():
        quoted = ", ".join(f'"{finding}"' for finding in findings)
        lines.append(f'"{case}" = [{quoted}]')
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
