"""The values of the abstract machine.

A Python number, string, bool or None whose value is known stands for itself. Everything else is one
of the classes below. Fields marked "heap" change only through `Heap.put`, so that branches can be
undone and joined.
"""

from __future__ import annotations

from typing import Any

from gradtrail.laws.text import Text, one_of

NO, YES, MAYBE = 1, 2, 3
"""Does it require grad? A set of answers as bits, so that a join is a bit-or."""

LEAF_ON_CPU, NON_LEAF_ON_CPU, LEAF_ELSEWHERE, NON_LEAF_ELSEWHERE = 1, 2, 4, 8
LEAF = LEAF_ON_CPU | LEAF_ELSEWHERE
NON_LEAF = NON_LEAF_ON_CPU | NON_LEAF_ELSEWHERE
ANY_LEAF = LEAF | NON_LEAF
"""Is it a leaf? Told for two worlds, the CPU alone and a machine whose device is another one: a move
to `device` keeps a leaf a leaf in the first and makes a computed tensor in the second."""


class Unknown:
    """A value of which nothing is known, and why. It never answers yes or no by itself.

    `either` holds the tensors and objects that it may be all the same: what is done to it may be done to them.
    """

    __slots__ = ("either", "reason")

    def __init__(self, reason: str, either: tuple[Any, ...] = ()) -> None:
        self.reason = reason
        self.either = either

    def __repr__(self) -> str:
        return f"Unknown({self.reason})"


UNKNOWN: Any = Unknown("not followed")
HARMLESS: Any = Unknown("from a library that knows nothing of autograd")
FREE: Any = Unknown("given from outside")
"""Unknown as well, but nothing that the program has made went into it: an argument nobody passes, a setting."""
MISSING: Any = Unknown("not bound")


class Some:
    """An unknown value of a known Python type: ``Some("int")``, ``Some("float")``, ``Some("str")``."""

    __slots__ = ("type",)

    def __init__(self, type: str) -> None:
        self.type = type

    def __repr__(self) -> str:
        return f"Some({self.type})"


INT, FLOAT, BOOL, STR, BYTES = Some("int"), Some("float"), Some("bool"), Some("str"), Some("bytes")
NUMBER = Some("number")
OPAQUE = Some("object")
"""A library object without tensors in it that anyone could reach (a logger, a path, a progress bar)."""


class OneOf:
    """One of a few values: what a variable holds after branches that bound it differently."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values

    def __repr__(self) -> str:
        return f"OneOf{self.values}"


class Device:
    """Where a tensor lives.

    kind "cpu"; "other" (cuda, mps, xpu, ...: certainly not the CPU); "chosen" (not the CPU where such
    a device is available: `"cuda" if torch.cuda.is_available() else "cpu"`); "symbol" (whatever the
    variable of that name holds); "unknown" (that of a tensor the program has made, which may well depend on
    where its other tensors are). Two of the last kinds are the same device only if they are the same object.
    """

    __slots__ = ("kind", "name")

    def __init__(self, kind: str, name: str) -> None:
        self.kind = kind
        self.name = name

    @property
    def told(self) -> Text:
        """How a sentence names it."""
        return one_of((self.name, "cpu") if self.kind == "chosen" else (self.name,))

    def __repr__(self) -> str:
        return f"Device({self.kind}, {self.name})"


CPU = Device("cpu", "cpu")


class Dtype:
    """`torch.float32` as a value; name None when it is some dtype, not known which."""

    __slots__ = ("name",)

    def __init__(self, name: str | None) -> None:
        self.name = name


class AtLeast:
    """A version that is not known exactly, but not below `number`: after branches that wrote or did not."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


class Storage:
    """The memory that a tensor and its views share. heap: version, writes.

    `version` counts in-place writes: an int, an `AtLeast`, or Unknown; `writes` holds an `Origin` for each of them.
    """

    __slots__ = ("memory", "version", "writes")

    def __init__(self, memory: Any = None) -> None:
        self.version: Any = 0
        self.memory: Any = memory if memory is not None else self  # what `.data` and numpy share
        self.writes: tuple[Origin, ...] = ()


class Origin:
    """Where and how a value came about: the raw material of a trail step.

    `kind` names a template of `trails.SENTENCES`; `parents` are the tensors it was made from.
    """

    __slots__ = ("fields", "frame", "kind", "node", "parents", "serial")

    def __init__(
        self,
        kind: str,
        node: Any,
        frame: Any,
        fields: dict[str, Any] | None,
        parents: tuple[Tensor, ...],
        serial: int,
    ) -> None:
        self.kind = kind
        self.node = node
        self.frame = frame
        self.fields = fields
        self.parents = parents
        self.serial = serial


