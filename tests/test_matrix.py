"""The matrix of what people ask about: its page is what gradtrail does now, and torch does what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.running import outcome_of_text
from support.scripts import load

ROOT = Path(__file__).resolve().parent.parent


matrix: Any = load("matrix")


def test_the_page_is_not_stale() -> None:
    assert (ROOT / "docs" / "matrix.md").read_text(encoding="utf-8") == matrix.page()


@pytest.mark.parametrize("subject", matrix.SUBJECTS, ids=lambda subject: subject.name)
def test_every_subject(subject: Any) -> None:
    said = matrix._row(subject)
    assert said[2] == ("found" if subject.rule else "quiet")
    assert said[3] in ("yes", "-", "no error to explain", "by its whole text")


@pytest.mark.parametrize(
    "subject", [one for one in matrix.SUBJECTS if one.program], ids=lambda subject: subject.name
)
def test_what_is_right_runs_on_torch(subject: Any, tmp_path: Path) -> None:
    assert not outcome_of_text(matrix.program_of(subject), tmp_path).raised
