"""Notebooks: their cells as one program, and the way back into the file.

The code cells are joined in their order, each with rows of its own, so that names of one are known in the
next. `Cells` is the table between rows of that text and rows of cells, which are counted from 1, and cells with
them: all cells, as editors count them. What IPython adds to Python is taken out row by row.
"""

from __future__ import annotations

import ast
import json
import keyword
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gradtrail.laws.text import Text, text
from gradtrail.source import reading
from gradtrail.source.place import Edit, Place
from gradtrail.source.reading import Unreadable
from gradtrail.source.text import SourceText, apply, split_lines

SUFFIX = ".ipynb"

_PYTHON_CELLS = frozenset("capture debug ipytest prun pyinstrument snakeviz time wandb".split())
"""Cell magics whose cell is Python that runs once, with the names of the program."""

_PYTHON_LINES = frozenset(("time", "prun"))
"""Line magics behind which a statement stands that runs once."""


class Cells(NamedTuple):
    """The code cells of a notebook: the number of each, and its first row in the joined text.

    `left_out` says of each cell that is not looked at why. `language` is that of a notebook which is not
    Python; nothing of it is looked at.
    """

    numbers: tuple[int, ...]
    starts: tuple[int, ...]
    left_out: tuple[Text, ...] = ()
    language: str = ""

    def in_cell(self, row: int) -> tuple[int, int]:
        """The cell that a row of the joined text lies in, and the row there."""
        index = max(bisect_right(self.starts, row) - 1, 0)
        return self.numbers[index], row - self.starts[index] + 1

    def row(self, cell: int, row: int) -> int:
        """The row of the joined text for a row of a cell; 0 where there is no such cell."""
        return self.starts[self.numbers.index(cell)] + row - 1 if cell in self.numbers else 0

    def place(self, place: Place) -> Place:
        """A place of the joined text as one in its cell."""
        if not self.numbers:
            return place
        cell, row = self.in_cell(place.row)
        end_row = None if place.end_row is None else place.end_row - place.row + row
        return place._replace(row=row, end_row=end_row, cell=cell)

    def whole(self, place: Place) -> Place:
        """A place in a cell as one of the joined text."""
        if place.cell is None:
            return place
        row = self.row(place.cell, place.row)
        end_row = None if place.end_row is None else place.end_row - place.row + row
        return place._replace(row=row, end_row=end_row, cell=None)


def is_notebook(filename: str, data: bytes) -> bool:
    """Whether a file is one by its name or, where nothing else says so, by what it holds."""
    return filename.endswith(SUFFIX) or (data.lstrip()[:1] == b"{" and b'"nbformat"' in data)


def from_data(filename: str, data: bytes) -> SourceText:
    """The program in the bytes of a notebook. Raises `Unreadable` when it is none."""
    notebook = _loaded(filename, data)
    language = _language(notebook)
    if language:
        return SourceText(filename, b"", "", cells=Cells((), (), (), language))
    rows: list[str] = []
    code: list[str] = []
    shifts: list[int] = []
    numbers: list[int] = []
    starts: list[int] = []
    left_out: list[Text] = []
    for number, cell in enumerate(_cells(filename, notebook), 1):
        said = _code_of(cell)
        if said is None:
            continue
        if not isinstance(said, str):
            left_out.append(text("cell {cell} is broken, and was left out", cell=number))
            continue
        read = _read(said)
        if read.reason is not None:
            left_out.append(
                text("cell {cell} was left out, since it {reason}", cell=number, reason=read.reason)
            )
        numbers.append(number)
        starts.append(len(rows) + 1)
        rows += split_lines(said)
        code += read.rows
        shifts += read.shifts
    whole = "\n".join(rows)
    return SourceText(
        filename,
        whole.encode("utf-8", "surrogatepass"),
        whole,
        code=None if rows == code else "\n".join(code),
        shifts=tuple(shifts) if any(shifts) else (),
        cells=Cells(tuple(numbers), tuple(starts), tuple(left_out)),
    )


