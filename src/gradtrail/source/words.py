"""The byte filter: whether a file can hold anything of interest, decided without parsing it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable


def filter_for(words: Iterable[bytes]) -> Callable[[bytes], bool]:
    """The filter for a set of words: a file matters when it says `torch` and one of `words` is found in it.

    A word is a regular expression over bytes. Without words every file that says `torch` matters.
    """
    choices = sorted(set(words))
    if not choices:
        return _says_torch
    search = pattern_of(choices).search

    def may_matter(data: bytes) -> bool:
        return b"torch" in data and search(data) is not None

    return may_matter


def pattern_of(words: Iterable[bytes]) -> re.Pattern[bytes]:
    """One regular expression that finds any of `words`."""
    return re.compile(b"|".join(b"(?:" + word + b")" for word in sorted(set(words))))


def _says_torch(data: bytes) -> bool:
    return b"torch" in data
