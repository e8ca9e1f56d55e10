"""A random program run both ways, on torch and by the interpreter, and what was seen on the way."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from specs.adapter import event_kinds, piece_of, recognised, refused, stated
from support.revealing import Record, Row, run

from .programs import ALL_NAMES, Program

MAIN = "program.py"
SCHEDULES = tuple(tuple(random.Random(seed).choices((True, False), k=61)) for seed in range(3))
"""What `flag()` gives. The length is a prime, so that no loop meets the same answer for ever."""


class Coverage:
    """Counts what programs were made of and what happened in them."""

    def __init__(self) -> None:
        self.programs = 0
        self.reveals = 0
        self.facts = 0
        self.operations: Counter[str] = Counter()
        self.events: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.caught: Counter[str] = Counter()
        self.foreseen: Counter[str] = Counter()

    def lines(self) -> Iterator[str]:
        """What is told at the end of a run."""
        used = len(ALL_NAMES & set(self.operations))
        yield f"{self.programs} programs, {self.reveals} values revealed, {self.facts} facts stated"
        yield f"{used} of {len(ALL_NAMES)} operations and blocks used"
        yield "what ended programs on torch, and how often the interpreter was certain of it:"
        for key, count in self.refusals.most_common():
            yield f"  {count:5} {self.foreseen[key]:5} {key}"
        yield "caught by the program: " + ", ".join(
            f"{key} {count}" for key, count in self.caught.most_common()
        )
        yield "events: " + (
            ", ".join(f"{kind} {count}" for kind, count in self.events.most_common()) or "none"
        )
        if missing := ALL_NAMES - set(self.operations):
            yield "never used: " + ", ".join(sorted(missing))


def torch_runs(program: Program, asked: dict[Row, frozenset[str]], coverage: Coverage) -> list[Record]:
    """The program on torch, once for each schedule when it has a flag."""
    schedules = SCHEDULES if "flag()" in program.source else SCHEDULES[:1]
    records = [run({MAIN: program.source}, MAIN, schedule, asked) for schedule in schedules]
    coverage.programs += 1
    coverage.operations.update(program.used)
    coverage.reveals += sum(len(record.seen) for record in records)
    for record in records:
        keys = [recognised(raised.error_type, raised.text) for raised in record.raised]
        if record.ended_by is not None:
            coverage.refusals[keys.pop()] += 1
        coverage.caught.update(keys)
    return records


def disagreements(program: Program, coverage: Coverage) -> list[str]:
    """Facts that the interpreter states and torch denies, and refusals that do not come."""
    files = {MAIN: program.source}
    asked: dict[Row, frozenset[str]] = {}
    for each in stated(files, MAIN):
        asked[each.row] = asked.get(each.row, frozenset()) | each.facts
    coverage.facts += sum(map(len, asked.values()))
    coverage.events.update(event_kinds(files, MAIN))
    certain = refused(files, MAIN)
    records = torch_runs(program, asked, coverage)
    return sorted({*false_facts(records), *refusals_that_do_not_come(records, certain, coverage)})


def false_facts(records: list[Record]) -> Iterator[str]:
    """The stated facts that are false on torch. One about a name that is not in scope is not judged."""
    for record in records:
        for seen in record.seen:
            for fact in seen.false:
                yield f"line {seen.row[1]}: {fact}, but on torch {', '.join(sorted(seen.true))}"


def refusals_that_do_not_come(
    records: list[Record], certain: list[tuple[Row, str]], coverage: Coverage
) -> Iterator[str]:
    """Lines where torch was said to raise, and that did not raise when reached, or raised another text."""
    for record in records:
        raised = {each.row: each for each in record.raised}
        for row, key in certain:
            if row in record.reached and row not in raised:
                yield f"line {row[1]}: torch does not raise {key}"
            elif row in raised and piece_of(key) not in raised[row].text:
                yield f"line {row[1]}: not {key}, torch raises: {raised[row].text}"
        if record.ended_by is not None and record.raised[-1].row in dict(certain):
            coverage.foreseen[dict(certain)[record.raised[-1].row]] += 1


def explained(program: Program, wrong: list[str]) -> str:
    """The program with row numbers, and what is wrong with it."""
    rows = [f"{row:3} {line}" for row, line in enumerate(program.source.splitlines(), 1)]
    return "\n".join(["", *rows, "", *wrong])
