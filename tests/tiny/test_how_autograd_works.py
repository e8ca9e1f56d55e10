"""The programs of `docs/how_autograd_works.md` end well on torch and on tiny."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gradtrail import tiny
from gradtrail.integrations.command import main
from support.running import outcome_of_text

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "how_autograd_works.md"
SECTIONS = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
CHAPTERS = {path.name for path in Path(tiny.__file__).parent.glob("*.py")}
PROGRAMS = re.findall(r"^## (.*?)\n.*?```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("language", ["zh_CN", "ja"])
def test_the_programs_are_the_same_in_every_language(language: str) -> None:
    other = PAGE.with_suffix(f".{language}.md").read_text(encoding="utf-8")
    assert re.findall(r"```python\n(.*?)```", other, re.S) == [program for _, program in PROGRAMS]


@pytest.mark.parametrize("ending", ["", ".zh_CN", ".ja"])
def test_each_section_says_which_files_it_is_about(ending: str) -> None:
    text = PAGE.with_suffix(f"{ending}.md").read_text(encoding="utf-8")
    files = [set(re.findall(r"`(\w+\.py)`", section)) for section in text.split("\n## ")[1:]]
    assert files == [set(re.findall(r"`(\w+\.py)`", section)) for section in SECTIONS]
    assert all(each and each <= CHAPTERS for each in files)


def test_every_chapter_has_its_program() -> None:
    assert len(PROGRAMS) == PAGE.read_text(encoding="utf-8").count("\n## ")


@pytest.mark.parametrize(("title", "program"), PROGRAMS, ids=[title for title, _ in PROGRAMS])
def test_on_torch(title: str, program: str, tmp_path: Path) -> None:
    told = outcome_of_text(program, tmp_path)
    assert not told.raised, told


@pytest.mark.parametrize(("title", "program"), PROGRAMS, ids=[title for title, _ in PROGRAMS])
def test_on_tiny(title: str, program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "program.py").write_text(program)
    assert main(["tiny", str(tmp_path / "program.py")]) == 0, capsys.readouterr().err
