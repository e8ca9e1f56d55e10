"""An interpreter and a rule for tests of what stands around them: the engine and the command.

The interpreter sees a fault on each line that ends in `# fault`; the trail starts at the last line that
ends in `# cause`. `# twice` is seen twice, `# crash` and `# deep` and `# interrupt` raise, `# limit` is
a limit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from gradtrail.findings import registry
from gradtrail.findings.diagnostic import Diagnostic, Step
from gradtrail.findings.rule import Rule
from gradtrail.laws.text import text
from gradtrail.source.place import Place
from gradtrail.source.words import Word

MODULE = "sample_family"


class FakeEvent:
    def __init__(self, kind: str, place: Place, trail: tuple[Step, ...]) -> None:
        self.kind = kind
        self.place = place
        self.trail = trail
        self.certainty = ""


class FakeJournal:
    def __init__(self) -> None:
        self.events: list[FakeEvent] = []
        self.limits: list[Any] = []
        self.alone: list[tuple[int, int]] = []


def interpret(project: Any, filename: str, **options: Any) -> FakeJournal:
    """The journal of a file, by the marks at the ends of its lines."""
    journal = FakeJournal()
    trail: tuple[Step, ...] = ()
    for row, line in enumerate(project.files.read(filename).lines, 1):
        place = Place(filename, row, 1, row, max(2, len(line.partition("#")[0].rstrip()) + 1))
        mark = line.rpartition("# ")[2] if "# " in line else ""
        if mark == "crash":
            raise ValueError("a mistake\nof ours")
        if mark == "deep":
            raise RecursionError
        if mark == "interrupt":
            raise KeyboardInterrupt
        if mark == "limit":
            journal.limits.append(text("a limit at line {row}", row=row))
        if mark == "cause":
            trail = (Step(place, "created", text("it starts here")),)
        if mark in ("fault", "twice"):
            journal.events.append(FakeEvent("fault", place, trail))
        if mark == "twice":
            journal.events.append(FakeEvent("fault", place, trail))
        if mark == "suspicion":
            journal.events.append(FakeEvent("suspicion", place, trail))
    return journal


class SampleFault(Rule):
    """A line says that it is a fault. Lines should not.

    Take the mark away.
    """

    name = "sample-fault"
    severity = "error"
    hears = ("fault",)
    words = (Word(b"fault"), Word(b"twice"))
    examples = ()
    near_misses = ()

    def check(self, event: Any, journal: Any) -> Iterator[Diagnostic]:
        yield Diagnostic(
            self.name,
            self.severity,
            "raises",
            event.place,
            text("line {row} is a fault", row=event.place.row),
            trail=event.trail,
            help=text("take the mark away"),
        )


class SampleSuspicion(Rule):
    """A line says that it is suspicious."""

    name = "sample-suspicion"
    severity = "info"
    hears = ("suspicion",)
    words = (Word(b"suspicion"),)
    examples = ()
    near_misses = ()

    def check(self, event: Any, journal: Any) -> Iterator[Diagnostic]:
        yield Diagnostic(self.name, self.severity, "wasteful", event.place, text("suspicious"))


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the engine find this interpreter and these rules, and no others."""
    machine = ModuleType("gradtrail.interp.machine")
    machine.interpret = interpret  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gradtrail.interp.machine", machine)
    full = "gradtrail.findings.rules." + MODULE
    module = ModuleType(full)
    for rule in (SampleFault, SampleSuspicion):
        monkeypatch.setattr(rule, "__module__", full)
        setattr(module, rule.__name__, rule)
    monkeypatch.setitem(sys.modules, full, module)
    monkeypatch.setattr(registry, "module_names", lambda: [MODULE])
    monkeypatch.setattr(registry, "index", lambda: registry.make_index(registry.all_rules()))
