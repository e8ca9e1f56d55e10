"""What all parts of the machine share: the heap, the grad mode, serial numbers, forks, events."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradtrail.interp import budget
from gradtrail.interp.events import Event, Seen
from gradtrail.interp.frames import BREAK, CONTINUE, GONE, NORMAL, RETURN, BudgetSpent, Frame, PathEnds
from gradtrail.interp.heap import Heap, Snapshot
from gradtrail.interp.joins import Joiner
from gradtrail.interp.journal import Journal
from gradtrail.interp.project import NOTHING_GIVEN
from gradtrail.interp.values import (
    ANY_LEAF,
    CPU,
    MAYBE,
    UNKNOWN,
    YES,
    AtLeast,
    Device,
    Instance,
    Iterator,
    Lent,
    Library,
    Mapping,
    OneOf,
    Origin,
    Sequence,
    Storage,
    Tensor,
    Unknown,
    is_foreign,
)

if TYPE_CHECKING:
    from gradtrail.interp.project import Given, Project
    from gradtrail.source.place import Place


_MOST_KIN = 2_000
"""Tensors beside one that are looked at: beyond, a program has outgrown us."""


_MOST_CUTS = 500
"""Places where gradients end that are kept in mind."""


class Modes:
    """The modes of autograd, every field on the heap. `grad_mode` is True, False or None (not known)."""

    __slots__ = (
        "autocast",
        "cleared",
        "default_device",
        "default_dtype",
        "elsewhere_ended",
        "entered_by",
        "grad_mode",
        "inference_mode",
        "set_by",
    )

    def __init__(self) -> None:
        self.grad_mode: bool | None = True
        self.inference_mode: bool | None = False
        self.set_by: Origin | None = None  # what switched it last, as a plain statement
        self.entered_by: Origin | None = None  # the decorator or with that switched it last
        self.default_dtype: str = "float32"  # "" when it is not known
        self.default_device: Any = None
        self.autocast = False
        self.elsewhere_ended = False  # heap; off the CPU the program has raised by now
        self.cleared: Any = None  # heap; where gradients were last cleared, and of which tensors


class Core:
    """State of the machine, and the moves that everything else is made of."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.given: Given = NOTHING_GIVEN
        self.count = 0
        self.heap = Heap(Joiner(self.serial))
        self.modes = Modes()
        self.journal = Journal("")
        self.steps = 0
        self.limit = 0
        self.entry_name = ""
        self.importing: Any = None  # the frame of an imported file's body while it is walked
        self.quiet = 0  # above 0 nothing is told: the body of a module that is imported
        self.lent: Lent | None = None  # who gets the name of a loop, while its target is bound
        self.on_value: Callable[[Any, Frame, Any], None] | None = None
        self.on_reveal: Callable[[Any, Any, Frame], None] | None = None
        self.layer: Any = None  # the library layer that is at work
        self.arms = 0  # how many branches that are only possible are open
        self.arms_of_loop = 0  # the same where the innermost loop began
        self.rearranged = 0  # how often the program has changed what is trained: modules replaced, flags set
        self.evaluating = 0  # how many modules more are in evaluation than were before
        self.looking_ahead = False
        self.stand_ins: tuple[tuple[str, Any], ...] = ()  # what a branch has bound to one of several alike
        self.calls_open = 0  # calls of modules that are running
        self.call_began = 0  # when the outermost of these began
        self.choices = 0  # how many values that are one of several are looked at, one after the other
        self.again = False  # a loop goes over a value that stands for several once more
        self.modes_before: list[tuple[Any, Any]] = []  # of the with-blocks whose manager is one of several
        self.devices_before: list[Any] = []  # of the `with torch.device(...)` blocks that are open
        self.optimized: set[int] = set()  # serials of tensors that an optimizer was handed
        self.forget()

    def forget(self) -> None:
        """Nothing has been seen of a program yet."""
        self.replaced: set[str] = set()  # names of libraries that the program has bound to something else
        self.limits_told: set[tuple[str, str]] = set()
        self.reached: set[int] = set()  # serials of leaves that a backward has reached
        self.behind_roots: set[int] = set()  # serials of origins that a backward's root was made of
        self.taken_for_roots: dict[
            int, int
        ] = {}  # of tensors behind a root: the time when it was last taken for one
        self.taken_for_numbers: dict[
            int, int
        ] = {}  # of tensors: the time when `item()` was last asked of them
        self.kept: dict[tuple[int, int], Any] = {}  # tensors with a graph, put into a list, by node and list
        self.last_backward = 0  # when the last backward was
        self.growing: dict[int, Any] = {}  # tensors whose graph goes back to earlier rounds, by the node
        self.retained: dict[Any, tuple[Any, int]] = {}  # nodes that a backward has retained: where and when
        self.evaluated: dict[int, Any] = {}  # results of modules in evaluation mode, by the node of the call
        self.wrappers: dict[int, Instance] = {}  # DDP wrappers
        self.through_wrapper: dict[int, set[int]] = {}  # serials of what their forwards have given
        self.optimizers: dict[int, Instance] = {}
        self.steps_in_loops: dict[int, Origin] = {}  # the first step in a loop of an optimizer
        self.in_loops: dict[int, Origin] = {}  # the first backward in a loop that reaches a leaf
        self.trained_in_loops: dict[int, Tensor] = {}  # leaves that a backward in a loop reaches, by serial
        self.waiting: dict[
            int, Origin
        ] = {}  # the last backward that reached a leaf and was followed by no step
        self.backwards: set[int] = set()  # the places of the backward passes there have been
        self.outside: set[int] = set()  # parameters of which it is told that no optimizer holds them
        self.unfrozen: dict[int, tuple[Tensor, Origin]] = {}
        self.moved: set[int] = set()  # serials of tensors that a step was made for
        self.addends: dict[int, list[Any]] = {}  # what was added to a leaf's gradient since it was cleared
        self.behaviours: dict[int, list[Any]] = {}  # calls of layers of two modes since the last backward
        self.trained_in_mode: dict[tuple[int, int, int], bool] = {}
        self.skipped: dict[int, tuple[Any, Frame]] = {}  # conditions that were false
        self.taken: set[int] = set()  # conditions that were true, or may have been
        # Calls of modules without grad mode: where the result was made, and the call.
        self.ungraded: dict[int, list[tuple[Origin, Origin]]] = {}
        self.cuts: dict[int, tuple[Origin, tuple[Tensor, ...]]] = {}  # where gradients end, by the node
        self.steppers: dict[int, Instance] = {}  # optimizers that have made a step
        self.followers: dict[int, Any] = {}  # parameters that a share of others is mixed into, by serial
        self.followers_used: dict[int, Origin] = {}  # what a backward has come to them by
        self.sharers: dict[int, Tensor] = {}  # parameters that were given the memory of others, by serial
        self.made_before: dict[int, Any] = {}  # the optimizer that a line has made last, and its options
        self.roots_cut_off = False  # of a root there was more behind it than was looked at
        self.unknown_reach = False  # a backward has reached what is not known
        self.losses: dict[int, list[tuple[Tensor, Any, Frame]]] = {}  # results of loss functions, by the node
        self.loops_of_losses: dict[int, set[int]] = {}
        self.loops_of_steps: set[int] = set()  # by their statements
        self.handed_over = False  # the program has given a tensor its gradient itself
        self.forwards: dict[
            int, Instance
        ] = {}  # modules, by the serials of what they gave when called in loops
        self.unseen_backward = False  # code that is not followed may have called a backward

    if TYPE_CHECKING:
        # Provided by the floors of this class's descendants; see machine.py for the order.
        def evaluate(self, node: Any, frame: Frame) -> Any: ...
        def block(self, statements: Any, frame: Frame) -> int: ...
        def call(
            self, function: Any, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
        ) -> Any: ...
        def call_method(
            self, receiver: Any, name: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
        ) -> Any: ...
        def attribute(self, receiver: Any, name: str, node: Any, frame: Frame) -> Any: ...
        def set_attribute(self, receiver: Any, name: str, value: Any, node: Any, frame: Frame) -> None: ...
        def items_of(
            self, value: Any, node: Any, frame: Frame, supply: bool = False
        ) -> tuple[tuple[Any, ...], Any] | None: ...
        def assign(self, target: Any, value: Any, frame: Frame) -> None: ...
        def seen(self, value: Any, node: Any, frame: Frame, story: str = "grad") -> Seen: ...
        def step_of(self, origin: Origin, frame: Frame) -> Any: ...
        def restore_modes(self, manager: Any) -> None: ...
        def note_share(self, own: Tensor, value: Tensor, origin: Origin) -> None: ...
        def note_mix(
            self, own: Tensor, values: tuple[Tensor, ...], whole: bool, node: Any, frame: Frame
        ) -> None: ...
        def note_loss(self, tensor: Tensor, node: Any, frame: Frame) -> None: ...
        def note_ungraded(self, module: Instance, result: Any, node: Any, frame: Frame) -> None: ...
        def note_called(self, module: Instance, result: Any, node: Any, frame: Frame) -> None: ...
        def note_cleared(self, tensors: list[Tensor], origin: Origin | None) -> None: ...
        def note_unfrozen(self, tensor: Tensor, node: Any, frame: Frame) -> None: ...
        def note_behaviour(self, module: Instance, given: Tensor) -> None: ...
        def tell_own_state(self, module: Instance, given: Any, node: Any, frame: Frame) -> None: ...
        def canonical(self, path: str) -> str: ...
        def loop(self, node: Any, frame: Frame, rounds: Any, body: Any) -> int: ...
        def apply(
            self,
            name: str,
            args: list[Any],
            keywords: dict[str, Any],
            node: Any,
            frame: Frame,
            path: str = "",
        ) -> Any: ...

    # Numbers and origins

    def serial(self) -> int:
        """The next serial number. They never repeat, so they serve as keys where `id` could not."""
        self.count += 1
        return self.count

    def origin(
        self, kind: str, node: Any, frame: Frame, parents: tuple[Tensor, ...] = (), **fields: Any
    ) -> Origin:
        """Raw material of a trail step, for what happens at `node`."""
        self.count += 1
        if self.layer is not None:
            fields["layer"] = self.layer
        return Origin(kind, node, frame, fields or None, parents, self.count)

    def new_tensor(self, origin: Origin) -> Tensor:
        """A tensor of which nothing but its origin is known."""
        self.count += 1
        tensor = Tensor(self.count, origin)
        tensor.inference = self.modes.inference_mode
        off = self.modes.grad_mode is False and any(parent.requires & YES for parent in origin.parents)
        if (tensor.inference or off) and self.modes.entered_by is not None:
            tensor.steps = (self.modes.entered_by, origin)
        return tensor

    def default_device(self) -> Device:
        """Where a tensor is made of which nothing is said."""
        chosen: Device | None = self.modes.default_device
        return CPU if chosen is None else chosen

    def new_handle(self, node: Any, frame: Frame) -> Instance:
        """What registering a hook gives: by it the hook is removed."""
        path = "torch.utils.hooks.RemovableHandle"
        return Instance(Library(path), path, self.serial(), self.origin("made", node, frame, cls="handle"))

    def unknown_tensor(self, node: Any, frame: Frame, kind: str = "unknown") -> Tensor:
        """A value that is certainly a tensor, with no fact known."""
        tensor = self.new_tensor(self.origin(kind, node, frame))
        tensor.requires, tensor.leaf, tensor.parameter, tensor.conj, tensor.inference = (
            MAYBE,
            ANY_LEAF,
            None,
            None,
            None,
        )
        tensor.grad, tensor.retains = UNKNOWN, UNKNOWN
        tensor.storage.version = UNKNOWN
        return tensor

    def note_cut(self, origin: Origin, parents: tuple[Tensor, ...]) -> None:
        """At `origin` something was made of `parents` that carries no gradient back to them."""
        if (
            self.modes.grad_mode
            and any(one.requires & YES for one in parents)
            and len(self.cuts) < _MOST_CUTS
        ):
            self.cuts.setdefault(id(origin.node), (origin, parents))

    def note_number(self, tensor: Tensor, op: str, node: Any, frame: Frame) -> None:
        """Python numbers are made of `tensor`."""
        taken = self.origin("number", node, frame, (tensor,), op=op)
        self.note_cut(taken, (tensor,))
        for one in (tensor, *tensor.either):
            self.taken_for_numbers[one.serial] = taken.serial

    def note(self, tensor: Tensor, origin: Origin) -> None:
        """Something happened to `tensor` that its trail may tell."""
        if len(tensor.steps) < 12:
            self.heap.put(tensor, "steps", (*tensor.steps, origin))

    # Budget

    def step(self) -> None:
        """Count one step of work; raises BudgetSpent at the limit."""
        self.steps += 1
        if self.steps > self.limit:
            raise BudgetSpent

    def tell_limit(self, limit: str, name: str, **fields: object) -> None:
        """Put into the journal, once, that something was not looked at.

        Not of a file that is imported: it is walked once for all who import it, and whoever comes first would be told.
        """
        if not self.quiet and (limit, name) not in self.limits_told:
            self.limits_told.add((limit, name))
            self.journal.limits.append(budget.sentence(limit, name=name, **fields))

    # Places and events

    def place(self, node: Any, frame: Frame) -> Place:
        """Where `node` stands, in the file of `frame`.

        A method call over several lines stands where its method's name stands, as in a traceback of
        Python 3.11 and later.
        """
        place = frame.space.source.place(node)
        function = node.func if type(node) is ast.Call else node
        if (
            type(function) is ast.Attribute
            and function.end_lineno != node.lineno
            and function.end_lineno is not None
        ):
            source = frame.space.source
            end = function.end_col_offset or 0
            column = source.column(function.end_lineno, end - len(function.attr))
            return place._replace(row=function.end_lineno, column=column)
        return place

    def tell(
        self,
        kind: str,
        node: Any,
        frame: Frame,
        subject: Seen | None = None,
        others: tuple[Seen, ...] = (),
        certainty: str = "",
        trail: tuple[Any, ...] = (),
        **fields: Any,
    ) -> None:
        """Put an event into the journal, unless this part of the program is not being told of."""
        if self.quiet or self.is_guarded(frame):
            return
        self.journal.events.append(
            Event(kind, self.place(node, frame), certainty, subject, others, fields, trail)
        )

    def is_guarded(self, frame: Frame | None) -> bool:
        """Whether an exception raised in `frame` would be taken by the program itself."""
        while frame is not None:
            if frame.guarded:
                return True
            frame = frame.caller
        return False

    def refuse(
        self,
        key: str,
        node: Any,
        frame: Frame,
        subject: Seen | None = None,
        others: tuple[Seen, ...] = (),
        off_cpu: bool = False,
        trail: tuple[Any, ...] = (),
        **fields: Any,
    ) -> None:
        """Torch refuses what stands at `node`: tell it, and end this path where it certainly raises."""
        if off_cpu:
            if self.modes.elsewhere_ended:
                return
            if not self.is_guarded(frame):
                self.heap.put(self.modes, "elsewhere_ended", True)
        if self.layer is not None and (trail or subject is not None):
            trail = (*trail, self.step_of(self.layer.origin, frame))
        self.tell(
            key, node, frame, subject, others, "raises-off-cpu" if off_cpu else "raises", trail, **fields
        )
        if not off_cpu:
            raise PathEnds

    # Forks

    def fork(self, frame: Frame, arms: list[Callable[[], int]]) -> int:
        """Walk each arm from the same state and join what they leave behind. Returns a signal.

        An arm that leaves (return, break, continue) has its state noted at the scope it leaves; one
        that raises is dropped. When every arm raises, PathEnds is raised.
        """
        heap = self.heap
        states: list[Snapshot] = []
        left = False
        heap.push()
        parted = self.serial()
        self.arms += len(arms) > 1
        arms_of_loop, again = self.arms_of_loop, self.again
        for arm in arms:
            level = heap.push()
            try:
                signal = arm()
            except PathEnds:
                heap.undo()
                self.arms_of_loop, self.again = arms_of_loop, again
                continue
            except BudgetSpent:
                heap.undo()
                heap.keep()
                self.arms -= len(arms) > 1
                raise
            if signal == NORMAL:
                states.append(heap.snapshot(level))
            else:
                left = True
                self.leave(signal, frame)
            heap.undo()
        self.arms -= len(arms) > 1
        if states:
            before = heap.work
            heap.merge(states, parted)
            self.steps += (heap.work - before) >> 2
        heap.keep()
        if states:
            return NORMAL
        if left:
            return GONE
        raise PathEnds

    def leave(self, signal: int, frame: Frame) -> None:
        """Note the present state at the scope that `signal` leaves."""
        if signal == RETURN and frame.exits is not None:
            exits, value, kept = frame.exits, frame.value, 0
        elif signal in (BREAK, CONTINUE) and frame.loops:
            breaks, continues, kept = frame.loops[-1]
            exits, value = breaks if signal == BREAK else continues, None
        else:
            return
        for manager in reversed(frame.managers[kept:]):
            self.restore_modes(manager)
        exits.taken.append((signal, value, self.heap.snapshot(exits.level)))

    def fork_values(self, values: tuple[Any, ...], use: Callable[[Any], Any], frame: Frame) -> Any:
        """`use` of each value, each from the same state; their joined result."""
        results: list[Any] = []

        def arm(value: Any) -> Callable[[], int]:
            def run() -> int:
                results.append(use(value))
                return NORMAL

            return run

        self.choices += 1
        try:
            self.fork(frame, [arm(value) for value in values])
        finally:
            self.choices -= 1
        return self.heap.joiner.all_of(tuple(results)) if results else UNKNOWN

    # Values

    def join(self, a: Any, b: Any) -> Any:
        """A value that stands for `a` or `b`."""
        return self.heap.joiner.join(a, b)

    def settle(self, value: Any) -> Any:
        """`value` without the alternatives that using it rules out: None, when there are others."""
        if type(value) is OneOf:
            others = tuple(one for one in value.values if one is not None)
            if len(others) == 1:
                return others[0]
            if len(others) < len(value.values):
                return OneOf(others)
        return value

    def open_up(self, value: Any, seen: set[int] | None = None) -> None:
        """Unknown code has got hold of `value`: mutable containers and objects may differ afterwards."""
        kind = type(value)
        if kind is Tensor:
            if value.requires & YES and not is_foreign(value):
                self.unseen_backward = True
            self.may_be_written(value)
        elif kind is Sequence:
            if value.kind == "list":
                for item in value.items:
                    self.open_up(item, seen)
                self.heap.put(value, "items", ())
                self.heap.put(value, "rest", UNKNOWN)
            elif value.kind == "tuple":
                for item in value.items:
                    self.open_up(item, seen)
        elif kind is Mapping:
            for item in list(value.entries.values()):
                self.open_up(item, seen)
            for key in list(value.entries):
                self.heap.put(value.entries, key, UNKNOWN)
            self.heap.put(value, "rest", UNKNOWN)
        elif kind is Iterator:
            self.heap.put(value, "position", UNKNOWN)
        elif kind is Instance and (seen is None or value.serial not in seen):
            if not value.opened:
                self.heap.put(value, "opened", True)
            seen = set() if seen is None else seen
            seen.add(value.serial)
            for name, item in list(value.attributes.items()):
                if type(item) is Tensor:
                    if item.requires != MAYBE or item.leaf != ANY_LEAF:
                        self._doubt(item)
                elif type(item) is Unknown:
                    continue
                elif type(item) is Instance or type(item) in (Sequence, Mapping):
                    self.open_up(item, seen)
                else:
                    self.heap.put(value.attributes, name, UNKNOWN)
        elif kind is OneOf:
            for item in value.values:
                self.open_up(item, seen)

    def may_be_written(self, tensor: Tensor) -> None:
        """From here on, writes that we do not see may reach the memory of `tensor`."""
        storage = tensor.storage
        if type(storage.version) is int:
            self.heap.put(storage, "version", AtLeast(storage.version))

    def touch(self, unknown: Unknown) -> None:
        """Something unknown is changed in place: what it may be may have changed."""
        for one in unknown.either:
            if type(one) is Tensor:
                self._doubt(one)
                self.may_be_written(one)
                self.doubt_kin(one)
            elif type(one) is Instance:
                self.open_up(one)

    def doubt_kin(self, tensor: Tensor) -> None:
        """What is done in place to one of several may have been done to any, and to what may be one of them."""
        for one in self.kin(tensor):
            self._doubt(one)
            self.may_be_written(one)

    def kin(self, tensor: Tensor, joined: bool = True) -> list[Tensor]:
        """The tensors that a joined one may be, and with `joined` the joined ones that may be this one."""
        found: dict[int, Tensor] = {}
        below, above = list(tensor.either), list(tensor.part_of)
        while below and len(found) < _MOST_KIN:
            one = below.pop()
            if one.serial not in found:
                found[one.serial] = one
                below.extend(one.either)
                above.extend(one.part_of)
        while joined and above and len(found) < _MOST_KIN:
            one = above.pop()
            if one is not tensor and one.serial not in found:
                found[one.serial] = one
                above.extend(one.part_of)
        return list(found.values())

    def _doubt(self, tensor: Tensor) -> None:
        """Facts of a tensor that code we do not see may have changed in place."""
        put = self.heap.put
        put(tensor, "requires", MAYBE)
        put(tensor, "leaf", ANY_LEAF)
        put(tensor, "device", None)
        put(tensor, "dtype", None)
        put(tensor, "grad", UNKNOWN)
        put(tensor, "parameter", None)

    def new_storage(self) -> Storage:
        """Fresh memory."""
        return Storage()
