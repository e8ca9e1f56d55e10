"""Collects the pages: each program becomes one test on torch and one on the interpreter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .judges import Disagreements, on_interpreter, on_torch
from .pages import BadPage, Program, programs_of

JUDGES: dict[str, Callable[[Program], Disagreements]] = {"torch": on_torch, "interpreter": on_interpreter}


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Every Markdown file of this folder but the README."""
    if file_path.suffix == ".md" and file_path.stem != "README":
        return Page.from_parent(parent, path=file_path)
    return None


class Page(pytest.File):
    """A page of the specification."""

    def collect(self) -> Iterator[pytest.Item]:
        """Two tests for each program."""
        taken: dict[str, int] = defaultdict(int)
        for program in programs_of(self.path):
            taken[program.heading] += 1
            number = f" {taken[program.heading]}" if taken[program.heading] > 1 else ""
            for judge in JUDGES:
                name = f"{program.heading}{number}[{judge}]"
                yield ProgramItem.from_parent(self, name=name, program=program, judge=judge)


class Disagreement(Exception):
    """What a page says is not so."""


class ProgramItem(pytest.Item):
    """A program of a page, put to one of the judges."""

    def __init__(self, *, program: Program, judge: str, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.program = program
        self.judge = judge

    def runtest(self) -> None:
        """Raise `Disagreement` with a line for each thing that is not as the page says."""
        wrong = sorted(set(JUDGES[self.judge](self.program)))
        if wrong:
            lines = [f"{self.path.parent.name}/{self.path.name}:{row[1]}: {text}" for row, text in wrong]
            raise Disagreement("\n".join(lines))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The lines alone; a traceback for anything else than a disagreement."""
        if isinstance(excinfo.value, Disagreement | BadPage):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the program stands."""
        return self.path, 0, self.name
