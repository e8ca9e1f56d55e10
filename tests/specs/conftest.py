"""Collects the pages: each program becomes one test on torch and one on the interpreter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.revealing import SCHEDULES, Record, run

from .adapter import Row, refused, stated
from .pages import BadPage, Program, programs_of

UNKNOWN = frozenset(["unknown"])


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
            for judge in (OnTorch, OnInterpreter):
                name = f"{program.heading}{number}[{judge.says}]"
                yield judge.from_parent(self, name=name, program=program)


class Disagreement(Exception):
    """What a page says is not so."""


class ProgramItem(pytest.Item):
    """A program of a page, put to one of the two judges."""

    says = ""

    def __init__(self, *, program: Program, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.program = program

    def runtest(self) -> None:
        """Raise `Disagreement` with a line for each thing that is not as the page says."""
        wrong = sorted(set(self.disagreements()))
        if wrong:
            lines = [f"{self.path.name}:{row[1]}: {text}" for row, text in wrong]
            raise Disagreement("\n".join(lines))

    def disagreements(self) -> Iterator[tuple[Row, str]]:
        """What is not as the page says, by row."""
        raise NotImplementedError

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The lines alone; a traceback for anything else than a disagreement."""
        if isinstance(excinfo.value, (Disagreement, BadPage)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the program stands."""
        return self.path, 0, self.name


class OnTorch(ProgramItem):
    """The page is right: what it says is true on torch, however `flag()` falls."""

    says = "torch"

    def disagreements(self) -> Iterator[tuple[Row, str]]:
        asked = {row: facts - UNKNOWN for row, facts in self.program.facts.items() if facts}
        records = runs(self.program, asked)
        seen_rows = {seen.row for record in records for seen in record.seen}
        for row, facts in self.program.facts.items():
            if (facts is None) == (row in seen_rows):
                yield row, "reached" if facts is None else "never reached on torch"
        yield from untrue(records)
        yield from self.unlike_raised(records)

    def unlike_raised(self, records: Iterable[Record]) -> Iterator[tuple[Row, str]]:
        """Where torch raised another text, in another row or less often than the page says."""
        for record in records:
            texts = {raised.row: raised.text for raised in record.raised}
            if record.ended_by is not None and not texts:
                yield (self.program.main, 0), f"ended by {record.ended_by}"
            for row, text in texts.items():
                said = self.program.raises.get(row) or self.program.may_raise.get(row)
                if said is None or said not in text:
                    yield row, f"torch raises: {text}"
            for row in self.program.raises.keys() - texts.keys():
                yield row, "torch does not raise in every run"
        for row in self.program.may_raise:
            if (
                not 0
                < sum(row in {raised.row for raised in record.raised} for record in records)
                < len(records)
            ):
                yield row, "torch raises in every run, or in none"


class OnInterpreter(ProgramItem):
    """The interpreter states what the page says, and nothing that is false on torch."""

    says = "interpreter"

    def disagreements(self) -> Iterator[tuple[Row, str]]:
        program = self.program
        all_stated = stated(program.files, program.main)
        by_row = defaultdict(list)
        for each in all_stated:
            by_row[each.row].append(each)
        for row, facts in program.facts.items():
            if (facts is None) == bool(by_row[row]):
                yield row, "stated as reached" if facts is None else "nothing is stated of this row"
            for each in by_row[row]:
                if facts == UNKNOWN and each.facts:
                    yield row, f"stated, though nobody can know: {listed(each.facts)}"
                if missing := (facts or UNKNOWN) - UNKNOWN - each.facts:
                    yield row, f"not stated: {listed(missing)}; stated: {listed(each.facts)}"
        yield from untrue(runs(program, {row: all_facts(each) for row, each in by_row.items()}))
        yield from self.unlike_refused()

    def unlike_refused(self) -> Iterator[tuple[Row, str]]:
        """Where the interpreter is certain of a refusal and the page is not, and the other way round."""
        rows = {row for row, _ in refused(self.program.files, self.program.main)}
        for row in self.program.raises.keys() - rows:
            yield row, "the interpreter does not say that torch raises"
        for row in rows - self.program.raises.keys():
            yield row, "the interpreter says that torch raises"


def runs(program: Program, asked: dict[Row, frozenset[str]]) -> list[Record]:
    """The program run on torch once for each schedule of `flag()`; once when it has no flag."""
    opaque = any("flag()" in text for text in program.files.values())
    schedules = SCHEDULES if opaque else SCHEDULES[:1]
    return [run(program.files, program.main, schedule, asked) for schedule in schedules]


def untrue(records: Iterable[Record]) -> Iterator[tuple[Row, str]]:
    """The asked facts that are false on torch, or that speak of what is not in scope."""
    for record in records:
        for seen in record.seen:
            for fact in sorted(seen.false):
                yield seen.row, f"false on torch: {fact}; true: {listed(seen.true)}"
            for bad in seen.bad:
                yield seen.row, f"cannot be asked: {bad}"


def all_facts(each: Iterable[Any]) -> frozenset[str]:
    """The facts of all that was stated of a row."""
    return frozenset().union(*(one.facts for one in each))


def listed(facts: Iterable[str]) -> str:
    """The facts in one line."""
    return ", ".join(sorted(facts)) or "nothing"
