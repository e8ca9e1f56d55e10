"""Run a program on torch under observation, apart from the tests' own process, and tell what was found."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

from support.running import in_a_child


class Told(NamedTuple):
    """A finding: its rule, its row, what it says, the rows of its trail, and who knew of it ("" for what is silent)."""

    rule: str
    row: int
    message: str
    trail: tuple[int, ...]
    by: str


class Observed(NamedTuple):
    """How a program ended under observation: what was found, what it raised, and where it and the source disagreed."""

    findings: list[Told]
    raised: str
    differs: list[str]
    failed: list[str]

    @property
    def rules(self) -> list[str]:
        """The rules of the findings, in order."""
        return [one.rule for one in self.findings]


def observed(source: str, folder: Path, *, steps: int = 5, live_only: bool = False) -> Observed:
    """Run `source` under observation. With `live_only` the interpreter is not asked."""
    path = folder / "program.py"
    path.write_text(dedent(source).lstrip("\n"), encoding="utf-8")
    told = in_a_child(folder, lambda: observe_here(path, steps, live_only))
    assert told is not None, "no answer"
    findings, *rest = told
    return Observed([Told(*one[:3], tuple(one[3]), one[4]) for one in findings], *rest)


def observe_here(path: Path, steps: int, live_only: bool) -> Any:
    """The same in this process."""
    import torch

    from gradtrail.runtime import program
    from gradtrail.runtime.session import Session

    os.environ.setdefault("MPLBACKEND", "Agg")
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    failed: list[str] = []
    session = Session(None if live_only else str(path), steps, lambda wrong: failed.append(repr(wrong)))
    if live_only:
        session.static.found_in = lambda filenames: iter(())  # type: ignore[method-assign]
    loaded = program.script(str(path))
    main = program.take_the_place_of_main(loaded, [])
    sys.path.insert(0, str(path.parent))
    session.begin()
    raised = program.execute(loaded, main)
    if raised is None:
        session.ended()
    else:
        session.end()
        session.crashed(raised)
    by = {id(one.diagnostic): one.by for one in session.explained}
    findings = [
        (
            one.rule,
            one.place.row,
            str(one.message),
            [step.place.row for step in one.trail],
            next((each.by for each in session.explained if each.diagnostic.message == one.message), ""),
        )
        for one in session.report().findings
    ]
    assert len(by) == len(session.explained)
    return (
        findings,
        type(raised).__name__ if raised else "",
        [one.differs for one in session.explained if one.differs],
        failed,
    )
