"""The abstract machine: entry points, and the journal of a program.

The parts stand on each other in this order, each a class that the next one extends:

    core         the heap, numbers, events, forks
    statements   what a statement does
    loops        loops by rounds, comprehensions, generators
    expressions  what an expression gives
    calls        functions, classes, objects of the program
    results      what an operation gives, and its node of the graph
    writes       writes in place
    moves        moves, casts and cuts
    tensors      rows of the laws applied to tensors
    graph        backward passes
    trails       from origins to steps
    modules      torch.nn.Module: its parts, and its forward
    module_methods, custom_functions, grad_modes
    libraries    everything else that is called
    reaching     what no backward has reached
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtrail.interp import budget
from gradtrail.interp.core import Modes
from gradtrail.interp.events import Event
from gradtrail.interp.frames import BudgetSpent, Frame, PathEnds
from gradtrail.interp.heap import Heap
from gradtrail.interp.journal import Journal
from gradtrail.interp.models import registry
from gradtrail.interp.project import NOTHING_GIVEN, Given, Project, Space
from gradtrail.interp.reaching import Reaching
from gradtrail.interp.values import (
    ANY_LEAF,
    MAYBE,
    NO,
    PLAIN,
    UNKNOWN,
    Class,
    Function,
    Instance,
    Mapping,
    OneOf,
    Sequence,
    Tensor,
)

OnValue = Callable[[Any, Frame, Any], None]


_HANG_ON_CALLERS = frozenset(
    (
        "numpy-requires-grad", "leaf-in-place", "leaf-view-in-place", "multi-view-in-place", "array-times-tensor",
        "out-requires-grad", "deepcopy-non-leaf", "serialize-non-leaf", "no-grad-view-in-place",
    )
)  # fmt: skip
"""What torch refuses when grad mode is on, and does when it is off."""


class Machine(Reaching):
    """Interprets the files of one project, one as entry at a time."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.steps_left = 0  # for the entries of a file that nobody calls
        self.cut_short: list[str] = []  # entries whose budget was spent
        self.modes_left: dict[str, Any] = {}  # what the last piece of work left switched

    def run(self, space: Space) -> Journal:
        """The journal of the program that `space` is: its body, then what nobody has called."""
        self.journal = Journal(space.filename)
        self.forget()
        self.heap.push()
        self.cut_short = []
        try:
            self._body(space)
            self._uncalled(space)
            if self.cut_short:
                self.tell_limit("steps", self.cut_short[0], number=len(self.cut_short))
        finally:
            while self.heap.logs:
                self.heap.undo()
        return self.journal

    def _body(self, space: Space) -> None:
        space.state = "running"
        frame = Frame(space.names, space, None, None, None)
        steps = budget.STEPS_OF_MODULE if self.project.words is None else budget.STEPS_OF_MODULE_IN_FOLDER
        self._within(steps, space.name, lambda: self._whole_body(space, frame))
        space.state = "done"

    def _whole_body(self, space: Space, frame: Frame) -> None:
        self.block(space.tree.body, frame)
        self.tell_unreached(frame)
        self.tell_kept(frame)
        self.tell_growing(frame)
        self.tell_evaluated(frame)
        self.tell_unused_losses(frame)
        self.tell_never_stepped(frame)
        self.tell_shared_parameters(frame)
        self.tell_idle(frame)
        self.tell_no_backward(frame)

    def _within(self, steps: int, name: str, work: Callable[[], Any]) -> None:
        """Do `work` until it is done, its path ends, or its budget is spent."""
        self.steps, self.limit = 0, steps
        self.arms, self.arms_of_loop, self.again = 0, 0, False
        level = len(self.heap.logs)
        try:
            work()
        except PathEnds:
            pass
        except BudgetSpent:
            self.cut_short.append(name)
        while len(self.heap.logs) > level:
            self.heap.keep()
        fresh = Modes()
        self.modes_left = {
            name: getattr(self.modes, name)
            for name in ("grad_mode", "default_dtype", "default_device")
            if getattr(self.modes, name) != getattr(fresh, name)
        }
        self.modes = Modes()
        self.layer = None

    def _uncalled(self, space: Space) -> None:
        """Functions and methods that the body did not reach, with unknown arguments."""
        worth = self.project.worth_walking(space)
        self.steps_left = (
            budget.STEPS_OF_FILE if self.project.words is not None else budget.STEPS_OF_NAMED_FILE
        )
        frame = Frame(space.names, space, None, None, None)
        for node in space.put_off:
            if worth(node):
                self.look_up(node.name, frame)
        for function in space.functions:
            if not function.called and worth(function.node):
                self._entry(function, [], space)
        for cls in space.classes:
            self._methods(cls, space, worth)

    def _methods(self, cls: Class, space: Space, worth: Callable[[Any], bool]) -> None:
        waiting = [
            one
            for one in cls.members.values()
            if type(one) is Function and not one.called and one.owner is cls and worth(one.node)
        ]
        if not waiting:
            return
        frame = Frame({}, space, None, None, None)
        made: list[Any] = []

        def make() -> None:
            made.append(self.instantiate(cls, [], {}, cls.node, frame))

        told_before = int(
            cls.made
        )  # the program makes one itself, so what goes wrong in making it is told there
        self.quiet += told_before
        try:
            self._within(self._allowance(), cls.name, make)
        finally:
            self.quiet -= told_before
        receiver = made[0] if made else UNKNOWN
        self._take_for_example(receiver)
        self._let_time_pass(receiver, space)
        for function in waiting:
            if not function.called:
                first = [] if function.kind == "static" else [cls if function.kind == "class" else receiver]
                self._entry(function, first, space)

    def _take_for_example(self, value: Any) -> None:
        """An object that the program does not make: whoever makes one may move it and complete it."""
        if type(value) is Tensor:
            self.heap.put(value, "device", None)
        elif type(value) is OneOf:
            for one in value.values:
                self._take_for_example(one)
        elif type(value) is Sequence:
            for one in (*value.items, value.rest):
                self._take_for_example(one)
        elif type(value) is Mapping:
            for one in (*value.entries.values(), value.rest):
                self._take_for_example(one)
        elif type(value) is Instance and value.state.get("example") is not True:
            self.heap.put(value.state, "example", True)
            for one in (*list(value.attributes.values()), value.state.get("rest")):
                self._take_for_example(one)

    def _let_time_pass(self, value: Any, space: Space) -> None:
        """Other methods, of a class derived from it as well, may have been called since an object was made."""
        for one in value.values if type(value) is OneOf else (value,):
            if type(one) is not Instance:
                continue
            for name, held in list(one.attributes.items()):
                if name in one.registered:
                    continue
                if name in space.written_later and (type(held) is Tensor or type(held) in PLAIN):
                    self.heap.put(one.attributes, name, UNKNOWN)
                elif type(held) is Tensor and held.requires == NO and held.parameter is False:
                    self.heap.put(held, "requires", MAYBE)
                    self.heap.put(held, "leaf", ANY_LEAF)

    def _entry(self, function: Function, first: list[Any], space: Space) -> None:
        """One function nobody calls, as an entry point; what it does to objects is taken back."""
        frame = Frame({}, space, None, None, None)
        given = function.node.args
        if given.posonlyargs or given.args or given.kwonlyargs or given.vararg or given.kwarg:
            self.journal.alone.append((function.node.lineno, space.last_row(function.node)))
        self.heap.push()
        allowed = self._allowance()

        def call() -> Any:
            return self.call_function(function, first, {}, function.node, frame)

        library = first[0].library if first and type(first[0]) is Instance else None
        around = registry.ENTRIES.get(library or "", {}).get(function.name)
        work = call if around is None else lambda: around(self, first[0], function, frame, call)
        told = len(self.journal.events)
        self._within(allowed, function.name, work)
        self.steps_left -= self.steps
        self.heap.undo()
        if any(event.kind in _HANG_ON_CALLERS for event in self.journal.events[told:]):
            self._without_graph(function, work, told, space)

    def _without_graph(self, function: Function, work: Callable[[], Any], told: int, space: Space) -> None:
        """Take back what torch refuses only with a graph, where a caller is seen that works without one."""
        if function.name not in self.project.called_without_graph(space.filename):
            return
        events = self.journal.events
        events[told:] = [event for event in events[told:] if event.kind not in _HANG_ON_CALLERS]
        self.heap.push()
        self.modes.grad_mode = None
        self._within(self._allowance(), function.name, work)
        self.heap.undo()

    def _allowance(self) -> int:
        """The steps for one entry nobody calls: few in a folder, where there are many of them."""
        most = budget.STEPS_OF_FUNCTION if self.project.words is None else budget.STEPS_OF_FUNCTION_IN_FOLDER
        return max(min(most, self.steps_left), 0)

    def run_imported(self, space: Space) -> None:
        """Walk the body of an imported file, once; nothing is told of it, and most of it is put off."""
        if space.state != "new":
            return
        space.state = "running"
        frame = Frame(space.names, space, None, None, None)
        before = self.importing
        self.importing = frame
        try:
            self.aside(space, lambda: self.block(space.tree.body, frame))
        finally:
            self.importing = before
            space.state = "done"
        for name, value in self.modes_left.items():
            self.heap.put(self.modes, name, value)

    def aside(self, space: Space, work: Callable[[], Any]) -> Any:
        """Do `work` for an imported file: what it makes stays, whatever branch asked for it.

        UNKNOWN when its path ends or its budget is spent.
        """
        heap, modes, steps, limit, cut_short = self.heap, self.modes, self.steps, self.limit, self.cut_short
        branches = self.arms, self.arms_of_loop, self.again
        self.heap, self.modes, self.cut_short = Heap(heap.joiner), Modes(), []
        self.quiet += 1
        result: list[Any] = []
        try:
            self._within(budget.STEPS_OF_IMPORT, space.name, lambda: result.append(work()))
        finally:
            self.quiet -= 1
            self.arms, self.arms_of_loop, self.again = branches
            self.heap, self.modes, self.steps, self.limit, self.cut_short = (
                heap,
                modes,
                steps,
                limit,
                cut_short,
            )
        return result[0] if result else UNKNOWN


def interpret(
    project: Project,
    filename: str,
    *,
    on_event: Callable[[Event], None] | None = None,
    on_value: OnValue | None = None,
    torch_version: str | None = None,
    given: Given = NOTHING_GIVEN,
) -> Journal:
    """The journal of the program in `filename`, and of what it imports as far as it uses it.

    `on_event` is called with each event at the end, `on_value` with each expression's node, frame and
    value while it is evaluated. `torch_version` chooses among facts that changed between releases;
    `given` is taken for given. Raises `Unreadable` when the file cannot be read or parsed.
    """
    if project.machine is None:
        project.machine = Machine(project)
    machine = project.machine
    machine.on_value = on_value
    machine.given = given
    try:
        journal = machine.run(project.entry(filename))
    finally:
        machine.on_value = None
    if on_event is not None:
        for event in journal.events:
            on_event(event)
    return journal
