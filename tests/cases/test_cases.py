"""gradtrail over the field cases: silent on right programs, on wrong ones as good as `expected.toml` says."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from gradtrail.findings.engine import FEW_FILES, check_paths

from .judge import SETS, Verdict, case_folders, expected_sets, facts_of, gathered, judged

MOST_IN_ONE_RUN = FEW_FILES
"""Beyond, a run looks less closely, as it does at the many files of a large project."""

CASES = [(name, folder) for name in SETS for folder in case_folders(name)]


@functools.cache
def verdicts(name: str) -> dict[str, Verdict]:
    """The verdict of every case of a set. Each case is judged once per run of the tests."""
    return {folder.name: judged(folder) for folder in case_folders(name)}


@pytest.mark.parametrize(("name", "case"), [(name, folder.name) for name, folder in CASES])
def test_no_alarm_on_a_right_program(name: str, case: str) -> None:
    assert verdicts(name)[case].alarms == ()


@pytest.mark.parametrize("grade", ["exact", "caught", "missed"])
@pytest.mark.parametrize("name", SETS)
def test_the_cases_of_a_grade_are_those_expected(name: str, grade: str) -> None:
    assert gathered(verdicts(name))[grade] == expected_sets()[name][grade]


@pytest.mark.parametrize("name", SETS)
def test_findings_beside_the_mistake_are_those_expected(name: str) -> None:
    assert gathered(verdicts(name))["extra"] == expected_sets()[name]["extra"]


@pytest.mark.parametrize("name", SETS)
def test_every_wrong_case_has_a_grade(name: str) -> None:
    expected = expected_sets()[name]
    wrong = sorted(folder.name for folder in case_folders(name) if facts_of(folder)["kind"] != "correct")
    assert sorted(expected["exact"] + expected["caught"] + expected["missed"]) == wrong


def spots(paths: list[Path]) -> set[tuple[str, str, int]]:
    """What is found in programs that are checked in one run: rule, file and row."""
    report = check_paths([str(path) for path in paths])
    return {(one.rule, one.place.filename, one.place.row) for one in report.findings}


@pytest.mark.parametrize("name", SETS)
def test_programs_checked_in_one_run_are_judged_as_each_alone(name: str) -> None:
    programs = [folder / "case.py" for folder in case_folders(name)][:MOST_IN_ONE_RUN]
    together = spots(programs)
    assert together == {spot for program in programs for spot in spots([program])}
    assert spots(programs[::-1]) == together
