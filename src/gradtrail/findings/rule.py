"""What a rule is: a page, examples that torch has judged, and a check that hears events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    from gradtrail.findings.diagnostic import Diagnostic, Fix
    from gradtrail.interp.events import Event
    from gradtrail.interp.journal import Journal
    from gradtrail.source.edits import Editor
    from gradtrail.source.words import Word


class Example(NamedTuple):
    """A program with the mistake, and the same program put right.

    `# error` at the end of a line marks the place of the diagnostic, `# cause` a line its trail must
    pass. Exactly one of `raises` (a piece of torch's message) and `proof` (an expression, true after
    `bad`, false after `good`) says what torch does. `off_cpu` marks a program that raises only where
    the device is not the CPU: there is no proof of it on this machine's torch but the stand-in device.
    """

    title: str
    bad: str
    good: str
    raises: str = ""
    proof: str = ""
    off_cpu: bool = False


class NearMiss(NamedTuple):
    """A program that looks like the mistake and is right: the rule must stay quiet.

    Not `shown` on the rule's page are programs that try the mechanism rather than teach.
    """

    title: str
    code: str
    shown: bool = True


class Rule:
    """One kind of mistake. The docstring of a subclass is its page.

    `hears` names the kinds of events (`Event.kind`) that `check` is called with.
    `words` say how source code spells what the rule looks for. A file must hold at least one for the rule
    to matter there, and they choose the functions that are walked without a caller. None: everywhere.
    """

    name: ClassVar[str]
    severity: ClassVar[str] = "error"
    words: ClassVar[tuple[Word, ...]] = ()
    hears: ClassVar[tuple[str, ...]]
    examples: ClassVar[tuple[Example, ...]]
    near_misses: ClassVar[tuple[NearMiss, ...]]

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        """The diagnostics that `event` gives rise to."""
        raise NotImplementedError

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The fixes for `found`, which `check` made of `event`: one for each intent, what fits the scene first.

        `edit` builds edits from places; a fix without edits counts as none.
        """
        return iter(())
