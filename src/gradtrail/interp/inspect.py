"""Asking the interpreter about single values: for `gradtrail why`, and for tests that reveal facts."""

from __future__ import annotations

import ast
import itertools
import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gradtrail.interp import values
from gradtrail.interp.events import Step
from gradtrail.interp.frames import Frame
from gradtrail.interp.graph import Reach as Walked
from gradtrail.interp.graph import reach
from gradtrail.interp.machine import Machine, interpret
from gradtrail.interp.project import NOTHING_GIVEN, Given, Project
from gradtrail.interp.trails import sentence
from gradtrail.interp.values import (
    LEAF,
    LEAF_ELSEWHERE,
    LEAF_ON_CPU,
    NO,
    NON_LEAF,
    NON_LEAF_ON_CPU,
    UNKNOWN,
    YES,
    Array,
    Instance,
    Module,
    Node,
    Sequence,
    Tensor,
    edge_of,
)
from gradtrail.laws import shapes
from gradtrail.laws.node_names import told_node
from gradtrail.laws.text import Text, text
from gradtrail.source.files import SourceFiles
from gradtrail.source.place import Place

_MOST_NAMES = 12
_DEEPEST_TREE = 6
_WIDEST_TREE = 8
_DEEPEST_HELD = 2


class Reached(NamedTuple):
    """One station of the graph behind a value, and what lies behind it.

    `place` is where it was made, `cut` why no gradient passes to it (None when one does).
    """

    text: Text
    place: Place | None = None
    below: tuple[Reached, ...] = ()
    cut: Text | None = None


class ValueSeen(NamedTuple):
    """A tensor at a place: its name there, its facts by label, its trail, and the leaves it reaches."""

    name: str
    facts: Mapping[str, Text]
    trail: tuple[Step, ...] = ()
    reaches: Reached | None = None


class Revealed(NamedTuple):
    """What is known of the values that `reveal(...)` was called with in a row, true of each of them."""

    row: int
    facts: frozenset[str]
    unknown: bool
    filename: str


def values_at(
    filename: str, row: int, name: str | None = None, given: Given = NOTHING_GIVEN
) -> list[ValueSeen]:
    """The tensors that are named in a row of a file, as they are there; only `name` if it is given.

    Names and attributes are looked at, those that are assigned to in the row included, and what they hold
    when they are lists, tuples or dicts: `pair[0]`. Where the row is walked several times the facts are
    those of all times together. `given` is taken for given. Raises `Unreadable`.
    """
    filename = os.path.abspath(filename)
    found: dict[str, ValueSeen] = {}
    project = Project(SourceFiles())

    def take(node: Any, frame: Frame, value: Any) -> None:
        if type(node) not in (ast.Name, ast.Attribute) or not node.lineno <= row <= (
            node.end_lineno or node.lineno
        ):
            return
        machine = project.machine
        if frame.space.filename != filename or machine is None:
            return
        root = ast.unparse(node)
        for called, held in _tensors_held(root, value):
            if name is None or name in (root, called):
                seen = _value_seen(machine, called, held, node, frame)
                found[called] = _together(found[called], seen) if called in found else seen

    interpret(project, filename, on_value=take, given=given)
    return list(found.values())


def _together(one: ValueSeen, other: ValueSeen) -> ValueSeen:
    """What holds at both of two times: what differs is not known. The trail is that of the later time."""
    facts = {
        label: fact if other.facts.get(label) == fact else text("not known")
        for label, fact in one.facts.items()
        if label in other.facts
    }
    reaches = other.reaches
    if one.reaches is not None and other.reaches is not None and one.reaches != other.reaches:
        ways = one.reaches.below if one.reaches.text == _SEVERAL else (one.reaches,)
        if other.reaches not in ways:
            reaches = Reached(_SEVERAL, None, (*ways, other.reaches))
        else:
            reaches = one.reaches
    return ValueSeen(other.name, facts, other.trail, reaches)


_SEVERAL = text("one of several, by the branch taken or the round")


