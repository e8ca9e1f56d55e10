"""The programs under examples/: what torch says of them, and gradtrail without running them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from support.checking import findings_in
from support.running import Outcome, outcome

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "examples"
EXPECTED: dict[str, dict[str, Any]] = tomllib.loads((HERE / "expected.toml").read_text(encoding="utf-8"))
WRONG = sorted(name for name, facts in EXPECTED.items() if "row" in facts)
RIGHT = sorted(name for name, facts in EXPECTED.items() if "row" not in facts)


def program(name: str) -> Path:
    """The file that a person runs."""
    return EXAMPLES / EXPECTED[name]["program"]


def checked(name: str) -> Path:
    """What a person checks: the file, or the folder that the program stands in."""
    return program(name) if program(name).parent == EXAMPLES else program(name).parent


def error_file(name: str) -> str:
    """The base name of the file that the error is in."""
    return str(EXPECTED[name].get("file", program(name).name))


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_program_runs(name: str) -> None:
    assert outcome(program(name)) == Outcome()


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_program_raises_where_said(name: str) -> None:
    facts, result = EXPECTED[name], outcome(program(name))
    assert (result.error_type, result.inner_file, result.inner_row) == (
        facts["error"],
        error_file(name),
        facts["row"],
    )
    assert facts["text"] in result.text


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_program_is_quiet(name: str) -> None:
    assert findings_in(checked(name)) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_program_has_its_one_finding(name: str) -> None:
    found = findings_in(checked(name))
    assert [each.spot for each in found] == [(error_file(name), EXPECTED[name]["row"])], list(map(str, found))
    cause_file = EXPECTED[name].get("cause_file", error_file(name))
    assert {(cause_file, row) for row in EXPECTED[name]["cause"]} & {found[0].spot, *found[0].trail}


def test_every_program_is_expected() -> None:
    there = {path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.py")}
    assert there == {facts["program"] for facts in EXPECTED.values()} | {"two_files/report.py"}


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.py")), ids=lambda path: path.stem)
def test_the_program_does_not_tell(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert source.startswith('"""')
    assert "# error" not in source
    assert 50 <= len(source.splitlines()) <= 200


def test_the_readme_names_every_program() -> None:
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for name in [*WRONG, *RIGHT]:
        assert f"`{EXPECTED[name]['program']}`" in readme
    for name in WRONG:
        assert EXPECTED[name]["text"] in readme
        assert f"line {EXPECTED[name]['row']}" in readme
