"""Tiny can be read: the core in one sitting, and each other chapter in less."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtrail import tiny

CHAPTERS = sorted(Path(tiny.__file__).parent.glob("*.py"))


def rows(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_is_short(path: Path) -> None:
    """All of autograd is read from top to bottom, and who reads it has to keep it in mind: hence the bound.

    What makes the core longer than this is no autograd, and belongs in a chapter.
    """
    assert rows(path) <= (800 if path.stem == "autograd" else 700)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_says_what_it_is_about(path: Path) -> None:
    assert path.read_text(encoding="utf-8").startswith('"""')
