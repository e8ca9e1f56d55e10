"""Reading a Python file as Python itself would, and saying in one sentence why it could not be read.

Nothing that is read is run or imported.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from typing import TYPE_CHECKING

from gradtrail.laws.text import Text, text
from gradtrail.source.text import SourceText, apply, split_lines

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Unreadable", "apply", "decode", "from_data", "parsed", "read", "read_data", "read_regular"]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# PEP 263: the comment has to stand on the first or the second line, and a second line counts only
# after a first line that is blank or a comment.
_ENCODING = rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)"
_BLANK = rb"[ \t\f]*(?:#[^\r\n]*)?\r?$"
# The memory that `ast` needs grows with the nesting, so a limit on the depth that Python itself sets
# stays in force; this only gives the interpreter of the project room for a deep but readable file.
_RECURSION_LIMIT = 5000


class Unreadable(Exception):
    """A file that cannot be looked at, and why, in one sentence for people."""

    def __init__(self, filename: str, reason: Text) -> None:
        super().__init__(filename, reason)
        self.filename = filename
        self.reason = reason

    def __str__(self) -> str:
        return self.filename + ": " + str(self.reason)


def read(path: str) -> SourceText:
    """The file at `path`, decoded and parsed. Raises `Unreadable`."""
    return parsed(from_data(path, read_data(path)))


def read_data(path: str) -> bytes:
    """The bytes of the file at `path`. Raises `Unreadable`."""
    return _read(path, stat.S_ISCHR, stat.S_ISBLK)


def read_regular(path: str) -> bytes:
    """The bytes of a file that nobody named: a pipe, which may never end, is not read. Raises `Unreadable`."""
    return _read(path, stat.S_ISCHR, stat.S_ISBLK, stat.S_ISFIFO, stat.S_ISSOCK)


def _read(path: str, *refused: Callable[[int], bool]) -> bytes:
    try:
        mode = os.stat(path).st_mode
        if any(is_of_kind(mode) for is_of_kind in refused):
            raise Unreadable(path, text("is a device or a pipe, not a file"))
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise Unreadable(path, text("no such file or folder")) from None
    except IsADirectoryError:
        raise Unreadable(path, text("is a folder, not a file")) from None
    except PermissionError:
        raise Unreadable(path, text("not permitted to read it")) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Unreadable(path, text("cannot be read: {reason}", reason=reason)) from None


def from_data(filename: str, data: bytes) -> SourceText:
    """The source text that `data`, a program or a notebook, holds, not parsed yet. Raises `Unreadable`."""
    if filename.endswith(".ipynb") or (data.lstrip()[:1] == b"{" and b'"nbformat"' in data):
        # As JSON it would pass for an expression of Python.
        from gradtrail.source import notebook

        return notebook.from_data(filename, data)
    source, encoding = decode(filename, data)
    return SourceText(filename, data, source, encoding)


def decode(filename: str, data: bytes) -> tuple[str, str]:
    """The text of `data` without a byte order mark, and the name of its encoding. Raises `Unreadable`."""
    if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        raise Unreadable(filename, text("is UTF-32, which Python does not read as source"))
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable(filename, text("is UTF-16, which Python does not read as source"))
    if b"\0" in data:
        raise Unreadable(filename, text("is binary: byte {byte} is zero", byte=data.index(b"\0") + 1))
    encoding = _declared_encoding(data)
    if data.startswith(_BYTE_ORDER_MARK):
        if encoding is not None and _plain(encoding) not in ("utf8", "utf8sig"):
            raise Unreadable(
                filename,
                text("has a UTF-8 byte order mark, yet declares the encoding {encoding}", encoding=encoding),
            )
        encoding = "utf-8-sig"
    encoding = encoding or "utf-8"
    try:
        return data.decode(encoding), encoding
    except UnicodeDecodeError as error:
        raise Unreadable(filename, undecodable(data, encoding, error)) from None
    except (LookupError, UnicodeError, ValueError):
        raise Unreadable(
            filename, text("declares the encoding {encoding}, which is not known", encoding=encoding)
        ) from None


def parsed(source: SourceText) -> SourceText:
    """`source`, with its tree made. Raises `Unreadable` when it does not parse."""
    try:
        source.parse()
    except SyntaxError as error:
        raise Unreadable(source.filename, syntax_reason(error)) from None
    except (RecursionError, MemoryError):
        raise Unreadable(source.filename, text("is nested too deeply to be parsed")) from None
    except ValueError as error:
        raise Unreadable(source.filename, text("does not parse: {message}", message=str(error))) from None
    return source


def make_room() -> None:
    """Let deeply nested programs be walked: 1,000 levels of code take several calls for each level."""
    if sys.getrecursionlimit() < _RECURSION_LIMIT:
        sys.setrecursionlimit(_RECURSION_LIMIT)


def _declared_encoding(data: bytes) -> str | None:
    """The encoding that a PEP 263 comment declares."""
    head = data[:1000].removeprefix(_BYTE_ORDER_MARK)
    if b"coding" not in head:
        return None
    for line in re.split(rb"\r\n|\r|\n", head, maxsplit=2)[:2]:
        found = re.match(_ENCODING, line)
        if found:
            return _normal(found.group(1).decode("ascii", "replace"))
        if not re.match(_BLANK, line):
            return None
    return None


def _normal(encoding: str) -> str:
    """The name that Python takes: it knows `utf-8-unix` and its like, which editors write."""
    name = encoding[:12].lower().replace("_", "-")
    for known in ("utf-8", "latin-1", "iso-8859-1", "iso-latin-1"):
        if name == known or name.startswith(known + "-"):
            return "iso-8859-1" if known == "iso-latin-1" else known
    return encoding


def _plain(encoding: str) -> str:
    return encoding.lower().replace("-", "").replace("_", "")


def undecodable(data: bytes, encoding: str, error: UnicodeDecodeError) -> Text:
    """Which byte of `data` is not what the encoding knows."""
    row = len(split_lines(data[: error.start].decode("latin-1")))
    # `utf-8-sig` counts from after the mark.
    start = error.start + (3 if encoding == "utf-8-sig" else 0)
    value = data[start] if start < len(data) else 0
    return text(
        "is not {encoding}: byte {byte} ({value}, line {row}) cannot be decoded",
        encoding="UTF-8" if _plain(encoding).startswith("utf8") else encoding,
        byte=start + 1,
        value=hex(value),
        row=row,
    )


def syntax_reason(error: SyntaxError) -> Text:
    """Why something does not parse, as `ast.parse` says it."""
    message = (error.msg or "invalid syntax").splitlines()[0]
    if error.lineno is None:
        return text("does not parse: {message}", message=message)
    # A newer Python may well know what this one does not.
    return text(
        "does not parse: line {row}: {message} (read as Python {version})",
        row=error.lineno,
        message=message,
        version="{}.{}".format(*sys.version_info),
    )
