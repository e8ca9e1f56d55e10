"""The byte filter: whether a file can hold anything of interest, decided without parsing it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable


def filter_for(words: Iterable[bytes]) -> Callable[[bytes], bool]:
    """The filter for a set of words: a file matters when it says `torch` and one of `words`.

    Without words every file that says `torch` matters.
    """
    choices = sorted(set(words))
    if not choices:
        return _says_torch
    search = re.compile(b"|".join(re.escape(word) for word in choices)).search

    def may_matter(data: bytes) -> bool:
        return b"torch" in data and search(data) is not None

    return may_matter


def _says_torch(data: bytes) -> bool:
    return b"torch" in data
