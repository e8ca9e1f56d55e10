"""The fixes of every rule on its own examples: made, run on torch, and looked at again.

An example without a fix counts as such in the summary of the run; one with a fix has to be right.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from gradtrail.findings.engine import Report, check_paths
from gradtrail.findings.repairs import Repaired, repaired
from rules.test_rule_examples import EXAMPLES, marked, on_the_stand_in, program
from support.running import outcome_of_text

MOST_ROWS = 12
"""A repair is small: more rows than these are another program."""

NEVER = ("retain_graph=True", "allow_unused=True", "force=True", "strict=False", "pass")
"""What only silences an error: no repair adds it."""


def repair(path: Path, unsafe: bool = True) -> Repaired:
    """The repair of the program at `path`; nothing is written."""

    def look(texts: Any) -> Report:
        return check_paths([str(path)], texts=texts)

    with mock.patch.dict(os.environ, GRADTRAIL_STRICT="1"):
        return repaired(look, unsafe)


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_what_is_repaired_is_right(
    rule: Any, example: Any, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    bad = program(example.bad)
    path = tmp_path / "program.py"
    path.write_text(bad, encoding="utf-8")
    made = repair(path)
    if not made.texts:
        record_property("repair", "no fix")
        return
    fixed = made.texts[str(path)].decode()
    record_property("repair", "repaired")
    rows = [line for line in difflib.ndiff(bad.splitlines(), fixed.splitlines()) if line[:1] in "+-"]
    assert len(rows) <= 2 * MOST_ROWS, fixed
    assert all(fixed.count(words) <= bad.count(words) for words in NEVER), fixed
    assert made.report.findings == [], fixed
    result = outcome_of_text(fixed, tmp_path, example.proof)
    assert not result.raised, (fixed, result)
    assert not result.proof, fixed
    if example.off_cpu:
        stand_in = outcome_of_text(on_the_stand_in(fixed), tmp_path, example.proof)
        assert example.raises not in stand_in.text, (fixed, stand_in)
    if example.raises:
        assert _still_there(bad.splitlines()[marked(example.bad, "error")[0] - 1], fixed), fixed


def _still_there(statement: str, fixed: str) -> bool:
    """Whether the statement that failed is still there, save for the edit."""
    lines = [line.strip() for line in fixed.splitlines()]
    return bool(difflib.get_close_matches(statement.strip(), lines, cutoff=0.6))
