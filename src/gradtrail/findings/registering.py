"""Edits that register what a module holds in a plain list or dict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtrail.source.place import Edits, Place

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor

_EMPTY = ("[]", "list()", "{}", "dict()")


def registered(edit: Editor, place: Place | None, kind: str) -> Edits:
    """The list or dict that the assignment around `place` makes, as a container of torch that registers its items.

    `kind` is "list", "tuple" or "dict". Parameters go into a list of their own kind.
    """
    value = edit.value(place)
    code = edit.code(value)
    if not code:
        return ()
    holds = "Parameter" if "Parameter(" in code or edit.fills(place, "Parameter(") else "Module"
    path, imports = edit.name_for(place, f"torch.nn.{holds}{'Dict' if kind == 'dict' else 'List'}")
    made = edit.replace(value, path + "()") if code in _EMPTY else edit.around(value, f"{path}(")
    return (*made, *imports) if made else ()
