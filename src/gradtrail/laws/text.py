"""Sentences for people, kept as a template and its fields until they are drawn.

A sentence is never built with an f-string: the template is what gets translated, and the fields
(names, numbers, code) are what stays as it is in every language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

_spoken: list[Callable[[str], str]] = []
"""How templates are said in another language; empty for English."""


def speak(translate: Callable[[str], str] | None) -> None:
    """From here on say every sentence as `translate` gives its template; None: in English."""
    _spoken[:] = [] if translate is None else [translate]


_SEAM = "\0"
_WIDE = "[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]"
_GAP = re.compile(f"(?<={_WIDE})(?: {_SEAM}|{_SEAM} )(?={_WIDE})")
"""The space beside a field, which Chinese and Japanese leave out between two of their own characters."""


class Text(NamedTuple):
    """A template with named fields, such as ``Text("`{name}` is not a leaf", (("name", "w"),))``."""

    template: str
    fields: tuple[tuple[str, object], ...] = ()

    def __str__(self) -> str:
        """The sentence, in the language that is spoken."""
        if not _spoken:
            return self.template.format_map(dict(self.fields)) if self.fields else self.template
        template = _spoken[0](self.template)
        if not self.fields:
            return template
        seams = {name: f"{_SEAM}{value}{_SEAM}" for name, value in self.fields}
        return _GAP.sub("", template.format_map(seams)).replace(_SEAM, "")


def say(template: str, /, **fields: object) -> str:
    """A sentence at once, for words that are drawn where they are written."""
    return str(text(template, **fields))


def in_english(words: Text) -> str:
    """The sentence in English, whatever language is spoken: for what is kept in a file."""
    spoken = _spoken[:]
    _spoken.clear()
    try:
        return str(words)
    finally:
        _spoken[:] = spoken


def one_of(names: Sequence[str]) -> Text:
    """`a`, `a or b`, `a, b or c`."""
    if len(names) < 2:
        return text("{name}", name="".join(names))
    some = text("{name}", name=names[0])
    for name in names[1:-1]:
        some = text("{some}, {more}", some=some, more=name)
    return text("{some} or {more}", some=some, more=names[-1])


def text(template: str, /, **fields: object) -> Text:
    """A sentence from its template and the values of its fields."""
    return Text(template, tuple(fields.items()))
