"""What a check has found in each file, kept for as long as nothing that the file depends on has changed.

Where `remembered` cannot print the whole output again, most files are as they were all the same. Of each file that was
looked at stands here what that has given (`findings.looked`), beside the files that it depends on: itself, what it
imports, directly or not, and those in which its callers were looked for. What cannot be told for one file alone
counts for all of them: settings, the names in a folder, and whether there is something at a path.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from gradtrail.findings.looked import Looked, decoded, encoded
from gradtrail.integrations.remembered import ABSENT, Memory, is_fresh, stamp_of, write
from gradtrail.source.files import SUFFIXES

_FORM = "gradtrail files 1"
_MOST_FOR_ALL = 20_000
"""Paths that count for all files: with more of them everything is looked at anew, which lets go of the old ones."""


class RememberedFiles:
    """What earlier runs of one command line have found, by file; the memory of the run hears what is read."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._file = memory.beside("files")
        self._for_all: dict[str, list[str]] = {}
        self._stamps: dict[str, str] = {}
        """What the files had for stamps on which the known entries depend."""
        self._known: dict[str, list[Any]] = {}
        """By file: what else its findings depend on, the files that they depend on, the findings."""
        self._is_read = False

    def recall(self, filename: str, state: str) -> Looked | None:
        """What looking at a file has given, if nothing that it depends on has changed since."""
        if not self._is_read:
            self._is_read = True
            with suppress(OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
                self._read()
        known = self._known.get(filename)
        if known is None or known[0] != state:
            return None
        try:
            looked = decoded(known[2])
        except (KeyError, TypeError, ValueError):
            return None
        return looked if type(looked) is Looked and looked.filename == filename else None

    def keep(self, looked: Looked, state: str, depends: Iterable[str]) -> None:
        """Keep what looking at a file has given, beside the files and the other state that it depends on."""
        try:
            self._known[looked.filename] = [state, sorted(depends), encoded(looked)]
        except TypeError:
            self._known.pop(looked.filename, None)

    def heard(self) -> Any:
        """What the memory of the run has heard of paths, as plain data for another process."""
        return [self._memory.seen, self._memory.asked]

    def hear(self, heard: Any) -> None:
        """Take what the memory of another process has heard."""
        seen, asked = heard
        for path, stamp in seen.items():
            self._memory.seen.setdefault(path, stamp)
        self._memory.asked.update(asked)

    def write(self) -> None:
        """Write what is known, for the runs that come."""
        if not self._is_read:
            return  # one file alone: what it depends on is what the run depends on
        import json

        now, seen = time.time_ns(), self._memory.seen
        for path, how in self._memory.asked.items():
            self._for_all[path] = [how, _answer(how, path)]
        for path, stamp in seen.items():
            if path not in self._memory.asked and not path.endswith(SUFFIXES) and not os.path.isdir(path):
                self._for_all[path] = ["read", stamp]
        if any(how == "read" and is_fresh(answer, now) for how, answer in self._for_all.values()):
            return
        good: dict[str, int] = {}
        bad: set[str] = set()
        entries = []
        for filename, (state, behind, looked) in self._known.items():
            depends = [path for path in behind if path in seen]  # what nobody has read has no say
            for path in depends:
                if path not in good and path not in bad:
                    stamp = seen[path]
                    if stamp == ABSENT or is_fresh(stamp, now) or stamp_of(path) != stamp:
                        bad.add(path)
                    else:
                        good[path] = len(good)
            if bad.isdisjoint(depends):
                entries.append([filename, state, [good[path] for path in depends], looked])
        for_all = [[path, *row] for path, row in self._for_all.items()]
        told = [_FORM, self._memory.key, for_all, [[path, seen[path]] for path in good], entries]
        with suppress(OSError, ValueError):
            write(self._file, json.dumps(told, separators=(",", ":")))

    def _read(self) -> None:
        import json

        with open(self._file, encoding="utf-8") as file:
            form, key, for_all, stamps, entries = json.load(file)
        if form != _FORM or key != self._memory.key or len(for_all) > _MOST_FOR_ALL:
            return
        for path, how, answer in for_all:
            if _answer(how, path) != answer:
                return
        seen = self._memory.seen
        for path, _, _ in for_all:
            seen.setdefault(path, stamp_of(path))
        same = []
        for path, stamp in stamps:
            same.append(stamp_of(path) == stamp)
            if same[-1]:
                seen.setdefault(path, stamp)
        self._for_all = {path: [how, answer] for path, how, answer in for_all}
        for filename, state, depends, looked in entries:
            if all(same[index] for index in depends):
                self._known[filename] = [state, [stamps[index][0] for index in depends], looked]


def _answer(how: str, path: str) -> str:
    """What a path that counts for all files answers now."""
    if how == "read":
        return stamp_of(path)
    if how == "asked":
        return str(os.path.exists(path))
    try:
        names = os.listdir(path)
    except (OSError, ValueError):
        return ABSENT
    # What comes and goes beside modules and packages: compiled files, and those that editors make.
    return "\n".join(sorted(name for name in names if name != "__pycache__" and name[0] not in ".#"))