def _tensors_held(spelled: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Tensor]]:
    """A tensor, or those that a list, tuple or dict holds, each as one would write it."""
    inner: list[tuple[str, Any]] = []
    if type(value) is Tensor:
        yield spelled, value
    elif type(value) is Sequence and value.kind == "namedtuple":
        inner = [(f"{spelled}.{field}", each) for field, each in zip(value.names, value.items, strict=False)]
    elif type(value) is Sequence and value.kind in ("list", "tuple"):
        inner = [(f"{spelled}[{index}]", each) for index, each in enumerate(value.items)]
    elif type(value) is values.Mapping:
        inner = [
            (f"{spelled}[{key!r}]", each) for key, each in value.entries.items() if type(key) in (str, int)
        ]
    if depth < _DEEPEST_HELD:
        for called, each in inner[:_MOST_NAMES]:
            yield from _tensors_held(called, each, depth + 1)


def _value_seen(machine: Machine, name: str, value: Tensor, node: Any, frame: Frame) -> ValueSeen:
    story = "no-grad" if value.requires == NO else "grad"
    seen = machine.seen(value, node, frame, story)
    return ValueSeen(name, told_facts(value), seen.trail, _tree(machine, value))


def told_facts(tensor: Tensor) -> dict[str, Text]:
    """The facts of a tensor by label, for people."""
    facts: dict[str, Text] = {"leaf": _leaf_words(tensor)}
    facts["requires grad"] = text({NO: "no", YES: "yes"}.get(tensor.requires, "not known"))
    if tensor.requires == YES:
        node = tensor.node and _alike(tensor.node)
        known = node is not None and node.kind == "op" and node.name
        if tensor.leaf & NON_LEAF == 0:
            facts["grad_fn"] = text("none")
        elif known and node is not None and _is_one_node(node):
            facts["grad_fn"] = _node_words(node)
    if tensor.parameter is not False:
        words = {True: "yes", "cpu": "only where the device is the CPU"}
        facts["Parameter"] = text(words.get(tensor.parameter, "not known"))
    facts["device"] = tensor.device.told if tensor.device is not None else text("not known")
    facts["dtype"] = text("{name}", name=tensor.dtype) if tensor.dtype is not None else text("not known")
    if tensor.shape is not None:
        sizes = ", ".join("?" if size is None else str(size) for size in tensor.shape)
        facts["shape"] = text("({sizes})", sizes=sizes + ("," if len(tensor.shape) == 1 else ""))
    return facts


def _is_one_node(node: Node) -> bool:
    """Whether torch makes one node with this name, and not several for the parts of the operation."""
    return node.function is not None or node.whole or "Backward" in node.name or node.name == "CopySlices"


def _node_words(node: Node) -> Text:
    """A node by its name in torch; where the number behind it is not known, dots stand for it."""
    if not _is_one_node(node):
        return text("`{name}`, made of several operations", name=node.name)
    own = node.function is not None or node.whole  # of a custom Function: its class, without a number
    return text("{name}", name=node.name if own else told_node(node.name))


def _leaf_words(tensor: Tensor) -> Text:
    if tensor.leaf & NON_LEAF == 0:
        return text("yes")
    if tensor.leaf & LEAF == 0:
        return text("no")
    if tensor.leaf & LEAF_ELSEWHERE == 0 and tensor.leaf & NON_LEAF_ON_CPU == 0:
        return text("only where the device is the CPU")
    return text("not known")


def _tree(machine: Machine, tensor: Tensor) -> Reached | None:
    """The graph behind a tensor, by the lines that made it, down to the leaves."""
    edge = edge_of(tensor)
    if edge is None:
        return None
    return _station(machine, edge, 0, set())


