"""What several processes say of one program, put together: each mistake once, what it began with first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from gradtrail.findings.diagnostic import Diagnostic, NotLookedAt
from gradtrail.findings.engine import identity
from gradtrail.laws.text import text
from gradtrail.runtime.processes.words import TERMINATED, Raised, Word
from gradtrail.source.place import Place

_FOLLOWS = re.compile(
    r"closed by peer|connection reset|broken pipe|connection refused|remote process exited"
    r"|NCCL communicator was aborted|ProcessRaisedException|ProcessExitedException|ChildFailedError",
    re.IGNORECASE,
)
"""How an error is worded that comes of the end of another process."""

_KNOWS_MORE = ("static", "live", "law")
"""Who knows of an error, the one that knows most first."""


def follows(error: BaseException) -> bool:
    """Whether an exception says that another process has ended."""
    return _FOLLOWS.search(f"{type(error).__name__}: {error}") is not None


def raised(words: Sequence[Word]) -> Iterator[Diagnostic]:
    """The errors of all processes, each once, by the one that knows most of it.

    An error that one process has raised and another one tells in words is one error. Those that came of the end of another
    process stand behind, and of the others the earliest is first.
    """
    order = sorted(words, key=lambda word: word.when)
    errors = sorted(
        ((word, one) for word in order for one in word.raised),
        key=lambda said: (said[1].follows and not said[1].elsewhere, said[1].elsewhere),
    )
    groups: list[list[tuple[Word, Raised]]] = []
    for said in errors:
        same = next((group for group in groups if _is_same(group[0][1], said[1])), None)
        if same is None:
            groups.append([said])
        else:
            same.append(said)
    for group in groups:
        raising = [word for word, one in group if not one.elsewhere] or [group[0][0]]
        best = min((one for _, one in group), key=lambda one: _KNOWS_MORE.index(one.by))
        processes = {word.process for word in raising}
        count = len(processes) if len(processes) > 1 else len(raising)
        ranks = [word.rank for word in raising if word.rank is not None]
        yield best.finding._replace(rank=min(ranks, default=None), count=count)


def _is_same(one: Raised, other: Raised) -> bool:
    if identity(one.finding) == identity(other.finding):
        return True
    return one.elsewhere != other.elsewhere and one.finding.rule == other.finding.rule


def where_they_stood(words: Sequence[Word], said: Callable[[Place], str]) -> Iterator[NotLookedAt]:
    """Of each rank that was ended by a signal the line that it was in: where one hangs, it is the line that waits."""
    for word in sorted(words, key=lambda word: (word.rank or 0, word.when)):
        if word.how == TERMINATED and word.rank is not None and word.at is not None:
            told = text("rank {rank} was ended by SIGTERM in line {row}", rank=word.rank, row=word.at.row)
            code = said(word.at)
            if code:
                told = text(
                    "rank {rank} was ended by SIGTERM in line {row}, at `{code}`",
                    rank=word.rank,
                    row=word.at.row,
                    code=code,
                )
            yield NotLookedAt(word.at.filename, told, failed=False)


def counted(finding: Diagnostic, words: Sequence[Word], first_row: int | None) -> Diagnostic:
    """A silent fault, with the processes that have it: those that saw it, or else that ran the function it is in.

    `first_row` is that of the function, None for what every process runs.
    """
    key = identity(finding)
    those = [word for word in words if any(identity(one) == key for one in word.silent)]
    if not those and first_row is not None:
        function = (finding.place.filename, first_row)
        those = [word for word in words if function in word.visited]
    if not those:
        return finding
    ranks = sorted(word.rank for word in those if word.rank is not None)
    return finding._replace(rank=ranks[0] if ranks else None, count=len({word.process for word in those}))
