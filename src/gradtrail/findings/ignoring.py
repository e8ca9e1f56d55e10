"""Findings that comments hide, and comments that hide nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.nearest import nearest
from gradtrail.findings.rule import Rule
from gradtrail.laws.text import Text, text
from gradtrail.source.ignore_comments import WORDS, IgnoreComment, ignore_comments
from gradtrail.source.place import Edit, Place
from gradtrail.source.text import SourceText


class UnusedIgnore(Rule):
    """A comment that hides findings hides none.

    `# gradtrail: ignore[rule]` hides the findings of a rule on the statement that it stands on, on any of its lines;
    without a list it hides those of all rules. `# gradtrail: ignore-file[rule]` above the first line of code
    does so for the whole file. A comment that hides nothing is left over from a mistake that was mended, or
    it has a name that no rule has, or it stands in another place than the finding: a later mistake on that line
    would stay hidden, or the one it was written for is shown.

    ## What to do

    Take the comment away, or write it as it is meant. A rule that is not looked for in a run, because it was
    not selected, is never told of.

    Where a single file is looked at, nothing is said of a comment in a function that takes arguments and that this
    file does not call: the finding may show when another file calls it.
    """

    name = "unused-ignore"
    severity = "warning"
    hears = ("comment",)
    examples = ()
    near_misses = ()


class Ignoring:
    """The comments of one file, and which of them have hidden something."""

    __slots__ = ("_comments", "_source", "_used")

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._comments = ignore_comments(source)
        self._used: set[tuple[int, str]] = set()

    def hides(self, finding: Diagnostic) -> bool:
        """Whether a finding in this file is hidden; every comment that hides it has been of use."""
        hidden = False
        for index, comment in enumerate(self._comments):
            if comment.counts_for(finding.place.row, finding.rule):
                self._used.add((index, finding.rule))
                hidden = True
        return hidden

    def unused(
        self,
        looked_for: Sequence[str],
        known: Iterable[str],
        looked_at: int | None,
        alone: Sequence[tuple[int, int]] = (),
    ) -> Iterator[Diagnostic]:
        """What is wrong with the comments, themselves not hidden.

        `looked_for` are the rules of this run, `known` all that there are. A comment that stands below the
        row `looked_at` is not said to hide nothing; None: the whole file was looked at.
        Nor is one that stands in the rows of a function that is called from elsewhere, if at all.
        """
        names = frozenset(known)
        for index, comment in enumerate(self._comments):
            is_settled = (looked_at is None or self._comes_to(comment, looked_at)) and not any(
                comment.first <= last and first <= comment.last for first, last in alone
            )
            for told, edited in self._wrong(index, comment, looked_for, names, is_settled):
                found = _diagnostic(comment, told, edited)
                if not any(
                    one.names is not None and one.counts_for(found.place.row, found.rule)
                    for one in self._comments
                ):
                    yield found

    def _comes_to(self, comment: IgnoreComment, row: int) -> bool:
        """Whether a program that ends at a row has come by a comment's statement: it stands outside of functions,
        or in the same one."""
        if comment.for_file or not comment.first <= row:
            return False
        between = self._source.lines[comment.first : row - 1]
        outside = not self._source.line(comment.first)[:1].isspace()
        return outside or not any(line and not line[0].isspace() and line[0] != "#" for line in between)

    def _wrong(
        self,
        index: int,
        comment: IgnoreComment,
        looked_for: Sequence[str],
        known: frozenset[str],
        is_settled: bool,
    ) -> Iterator[tuple[Text, tuple[Edit, ...]]]:
        if comment.word not in WORDS:
            near = nearest(comment.word, WORDS)
            if near is not None or comment.names is not None:
                told = text("there is no comment `{word}`", word=comment.word)
                yield _with_hint(told, near), ()
            return
        away = (Edit(_with_gap(self._source, comment), ""),) if comment.is_whole else ()
        if comment.for_file and comment.first > comment.last:
            yield text("`{comment}` counts only above the first line of code", comment="ignore-file"), ()
            return
        if comment.names is None:
            used = any(one == index for one, _ in self._used)
            if is_settled and not used and known <= {*looked_for, UnusedIgnore.name}:
                yield text("this comment hides nothing: nothing is found here"), away
            return
        if not comment.names:
            yield text("this comment names no rule between `[` and `]`"), ()
        for name in comment.names:
            edited = away if len(comment.names) == 1 else ()
            if name not in known:
                yield _with_hint(text("there is no rule `{name}`", name=name), nearest(name, known)), ()
            elif (
                is_settled
                and name != UnusedIgnore.name
                and name in looked_for
                and (index, name) not in self._used
            ):
                yield text("this comment hides nothing: `{rule}` is not found here", rule=name), edited


def _with_hint(told: Text, near: str | None) -> Text:
    if near is None:
        return told
    return text("{told}; {hint}", told=told, hint=text("did you mean `{near}`?", near=near))


def _diagnostic(comment: IgnoreComment, told: Text, edits: tuple[Edit, ...]) -> Diagnostic:
    fixes = (Fix(text("take the comment away"), edits, "safe"),) if edits else ()
    return Diagnostic(UnusedIgnore.name, UnusedIgnore.severity, "wasteful", comment.place, told, fixes=fixes)


def _with_gap(source: SourceText, comment: IgnoreComment) -> Place:
    """The place of a comment and of the blanks before it, or of its row when nothing else stands there."""
    place = comment.place
    before = source.line(place.row)[: place.column - 1].rstrip()
    ends_file = place.row == len(source.lines)
    if (
        before or ends_file or source.cells is not None
    ):  # in a notebook the next row may be that of another cell
        return place._replace(column=len(before) + 1)
    return place._replace(column=1, end_row=place.row + 1, end_column=1)
