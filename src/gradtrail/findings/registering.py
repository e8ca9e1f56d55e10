"""Edits that register what a module holds in a plain list or dict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtrail.source.place import Edits, Place

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor

_EMPTY = ("[]", "list()", "{}", "dict()")


def registered(edit: Editor, place: Place | None, kind: str, of: str = "") -> Edits:
    """The list or dict that the assignment around `place` makes, as a container of torch that registers its items.

    `kind` is "list", "tuple" or "dict", and `of` "Parameter" or "Module"; where it is not known, the source decides.
    """
    value = edit.value(place)
    code = edit.code(value)
    if not code:
        return ()
    holds = of or ("Parameter" if _has_parameters(edit, place, code) else "Module")
    path, imports = edit.name_for(place, f"torch.nn.{holds}{'Dict' if kind == 'dict' else 'List'}")
    made = edit.replace(value, path + "()") if code in _EMPTY else edit.around(value, f"{path}(")
    return (*made, *imports) if made else ()


def _has_parameters(edit: Editor, place: Place | None, code: str) -> bool:
    """Whether the list that is written `code`, or what is put into it, is made of Parameters."""
    made = edit.binding(place, code) if code.isidentifier() else edit.value(place)
    return "Parameter(" in edit.code(made) or edit.fills(made, "Parameter(")
