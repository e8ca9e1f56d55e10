"""What a check has printed, kept for as long as nothing that it looked at has changed.

While a check runs, a hook of the interpreter (`sys.addaudithook`) sees every file that is opened, every folder that
is listed, and every path that is asked for (`source.files.there_is`), whoever does it. What is kept is the output, beside
the time and size that each of these paths had. The next run with the same arguments compares these, and where all are the
same prints the output again. Where one has changed, `remembered_files` knows which files that concerns.

The place is the user's own cache folder, so that nothing is written into a project and nothing in a project is
trusted. The form is plain text: what a broken or foreign file holds is never run.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from gradtrail.integrations.output import current_folder, output_width

FOLDER = "GRADTRAIL_CACHE_DIR"
"""Names the folder for what is remembered; set to nothing, nothing is."""

_FORM = "gradtrail remembers 1"
_MOST_KEPT = 400
_MOST_PATHS = 200_000
_FRESH = 2_000_000_000
"""Nanoseconds: a file that was written so lately may be written again without its time showing it."""

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_ASKED = ("GRADTRAIL_EVERYTHING", "NO_COLOR", "FORCE_COLOR", "TERM", "VIRTUAL_ENV")
_NEVER = ("GRADTRAIL_DEBUG", "GRADTRAIL_STRICT")
_NOT_REPEATED = ("-", "--fix", "--unsafe-fixes", "--diff", "--no-cache")

_ASKS = {"gradtrail.listed": "listed", "gradtrail.exists": "asked"}
"""What `source.files` lets be heard when the answer, and not a whole folder or file, is what counts."""

_HEARD = frozenset(("open", "os.listdir", "os.scandir", *_ASKS))

ABSENT = "- -"
"""The stamp of a path at which there is nothing."""


class Memory:
    """The output of one command line: what is known of it, and what is to be."""

    def __init__(self, arguments: Sequence[str], language: str) -> None:
        self._key = _key(arguments, language)
        self._own = os.path.join(os.path.abspath(_folder()), "")
        self._file = os.path.join(self._own, f"check-{_number(self._key):016x}.txt")
        self.seen: dict[str, str] = {}
        """The stamps of the paths that were looked at."""
        self.asked: dict[str, str] = {}
        """Of the paths that were not only read: whether they were `asked` for, or their names were `listed`."""
        self._watches = False

    @property
    def key(self) -> str:
        """All that the output depends on beside files."""
        return self._key

    def recall(self) -> tuple[str, int] | None:
        """The output and the exit status of the last run, if all is as it was."""
        try:
            with open(self._file, encoding="utf-8", newline="") as file:
                form, key, status, number, rest = file.read().split("\n", 4)
            if form != _FORM or key != self._key:
                return None
            *rows, output = rest.split("\n", int(number))
            for row in rows:
                modified, size, path = row.split(" ", 2)
                if stamp_of(path) != f"{modified} {size}":
                    return None
            return output, int(status)
        except (OSError, ValueError):
            return None

    def watch(self) -> None:
        """See from here on what is looked at."""
        self._watches = True
        sys.addaudithook(self._hear)

    def keep(self, output: str, status: int) -> None:
        """Keep the output of the run that was watched, unless something in it is too fresh to be known again."""
        self._watches = False
        now = time.time_ns()
        for path, stamp in self.seen.items():
            if is_fresh(stamp, now) or "\n" in path or stamp_of(path) != stamp:
                return
        rows = [f"{stamp} {path}" for path, stamp in self.seen.items()]
        text = "\n".join((_FORM, self._key, str(status), str(len(rows)), *rows, output))
        with suppress(OSError, ValueError):
            write(self._file, text)

    def beside(self, name: str) -> str:
        """The file in which something else is kept that is known of the same command line."""
        return os.path.join(self._own, f"{name}-{_number(self._key):016x}.json")

    def _hear(self, event: str, given: tuple[Any, ...]) -> None:
        if not self._watches or event not in _HEARD:
            return
        path = given[0] if given else None
        if type(path) is not str or path.endswith(".pyc") or len(self.seen) > _MOST_PATHS:
            return
        path = os.path.abspath(path)
        if path.startswith((_HERE, self._own)):
            return
        if path not in self.seen:
            self.seen[path] = stamp_of(path)
        if event in _ASKS:
            self.asked[path] = _ASKS[event]


def memory(arguments: Sequence[str], language: str) -> Memory | None:
    """The memory of `gradtrail check` with these arguments; None where nothing is to be remembered."""
    if any(os.environ.get(name) for name in _NEVER) or not _folder():
        return None
    if any(one in _NOT_REPEATED or one.startswith("--write-baseline") for one in arguments):
        return None
    return Memory(arguments, language)


def _folder() -> str:
    given = os.environ.get(FOLDER)
    if given is not None:
        return given
    home = (
        os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/.cache")
    )
    return os.path.join(home, "gradtrail") if os.path.isabs(home) else ""


def _key(arguments: Sequence[str], language: str) -> str:
    """All that the output depends on beside files, in one row."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    parts = (
        tuple(arguments), language, current_folder(), output_width(), terminal, getattr(sys.stdout, "encoding", ""),
        tuple(os.environ.get(name) for name in _ASKED), sys.version, _own_stamp(),
    )  # fmt: skip
    return repr(parts)


def _number(key: str) -> int:
    """A number that stands for a key, the same in every process; the key itself stands in the file."""
    number = 14695981039346656037
    for byte in key.encode("utf-8", "replace"):
        number = (number ^ byte) * 1099511628211 % 2**64
    return number


def _own_stamp() -> tuple[int, int]:
    """The newest time and the whole size of this program: another one may find something else."""
    newest = size = 0
    folders = [_HERE]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith((".py", ".mo")):
                    found = entry.stat()
                    newest, size = max(newest, found.st_mtime_ns), size + found.st_size
                elif entry.name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)
    return newest, size


def is_fresh(stamp: str, now: int) -> bool:
    """Whether what has a stamp was written so lately that it may be written again without a new one."""
    return stamp != ABSENT and now - int(stamp.split(" ", 1)[0]) < _FRESH


def stamp_of(path: str) -> str:
    """The time and size of what stands at a path."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ABSENT
    return f"{found.st_mtime_ns} {found.st_size}"


def write(path: str, text: str) -> None:
    """Write a file of what is remembered, in one piece, and let go of the oldest where there are many."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    beside = f"{path}.{os.getpid()}"
    with open(beside, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    os.replace(beside, path)
    kept = [
        os.path.join(folder, name) for name in os.listdir(folder) if name.startswith(("check-", "files-"))
    ]
    if len(kept) > _MOST_KEPT:
        for old in sorted(kept, key=os.path.getmtime)[: len(kept) - _MOST_KEPT]:
            os.remove(old)
