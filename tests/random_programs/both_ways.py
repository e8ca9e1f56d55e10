"""A random program run both ways, on torch and by the interpreter, and what was seen on the way."""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Iterable, Iterator

from specs.adapter import event_kinds, piece_of, recognised, refused, stated
from support.revealing import Record, Row, false_in_every_context, run

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
    by_row: dict[Row, list[frozenset[str]]] = {}
    for each in stated(files, MAIN):
        by_row.setdefault(each.row, []).append(each.facts)
    asked = {row: frozenset().union(*all_facts) for row, all_facts in by_row.items()}
    coverage.facts += sum(map(len, asked.values()))
    coverage.events.update(event_kinds(files, MAIN))
    certain = refused(files, MAIN)
    records = torch_runs(program, asked, coverage)
    return sorted(
        {
            *false_facts(records, by_row),
            *refusals_that_do_not_come(records, certain, coverage, program.source),
        }
    )


def false_facts(records: list[Record], by_row: dict[Row, list[frozenset[str]]]) -> Iterator[str]:
    """The stated facts that are false on torch. One about a name that is not in scope is not judged."""
    for record in records:
        for seen in record.seen:
            for fact in false_in_every_context(seen, by_row.get(seen.row, [])):
                yield f"line {seen.row[1]}: {fact}, but on torch {', '.join(sorted(seen.true))}"


def refusals_that_do_not_come(
    records: list[Record], certain: list[tuple[Row, str]], coverage: Coverage, source: str
) -> Iterator[str]:
    """Lines where torch was said to raise, and that did not raise when reached, or raised another text.

    A line that is passed several times is judged where it must be the same each time. The interpreter
    may have meant another call of a function, or a round of a loop that an error kept from coming.
    """
    keys: dict[Row, list[str]] = {}
    for row, key in certain:
        keys.setdefault(row, []).append(key)
    varying, looped = rows_that_vary(source), rows_in_loops(source)
    for record in records:
        raised = {each.row: each for each in record.raised}
        for row, row_keys in keys.items():
            cut_off = record.ended_by is not None and row[1] in looped
            if row in raised:
                text = raised[row].text
                if not any(piece_of(key) in text for key in row_keys):
                    yield f"line {row[1]}: not {' or '.join(row_keys)}, torch raises: {text}"
            elif row in record.reached and row[1] not in varying and not cut_off:
                yield f"line {row[1]}: torch does not raise {' or '.join(row_keys)}"
        if record.ended_by is not None and record.raised[-1].row in keys:
            coverage.foreseen[recognised(record.raised[-1].error_type, record.raised[-1].text)] += 1


def rows_of(nodes: Iterable[ast.AST]) -> set[int]:
    """The rows of the statements among the nodes, and of all that is in them."""
    rows: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.stmt):
            rows.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return rows


def rows_in_loops(source: str) -> set[int]:
    """The rows inside a loop."""
    return rows_of(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.For | ast.While))


def rows_that_vary(source: str) -> set[int]:
    """The rows inside a function, and those in a loop that are passed in some of its rounds only."""
    rows: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            rows |= rows_of([node])
        elif isinstance(node, ast.For | ast.While):
            inner = list(ast.walk(node))
            leaves = any(isinstance(each, ast.Break | ast.Continue) for each in inner)
            branches = [each for each in inner if isinstance(each, ast.If | ast.Try)]
            rows |= rows_of([node] if leaves else branches)
    return rows


def explained(program: Program, wrong: list[str]) -> str:
    """The program with row numbers, and what is wrong with it."""
    rows = [f"{row:3} {line}" for row, line in enumerate(program.source.splitlines(), 1)]
    return "\n".join(["", *rows, "", *wrong])
