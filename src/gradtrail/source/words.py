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
    searches = [pattern.search for pattern in patterns_of(choices)]

    def may_matter(data: bytes) -> bool:
        return b"torch" in data and any(search(data) is not None for search in searches)

    return may_matter


def patterns_of(words: Iterable[bytes]) -> list[re.Pattern[bytes]]:
    """The compiled words. One alternation of them all would be slower: each begins with a literal of its own."""
    return [re.compile(word) for word in sorted(set(words))]


def _says_torch(data: bytes) -> bool:
    return b"torch" in data
