"""One observed program: what has been found of it so far."""

from __future__ import annotations

import os
import threading

from gradtrail.findings.diagnostic import Diagnostic
from gradtrail.findings.engine import Identity, Report, identity
from gradtrail.runtime.crash.diagnosis import Explained, explain
from gradtrail.runtime.places import Sources
from gradtrail.runtime.static import Static


class Session:
    """What is found while a program runs. `main` is the file that it was started from, where there is one.

    Threads may report at the same time. A forked child has a session of its own: `is_ours` is False there.
    """

    def __init__(self, main: str | None = None) -> None:
        self.static = Static(main)
        self.sources = Sources()
        self.explained: list[Explained] = []
        self._found: dict[Identity, Diagnostic] = {}
        self._told: set[Identity] = set()
        self._process = os.getpid()
        self._lock = threading.RLock()

    @property
    def is_ours(self) -> bool:
        """Whether this is the process that the session began in."""
        return os.getpid() == self._process

    def crashed(self, error: BaseException) -> None:
        """Find out what an exception is about that nobody caught."""
        explained = explain(error, self.static, self.sources)
        if explained is not None:
            with self._lock:
                self.explained.append(explained)
            self.add(explained.diagnostic)

    def add(self, finding: Diagnostic) -> None:
        """Keep a finding; the same one again only counts."""
        key = identity(finding)
        with self._lock:
            known = self._found.get(key)
            self._found[key] = finding if known is None else known._replace(count=known.count + 1)

    def report(self) -> Report:
        """Everything that has been found, in the order in which it was."""
        with self._lock:
            return Report(list(self._found.values()), [], 1, False, self.sources.files)

    def news(self) -> Report:
        """What has been found since the last call."""
        with self._lock:
            new = [finding for key, finding in self._found.items() if key not in self._told]
            self._told.update(self._found)
        return Report(new, [], 1, False, self.sources.files)
