"""Sentences for people, kept as a template and its fields until they are drawn.

A sentence is never built with an f-string: the template is what gets translated, and the fields
(names, numbers, code) are what stays as it is in every language.
"""

from __future__ import annotations

from typing import NamedTuple


class Text(NamedTuple):
    """A template with named fields, such as ``Text("`{name}` is not a leaf", (("name", "w"),))``."""

    template: str
    fields: tuple[tuple[str, object], ...] = ()

    def __str__(self) -> str:
        """The sentence in English."""
        return self.template.format_map(dict(self.fields)) if self.fields else self.template


def text(template: str, /, **fields: object) -> Text:
    """A sentence from its template and the values of its fields."""
    return Text(template, tuple(fields.items()))
