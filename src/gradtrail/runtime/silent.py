"""Faults that raise nothing: what was seen live, and what the interpreter says of the code that ran.

Both speak through the same rules, so a fault that both see reads the same, and is told once: as the interpreter tells it,
with trail and repairs. What it says is kept back where the program did not run the code, or where the live facts speak against it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import NamedTuple

from gradtrail.findings.diagnostic import Diagnostic
from gradtrail.findings.engine import Chosen
from gradtrail.findings.registry import index
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.runtime.places import Sources
from gradtrail.runtime.static import Static
from gradtrail.runtime.torch_compat import TORCH
from gradtrail.runtime.user_code import file_of
from gradtrail.source.place import Place

SpeaksAgainst = Callable[[Diagnostic, Event], bool]
"""Whether what was seen live shows that something did not happen: a finding of the interpreter's, and its event."""


def heard(events: Iterable[Event], failed: Callable[[Exception], None]) -> list[Diagnostic]:
    """What the rules make of live events. `failed` hears of a rule that an event lacks something for."""
    chosen = Chosen(index().hears, lambda rule: True)
    found: list[Diagnostic] = []
    for event in events:
        for rule in chosen.hearing(event.kind):
            try:
                found.extend(rule.check(event, Journal(event.place.filename)))
            except Exception as wrong:
                failed(wrong)
    return found


class Told(NamedTuple):
    """A fault, and who knows of it: "both", "live", "source"; or "against" for one of the source that the run denies."""

    finding: Diagnostic
    by: str


def merged(
    live: Iterable[Diagnostic],
    static: Static,
    visited: Visited,
    speaks_against: SpeaksAgainst = lambda finding, event: False,
) -> Iterator[Told]:
    """All silent faults of a program, each once, and what the run denies."""
    told = list(static.silent())
    by_both: set[int] = set()
    for finding in live:
        same = next((one for one in told if _is_same(one[0], finding)), None)
        if same is None:
            yield Told(finding, "live")
        elif id(same[0]) not in by_both:
            by_both.add(id(same[0]))
            yield Told(same[0], "both")
    for found, event in told:
        if (
            id(found) in by_both
            or not visited.has_run(found.place)
            or _is_only_elsewhere(event, visited.sources)
        ):
            continue
        yield Told(found, "against" if speaks_against(found, event) else "source")


def _is_only_elsewhere(event: Event, sources: Sources) -> bool:
    """Whether what is told holds off the CPU alone, and this machine has nothing else.

    So it is with a move whose result is dropped: where there is one device, it gives the tensor itself. One that converts is
    told here too.
    """
    if TORCH.has_accelerator:
        return False
    if event.kind == "result-dropped" and event.fields["op"] in _MOVES:
        return _CONVERTS.search(sources.segment(event.place)) is None
    return bool(event.fields.get("off_cpu"))


_MOVES = ("to", "cpu", "cuda", "xpu", "npu")
_CONVERTS = re.compile(r"\b(?:dtype|torch\.\w*(?:float|int|half|double|long|complex|bool)\w*)\b")


def _is_same(one: Diagnostic, other: Diagnostic) -> bool:
    """Whether a finding of the source is about what was seen live: at its place, or at one that its trail passes."""
    rows = {_row(one.place), *(_row(step.place) for step in one.trail)}
    return one.rule == other.rule and (_row(other.place) in rows or str(one.message) == str(other.message))


def _row(place: Place) -> tuple[str, int]:
    return place.filename, place.row


Functions = Iterable[tuple[str, int]]
"""Functions of the user's: each a file and the first row."""


def functions(codes: Iterable[CodeType]) -> set[tuple[str, int]]:
    """The functions whose code this is."""
    return {(file_of(code), code.co_firstlineno) for code in codes}


class Visited:
    """Which of the user's functions have run. Without a record all have."""

    def __init__(self, ran: Functions | None, sources: Sources) -> None:
        self.sources = sources
        self._ran = None if ran is None else set(ran)

    def has_run(self, place: Place) -> bool:
        """Whether the function that a place lies in has run; the body of a file has."""
        if self._ran is None:
            return True
        first = self.first_row(place)
        return first is None or (place.filename, first) in self._ran

    def first_row(self, place: Place) -> int | None:
        """The first row of the innermost function around a place, its decorators included, as its code object has it."""
        source = self.sources.get(place.filename)
        if source is None or source.cells is not None:
            return None
        try:
            tree = source.parse()
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        around = [
            node
            for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and node.body[0].lineno <= place.row <= (node.end_lineno or node.lineno)
        ]
        if not around:
            return None
        innermost = max(around, key=lambda node: node.lineno)
        return min((one.lineno for one in innermost.decorator_list), default=innermost.lineno)
