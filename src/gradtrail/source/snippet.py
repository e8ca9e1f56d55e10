"""Code as it is pasted: with prompts, indented, with typographic quotes or full-width signs, cut off.

A file that parses is never touched. One that does not is repaired row by row, so that every row keeps its
number; `SourceText.shifts` keeps the columns right. When no repair helps, the first reason stands.
"""

from __future__ import annotations

import ast
import itertools
import keyword
import re
from collections.abc import Iterator

from gradtrail.source.reading import Unreadable, from_data, parsed
from gradtrail.source.text import SourceText, split_lines

_MOST_ROWS = 5000
"""A longer text is no snippet: it is not repaired."""

_MOST_CUT = 10
"""How many rows at the end may be dropped because they are cut off."""

_FEW_CUT = 3
"""So many may always be dropped; of more, no more than are kept, or the reason would be lost with the code."""

_DOCTEST = re.compile(r"[ \t]*(?:>>>|\.\.\.)(?: |$)")
_IPYTHON = re.compile(r"[ \t]*(?:In ?\[[ \d*]*\]|\.\.\.+): ?")
_IPYTHON_INPUT = re.compile(r"[ \t]*In ?\[[ \d*]*\]:")
_IPYTHON_OUTPUT = re.compile(r"[ \t]*Out ?\[[ \d*]*\]:")
_TRACEBACK = re.compile(r"[ \t]*Traceback \(most recent call last\)")
_MAGIC = re.compile(r"[ \t]*[%!?]+[A-Za-z]")
_LEFT_OUT_CODE = re.compile(r"[ \t]*(?:\.{3,}|…)(?![)\],]).*$")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_WORD = re.compile(r"[A-Za-z][\w'’]*[,;:.!?]?")
_OTHER_SCRIPT = re.compile(
    r"[ \t]*[\u3001-\u9fff\uac00-\ud7af\uff00-\uffef][^=(.\[]*(?:[\u3001-\u303f\uff00-\uffef]|$)"
)
"""A row in Chinese, Japanese or Korean that is not the use of a name in that script."""
_STATEMENTS = frozenset((*keyword.kwlist, "print", "exec", "match", "case", "type"))
"""Words that a row of code, and code of Python 2, may begin with and a word follow."""
_DEFINITION = re.compile(r"[ \t]*(?:async[ \t]+)?def[ \t]")

_SPACES = dict.fromkeys((0xA0, 0x2002, 0x2003, 0x2007, 0x2009, 0x202F, 0x3000, 0x200B, 0xFEFF), " ")
_DASHES = dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2212), "-")
_FULL_WIDTH = {0xFF00 + code - 0x20: chr(code) for code in range(0x21, 0x7F)} | {0x3001: ","}
_QUOTES = {0x2018: "'", 0x2019: "'", 0x201A: "'", 0x201C: '"', 0x201D: '"', 0x201E: '"'}


def read(filename: str, data: bytes) -> SourceText:
    """The parsed text of `data`, repaired as a pasted snippet when it does not parse. Raises `Unreadable`."""
    source = from_data(filename, data)
    try:
        return parsed(source)
    except Unreadable:
        repaired = repair(source)
        if repaired is None:
            raise
        return repaired


def repair(source: SourceText) -> SourceText | None:
    """`source` as a snippet that parses, or None when no repair helps."""
    rows = split_lines(source.text)
    if len(rows) > _MOST_ROWS:
        return None
    plain = source.text.translate(_SPACES | _DASHES)
    texts = dict.fromkeys((plain, plain.translate(_QUOTES), plain.translate(_FULL_WIDTH | _QUOTES)))
    for mend in (False, True):
        for text in texts:
            for attempt in _attempts(split_lines(text)):
                if attempt.parses(mend):
                    return attempt.source(source)
    return None


def full_width_sign(source: SourceText) -> tuple[int, str, str] | None:
    """The first sign of full width that was read as its ASCII form: its row, the sign, and what it was read as."""
    for row, (line, code) in enumerate(zip(source.lines, split_lines(source.code), strict=False), 1):
        for sign, read in zip(line, code, strict=False):
            if sign != read and _FULL_WIDTH.get(ord(sign)) == read:
                return row, sign, read
    return None


class _Attempt:
    """Rows of a snippet on their way to code that parses."""

    __slots__ = ("left_out", "rows", "shifts")

    def __init__(self, rows: list[str], shifts: list[int], left_out: list[int]) -> None:
        self.rows = rows
        self.shifts = shifts
        self.left_out = left_out

    def parses(self, mend: bool) -> bool:
        """Whether the rows parse and say something; with `mend` a cut end is dropped or completed."""
        for _ in range(_MOST_CUT):
            try:
                return bool(ast.parse("\n".join(self.rows)).body)
            except SyntaxError as error:
                if not mend or not self._mend_end(error):
                    return False
            except (ValueError, RecursionError, MemoryError):
                return False
        return False

    def source(self, original: SourceText) -> SourceText:
        """The source text of these rows, with the places of `original`."""
        return SourceText(
            original.filename,
            original.data,
            original.text,
            original.encoding,
            code="\n".join(self.rows),
            shifts=tuple(self.shifts),
            left_out=tuple(sorted(self.left_out)),
        )

    def _mend_end(self, error: SyntaxError) -> bool:
        """Drop the end that `error` speaks of, or give an open block a body; False when it is not the end."""
        last = _last_row(self.rows)
        row = error.lineno
        if last is None or row is None:
            return False
        if self.rows[last - 1].rstrip().endswith(":") and "indented block" in (error.msg or ""):
            indent = len(self.rows[last - 1]) - len(self.rows[last - 1].lstrip())
            self.rows.append(" " * (indent + 4) + "pass")
            return True
        first = min(row, last)
        if last - first >= _MOST_CUT or first <= 1 or "too many" in (error.msg or ""):
            return False
        cut = [number for number in range(first, last + 1) if self.rows[number - 1].strip()]
        if len(cut) > max(_FEW_CUT, sum(bool(row.strip()) for row in self.rows[: first - 1])):
            return False
        self.left_out += cut
        for dropped in range(first, last + 1):
            self.rows[dropped - 1] = ""
        return True