# The file


def _loaded(filename: str, data: bytes) -> dict[str, Any]:
    """The JSON of a notebook. Raises `Unreadable`."""
    if not data.strip():
        raise Unreadable(filename, text("is not a notebook: the file is empty"))
    try:
        whole = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Unreadable(filename, reading.undecodable(data, "utf-8", error)) from None
    except json.JSONDecodeError as error:
        told = text(
            "is not a notebook: line {row} is not JSON: {message}", row=error.lineno, message=error.msg
        )
        raise Unreadable(filename, told) from None
    except (RecursionError, ValueError):
        raise Unreadable(filename, text("is not a notebook: its JSON cannot be read")) from None
    if not isinstance(whole, dict) or _list_of_cells(whole) is None:
        raise Unreadable(filename, text("is not a notebook: it has no list of cells"))
    return whole


def _list_of_cells(notebook: dict[str, Any]) -> list[Any] | None:
    """The cells; those of all worksheets in format 3 and before."""
    cells, sheets = notebook.get("cells"), notebook.get("worksheets")
    if isinstance(cells, list):
        return cells
    if not isinstance(sheets, list):
        return None
    listed = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    return [cell for cells in listed if isinstance(cells, list) for cell in cells]


def _cells(filename: str, notebook: dict[str, Any]) -> list[Any]:
    found = _list_of_cells(notebook)
    assert found is not None, filename
    return found


def _language(notebook: dict[str, Any]) -> str:
    """The language of a notebook, if it is another than Python."""
    metadata = notebook.get("metadata")
    for table, key in (("language_info", "name"), ("kernelspec", "language")):
        said = metadata.get(table) if isinstance(metadata, dict) else None
        name = said.get(key) if isinstance(said, dict) else None
        if isinstance(name, str) and name:
            return "" if "python" in name.lower() else name
    return ""


def _code_of(cell: Any) -> object:
    """What a code cell says; None for a cell of another kind or language, () for one that is broken."""
    if not isinstance(cell, dict):
        return ()
    if cell.get("cell_type") != "code":
        return None
    metadata = cell.get("metadata")
    editor = metadata.get("vscode") if isinstance(metadata, dict) else None
    languages = (cell.get("language"), editor.get("languageId") if isinstance(editor, dict) else None)
    if any(isinstance(one, str) and "python" not in one.lower() for one in languages):
        return None
    said = cell.get("source", cell.get("input"))
    if isinstance(said, list) and all(isinstance(line, str) for line in said):
        return "".join(said)
    return said if isinstance(said, str) else ()


# One cell


class _Read(NamedTuple):
    """The rows of a cell as Python, what was taken from the front of each, and why the cell is left out."""

    rows: list[str]
    shifts: list[int]
    reason: Text | None = None


def _read(said: str) -> _Read:
    """A cell as Python, row by row."""
    rows = split_lines(said)
    plain = [0] * len(rows)
    if _syntax_reason(said) is None:
        return _Read(rows, plain)
    without, is_python = _without_cell_magic(rows)
    if not is_python:
        return _Read([""] * len(rows), plain)
    kept, shifts = _without_magics(without)
    reason = _syntax_reason("\n".join(kept))
    if reason is None:
        return _Read(kept, shifts)
    from gradtrail.source import snippet

    repaired = snippet.repair(SourceText("", b"", "\n".join(without)))
    if repaired is not None and not repaired.left_out:
        mended = split_lines(repaired.code)
        if len(mended) == len(rows):
            return _Read(mended, [*repaired.shifts, *plain][: len(rows)])
    return _Read([_stands_for("\n".join(without)), *[""] * (len(rows) - 1)], plain, reason)