def _station(machine: Machine, edge: Node | Tensor, depth: int, seen: set[int]) -> Reached:
    if type(edge) is Tensor:
        told = text("`{name}`, a leaf", name=edge.name) if edge.name else text("a leaf")
        return Reached(told, machine.place(edge.origin.node, edge.origin.frame))
    assert type(edge) is Node
    same = _alike(edge)
    if same is not None and len({one.origin.node for one in _ways(edge)}) == 1:
        edge = same  # the rounds of a loop, say
    place = machine.place(edge.origin.node, edge.origin.frame)
    if edge.kind == "opaque":
        return Reached(text("what lies behind this is not known"), place)
    label = _node_words(edge)
    if not edge.name or edge.kind == "join":
        label = _SEVERAL
    if edge.serial in seen or depth >= _DEEPEST_TREE:
        return Reached(text("{node}, as above", node=label) if edge.serial in seen else text("..."), place)
    seen.add(edge.serial)
    below = [_station(machine, one, depth + 1, seen) for one in edge.edges[:_WIDEST_TREE]]
    cuts = [
        Reached(
            text("`{name}`", name=parent.name) if parent.name else text("a tensor"),
            machine.place(parent.origin.node, parent.origin.frame),
            (),
            sentence(parent.origin),
        )
        for parent in edge.origin.parents
        if parent.origin.kind in ("cut", "detached", "integers") and parent.requires == NO
    ]
    return Reached(label, place, (*below, *cuts))


# For tests


def reveal(source: str, filename: str, others: Mapping[str, str] | None = None) -> list[Revealed]:
    """What is known of each value that the program hands to `reveal(...)`, one entry for each row.

    `others` are the other files of the program by name. The facts are words such as "leaf",
    "requires grad", "dtype=float32", "reaches b, w"; only what is certain, and true at every call.
    """
    files = {filename: source, **(others or {})}
    project = Project(SourceFiles(dict(files)))
    machine = Machine(project)
    project.machine = machine
    rows: dict[tuple[str, int], tuple[frozenset[str], bool]] = {}

    def take(value: Any, node: Any, frame: Frame) -> None:
        if type(value) is Tensor:
            machine.refresh(value)
        key = (frame.space.filename, node.lineno)
        facts, unknown = (
            (certain_facts(value, frame), False) if type(value) is Tensor else (frozenset[str](), True)
        )
        if key in rows:
            facts, unknown = facts & rows[key][0], unknown or rows[key][1]
        rows[key] = (facts, unknown)

    machine.on_reveal = take
    interpret(project, filename)
    return [Revealed(row, facts, unknown, name) for (name, row), (facts, unknown) in rows.items()]


def refusals(source: str, filename: str = "program.py") -> list[tuple[int, str]]:
    """The rows where torch certainly raises, and the keys of its messages."""
    journal = interpret(Project(SourceFiles({filename: source})), filename)
    return [(event.place.row, event.kind) for event in journal.events if event.certainty == "raises"]


def certain_facts(tensor: Tensor, frame: Frame) -> frozenset[str]:
    """What is certain of a tensor on a machine whose device is the CPU, in the words of the tests."""
    facts: set[str] = set()
    anywhere = tensor.device is None or tensor.device.kind in ("chosen", "symbol", "unknown")
    if tensor.leaf & (NON_LEAF if anywhere else NON_LEAF_ON_CPU) == 0:
        facts.add("leaf")
    elif tensor.leaf & (LEAF if anywhere else LEAF_ON_CPU) == 0:
        facts.add("non-leaf")
    if tensor.requires != 3:
        facts.add("requires grad" if tensor.requires == YES else "no grad")
    node = tensor.node
    if node is not None and node.kind == "join":
        node = _alike(node)
    if (
        tensor.requires == YES
        and node is not None
        and node.kind == "op"
        and tensor.leaf & LEAF == 0
        and (
            tensor.base is None or type(tensor.storage.version) is int
        )  # else another may stand there by now
        and (
            ("Backward" in node.name and (node.name[-1].isdigit() or node.origin.kind == "function"))
            or node.name == "CopySlices"
        )
    ):
        facts.add(f"grad_fn={node.name}")
    if tensor.parameter is True or (tensor.parameter == "cpu" and not anywhere):
        facts.add("Parameter")
    if tensor.device is not None and tensor.device.kind in ("cpu", "other"):
        facts.add(f"device={tensor.device.name}")
    if tensor.dtype is not None:
        facts.add(f"dtype={tensor.dtype}")
    if tensor.shape is not None and None not in tensor.shape:
        facts.add(f"shape={tuple(tensor.shape)}")
    number = shapes.numel(tensor.shape)
    if number is not None:
        facts.add(f"{number} element{'s' if number == 'many' else ''}")
    if type(tensor.storage.version) is int and tensor.inference is False and _starts_at_zero(tensor):
        facts.add(f"version={tensor.storage.version}")
    names = list(itertools.islice(_tensors_in_scope(frame), 400))
    for name, other in names:
        if other is tensor or (other is tensor.same_on_cpu and not anywhere):
            facts.add(f"same as {name}")
        elif type(other) is Array:
            if other.memory is tensor.storage.memory:
                facts.add(f"shares storage with {name}")
        elif other.storage.memory is tensor.storage.memory and not anywhere:
            facts.add(f"shares storage with {name}")
    if tensor.requires == YES:
        facts.update(_reached_names(tensor, names))
    elif tensor.requires == NO:
        facts.add("reaches nothing")
    return frozenset(facts)