class Saved:
    """What a node keeps for backward: a tensor's storage at a version. `name` is the argument."""

    __slots__ = ("name", "storage", "sure", "tensor", "version")

    def __init__(self, name: str, tensor: Tensor, sure: bool) -> None:
        self.name = name
        self.tensor = tensor
        self.storage = tensor.storage
        version = tensor.storage.version
        self.version: int = version.number if type(version) is AtLeast else version
        self.sure = sure and type(self.version) is int

    def modified(self) -> bool:
        """Whether the memory has certainly been written since."""
        if not self.sure:
            return False
        now = self.storage.version
        return now > self.version if type(now) is int else type(now) is AtLeast and now.number > self.version


class Node:
    """A node of the autograd graph. heap: freed.

    `edges` are the tensors it was computed from that may require grad; a backward goes on through
    their nodes. `frees` is whether it keeps anything that a backward frees (None: not known).
    `kind` is "op"; "maybe" (it is not known whether the operation was recorded); "join" (one of its
    edges, by the branch taken); "opaque" (what lies behind it is not known). `foreign`: nothing of the
    graph that has been seen lies behind it, as behind a product of two values that are not known.
    """

    __slots__ = (
        "edges",
        "foreign",
        "freed",
        "frees",
        "function",
        "kind",
        "name",
        "once",
        "origin",
        "refusal",
        "results",
        "saved",
        "serial",
        "whole",
    )

    def __init__(
        self,
        name: str,
        kind: str,
        edges: tuple[Any, ...],
        saved: tuple[Saved, ...],
        frees: bool | None,
        origin: Origin,
        serial: int,
    ) -> None:
        self.name = name
        self.kind = kind
        self.edges = edges
        self.saved = saved
        self.frees = frees
        self.freed: Any = None  # the Origin of the backward that freed it; Unknown: perhaps
        self.origin = origin
        self.serial = serial
        self.once: Origin | None = None  # where its backward was marked once_differentiable
        self.results: tuple[Tensor, ...] = ()
        self.function: Any = None  # of a custom Function: its backward, its context, the frame of apply
        self.refusal = ""  # the key of what torch says when a backward comes to it
        self.whole = False  # a reentrant checkpoint: only a backward to all leaves may run it
        self.foreign = all(map(is_foreign, edges)) if edges else kind == "opaque"


def is_foreign(edge: Any) -> bool:
    """Whether all that leads to a node or a tensor that may require grad comes from what has not been seen."""
    node = edge if type(edge) is Node else edge.node
    return node is not None and node.foreign


class Tensor:
    """An abstract tensor: an identity, a storage, a place in the graph, and facts.

    heap: requires, leaf, node, storage, base, view_kind, dtype, device, shape, conj, inference,
    retains, grad, steps, parameter, hooks, spent, shares.

    `shape` is a tuple of int or None (a size not known), or None (number of dimensions not known).
    `dtype` is a name or None. `parameter` is True, False, None (not known) or "cpu" (where the
    device is the CPU). `view_kind`: "" | "ordinary" | "multi" | "no-grad" | "function" | "inference".
    `many` marks one object that stands for many (an element of a list of unknown length). `either` holds
    the tensors that a joined one may be, `part_of` the joined ones that may be this one: what is done to one in
    place may have been done to the others.
    """

    __slots__ = (
        "attributes",
        "base",
        "conj",
        "device",
        "dtype",
        "either",
        "grad",
        "hooks",
        "inference",
        "leaf",
        "many",
        "name",
        "node",
        "parameter",
        "part_of",
        "requires",
        "result_of",
        "retains",
        "same_on_cpu",
        "serial",
        "shape",
        "shares",
        "spent",
        "steps",
        "storage",
        "view_kind",
    )  # fmt: skip

    def __init__(self, serial: int, origin: Origin) -> None:
        self.requires = MAYBE
        self.leaf = ANY_LEAF
        self.node: Node | None = None
        self.storage = Storage()
        self.base: Tensor | None = None
        self.view_kind = ""
        self.dtype: str | None = None
        self.device: Device | None = None
        self.shape: tuple[int | None, ...] | None = None
        self.conj: Any = False  # False | "conj" | "neg" | None
        self.inference: bool | None = False
        self.retains: Any = False
        self.grad: Any = None
        self.steps: tuple[Origin, ...] = (origin,)
        self.parameter: Any = False
        self.name: str | None = None
        self.many = False
        self.serial = serial
        self.either: tuple[Tensor, ...] = ()
        self.part_of: tuple[Tensor, ...] = ()
        self.same_on_cpu: Tensor | None = None
        self.attributes: dict[str, Any] | None = None
        self.result_of: str | None = None
        self.hooks: tuple[Any, ...] = ()  # heap
        self.shares: Any = None  # heap; the memory that `.data = ...` gave it, where, and the names there
        self.spent: Any = None  # heap; of a gradient: what has been done with it, see `interp.gradients`

    @property
    def origin(self) -> Origin:
        """Where it was made."""
        first = self.steps[0]
        return self.steps[1] if first.kind == "entered" and len(self.steps) > 1 else first

    def __repr__(self) -> str:
        return f"<Tensor {self.serial} {self.name or ''} requires={self.requires} leaf={self.leaf} shape={self.shape} {self.dtype}>"


