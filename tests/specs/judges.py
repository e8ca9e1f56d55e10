"""What is not as a page says: judged by torch, and judged by what the interpreter states."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from support.revealing import SCHEDULES, Record, false_in_every_context, run

from .adapter import Row, Stated, piece_of, refused, stated
from .pages import Program

UNKNOWN = frozenset(["unknown"])

ON_THE_STAND_IN = {"Expected all tensors to be on the same device": "is not on the expected device meta"}
"""What torch says of the device `meta` instead of what it says of an accelerator."""

Disagreements = Iterator[tuple[Row, str]]
"""Rows and what is not as the page says there."""

OWN_WORDS = ("raise", "assert", "import", "from")
"""A line that begins with one of these raises by itself, which is no refusal of torch's."""


def on_torch(program: Program) -> Disagreements:
    """What is not true on torch, however `flag()` falls."""
    asked = {row: facts - UNKNOWN for row, facts in program.facts.items() if facts}
    records = runs(program, asked)
    seen_rows = {seen.row for record in records for seen in record.seen}
    for row, facts in program.facts.items():
        if (facts is None) == (row in seen_rows):
            yield row, "reached" if facts is None else "never reached on torch"
    yield from untrue(records)
    yield from unlike_raised(program, records)


def on_interpreter(program: Program) -> Disagreements:
    """What the interpreter does not state although the page says it, and what it states that is false."""
    yield from unlike_stated(program, stated(program.files, program.main))
    yield from unlike_refused(program, refused(program.files, program.main))


def unlike_stated(program: Program, all_stated: Iterable[Stated]) -> Disagreements:
    """Where the facts are other ones than the page says, or false on torch."""
    by_row: dict[Row, list[Stated]] = defaultdict(list)
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
    asked = {row: frozenset().union(*(one.facts for one in each)) for row, each in by_row.items()}
    for record in runs(program, asked):
        for seen in record.seen:
            contexts = [each.facts for each in by_row[seen.row]]
            for fact in sorted(false_in_every_context(seen, contexts)):
                yield seen.row, f"false on torch: {fact}; true: {listed(seen.true)}"


def unlike_refused(program: Program, all_refused: Iterable[tuple[Row, str]]) -> Disagreements:
    """Where the interpreter is certain of a refusal and the page is not, and the other way round."""
    pieces = {row: piece_of(key) for row, key in all_refused}
    texts = {raised.row: raised.text for record in runs(program, {}) for raised in record.raised}
    for row in program.raises.keys() - pieces.keys():
        yield row, "the interpreter does not say that torch raises"
    for row, piece in pieces.items():
        if row not in program.raises:
            yield row, f"the interpreter says that torch raises: {piece}"
        elif piece not in (told := texts.get(row, "")) and ON_THE_STAND_IN.get(piece, piece) not in told:
            yield row, f"the interpreter says: {piece}; torch: {texts.get(row)}"


def unlike_raised(program: Program, records: list[Record]) -> Disagreements:
    """Where torch raised another text, in another row or less often than the page says."""
    reached = {row: [record for record in records if row in record.reached] for row in said_rows(program)}
    for row, passing in reached.items():
        raising = sum(row in {raised.row for raised in record.raised} for record in passing)
        if row not in program.may_raise and not 0 < raising == len(passing):
            yield row, "torch does not raise in every run that comes here"
        if row in program.may_raise and not 0 < raising < len(passing):
            yield row, "torch raises in every run that comes here, or in none"
    for record in records:
        texts = {
            raised.row: raised.text for raised in record.raised if not raises_itself(program, raised.row)
        }
        if record.ended_by is not None and not texts:
            yield (program.main, 0), f"ended by {record.ended_by}"
        for row, text in texts.items():
            said = {**program.raises, **program.may_raise, **program.caught}.get(row)
            if said is None or said not in text:
                yield row, f"torch raises: {text}"


def said_rows(program: Program) -> list[Row]:
    """The rows of which the page says something about raising."""
    return [*program.raises, *program.may_raise, *program.caught]


def raises_itself(program: Program, row: Row) -> bool:
    """Whether the line is a statement that raises on purpose, or imports what may be missing."""
    return program.files[row[0]].splitlines()[row[1] - 1].split()[0] in OWN_WORDS


def runs(program: Program, asked: dict[Row, frozenset[str]]) -> list[Record]:
    """The program run on torch once for each schedule of `flag()`; once when it has no flag."""
    has_flag = any("flag()" in text for text in program.files.values())
    schedules = SCHEDULES if has_flag else SCHEDULES[:1]
    return [run(program.files, program.main, schedule, asked) for schedule in schedules]


def untrue(records: Iterable[Record]) -> Disagreements:
    """The asked facts that are false on torch, or that speak of what is not in scope."""
    for record in records:
        for seen in record.seen:
            for fact in sorted(seen.false):
                yield seen.row, f"false on torch: {fact}; true: {listed(seen.true)}"
            for bad in seen.bad:
                yield seen.row, f"cannot be asked: {bad}"


def listed(facts: Iterable[str]) -> str:
    """The facts in one line."""
    return ", ".join(sorted(facts)) or "nothing"