def _attempts(rows: list[str]) -> Iterator[_Attempt]:
    """The ways to read `rows`, the most likely first."""
    if any(_FENCE.match(row) for row in rows):
        yield from _attempts(_inside_fences(rows))
    if any(row.lstrip().startswith(">>>") for row in rows):
        yield _finished(_without_prompts(rows, _DOCTEST))
    if any(_IPYTHON_INPUT.match(row) for row in rows):
        yield _finished(_without_prompts(rows, _IPYTHON))
        yield _finished(_without_cell_heads(rows))
    whole = _Attempt(list(rows), [0] * len(rows), [])
    yield _finished(whole)
    if rows and rows[0].strip() and not rows[0][0].isspace():
        yield _finished(_first_row_apart(rows))
    if any(_is_prose(row) for row in rows):
        yield _finished(_without_prose(rows))


def _inside_fences(rows: list[str]) -> list[str]:
    """The rows between the fences of Markdown, the others empty; where there are fences, those are the code."""
    kept: list[str] = []
    inside = False
    for row in rows:
        if _FENCE.match(row):
            inside = not inside
            kept.append("")
        else:
            kept.append(row if inside else "")
    return kept


def _is_prose(row: str) -> bool:
    """Whether `row` begins as a sentence does: in code, no two names follow each other."""
    words = row.split()[:6]
    if _OTHER_SCRIPT.match(row):
        return True
    if (
        len(words) < 2
        or words[0] in _STATEMENTS
        or (len(words) == 2 and not row.rstrip().endswith((":", ".", "!", "?")))
    ):
        return False
    for word, following in itertools.pairwise(words):
        if not (_WORD.fullmatch(word) and _WORD.fullmatch(following)):
            return False
        if word.isidentifier() and not {word, following.rstrip(",;:.!?")} & _STATEMENTS:
            return True
    return False


def _without_prose(rows: list[str]) -> _Attempt:
    """A question as it was asked: sentences, code, and sentences again."""
    return _Attempt(["" if _is_prose(row) else row for row in rows], [0] * len(rows), [])


def _without_prompts(rows: list[str], prompt: re.Pattern[str]) -> _Attempt:
    """The rows that stand behind a prompt; what stands between them is output."""
    kept: list[str] = []
    shifts: list[int] = []
    for row in rows:
        found = prompt.match(row)
        kept.append(row[found.end() :] if found else "")
        shifts.append(found.end() if found else 0)
    return _Attempt(kept, shifts, [])


def _without_cell_heads(rows: list[str]) -> _Attempt:
    """Cells as a notebook page shows them: `In [3]:`, the code below it, `Out[3]:` and what came out."""
    kept: list[str] = []
    shifts: list[int] = []
    inside = True
    for row in rows:
        head = _IPYTHON.match(row)
        shifts.append(0)
        if _IPYTHON_OUTPUT.match(row):
            inside = False
        elif _IPYTHON_INPUT.match(row) and head:
            inside = True
            kept.append(row[head.end() :])
            shifts[-1] = head.end()
            continue
        kept.append(row if inside else "")
    return _Attempt(kept, shifts, [])


def _first_row_apart(rows: list[str]) -> _Attempt:
    """A paste whose first row lost its indentation: the rows below it are moved to the left."""
    attempt = _Attempt(list(rows), [0] * len(rows), [])
    _dedent(attempt, 1)
    return attempt


def _finished(attempt: _Attempt) -> _Attempt:
    """`attempt` with what is not code taken out and the common indentation removed."""
    rows = attempt.rows
    for number, row in enumerate(rows):
        if _TRACEBACK.match(row):
            attempt.left_out += [below + 1 for below in range(number, len(rows)) if rows[below].strip()]
            rows[number:] = [""] * (len(rows) - number)
            break
        indent = len(row) - len(row.lstrip())
        if _MAGIC.match(row):
            rows[number] = row[:indent] + "pass"
        elif _LEFT_OUT_CODE.match(row):
            rows[number] = row[:indent] + "..."
        elif _DEFINITION.match(row):
            rows[number] = row.replace("...", "*_ ")
    _dedent(attempt, 0)
    return attempt


def _dedent(attempt: _Attempt, first: int) -> None:
    """Remove the indentation that the rows from `first` on have in common."""
    rows = attempt.rows
    code = [row for row in rows[first:] if row.strip() and not row.lstrip().startswith("#")]
    common = min((len(row) - len(row.lstrip()) for row in code), default=0)
    if not common:
        return
    for number in range(first, len(rows)):
        taken = min(common, len(rows[number]) - len(rows[number].lstrip()))
        rows[number] = rows[number][taken:]
        attempt.shifts[number] += taken


def _last_row(rows: list[str]) -> int | None:
    return next((number for number in range(len(rows), 0, -1) if rows[number - 1].strip()), None)
