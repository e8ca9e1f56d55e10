"""Every fact that a `case.toml` states, put to torch: the error, its text and its line, or the proof."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.running import Outcome, outcome

from .judge import case_folders, facts_of

CASES = [folder for name in ("loud_one", "loud_two", "more", "silent") for folder in case_folders(name)]
NEEDED = {
    "raises": ["error_type", "error", "error_line"],
    "silent": ["proof"],
    "correct": ["looks_like"],
    "raises-on-gpu": [],
}


def name_of(folder: Path) -> str:
    """The set and the case."""
    return f"{folder.parent.name}/{folder.name}"


@pytest.mark.parametrize("folder", CASES, ids=name_of)
def test_the_wrong_program_does_what_is_said(folder: Path) -> None:
    facts = facts_of(folder)
    if not facts.get("runs_here", True):
        return  # it needs a GPU: its facts were read, not run
    result = outcome(folder / "case.py", facts.get("proof", ""))
    if facts["kind"] == "raises":
        assert (result.error_type, result.row) == (facts["error_type"], facts["error_line"]), result
        assert facts["error"] in result.text
    else:
        assert result == Outcome(proof=True if facts["kind"] == "silent" else None)


@pytest.mark.parametrize(
    "folder", [folder for folder in CASES if (folder / "fixed.py").exists()], ids=name_of
)
def test_the_program_put_right_runs(folder: Path) -> None:
    facts = facts_of(folder)
    if facts.get("runs_here", True):
        silent = facts["kind"] == "silent"
        result = outcome(folder / "fixed.py", facts["proof"] if silent else "")
        assert result == Outcome(proof=False if silent else None)


@pytest.mark.parametrize("folder", CASES, ids=name_of)
def test_the_facts_are_complete(folder: Path) -> None:
    facts = facts_of(folder)
    wrong = facts["kind"] != "correct"
    needed = ["title", "kind", "why", *NEEDED[facts["kind"]]]
    needed += ["family", "cause_line", "symbol", "fix"] if wrong else []
    assert [name for name in needed if name not in facts] == []
    assert (folder / "fixed.py").exists() == wrong
    if wrong and "cause_file" not in facts:
        assert (folder / "case.py").read_text(encoding="utf-8").splitlines()[facts["cause_line"] - 1].strip()
