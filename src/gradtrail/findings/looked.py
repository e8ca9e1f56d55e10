"""What looking at one file has given, in a form that outlives the run: it can be kept, and sent to another process."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from gradtrail.findings.diagnostic import Diagnostic, Fix, NotLookedAt, Step
from gradtrail.laws.text import Text
from gradtrail.source.place import Edit, Place


class Looked(NamedTuple):
    """What looking at one file has given, whatever other files have given.

    `findings` have their fixes, and are those that `check` tells of this file and of what it imports; what comments
    hide is among them. `interpreted` is False for a file that the byte filter has put aside. `comments` says that
    comments in the file may hide findings. The rest is what `Report` and the search for idle comments ask for.
    """

    filename: str
    findings: tuple[Diagnostic, ...] = ()
    not_looked_at: tuple[NotLookedAt, ...] = ()
    interpreted: bool = False
    comments: bool = False
    settled: bool = False
    raised: int | None = None
    alone: tuple[tuple[int, int], ...] | None = None


class Kept(Protocol):
    """Where what looking at files has given is kept between runs."""

    def recall(self, filename: str, state: str) -> Looked | None:
        """What looking at a file has given, if nothing that it depends on has changed since."""

    def keep(self, looked: Looked, state: str, depends: Iterable[str]) -> None:
        """Keep what looking at a file has given, beside the files and the other state that it depends on."""

    def heard(self) -> Any:
        """What has been heard of the paths that were read or asked for, as plain data for another process."""

    def hear(self, heard: Any) -> None:
        """Take what another process has heard."""


class Told:
    """What looking at files has given, gathered for another process."""

    def __init__(self) -> None:
        self.rows: list[Any] = []

    def recall(self, filename: str, state: str) -> Looked | None:
        """Nothing is known from before."""
        return None

    def keep(self, looked: Looked, state: str, depends: Iterable[str]) -> None:
        """Gather what looking at a file has given, unless it cannot be told."""
        with suppress(TypeError):
            self.rows.append([state, sorted(depends), encoded(looked)])

    def heard(self) -> Any:
        """Paths are heard by what keeps, not here."""

    def hear(self, heard: Any) -> None:
        """Paths are heard by what keeps, not here."""


_KINDS = {kind.__name__: kind for kind in (Looked, Diagnostic, NotLookedAt, Fix, Step, Edit, Place, Text)}


def encoded(value: Any) -> Any:
    """A value as plain lists, numbers and strings. Raises `TypeError` for what cannot be told so."""
    kind = type(value)
    if value is None or kind in (str, int, float, bool):
        return value
    if kind is tuple:
        return ["", *map(encoded, value)]
    if _KINDS.get(kind.__name__) is not kind:
        raise TypeError(kind.__name__)
    return [kind.__name__, *map(encoded, value)]


def decoded(value: Any) -> Any:
    """The value that `encoded` has told."""
    if type(value) is not list:
        return value
    name, *parts = value
    told = map(decoded, parts)
    return _KINDS[name](*told) if name else tuple(told)