def _syntax_reason(code: str) -> Text | None:
    """Why code does not parse; None when it does."""
    try:
        ast.parse(code)
    except SyntaxError as error:
        return reading.syntax_reason(error)
    except (RecursionError, MemoryError):
        return text("is nested too deeply to be parsed")
    except ValueError as error:
        return text("does not parse: {message}", message=str(error))
    return None


_NAME = re.compile(r"(?<![.\w])[^\W\d]\w*")
_TARGET = re.compile(r"(?:async\s+)?(?:for\s+)?([^=()'\"#:]+)(?::[^=]+)?(?:[-+*/@%&|^]?=(?!=)|(?<=\s)in\s)")
_NAMED = re.compile(r"\b(?:as|def|class|import)\s+(\w+)")
_LONG_ROW = 300
"""A row that is longer is not looked into for the names that it binds."""


def _stands_for(code: str) -> str:
    """A row that takes the place of a cell nobody can read: what it speaks of is not known afterwards."""
    used = dict.fromkeys(name for name in _NAME.findall(code) if not keyword.iskeyword(name))
    bound: dict[str, None] = {}
    for row in split_lines(code):
        if len(row) <= _LONG_ROW:
            target = _TARGET.match(row.strip())
            bound.update(dict.fromkeys(_NAME.findall(target.group(1)) if target else ()))
            bound.update(dict.fromkeys(_NAMED.findall(row)))
    targets = "".join(f"{name} = " for name in bound if name in used)
    return f"{targets}get_ipython()({', '.join(used)})"


_CELL_MAGIC = re.compile(r"%%(\w+)")


def _without_cell_magic(rows: list[str]) -> tuple[list[str], bool]:
    """The rows of a cell without the magics at its top, and whether what follows is Python of this program."""
    kept = list(rows)
    for number, row in enumerate(rows):
        if not row.strip():
            continue
        found = _CELL_MAGIC.match(row)
        if found is None:
            break
        if found.group(1) not in _PYTHON_CELLS:
            return kept, False
        kept[number] = ""
    return kept, True


_LINE_MAGIC = re.compile(r"([ \t]*)%{1,2}([^\W\d]\w*)[ \t]*")
_ESCAPE = re.compile(r"[ \t]*(?:!|\?|[/,;][^\W\d])")
_HELP = re.compile(r"[^#'\"]*\?{1,2}[ \t]*;?[ \t]*(?:#.*)?$")
_ASSIGNED = re.compile(r"([ \t]*[^\W\d][\w., \t\[\]'\"*]*=[ \t]*)(?:%[^\W\d]|!)")


def _without_magics(rows: list[str]) -> tuple[list[str], list[int]]:
    """The rows without magics, calls of the shell and questions for help, and what was taken from their fronts."""
    kept: list[str] = []
    shifts: list[int] = []
    scan = _Scan()
    goes_on = False  # a magic or a command of the shell that ends in a backslash
    for row in rows:
        if goes_on:
            kept.append("")
            shifts.append(0)
            goes_on = row.endswith("\\")
            continue
        taken = _magic(row) if scan.at_start else None
        if taken is None:
            scan.go_over(row)
            kept.append(row)
            shifts.append(0)
        else:
            code, shift = taken
            kept.append(code)
            shifts.append(shift)
            if shift:
                scan.go_over(code)
            else:
                goes_on = row.endswith("\\")
    return kept, shifts


def _magic(row: str) -> tuple[str, int] | None:
    """What stands for a row that is not Python, and what was taken from its front; None for a row of Python."""
    magic = _LINE_MAGIC.match(row)
    if magic is not None and not _HELP.match(row):
        indent, name = magic.groups()
        rest = row[magic.end() :]
        if name in _PYTHON_LINES and rest.strip() and not rest.startswith("-"):
            return indent + rest, magic.end() - len(indent)
        return indent + "pass", 0
    if _ESCAPE.match(row) or _HELP.match(row):
        return row[: len(row) - len(row.lstrip())] + "pass", 0
    assigned = _ASSIGNED.match(row)
    return None if assigned is None else (assigned.group(1) + "get_ipython()()", 0)


