"""Comments that hide findings: `# gradtrail: ignore[rule]` on a statement, `# gradtrail: ignore-file` above the code.

Only real comments count, never what stands in a string. The bytes `MARK` stand in every file that has one.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from gradtrail.source.place import Place

if TYPE_CHECKING:
    from gradtrail.source.text import SourceText

MARK = b"gradtrail:"

WORDS = ("ignore", "ignore-file")
"""What may stand behind the mark."""

_COMMENT = re.compile(r"#+[ \t]*gradtrail:[ \t]*([a-z][\w-]*)[ \t]*", re.IGNORECASE)
_NAMES = re.compile(r"\[([^\[\]#]*)\]")
_LAYOUT = frozenset((tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER))


class IgnoreComment(NamedTuple):
    """One comment: where it stands, the rules it names, and the rows for which it counts.

    `word` is what stands behind the mark: one that is none of `WORDS` is kept where it is used like one, with
    rules in brackets or with nothing behind it, and counts for nothing. `names` is None where it names none,
    and means all; empty where a list is given that names none or is not closed. `is_whole` says that `place`
    is the whole comment. A comment that counts for nothing has `first` above `last`.
    """

    place: Place
    names: tuple[str, ...] | None
    word: str
    first: int
    last: int
    is_whole: bool

    @property
    def for_file(self) -> bool:
        """Whether it speaks of the whole file."""
        return self.word == "ignore-file"

    def counts_for(self, row: int, rule: str) -> bool:
        """Whether a finding of `rule` at `row` is hidden by it."""
        return self.first <= row <= self.last and (self.names is None or rule in self.names)


def ignore_comments(source: SourceText) -> list[IgnoreComment]:
    """The comments of a file that hide findings, in order. Rows are those of the whole text."""
    found: list[IgnoreComment] = []
    for row, column, comment, first, last, is_above in _comments(source.code):
        for match in _COMMENT.finditer(comment):
            word = match.group(1).lower()
            names, end = _names(comment, match.end())
            rest = comment[end:]
            if word not in WORDS and names is None and rest:
                continue  # a sentence
            start = source.column(row, 0) + column + match.start()
            # A sentence may stand behind it, and then the comment is more than our words.
            whole = match.start() == 0 and not rest.strip()
            rows = (first, last) if word == "ignore" else (1, 0)
            if word == "ignore-file" and is_above:
                rows = (1, len(source.lines))
            stop = start + len(comment[match.start() : end].rstrip())
            place = Place(source.filename, row, start, row, stop)
            found.append(IgnoreComment(place, names, word, *rows, whole))
    return found


def _names(comment: str, at: int) -> tuple[tuple[str, ...] | None, int]:
    """The names in brackets at an offset, None without brackets; and where they end."""
    if not comment.startswith("[", at):
        return None, at
    listed = _NAMES.match(comment, at)
    if listed is None:
        return (), len(comment)
    names = (name.strip() for name in listed.group(1).split(","))
    return tuple(dict.fromkeys(name for name in names if name)), listed.end()


def _comments(code: str) -> Iterator[tuple[int, int, str, int, int, bool]]:
    """Each comment: its row, its offset in the row, its text, the rows of its statement, whether all code is below.

    A comment on a row of its own between statements has the rows of none: the first is above the last.
    """
    waiting: list[tuple[int, int, str]] = []
    begun: int | None = None
    above, is_first = True, True
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(code, newline=None).readline):
            kind = token.type
            if kind == tokenize.COMMENT:
                if begun is None:
                    yield (*token.start, token.string, 1, 0, above)
                else:
                    waiting.append((*token.start, token.string))
            elif kind == tokenize.NEWLINE and begun is not None:
                for row, column, comment in waiting:
                    yield row, column, comment, begun, token.start[0], False
                waiting, begun, is_first = [], None, False
            elif kind not in _LAYOUT and begun is None:
                begun = token.start[0]
                # A docstring is not code yet.
                above = above and is_first and kind == tokenize.STRING
