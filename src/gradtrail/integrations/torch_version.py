"""Which release of torch a program runs on, read from names of folders and from lock files.

Nothing is imported: importing torch takes a second, and the torch beside gradtrail need not be the one
that the program uses.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator

from gradtrail.source.reading import Unreadable, read_regular

_RELEASE = re.compile(r"\s*[vV]?(\d+(?:\.\d+){1,3})(?:\s*$|[a-z.+-])")
_DISTRIBUTION = re.compile(r"torch-(\d[^-]*)\.dist-info\Z")
# `name = "torch"` and the version on the next line: uv.lock, poetry.lock, pdm.lock and pylock.toml.
_LOCKED = re.compile(r'^name = "torch"\r?\nversion = "([^"]+)"', re.M)
_PIPFILE = re.compile(r'"torch": \{[^{}]*?"version": "==([^"]+)"')
_PINNED = re.compile(r"^\s*torch\s*==\s*([\w.+]+)", re.M)

LOCK_FILES = (
    ("uv.lock", _LOCKED),
    ("poetry.lock", _LOCKED),
    ("pdm.lock", _LOCKED),
    ("pylock.toml", _LOCKED),
    ("Pipfile.lock", _PIPFILE),
    ("requirements.txt", _PINNED),
)
"""The files that say which release is used, and what to look for in each."""


def release(version: str) -> str | None:
    """The release in `version`, such as "2.13.0" in "2.13.0+cu128"; None when there is none."""
    found = _RELEASE.match(version)
    return found.group(1) if found else None


def found_version(folder: str) -> str | None:
    """The release of torch for the programs in `folder`: what is installed, else what is locked, else None.

    Installed is looked up where this interpreter looks, then in the active virtual environment, then in
    `.venv` of `folder`.
    """
    for place in _site_folders(folder):
        version = _installed(place)
        if version is not None:
            return version
    return _locked(folder)


def _site_folders(folder: str) -> Iterator[str]:
    yield from (path for path in sys.path if path.endswith("-packages"))
    for environment in (os.environ.get("VIRTUAL_ENV"), os.path.join(folder, ".venv")):
        if environment:
            yield os.path.join(environment, "Lib", "site-packages")
            library = os.path.join(environment, "lib")
            yield from (os.path.join(library, name, "site-packages") for name in _names(library))


def _installed(place: str) -> str | None:
    for name in _names(place):
        found = _DISTRIBUTION.match(name)
        if found:
            return release(found.group(1))
    return None


def _names(folder: str) -> Iterable[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return ()


def _locked(folder: str) -> str | None:
    for name, pattern in LOCK_FILES:
        try:
            found = pattern.search(read_regular(os.path.join(folder, name)).decode("utf-8", "replace"))
        except Unreadable:
            continue
        if found:
            return release(found.group(1))
    return None
