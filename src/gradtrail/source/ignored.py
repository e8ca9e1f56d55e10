"""What `.gitignore` files leave out.

This is our own reading of gitignore(5); a test holds it to what git says. A library for it would be the
only dependency of the package, and takes longer to import than a small file takes to check.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from gradtrail.source.files import there_is
from gradtrail.source.reading import Unreadable, read_regular

_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "lower": "a-z",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


class _Pattern(NamedTuple):
    """One line: what it matches, whether it takes back what an earlier line ignores, folders only or not."""

    matches: re.Pattern[str]
    takes_back: bool
    folders_only: bool


class IgnoreFile:
    """The patterns of one `.gitignore`, for paths below its folder."""

    __slots__ = ("_any", "_patterns", "folder")

    def __init__(self, folder: str, content: str) -> None:
        self.folder = folder
        lines = enumerate(content.split("\n"))
        self._patterns = [one for number, line in lines if (one := _pattern(line, number)) is not None]
        # Most paths match nothing: one search tells so.
        self._any = re.compile("|".join(f"(?:{pattern.matches.pattern})" for pattern in self._patterns), re.S)

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """True when `path` is ignored, False when it is taken back, None when no line speaks of it."""
        relative = (
            os.path.relpath(path, self.folder) if os.sep != "/" else path[len(self.folder.rstrip("/")) + 1 :]
        )
        relative = relative.replace(os.sep, "/")
        if not self._patterns or not self._any.match(relative):
            return None
        for pattern in reversed(self._patterns):
            if (is_folder or not pattern.folders_only) and pattern.matches.match(relative):
                return not pattern.takes_back
        return None


class Ignored:
    """The `.gitignore` files that hold for a folder: its own and those above it in the repository."""

    __slots__ = ("_files",)

    def __init__(self, files: tuple[IgnoreFile, ...] = ()) -> None:
        self._files = files

    @classmethod
    def above(cls, folder: str) -> Ignored:
        """What holds in `folder` from above; nothing outside of a repository."""
        above: list[str] = []
        at = folder
        while True:
            if there_is(os.path.join(at, ".git")):
                break
            parent = os.path.dirname(at)
            if parent == at:
                return cls()
            at = parent
            above.append(at)
        files = []
        root = above[-1] if above else folder
        exclude = _read(os.path.join(root, ".git", "info", "exclude"))
        if exclude is not None:
            files.append(IgnoreFile(root, exclude))
        for one in reversed(above):
            content = _read(os.path.join(one, ".gitignore"))
            if content is not None:
                files.append(IgnoreFile(one, content))
        return cls(tuple(files))

    def inside(self, folder: str) -> Ignored:
        """What holds in `folder`, one level down: what held before, and its own `.gitignore`."""
        content = _read(os.path.join(folder, ".gitignore"))
        return self if content is None else Ignored((*self._files, IgnoreFile(folder, content)))

    def leaves_out(self, path: str, is_folder: bool) -> bool:
        """Whether `path` is ignored; the lowest file that speaks of it decides."""
        for file in reversed(self._files):
            verdict = file.verdict(path, is_folder)
            if verdict is not None:
                return verdict
        return False


def _read(path: str) -> str | None:
    try:
        return read_regular(path).decode("utf-8", "surrogateescape")
    except Unreadable:
        return None


def _pattern(line: str, number: int) -> _Pattern | None:
    line = _without_trailing_spaces(line.rstrip("\r"))
    if not line or line.startswith("#"):
        return None
    takes_back = line.startswith("!")
    if takes_back:
        line = line[1:]
    folders_only = line.endswith("/") and not line.endswith("\\/")
    if folders_only:
        line = line[:-1]
    if not line:
        return None
    anchored = "/" in line
    line = line.removeprefix("/")
    expression = _expression(line, f"star{number}_")
    if expression is None:
        return None
    before = "" if anchored else "(?:.*/)?"
    return _Pattern(re.compile(before + expression + r"\Z", re.S), takes_back, folders_only)


def _without_trailing_spaces(line: str) -> str:
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    return line


_STAR = "[^/]*"


def _expression(glob: str, group: str) -> str | None:
    """The regular expression of a pattern; None for one that can never match.

    Its groups are named `group` and a number.
    """
    pieces: list[str] = []
    at = 0
    while at < len(glob):
        sign = glob[at]
        stars = len(glob) - at - len(glob[at:].lstrip("*"))  # git takes three of them for two
        begins = at == 0 or glob[at - 1] == "/"
        if stars > 1 and begins and glob.startswith("/", at + stars):
            if pieces[-1:] != ["(?:.*/)?"]:
                pieces.append("(?:.*/)?")
            at += stars + 1
        elif stars > 1 and begins and at > 0 and at + stars == len(glob):
            pieces.append(".+")
            at += stars
        elif stars:
            pieces.append(_STAR)
            at += stars
        elif sign == "?":
            pieces.append("[^/]")
            at += 1
        elif sign == "[":
            found = _bracket(glob, at)
            if found is None:
                return None
            piece, at = found
            pieces.append(piece)
        elif sign == "\\":
            if at + 1 == len(glob):
                return None
            pieces.append(re.escape(glob[at + 1]))
            at += 2
        else:
            pieces.append(re.escape(sign))
            at += 1
    return _without_retries(pieces, group)


def _without_retries(pieces: list[str], group: str) -> str:
    """The pieces as one expression. A star takes as little as it can, for good, if another follows in its segment.

    What follows the first place where a part fits is what follows any later one and more, so nothing is
    lost; a regular expression would try all places for each star, again and again.
    """
    result: list[str] = []
    count = 0
    waiting: list[str] | None = None  # a star, and what has followed it
    for piece in pieces:
        if piece == _STAR and waiting is not None:
            name = f"{group}{count}"
            count += 1
            result.append(f"(?=(?P<{name}>{''.join((waiting[0] + '?', *waiting[1:]))}))(?P={name})")
            waiting = [piece]
        elif piece == _STAR:
            waiting = [piece]
        elif waiting is not None and piece not in ("/", "(?:.*/)?", ".+"):
            waiting.append(piece)
        else:
            result.extend((*(waiting or ()), piece))
            waiting = None
    return "".join((*result, *(waiting or ())))


def _bracket(glob: str, at: int) -> tuple[str, int] | None:
    """The expression for `[...]` starting at `at`, and where it ends; None when it is not closed."""
    at += 1
    negated = glob[at : at + 1] in ("!", "^")
    at += negated
    members: list[str] = []
    first = True
    while at < len(glob) and (glob[at] != "]" or first):
        first = False
        if glob.startswith("[:", at) and ":]" in glob[at:]:
            end = glob.index(":]", at)
            members.append(_CLASSES.get(glob[at + 2 : end], ""))
            at = end + 2
            continue
        low, at = _member(glob, at)
        if glob[at : at + 1] == "-" and at + 1 < len(glob) and glob[at + 1] != "]":
            high, at = _member(glob, at + 1)
            if low <= high:
                members.append(re.escape(low) + "-" + re.escape(high))
        else:
            members.append(re.escape(low))
    if at >= len(glob):
        return None
    inside = "".join(members)
    if not inside:
        return ("[^/]" if negated else "(?!)"), at + 1
    return (f"[^/{inside}]" if negated else f"(?!/)[{inside}]"), at + 1


def _member(glob: str, at: int) -> tuple[str, int]:
    if glob[at] == "\\" and at + 1 < len(glob):
        return glob[at + 1], at + 2
    return glob[at], at + 1
