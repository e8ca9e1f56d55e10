"""What a live tensor is and how it became so: its facts, its way, and its graph down to the leaves that it reaches."""

from __future__ import annotations

import ast
from collections import deque
from typing import Any, NamedTuple

from gradtrail.interp.events import Step
from gradtrail.interp.inspect import Reached, ValueSeen, values_at
from gradtrail.laws.text import Text, text
from gradtrail.runtime import facts, trail
from gradtrail.runtime.names import Names
from gradtrail.runtime.places import Sources
from gradtrail.runtime.recorder import Recorder
from gradtrail.runtime.torch_compat import TORCH, name_of, number_of, parents_of, variable_of
from gradtrail.runtime.user_code import Station, file_of, is_users
from gradtrail.source.place import Place
from gradtrail.source.reading import Unreadable

DEEPEST, MOST_STATIONS = 40, 400
"""Of a graph so much is shown; what lies behind is counted."""


class Seen(NamedTuple):
    """What is told of a tensor, at the place where it was asked for."""

    place: Place | None
    value: ValueSeen


def seen(tensor: Any, at: Station | None, recorder: Recorder | None, sources: Sources) -> Seen:
    """What is known of `tensor` where the program asks, at `at`. Raises `TypeError` for what is no tensor."""
    if not TORCH.is_tensor(tensor):
        raise TypeError(f"why() is asked about a tensor, not about {type(tensor).__name__}")
    names = Names([] if at is None else [at.frame])
    called = _called(at, sources)
    name = called or names.of(tensor) or "tensor"
    with TORCH.quietly():
        told = _told(tensor)
        way = trail.of(tensor, recorder, sources)
        reaches = None
        if tensor.grad_fn is not None:
            reaches = _graph(tensor.grad_fn, names, recorder, sources)
        elif tensor.requires_grad:
            reaches = Reached(_leaf(tensor, names))
    place = None if at is None else sources.row(at.code, at.row)
    known = _from_source(at, name, tensor)
    if known is not None:
        way = known.trail or way
        if tensor.grad_fn is None and not tensor.requires_grad:
            reaches = known.reaches
    return Seen(place, ValueSeen(name, told, way, reaches))


def _told(tensor: Any) -> dict[str, Text]:
    """The facts of a tensor by label; the labels are those of `gradtrail why`."""
    node = tensor.grad_fn
    told: dict[str, Text] = {
        "leaf": text("yes" if tensor.is_leaf else "no"),
        "requires grad": text("yes" if tensor.requires_grad else "no"),
    }
    if tensor.requires_grad:
        told["grad_fn"] = text("none") if node is None else text("{name}", name=name_of(node))
    if isinstance(tensor, TORCH.module.nn.Parameter):
        told["Parameter"] = text("yes")
    told["device"] = text("{name}", name=str(tensor.device))
    told["dtype"] = text("{name}", name=str(tensor.dtype).removeprefix("torch."))
    sizes = ", ".join(map(str, tensor.shape))
    told["shape"] = text("({sizes})", sizes=sizes + ("," if tensor.dim() == 1 else ""))
    return told


def _called(at: Station | None, sources: Sources) -> str:
    """How the program writes what it asks about."""
    node = None if at is None else sources.node(at.code, at.offset, at.row)
    if not isinstance(node, ast.Call) or len(node.args) != 1 or at is None:
        return ""
    return sources.segment(sources.place_of(sources.row(at.code, at.row).filename, node.args[0]))


def _from_source(at: Station | None, name: str, tensor: Any) -> ValueSeen | None:
    """What the interpreter knows of the same tensor there; None where it differs from the live one in anything."""
    if at is None or not is_users(file_of(at.code)) or not file_of(at.code).endswith(".py"):
        return None
    try:
        found = values_at(file_of(at.code), at.row, name)
    except (Unreadable, RecursionError):
        return None
    for one in found:
        if one.name == name and not _differs(one, facts.of(tensor)):
            return one
    return None


def _differs(told: ValueSeen, live: dict[str, Any]) -> bool:
    pairs = (("leaf", live["leaf"]), ("requires grad", live["requires"]), ("dtype", live["dtype"]))
    return any(
        told.facts[label].template in ("yes", "no", "{name}") and _word(told.facts[label]) != said
        for label, said in pairs
        if label in told.facts
    )


def _word(words: Text) -> str:
    return words.template if words.template in ("yes", "no") else str(words)


def _leaf(tensor: Any, names: Names) -> Text:
    name = names.of(tensor)
    return text("`{name}`, a leaf", name=name) if name else text("a leaf")


class _Station:
    """A node on its way to becoming a `Reached`, which cannot be filled step by step."""

    def __init__(self, words: Text, place: Place | None) -> None:
        self.words = words
        self.place = place
        self.below: list[_Station] = []


def _graph(root: Any, names: Names, recorder: Recorder | None, sources: Sources) -> Reached:
    """The graph behind a node, breadth first, so that of a large one the near part is shown."""
    top = _station(root, names, recorder, sources)
    waiting = deque([(root, top, 0)])
    seen_nodes = {root}
    made = 1
    while waiting:
        node, station, depth = waiting.popleft()
        for parent in parents_of(node):
            if parent in seen_nodes and variable_of(parent) is None:
                again = _station(parent, names, recorder, sources)
                station.below.append(_Station(text("{node}, as above", node=again.words), again.place))
                continue
            if made >= MOST_STATIONS or depth >= DEEPEST:
                station.below.append(_Station(text("..."), None))
                break
            seen_nodes.add(parent)
            made += 1
            below = _station(parent, names, recorder, sources)
            station.below.append(below)
            waiting.append((parent, below, depth + 1))
    return _reached(top)


def _reached(top: _Station) -> Reached:
    """The finished tree; without recursion into the depth of a graph beyond `DEEPEST`."""
    return Reached(top.words, top.place, tuple(_reached(one) for one in top.below))


def _station(node: Any, names: Names, recorder: Recorder | None, sources: Sources) -> _Station:
    leaf = variable_of(node)
    if leaf is not None:
        return _Station(_leaf(leaf, names), None)
    step = _step(node, recorder, sources)
    return _Station(text("{name}", name=name_of(node)), None if step is None else step.place)


def _step(node: Any, recorder: Recorder | None, sources: Sources) -> Step | None:
    if recorder is None or number_of(node) is None:
        return None
    return next(trail.step(node, recorder, sources), None)