Lent = list[tuple[Any, Any, str]]
"""Who bears the name of a loop for a round: the value, its name before, the name."""


def edge_of(tensor: Tensor) -> Node | Tensor | None:
    """Where a backward through `tensor` goes on: its node, the leaf itself, or nowhere."""
    if tensor.node is not None:
        return tensor.node
    return tensor if tensor.requires & YES else None


class Array:
    """A numpy array. dtype is a name or None; `memory` is equal for what shares it.

    `sources` are the tensors whose values it was made of: no gradient goes back to them. `may_be_number`: an item
    of an array that may have one dimension only, so that it may be a number of numpy's.
    """

    __slots__ = ("dtype", "may_be_number", "memory", "shape", "sources")

    def __init__(
        self, dtype: str | None = None, shape: tuple[int | None, ...] | None = None, memory: Any = None
    ) -> None:
        self.dtype = dtype
        self.shape = shape
        self.memory: Any = memory if memory is not None else self
        self.sources: tuple[Tensor, ...] = ()
        self.may_be_number = False

    def item(self) -> Array:
        """What iteration gives."""
        item = Array(self.dtype, self.shape[1:] if self.shape else None)
        item.may_be_number = not item.shape
        return item


class Sequence:
    """A list, tuple or set. heap: items, rest.

    `items` are the elements known to be there in order; `rest`, when not MISSING, is a value that
    stands for any number of further elements (its length is then unknown).
    """

    __slots__ = ("items", "kind", "names", "origin", "rest")

    def __init__(
        self,
        kind: str,
        items: tuple[Any, ...] = (),
        rest: Any = MISSING,
        names: tuple[str, ...] = (),
        origin: Origin | None = None,
    ) -> None:
        self.kind = kind  # "list" | "tuple" | "set" | "size" | "namedtuple"
        self.items = items
        self.rest = rest
        self.names = names
        self.origin = origin  # where the program wrote it down

    def __repr__(self) -> str:
        return f"{self.kind}({self.items}, rest={self.rest})"


class Mapping:
    """A dict. heap: entries (by known key), rest (values under keys that are not known), perhaps.

    `perhaps` has the keys that were set in a branch which may not have been taken; `arms` is how many of these
    were open when it was made.
    """

    __slots__ = ("arms", "default", "entries", "origin", "perhaps", "rest")

    def __init__(
        self,
        entries: dict[Any, Any] | None = None,
        rest: Any = MISSING,
        default: Any = MISSING,
        origin: Origin | None = None,
    ) -> None:
        self.entries: dict[Any, Any] = entries if entries is not None else {}
        self.perhaps: frozenset[Any] = frozenset()
        self.arms = 0
        self.rest = rest
        self.default = default
        self.origin = origin  # where the program wrote it down


class Iterator:
    """An iterator that is used up. heap: position, used_by.

    `items`/`rest` as in `Sequence`; `generator` is a suspended generator instead.
    """

    __slots__ = ("generator", "items", "of", "origin", "position", "rest", "used_by")

    def __init__(
        self,
        items: tuple[Any, ...] = (),
        rest: Any = MISSING,
        of: str = "iterator",
        origin: Origin | None = None,
    ) -> None:
        self.items = items
        self.rest = rest
        self.position: Any = 0
        self.generator: Any = None
        self.of = of  # what Python's type is called in torch's message: "generator", "Module.parameters" ...
        self.origin = origin
        self.used_by: Origin | None = None  # heap; what has used it up