def _alike(node: Node) -> Node | None:
    """One of the nodes that a joined value may come from, if all have the same name."""
    found = _ways(node)
    return found[0] if len({one.name for one in found}) == 1 else None


def _ways(node: Node) -> list[Node]:
    """The nodes that a joined value may come from; none where one of them is not known."""
    found: list[Node] = []
    work = [node]
    while work:
        here = work.pop()
        if here.kind != "join":
            found.append(here)
        elif not here.name or any(type(edge) is not Node for edge in here.edges):
            return []
        else:
            work.extend(edge for edge in here.edges if type(edge) is Node)
    return found


def _starts_at_zero(tensor: Tensor) -> bool:
    memory = tensor if tensor.base is None else tensor.base
    return {tensor.origin.kind, memory.origin.kind} <= _VERSIONED and not any(
        one.inference is not False for one in tensor.origin.parents
    )


_VERSIONED = frozenset(
    (
        "created",
        "created-no-grad",
        "parameter",
        "wrapped",
        "computed",
        "moved",
        "cast",
        "array",
        "integers",
        "cut",
    )
)
"""Ways to make a tensor whose version starts at 0."""


def _reached_names(tensor: Tensor, names: list[tuple[str, Tensor]]) -> set[str]:
    """`reaches b, w` in every spelling that the names in scope allow."""
    edge = edge_of(tensor)
    walked: Walked = reach([] if edge is None else [edge])
    if not walked.complete or not all(walked.leaves.values()) or len(walked.leaves) > 6:
        return set()
    choices = []
    for leaf in walked.leaves:
        spellings = [name for name, other in names if other is leaf][:4]
        if not spellings:
            return set()
        choices.append(spellings)
    return {
        "reaches " + ", ".join(sorted(chosen)) for chosen in itertools.islice(itertools.product(*choices), 64)
    }


def _tensors_in_scope(frame: Frame) -> Any:
    """Names and attributes of a scope that hold tensors, nearest first."""
    here: Frame | None = frame
    spaces = []
    while here is not None:
        spaces.append(here.names)
        here = here.scope
    spaces.append(frame.space.names)
    for names in spaces:
        for name, value in list(names.items()):
            yield from _tensors_of(name, value, 0)


def _tensors_of(name: str, value: Any, depth: int) -> Any:
    if type(value) is Tensor or type(value) is Array:
        yield name, value
    elif type(value) is Module and depth < 1:
        for attribute, inner in list(value.space.names.items()):
            yield from _tensors_of(f"{name}.{attribute}", inner, depth + 1)
    elif type(value) is Instance and depth < 3:
        for attribute, inner in list(value.attributes.items())[:_MOST_NAMES]:
            spelled = f"{name}[{attribute}]" if attribute.isdigit() else f"{name}.{attribute}"
            yield from _tensors_of(spelled, inner, depth + 1)
    elif getattr(value, "kind", None) in ("list", "tuple") and depth < 2:
        for index, inner in enumerate(value.items[:_MOST_NAMES]):
            yield from _tensors_of(f"{name}[{index}]", inner, depth + 1)


__all__ = ["UNKNOWN", "Reached", "Revealed", "ValueSeen", "refusals", "reveal", "values_at"]