class _Scan:
    """Goes over rows of Python and knows whether a statement may begin at the next."""

    _PIECE = re.compile(
        r"""(?P<long>\"{3}|'{3})|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|\#.*|(?P<open>[(\[{])|(?P<close>[)\]}])"""
    )

    def __init__(self) -> None:
        self._depth = 0
        self._quotes = ""
        self._goes_on = False

    @property
    def at_start(self) -> bool:
        """Whether no bracket, string or line is open."""
        return not (self._depth or self._quotes or self._goes_on)

    def go_over(self, row: str) -> None:
        """Take one more row."""
        at = 0
        self._goes_on = False
        while True:
            if self._quotes:
                end = re.compile(r"(?:[^\\]|\\.)*?" + self._quotes).match(row, at)
                if end is None:
                    return
                self._quotes, at = "", end.end()
            piece = self._PIECE.search(row, at)
            if piece is None:
                break
            at = piece.end()
            self._quotes = piece.group("long") or ""
            self._depth = max(0, self._depth + bool(piece.group("open")) - bool(piece.group("close")))
        self._goes_on = row.endswith("\\")


# The way back


def edited(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The bytes of a notebook with `edits` made, whose places are in cells.

    Only the sources of the cells that change are written anew. Raises ValueError for an edit that does
    not fit, as `apply` does.
    """
    by_cell: dict[int, list[Edit]] = {}
    for edit in edits:
        if edit.place.cell is None:
            raise ValueError("an edit of a notebook names no cell")
        by_cell.setdefault(edit.place.cell, []).append(edit)
    before = sources(data)
    if by_cell.keys() - before.keys():
        raise ValueError("an edit names a cell that the notebook does not have")
    return with_sources(data, {cell: apply(before[cell], of_cell) for cell, of_cell in by_cell.items()})


def sources(data: bytes) -> dict[int, str]:
    """What the code cells of a notebook say, by their numbers. Raises `Unreadable`."""
    said = {number: _code_of(cell) for number, cell in enumerate(_cells("", _loaded("", data)), 1)}
    return {number: one for number, one in said.items() if isinstance(one, str)}


def with_sources(data: bytes, new: Mapping[int, str]) -> bytes:
    """The bytes of a notebook in which some cells, by their numbers, say something new.

    Everything else stays as it is, to the byte: outputs, the order of keys, indentation, escapes.
    Raises `Unreadable` when it is no notebook and ValueError for a cell that it does not have.
    """
    before = sources(data)
    changed = {cell: said for cell, said in new.items() if said != before.get(cell)}
    if changed.keys() - before.keys():
        raise ValueError("the notebook has no such code cell")
    if not changed:
        return data
    whole = data.decode("utf-8")
    spans = _source_spans(whole)
    pieces: list[str] = []
    done = 0
    for cell, said in sorted(changed.items()):
        start, end = spans[cell]
        pieces += whole[done:start], _written(whole, start, end, said)
        done = end
    return "".join((*pieces, whole[done:])).encode("utf-8")


_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\r\n]*")


def _after_blanks(whole: str, at: int) -> int:
    found = _BLANK.match(whole, at)
    return at if found is None else found.end()


def _members(whole: str, at: int) -> dict[str, tuple[int, int]]:
    """Where the values of an object stand; of a key that comes twice, the last, as JSON is read."""
    found: dict[str, tuple[int, int]] = {}
    at = _after_blanks(whole, at + 1)
    while whole[at] != "}":
        key, at = _DECODER.raw_decode(whole, at)
        at = _after_blanks(whole, _after_blanks(whole, at) + 1)  # the colon
        _, end = _DECODER.raw_decode(whole, at)
        found[key] = at, end
        at = _after_comma(whole, end)
    return found


def _elements(whole: str, at: int) -> list[tuple[int, int]]:
    """Where the elements of an array stand."""
    found: list[tuple[int, int]] = []
    at = _after_blanks(whole, at + 1)
    while whole[at] != "]":
        _, end = _DECODER.raw_decode(whole, at)
        found.append((at, end))
        at = _after_comma(whole, end)
    return found


def _after_comma(whole: str, at: int) -> int:
    at = _after_blanks(whole, at)
    return _after_blanks(whole, at + 1) if whole[at] == "," else at


def _source_spans(whole: str) -> dict[int, tuple[int, int]]:
    """Where the source of each cell stands in the JSON."""
    top = _members(whole, _after_blanks(whole, 1 if whole.startswith("\ufeff") else 0))
    if "cells" in top and whole[top["cells"][0]] == "[":
        cells = _elements(whole, top["cells"][0])
    else:
        cells = []
        for start, _ in _elements(whole, top["worksheets"][0]):
            sheet = _members(whole, start) if whole[start] == "{" else {}
            if "cells" in sheet and whole[sheet["cells"][0]] == "[":
                cells += _elements(whole, sheet["cells"][0])
    spans: dict[int, tuple[int, int]] = {}
    for number, (start, _) in enumerate(cells, 1):
        members = _members(whole, start) if whole[start] == "{" else {}
        span = members.get("source", members.get("input"))
        if span is not None:
            spans[number] = span
    return spans


def _written(whole: str, start: int, end: int, said: str) -> str:
    """The JSON of a source, in the form of the one that it replaces: a string, or a list of lines."""
    ascii_only = _escapes_all(whole, whole[start:end])
    if whole[start] == '"':
        return json.dumps(said, ensure_ascii=ascii_only)
    spans = _elements(whole, start)
    # A line that stays is kept as it is spelt.
    spelt = {json.loads(whole[at:stop]): whole[at:stop] for at, stop in spans}
    lines = re.findall(r"[^\n]*\n|[^\n]+", said)
    items = [spelt.get(line) or json.dumps(line, ensure_ascii=ascii_only) for line in lines]
    if not items:
        return "[]"
    first, between, last = _layout(whole, start, end, spans)
    return "[" + first + ("," + between).join(items) + last + "]"


def _layout(whole: str, start: int, end: int, spans: list[tuple[int, int]]) -> tuple[str, str, str]:
    """The blanks after the bracket of a list, after its commas, and before the bracket at its end."""
    if spans:
        first = whole[start + 1 : spans[0][0]]
        last = whole[spans[-1][1] : end - 1]
        if len(spans) > 1:
            return first, whole[spans[0][1] : spans[1][0]].replace(",", "", 1), last
        return first, first if "\n" in first else _gap(whole), last
    row = whole[whole.rfind("\n", 0, start) + 1 : start]
    indent = row[: len(row) - len(row.lstrip())]
    if "\n" not in whole[:start] or not indent:
        return "", _gap(whole), ""
    found = re.search(r'\n([ \t]+)"', whole)
    end_of_line = "\r\n" if "\r\n" in whole else "\n"
    unit = found.group(1) if found else " "
    return end_of_line + indent + unit, end_of_line + indent + unit, end_of_line + indent


def _gap(whole: str) -> str:
    """What stands behind the colons of this JSON: a blank or nothing."""
    return " " if re.match(r'\s*\{\s*"(?:[^"\\]|\\.)*":\s', whole.removeprefix("\ufeff")) else ""


_ESCAPED = re.compile(r"(?<!\\)(?:\\\\)*\\u(?!00[0-7])[0-9a-fA-F]{4}")


def _escapes_all(whole: str, source: str) -> bool:
    """Whether what is not ASCII is written as escapes: as in this source, else as in this file."""
    for part in (source, whole):
        if not part.isascii():
            return False
        if _ESCAPED.search(part):
            return True
    return False
