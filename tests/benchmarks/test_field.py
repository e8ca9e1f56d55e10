"""The public benchmark: the scorer on made-up findings, the readers on sample output, the form of the files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent.parent / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from field.__main__ import given_checkers, measured  # noqa: E402
from field.checkers import (  # noqa: E402
    Checker,
    Installed,
    NoResult,
    Torch,
    findings_of,
    known_checkers,
    read_checker,
    result_of,
)
from field.programs import Program, lay_out_all  # noqa: E402
from field.score import Finding, Score, Totals, scored, totals  # noqa: E402
from field.tables import Row, as_data, report  # noqa: E402

CASES = BENCHMARKS.parent / "tests" / "cases"
WRONG, RIGHT = Path("/p/wrong/one"), Path("/p/right/one")


def program(**facts: object) -> Program:
    """A made-up program with its cause on row 3, another fair line on 5 and the error on 9."""
    given = {
        "name": "one",
        "kind": "raises",
        "wrong": WRONG,
        "right": RIGHT,
        "cause": frozenset({("case.py", 3)}),
        "also": frozenset({("case.py", 5)}),
        "error": frozenset({("case.py", 9)}),
    }
    return Program(**{**given, **facts})  # type: ignore[arg-type]


def finding(
    row: int, code: str = "X1", folder: Path = WRONG, name: str = "case.py", trail: int = 0
) -> Finding:
    places = frozenset({("case.py", trail)}) if trail else frozenset()
    return Finding(folder / name, row, code, "", "error", places)


def figures(*findings: Finding) -> dict[str, int]:
    """The figures that are not zero."""
    return {name: figure for name, figure in scored([program()], findings)._asdict().items() if figure}


def test_a_finding_on_the_cause_counts_there_and_on_every_wider_measure() -> None:
    everywhere = {"cause", "cause_named", "cause_or_also", "right_line", "told_apart", "in_file"}
    assert figures(finding(3)) == dict.fromkeys(everywhere, 1)


def test_a_finding_on_another_fair_line_is_not_on_the_cause() -> None:
    assert figures(finding(5)) == dict.fromkeys({"cause_or_also", "right_line", "told_apart", "in_file"}, 1)


def test_a_finding_on_the_error_line_names_the_cause_only_with_a_trail() -> None:
    plain = dict.fromkeys({"error", "right_line", "told_apart", "in_file"}, 1)
    assert figures(finding(9)) == plain
    assert figures(finding(9, trail=3)) == {**plain, "cause_named": 1}


def test_a_finding_elsewhere_is_only_in_the_file() -> None:
    assert figures(finding(4)) == {"in_file": 1}
    assert figures(finding(3, name="other.py")) == {"in_file": 1}


def test_many_findings_catch_a_mistake_once() -> None:
    assert figures(finding(3), finding(3, "X2"), finding(9))["right_line"] == 1


def test_what_is_said_of_the_right_program_too_tells_nothing_apart() -> None:
    both = figures(finding(3), finding(4, folder=RIGHT))
    assert "told_apart" not in both
    assert (both["alarmed"], both["alarms"]) == (1, 1)


def test_what_is_said_less_often_of_the_right_program_tells_it_apart() -> None:
    assert figures(finding(3), finding(7), finding(7, folder=RIGHT))["told_apart"] == 1


def test_a_program_that_was_right_from_the_start_is_no_mistake() -> None:
    right = program(kind="correct", wrong=None, cause=frozenset(), also=frozenset(), error=frozenset())
    assert totals([program(), right]) == Totals(mistakes=1, with_error_line=1, right=2)
    assert scored([right], [finding(3, folder=RIGHT)]) == Score(*[0] * 7, alarmed=1, alarms=1)


def test_the_cases_are_laid_out_wrong_or_right_and_never_both(tmp_path: Path) -> None:
    programs = {each.name: each for each in lay_out_all(CASES, tmp_path)}
    assert len(programs) == len(list(CASES.glob("*/*/case.toml")))
    assert all(name.isidentifier() for name in programs)
    two_files = programs["loud_one_positions_two_files"]
    assert two_files.wrong and two_files.right
    for folder in (two_files.wrong, two_files.right):
        assert sorted(path.name for path in folder.iterdir()) == ["case.py", "positions.py"]
    assert (two_files.wrong / "positions.py").read_text() != (two_files.right / "positions.py").read_text()
    assert all(each.right_lines if each.wrong else not each.right_lines for each in programs.values())


SAMPLES = {
    "torch-preflight": '{"diagnostics": [{"code": "C1", "message": "m", "severity": "error", "path": "a/case.py", "line": 7}]}',
    "gradtrail": '{"findings": [{"rule": "C1", "message": "m", "severity": "error", "filename": "a/case.py",'
    ' "location": {"row": 7, "column": 1}, "trail": []}]}',
    "hotpath-ai": '{"files": [{"path": "a/case.py", "findings": [{"rule_id": "C1", "message": "m", "severity": "error",'
    ' "line": 7}]}]}',
    "pyright": '{"generalDiagnostics": [{"file": "a/case.py", "rule": "C1", "message": "m", "severity": "error",'
    ' "range": {"start": {"line": 6, "character": 0}}}]}',
    "TorchFix": "a/case.py:7:1: TOR1 m\nFinished checking 1 files.\n",
    "flake8-tensors": "a/case.py:7:1: WT1: (error) m\n",
    "dslinter": "************* Module x\na/case.py:7: [W5507(deterministic-pytorch), ] The function is not used\n",
    "mlpylint": "a/case.py:7:6: [CS14] m\n# code smells: 18\n",
    "mypy": 'a/case.py:7: error: "Tensor" not callable  [operator]\na/case.py:7: note: see\n',
    "pylint": "************* Module x\na/case.py:7: [W0611(unused-import), f] Unused import\n",
    "ruff (all)": "a/case.py:7:1: F401 [*] `os` imported but unused\nFound 1 error.\n",
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_report_is_read(name: str, tmp_path: Path) -> None:
    checker = next(each for each in known_checkers() if each.name == name)
    found = findings_of(checker, SAMPLES[name], tmp_path)
    assert {(each.file, each.row) for each in found} == {(tmp_path.resolve() / "a" / "case.py", 7)}
    assert found[0].code and found[0].message


def test_codes_and_levels_of_a_report_line() -> None:
    checkers = {each.name: each for each in known_checkers()}
    found = findings_of(checkers["mypy"], SAMPLES["mypy"], Path("/p"))
    assert [(each.code, each.level, checkers["mypy"].is_strict(each)) for each in found] == [
        ("operator", "error", True),
        ("", "note", False),
    ]
    (plain,) = findings_of(checkers["ruff (all)"], SAMPLES["ruff (all)"], Path("/p"))
    assert (plain.code, checkers["ruff (all)"].is_strict(plain)) == ("F401", False)


def test_further_places_are_read_with_the_rows_of_the_checker() -> None:
    trail = {"list": "more", "file": "at.file", "row": "at.line", "first_row": 0}
    checker = Checker("x", "x", json={"file": "file", "row": "line", "trail": trail})
    text = '[{"file": "case.py", "line": 7, "more": [{"at": {"file": "/q/case.py", "line": 2}}]}]'
    (found,) = findings_of(checker, text, Path("/p"))
    assert (found.spot, found.trail) == (("case.py", 7), {("case.py", 3)})


def test_a_report_that_is_no_json_is_a_reason() -> None:
    with pytest.raises(NoResult, match="no JSON"):
        findings_of(Checker("x", "x", json={"file": "f", "row": "r"}), "Traceback", Path("/p"))


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_describes_a_checker(tmp_path: Path) -> None:
    text = (
        "name = 'mine'\ncommand = 'mine {files}'\npattern = '(?P<file>.+):(?P<row>\\d+)'\nlevels = 'error'\n"
    )
    checker = read_checker(write(tmp_path / "mine.toml", text))
    assert (checker.name, checker.levels, checker.one_by_one) == ("mine", "error", False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pattern = '(?P<file>.)(?P<row>.)'\nspeed = 1", "unknown keys: speed"),
        ("", "either a pattern or"),
        ("pattern = '(?P<file>.)'", "what the row is"),
        ("[json]\nlist = 'x'", "what the file and the row is"),
    ],
)
def test_a_file_that_cannot_work_is_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=said):
        read_checker(write(tmp_path / "mine.toml", f"name = 'mine'\ncommand = 'mine'\n{text}\n"))


def test_every_known_checker_is_described_well() -> None:
    checkers = known_checkers()
    assert len({each.name for each in checkers}) == len(checkers) >= 12
    assert checkers[0].name == "gradtrail"


def test_the_words_of_a_command(tmp_path: Path) -> None:
    write(tmp_path / "case.py", "")
    checker = Checker(
        "x", "x {with_torch} {files} {folder}", "(?P<file>.)(?P<row>.)", with_torch="--py {torch_python}"
    )
    files = [str(tmp_path / "case.py"), str(tmp_path)]
    assert Installed(checker, None, None).words(checker.command, tmp_path) == ["x", *files]
    torch = Torch("/py", "/site", "2")
    assert Installed(checker, None, torch).words(checker.command, tmp_path) == ["x", "--py", "/py", *files]


SAYS_SO = "import sys\nfor path in sys.argv[1:]: print(path + ':3: M1 said')"


def test_a_checker_of_ones_own_is_run_over_the_programs(tmp_path: Path) -> None:
    tool = write(tmp_path / "tool.py", SAYS_SO)
    options = argparse.Namespace(
        names=[],
        add=[],
        checker=f"{sys.executable} {tool} {{files}}",
        pattern=r"^(?P<file>.+?):(?P<row>\d+): (?P<code>\w+)",
        name="mine",
        version=f"{sys.executable} --version",
    )
    (checker,) = given_checkers(options)
    programs = lay_out_all(CASES / "silent", tmp_path / "programs")
    row = measured(checker, tmp_path / "programs", programs, tmp_path, None)
    whole = totals(programs)
    assert row.any and row.strict == row.any
    assert (row.any.in_file, row.any.alarmed, row.any.told_apart) == (whole.mistakes, whole.right, 0)
    assert row.lines_per_second > 0


def test_a_checker_that_crashes_is_a_row_with_the_reason(tmp_path: Path) -> None:
    tool = write(tmp_path / "tool.py", "raise SystemError('out of order')")
    checker = Checker("bad", f"{sys.executable} {tool}", "(?P<file>.)(?P<row>.)")
    with pytest.raises(NoResult, match="out of order"):
        result_of(Installed(checker, None, None), tmp_path)
    row = measured(Checker("gone", "no-such-program", "(?P<file>.)(?P<row>.)"), tmp_path, [], tmp_path, None)
    assert "cannot be called" in row.reason


def test_the_tables() -> None:
    rows = [Row("mine", "1.0", Score(*range(9)), Score(*range(9)), 1234), Row("gone", reason="pip: no")]
    whole = Totals(20, 10, 30)
    text, markdown = report(rows, whole, markdown=False), report(rows, whole, markdown=True)
    assert "right line /20" in text and "error /10" in text and "alarmed /30" in text
    assert "gone: pip: no" in text
    assert "| mine | 1.0 | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 1,234 |" in markdown
    data = as_data(rows, whole, {"date": "today"})
    assert data["checkers"][0]["any"]["alarms"] == 8
    assert data["checkers"][1]["reason"] == "pip: no"
