"""What one process has to say to the one that reports: plain data, in a file of a folder that they share."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from gradtrail.findings.diagnostic import Diagnostic
from gradtrail.findings.engine import Identity, identity
from gradtrail.findings.looked import decoded, encoded
from gradtrail.source.place import Place

ENDED, RAISED, TERMINATED, GOES_ON = "ended", "raised", "terminated", "goes on"
"""How it is with a process: at its end, ended by an exception or by a signal, or still running."""


class Raised(NamedTuple):
    """What is known of an exception: the finding, and who knew ("static", "live" or "law").

    `elsewhere`: another process raised it, and its traceback was told in the words. `follows`: it came of the end of
    another process.
    """

    finding: Diagnostic
    by: str
    elsewhere: bool = False
    follows: bool = False


class Word(NamedTuple):
    """What a process says, and how it is with it.

    `when` is the time of that by the clock of the machine. `visited` are the user's functions that have run, each a
    file and the first row; all of them where `whole`. `silent` was seen live, and `denied` is what `check` finds that
    the live facts speak against. `at` is where it stood when it was ended by a signal.
    """

    process: int
    rank: int | None
    how: str
    when: float
    visited: tuple[tuple[str, int], ...] = ()
    whole: bool = True
    raised: tuple[Raised, ...] = ()
    silent: tuple[Diagnostic, ...] = ()
    denied: tuple[Diagnostic, ...] = ()
    at: Place | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said."""
        return self.whole and not self.visited and not (self.raised or self.silent or self.denied or self.at)

    @property
    def denies(self) -> frozenset[Identity]:
        """What it speaks against, by identity."""
        return frozenset(map(identity, self.denied))


_ENDING = ".json"


def hand_over(word: Word, folder: str, name: str) -> None:
    """Write a word; one of the same name is replaced as a whole. A folder that is gone means that nobody listens."""
    path = os.path.join(folder, f"{name}{_ENDING}")
    beside = f"{path}.{os.getpid()}"
    told = [*word[:6], encoded(tuple(map(tuple, word.raised))), *map(encoded, word[7:])]
    with suppress(FileNotFoundError):
        with open(beside, "w", encoding="utf-8") as file:
            json.dump(told, file)
        os.replace(beside, path)


def words(folder: str) -> Iterator[Word]:
    """The words in a folder. One that cannot be read is passed over: its process was ended while it spoke."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        if name.endswith(_ENDING):
            with (
                suppress(OSError, ValueError, TypeError, KeyError),
                open(os.path.join(folder, name), encoding="utf-8") as file,
            ):
                yield _word(json.load(file))


def _word(told: list[object]) -> Word:
    process, rank, how, when, visited, whole, raised, *rest = told
    rows = tuple((name, row) for name, row in visited)  # type: ignore[attr-defined]
    errors = tuple(Raised(*one) for one in decoded(raised))
    return Word(process, rank, how, when, rows, whole, errors, *map(decoded, rest))  # type: ignore[arg-type]
