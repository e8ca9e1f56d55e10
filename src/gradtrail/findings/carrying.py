"""Edits that let what is carried, kept or added go without its graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtrail.source.place import Edits, Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradtrail.findings.diagnostic import Diagnostic
    from gradtrail.source.edits import Editor


def detached_behind(carried: str, in_tuple: bool, at: Place | None, edit: Editor) -> Edits:
    """`carried` cut off from its graph behind the statement around `at`."""
    cut = f"tuple(one.detach() for one in {carried})" if in_tuple else f"{carried}.detach()"
    return edit.behind(at, f"{carried} = {cut}")


def carried_over(found: Diagnostic, edit: Editor, tuples: Sequence[str] = ()) -> tuple[str, Edits]:
    """What a statement on the way makes of its own value of the round before, and the edits that cut it off.

    `tuples` are names that are known to hold several tensors.
    """
    for step in reversed(found.trail[:-1]):
        for name in edit.targets(step.place):
            if not edit.reads(edit.value(step.place), name) and not edit.unfold(step.place):
                continue
            in_tuple = name in tuples or "LSTM" in str(step.text)
            if edit.function(step.place) == edit.function(found.place):
                return name, detached_behind(name, in_tuple, found.place, edit)
            if name.startswith("self.") and len(edit.targets(step.place)) > 1:
                return name, detached_behind(name, in_tuple, step.place, edit)
            if name.startswith("self.") and not in_tuple and not edit.file_says(step.place, f"{name} = None"):
                used = edit.inside(edit.value(step.place), name)
                return name, edit.after(used, ".detach()")
    return "", ()


def kept_without_graph(edit: Editor, place: Place | None, name: str) -> Edits:
    """`.detach()` behind the tensor that the call at `place` puts into a container, or the assignment around it."""
    value = edit.argument(place, len(edit.arguments(place)) - 1) or edit.value(place)
    items = edit.elements(value)
    if len(items) == 1 and items[0] == value:
        return edit.after(value, ".detach()")
    return edit.after(edit.inside(value, name), ".detach()")


def constant(edit: Editor, place: Place | None) -> Edits:
    """The expression at `place` without its graph: where it is a name that nothing else reads, already where it is made."""
    name = edit.code(place)
    made = edit.binding(place, name) if name.isidentifier() else None
    if made is not None and edit.times_named(place, name) == (1, 1):
        return edit.after(made, ".detach()")
    return ()