class Range:
    """A `range` whose length may be unknown (None)."""

    __slots__ = ("length", "start", "step", "stop")

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start = start
        self.stop = stop
        self.step = step
        known = all(type(part) is int for part in (start, stop, step)) and step != 0
        self.length = max(0, -((start - stop) // step)) if known else None  # `len` refuses large ones


class Library:
    """A name of a library, by its dotted public path: ``Library("torch.nn.Linear")``."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"Library({self.path})"


class Module:
    """A module of the project; `space` is its `project.Space`."""

    __slots__ = ("space",)

    def __init__(self, space: Any) -> None:
        self.space = space


class Function:
    """A function, method or lambda of the project."""

    __slots__ = (
        "active",
        "attributes",
        "called",
        "defaults",
        "kind",
        "mode",
        "name",
        "node",
        "once",
        "owner",
        "scope",
        "space",
        "wrapper",
    )  # fmt: skip

    def __init__(self, name: str, node: Any, space: Any, scope: Any) -> None:
        self.name = name
        self.node = node
        self.space = space
        self.scope = scope  # the Frame it was defined in, for closures; None at module level
        self.defaults: dict[str, Any] = {}
        self.owner: Class | None = None
        self.kind = ""  # "" | "static" | "class" | "property" | "setter" | "cached"
        self.mode: tuple[str, Any] | None = None  # grad mode set by a decorator: ("grad", False) ...
        self.wrapper = ""  # "contextmanager"
        self.active = 0  # how often it is on the stack
        self.called = False
        self.attributes: dict[str, Any] = {}
        self.once = False  # @once_differentiable

    def copy(self) -> Function:
        """The same function once more, to be wrapped."""
        twin = Function(self.name, self.node, self.space, self.scope)
        for slot in self.__slots__:
            setattr(twin, slot, getattr(self, slot))
        return twin

    def open(self) -> bool:
        """See that the body is there, which may have been left out so far; whether it could be parsed."""
        return not self.space.bodies or self.space.open(self.node)

    def __repr__(self) -> str:
        return f"<Function {self.name}>"


MODULE_METHODS = frozenset(
    """__init__ __call__ __setattr__ __getattr__ __delattr__ forward register_buffer register_parameter add_module
    register_module get_submodule set_submodule get_parameter get_buffer apply cuda cpu type float double half
    bfloat16 to_empty to register_full_backward_pre_hook register_backward_hook register_full_backward_hook
    register_forward_pre_hook register_forward_hook state_dict load_state_dict parameters named_parameters buffers
    named_buffers children named_children modules named_modules train eval requires_grad_ zero_grad share_memory
    extra_repr compile""".split()
)
"""What nn.Module itself answers, before the classes that stand behind it among the bases."""


def _is_layer(path: str) -> bool:
    return path.startswith("torch.nn.") and not path.startswith(("torch.nn.functional", "torch.nn.utils"))


_PLAIN_BASES = ("object", "abc.ABC", "typing.Generic", "typing.Protocol")
"""Library classes that bring nothing to what derives from them."""


class Class:
    """A class of the project. `bases` are Class or Library or Unknown; `members` its namespace.

    `built_otherwise`: a metaclass, a decorator or an `__init_subclass__` may do something before `__init__`.
    """

    __slots__ = (
        "bases",
        "built_otherwise",
        "declared",
        "fields",
        "library",
        "lineage",
        "made",
        "members",
        "name",
        "node",
        "opaque",
        "resolution",
        "space",
    )

    def __init__(self, name: str, node: Any, space: Any, bases: tuple[Any, ...]) -> None:
        self.name = name
        self.node = node
        self.space = space
        self.bases = bases
        self.members: dict[str, Any] = {}
        self.made = False
        self.built_otherwise: bool = any(type(base) is Class and base.built_otherwise for base in bases)
        self.fields: tuple[tuple[str, Any], ...] | None = None  # of a dataclass
        self.resolution: tuple[Any, ...] = _resolution(self)
        self.lineage: tuple[Class, ...] = tuple(one for one in self.resolution if type(one) is Class)
        self.library: str | None = None  # the library class it derives from, "torch.nn.Module"
        self.opaque = False  # a base is not known: attributes may come from there
        self.declared: str | None = None  # the library class that the settings declare it to be like
        for one in self.lineage:
            if one is not self and one.declared is not None:
                self.library = self.library or one.declared
                continue
            for base in one.bases:
                if type(base) is Library:
                    if base.path not in _PLAIN_BASES:
                        self.library = self.library or base.path
                elif type(base) is not Class:
                    self.opaque = True

    def find(self, name: str, after: Class | None = None) -> Any:
        """The member `name` of the class or its bases, after the class `after` in the lineage.

        MISSING as well when a library class that has one comes first: it goes on by itself, or does not.
        """
        if after is None:
            for one in self.resolution:
                if type(one) is Class and name in one.members:
                    return one.members[name]
                if type(one) is Library and name in MODULE_METHODS and _is_layer(one.path):
                    return MISSING
            return MISSING
        started = False
        for one in self.resolution:
            if started and type(one) is Class and name in one.members:
                return one.members[name]
            library = one.path if started and type(one) is Library else ""
            if library and library not in _PLAIN_BASES and name == "__init__":
                return MISSING
            if name in MODULE_METHODS and _is_layer(library):
                return MISSING
            started = started or one is after
        return MISSING

    def __repr__(self) -> str:
        return f"<Class {self.name}>"


def _resolution(cls: Class) -> tuple[Any, ...]:
    """The class and all its bases in the order in which Python looks for a name (C3), library classes included."""
    rows = [list(base.resolution) if type(base) is Class else [base] for base in cls.bases]
    if len(rows) == 1:
        return (cls, *rows[0])
    rows.append(list(cls.bases))
    order: list[Any] = [cls]
    while rows := [row for row in rows if row]:
        heads = [row[0] for row in rows]
        later = [_same_base(one) for row in rows for one in row[1:]]
        head = next((one for one in heads if _same_base(one) not in later), heads[0])
        order.append(head)
        for row in rows:
            row[:] = [one for one in row if _same_base(one) != _same_base(head)]
    return tuple(order)


def _same_base(one: Any) -> Any:
    return one.path if type(one) is Library else id(one)


class Instance:
    """An object. heap: every entry of `attributes` and `registered`; `opened`.

    Both objects of project classes (`cls` is a Class) and of library classes (`cls` is a Library).
    `library` is the dotted path of the library class it is or derives from, or None.
    For modules `registered` says how nn.Module keeps a name: "parameter", "buffer", "module".
    `state` holds what a model of a library keeps about it (an optimizer's groups).
    `opened`: unknown code has held it, so what is not found may exist and what is found may differ.
    """

    __slots__ = (
        "attributes",
        "cls",
        "library",
        "many",
        "name",
        "opened",
        "origin",
        "registered",
        "serial",
        "state",
    )

    def __init__(self, cls: Any, library: str | None, serial: int, origin: Origin) -> None:
        self.cls = cls
        self.library = library
        self.attributes: dict[str, Any] = {}
        self.registered: dict[str, str] = {}
        self.state: dict[str, Any] = {}
        self.opened = False
        self.serial = serial
        self.origin = origin
        self.name: str | None = None
        self.many = False

    def __repr__(self) -> str:
        return f"<Instance of {getattr(self.cls, 'name', self.library)} {self.serial}>"


def is_in_place(handle: Instance) -> bool:
    """Whether the hook that a handle stands for has certainly not been removed."""
    return not handle.opened and not handle.state.get("removed")


class Bound:
    """A method with its receiver: a project Function, or the name of a library method."""

    __slots__ = ("method", "receiver")

    def __init__(self, receiver: Any, method: Any) -> None:
        self.receiver = receiver
        self.method = method


class Super:
    """`super()` inside a method of `cls`, a class of the project or of a library, called on `receiver`."""

    __slots__ = ("cls", "receiver")

    def __init__(self, receiver: Any, cls: Class | Library) -> None:
        self.receiver = receiver
        self.cls = cls


class Partial:
    """`functools.partial(function, ...)`."""

    __slots__ = ("args", "function", "keywords")

    def __init__(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.function = function
        self.args = args
        self.keywords = keywords


PLAIN = frozenset((int, float, str, bool, type(None), bytes, complex, type(Ellipsis)))
"""Types of Python values that stand for themselves."""


_UNTOLD = frozenset((Unknown, OneOf, Bound, Instance, Partial, Super))


def may_be_tensor(value: Any) -> bool:
    """Whether a value that is not known to be a tensor may be one, or act as one."""
    return type(value) in _UNTOLD
