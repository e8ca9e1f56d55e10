"""Loops by rounds, comprehensions, and generators as coroutines.

A loop over a short known sequence is walked item by item. Any other loop is walked for a few rounds,
each from the state that the last one left, and once more with its counters unknown; what holds after
it is the join of the states in which it can have ended. A loop is taken to be entered.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Generator
from typing import Any

from gradtrail.interp import budget
from gradtrail.interp.frames import BREAK, CONTINUE, GONE, NORMAL, RETURN, Exits, Frame, PathEnds
from gradtrail.interp.heap import Location
from gradtrail.interp.statements import Statements
from gradtrail.interp.values import (
    FREE,
    INT,
    MISSING,
    UNKNOWN,
    Instance,
    Iterator,
    Lent,
    Mapping,
    Node,
    OneOf,
    Range,
    Sequence,
    Some,
    Tensor,
    Unknown,
)

_WIDENED: dict[type, Some] = {int: INT, float: Some("float"), bool: Some("bool"), str: Some("str")}
_STANDS_FOR_SEVERAL = frozenset((Tensor, Instance, OneOf, Sequence, Mapping))


class Supply:
    """A value made anew each time it is asked for: the batches of a loader.

    With `counts` a number comes with each: after the first few it is not known which.
    """

    __slots__ = ("counts", "make")

    def __init__(self, make: Callable[[], Any], counts: bool = False) -> None:
        self.make = make
        self.counts = counts


class Suspended:
    """A generator that is asked for its values one by one: Python refuses when it is at work already."""

    __slots__ = ("_at_work", "_values")

    def __init__(self, values: Generator[Any, None, None]) -> None:
        self._values = values
        self._at_work = False

    def __iter__(self) -> Suspended:
        return self

    def __next__(self) -> Any:
        if self._at_work:
            raise PathEnds
        self._at_work = True
        try:
            return next(self._values)
        finally:
            self._at_work = False


class _Outline:
    """What the rounds of a loop have written so far: by location, and how often the last round wrote what anew."""

    __slots__ = ("fresh", "written")

    def __init__(self, written: dict[Location, Any]) -> None:
        self.written = written
        self.fresh: Counter[Any] = Counter()

    def goes_on_as(self, before: _Outline | None) -> bool:
        """Whether the last round did as the one `before` it: it changed nothing that had been written.

        What it wrote for the first time may be in objects of its own, the like of which an earlier round has
        made as well.
        """
        earlier = {} if before is None else before.written
        self.fresh.update(
            (location[1], told) for location, told in self.written.items() if location not in earlier
        )
        if before is None or not self.fresh <= before.fresh:
            return False
        written = self.written
        return all(written.get(location) == told for location, told in earlier.items())


class Loops(Statements):
    """Loops and what is iterated."""

    def loop(self, node: Any, frame: Frame, rounds: Any, body: Callable[[], int]) -> int:
        """Walk a `for` over the value `rounds`, or a `while`; returns a signal."""
        heap = self.heap
        level = heap.push()
        breaks = Exits(level)
        ends: list[Any] = []
        source = (
            self._while_rounds(node, frame)
            if type(node) is ast.While
            else self.rounds(rounds, node.iter, frame)
        )
        signal, raised = NORMAL, False
        outside = self.arms_of_loop, self.again
        self.arms_of_loop = self.arms
        last: Any = MISSING
        started, before = self.count, None
        breaks.started, breaks.body = started, node.body
        steady = self._open_ended(rounds) and _may_settle(node)
        counters = _names_in(node.target) if steady else frozenset()
        lent: Lent = []
        for done, (value, sure) in enumerate(source):
            begun = self.count
            self.again = outside[1] or (value is last and type(value) in _STANDS_FOR_SEVERAL)
            last = value
            if done and not sure:
                ends.append(heap.snapshot(level))
                if done >= budget.ROUNDS_OF_LOOP:
                    self._widen(level, frame)
            inner = heap.push()
            continues = Exits(inner)
            frame.loops.append((breaks, continues, len(frame.managers)))
            try:
                if type(node) is not ast.While:
                    self.assign_round(node.target, value, frame, lent)
                signal = body()
            except PathEnds:
                raised = not continues.taken
                signal = GONE
            finally:
                frame.loops.pop()
            if continues.taken:
                states = [state for _, _, state in continues.taken]
                if signal in (NORMAL, CONTINUE):
                    states.append(heap.snapshot(inner))
                elif signal == GONE:
                    heap.undo()
                    heap.push()
                if signal in (NORMAL, CONTINUE, GONE):
                    heap.merge(states)
                    signal = NORMAL
            heap.keep()
            if signal == CONTINUE:
                signal = NORMAL
            if signal or raised:
                break
            if done and not steady and self.optimizers:
                self._note_grown(level, started, begun)
            # Items that are known are gone through one by one.
            if steady and (not sure or type(value) is int):
                after = self._outline(level, started, begun, frame, counters)
                if after is not None and after.goes_on_as(before):
                    self._loosen(level, frame)  # what holds after any further round holds after this one
                    break
                before = after
        self.arms_of_loop, self.again = outside
        _take_back(lent)
        return self._after_loop(node, frame, level, breaks, ends, signal, raised)

    def assign_round(self, target: Any, value: Any, frame: Frame, lent: Lent) -> None:
        """Bind the target of a loop for a round; `lent` notes who bears its name meanwhile, see `_take_back`."""
        self.lent, outside = lent, self.lent
        self.assign(target, value, frame)
        self.lent = outside

    def _after_loop(
        self, node: Any, frame: Frame, level: int, breaks: Exits, ends: list[Any], signal: int, raised: bool
    ) -> int:
        """Join the states in which the loop can have ended, and walk its `else`."""
        heap = self.heap
        states = [state for _, _, state in breaks.taken]
        if node.orelse and signal == NORMAL and not raised:
            if ends:
                heap.merge([*ends, heap.snapshot(level)])
                ends = []
            signal = self.block(node.orelse, frame)
        if raised and not states:
            heap.keep()
            raise PathEnds
        if signal == RETURN:
            if not states and not ends:
                heap.keep()
                return RETURN
            self.leave(RETURN, frame)
            states += ends
        elif signal == GONE:
            states += [] if raised else ends
            if not states:
                heap.keep()
                return GONE
        else:
            states += ends
            if states:
                states.append(heap.snapshot(level))
        if signal in (RETURN, GONE):
            heap.undo()
            heap.push()
        if states:
            heap.merge(states)
        heap.keep()
        return NORMAL

    def _while_rounds(self, node: ast.While, frame: Frame) -> Generator[tuple[Any, bool], None, None]:
        for number in range(budget.ROUNDS_OF_LOOP + 1):
            answer = self.truth(self.evaluate(node.test, frame))
            if answer is False:
                return
            if answer is True and number == budget.ROUNDS_OF_LOOP and type(node.test) is ast.Constant:
                return
            self.narrow(node.test, True, frame)
            yield None, answer is True and number < budget.ROUNDS_OF_LOOP

    def _open_ended(self, iterable: Any) -> bool:
        """Whether a loop goes over what has no known end, each item like the next."""
        iterable = self.settle(iterable)
        kind = type(iterable)
        if kind is Range:
            return iterable.length is None or iterable.length > budget.ROUNDS_OF_LOOP + 1
        if kind is Sequence or kind is Iterator:
            return iterable.rest is not MISSING and not iterable.items
        return kind not in (Mapping, str, OneOf)

    def _note_grown(self, level: int, started: int, begun: int) -> None:
        for container, _, value in self.heap.snapshot(level).values():
            if type(container) is dict and type(value) is Tensor and _carried(value, started, begun):
                self.note_growing(value, started, begun)

    def _outline(
        self, level: int, started: int, begun: int, frame: Frame, counters: frozenset[str]
    ) -> _Outline | None:
        """What the rounds have left behind, told without `counters`; None where they cannot settle.

        A tensor whose graph goes back to an earlier round cannot: its fault may show in the third.
        """
        outline: dict[Location, Any] = {}
        settles = True
        for location, (container, key, value) in self.heap.snapshot(level).items():
            if container is frame.names and key in counters:
                continue
            if type(container) is dict:
                if type(value) is Tensor and _carried(value, started, begun):
                    self.note_growing(value, started, begun)
                    settles = False
                outline[location] = _outline_of(value)
            elif key == "items":
                outline[location] = tuple(_outline_of(item) for item in value[-1:])
            elif key in ("requires", "leaf", "dtype", "shape", "parameter", "retains", "inference"):
                outline[location] = value
            elif key == "grad":
                outline[location] = value is None
        return _Outline(outline) if settles else None

    def _loosen(self, level: int, frame: Frame) -> None:
        """Further rounds would go on as the last one: what grows or counts has no known length or value."""
        self._widen(level, frame)
        for container, key, value in self.heap.snapshot(level).values():
            if type(container) is Sequence and key == "items" and container.kind == "list" and value:
                more = (
                    value[-1]
                    if container.rest is MISSING
                    else self.heap.joiner.join(value[-1], container.rest)
                )
                self.heap.put(container, "rest", more)

    def _widen(self, level: int, frame: Frame) -> None:
        """Numbers and strings that the rounds have changed may be anything of their type from here on.

        Not those in objects that a round has made, which are as they were made.
        """
        before = self.heap.before(level)
        for location, (container, key, value) in self.heap.snapshot(level).items():
            told = type(container) is dict and type(value) in _WIDENED
            if told and (container is frame.names or before[location] is not MISSING):
                self.heap.put(container, key, _WIDENED[type(value)])

    def rounds(self, iterable: Any, node: Any, frame: Frame) -> Generator[tuple[Any, bool], None, None]:
        """The values of a loop's rounds; False beside those that are only possible rounds."""
        iterable = self.iterator_of(self.settle(iterable), node, frame)
        if (
            type(iterable) is Range
            and iterable.length is not None
            and iterable.length > budget.ROUNDS_OF_LOOP + 1
        ):
            for number in range(budget.ROUNDS_OF_LOOP):
                yield iterable.start + number * iterable.step, True
            yield INT, False
            return
        if type(iterable) is Iterator and iterable.generator is not None:
            generator = iterable.generator
            for _ in range(budget.ITEMS_OF_LOOP):
                try:
                    value = next(generator)
                except StopIteration:
                    return
                yield value, True
            return
        found = self.items_of(iterable, node, frame, supply=True)
        if found is None:
            found = ((), UNKNOWN)
        items, rest = found
        if rest is MISSING and len(items) <= budget.ITEMS_OF_LOOP:
            for item in items:
                yield item, True
            return
        known = items[: budget.ROUNDS_OF_LOOP] if len(items) > budget.ITEMS_OF_LOOP else items
        for item in known:
            yield item, True
        if known is not items:
            yield self.heap.joiner.all_of(items), False
        if rest is MISSING:
            return
        counted = type(rest) is Supply and rest.counts
        for _ in range(max(budget.ROUNDS_OF_LOOP - len(known), 1) + counted):
            yield self.supplied(rest), False

    def supplied(self, value: Any) -> Any:
        """`value`, made now if it is a supply."""
        return value.make() if type(value) is Supply else value

    def items_of(
        self, value: Any, node: Any, frame: Frame, supply: bool = False
    ) -> tuple[tuple[Any, ...], Any] | None:
        """The items of an iterable: those known, and what stands for any further ones (MISSING: none).

        An iterator is used up by this. None when nothing is known. With `supply`, the further ones
        may come as a `Supply`.
        """
        value = self.settle(value)
        kind = type(value)
        if kind is Sequence:
            return value.items, value.rest
        if value is FREE or (kind is Unknown and value.either):
            return (), value
        if kind is Mapping:
            return tuple(value.entries), (MISSING if value.rest is MISSING else UNKNOWN)
        if kind is Range:
            if value.length is None or value.length > budget.ITEMS_OF_SEQUENCE:
                return (), INT
            return tuple(range(value.start, value.stop, value.step)), MISSING
        if kind is str:
            return tuple(value[: budget.ITEMS_OF_SEQUENCE]), MISSING
        if kind is Iterator:
            found = self._used_up(value, node, frame)
        elif kind is OneOf:
            parts = [self.items_of(one, node, frame) for one in value.values]
            if any(part is None for part in parts):
                return None
            known = [part for part in parts if part is not None]
            return (), self.heap.joiner.all_of(
                tuple(x for items, rest in known for x in (*items, rest) if x is not MISSING)
            )
        else:
            found = self.iterate_object(value, node, frame)
        if found is not None and not supply and type(found[1]) is Supply:
            return found[0], found[1].make()
        return found

    def note_growing(self, tensor: Tensor, started: int, begun: int) -> None:
        raise NotImplementedError

    def iterator_of(self, value: Any, node: Any, frame: Frame) -> Any:
        raise NotImplementedError

    def iterate_object(self, value: Any, node: Any, frame: Frame) -> tuple[tuple[Any, ...], Any] | None:
        raise NotImplementedError

    def _used_up(self, iterator: Iterator, node: Any, frame: Frame) -> tuple[tuple[Any, ...], Any] | None:
        """What is left in an iterator; nothing is left afterwards."""
        if iterator.generator is not None:
            items = []
            for value in iterator.generator:
                items.append(value)
                if len(items) >= budget.ITEMS_OF_LOOP:
                    break
            return tuple(items), MISSING
        position = iterator.position
        if type(position) is not int:
            return None
        self.heap.put(iterator, "position", 1 << 30)
        if position >= 1 << 30:
            return (), MISSING
        if iterator.origin is not None and hasattr(node, "lineno"):
            self.heap.put(iterator, "used_by", self.origin("used", node, frame))
        return iterator.items[position:], iterator.rest

    # Comprehensions

    def comprehension(self, node: Any, frame: Frame, take: Callable[[Frame, bool], None]) -> None:
        """Walk the `for` parts of a comprehension; `take(frame, sure)` is called for every element."""
        inner = Frame({}, frame.space, frame, frame.caller, frame.call)
        inner.function = frame.function
        inner.receiver = frame.receiver
        inner.owner = frame.owner
        inner.depth = frame.depth
        inner.guarded = frame.guarded

        def walk(index: int, sure: bool) -> None:
            if index == len(node.generators):
                self.step()
                take(inner, sure)
                return
            part = node.generators[index]
            iterable = self.evaluate(part.iter, frame if index == 0 else inner)
            for value, certain in self.rounds(iterable, part.iter, inner):
                self.assign_round(part.target, value, inner, lent)
                kept = True
                known = sure and certain
                for test in part.ifs:
                    answer = self.truth(self.evaluate(test, inner))
                    if answer is False:
                        kept = False
                        break
                    self.narrow(test, True, inner)
                    known = known and answer is True
                if kept:
                    walk(index + 1, known)

        lent: Lent = []
        walk(0, True)
        _take_back(lent)
        if not inner.captured:
            self.heap.forget(inner.names)

    def e_list_comprehension(self, node: Any, frame: Frame) -> Any:
        items: list[Any] = []
        unsure: list[Any] = []

        def take(inner: Frame, sure: bool) -> None:
            value = self.evaluate(node.elt, inner)
            if sure and not unsure:
                items.append(value)
            else:
                unsure.append(value)

        self.comprehension(node, frame, take)
        kind = "set" if type(node) is ast.SetComp else "list"
        if not unsure:
            result = Sequence(kind, tuple(items))
        else:
            result = Sequence(kind, (), self.heap.joiner.all_of((*items, *unsure)))
        result.origin = self.origin("written-down", node, frame)
        if type(node) is ast.GeneratorExp:
            return Iterator(result.items, result.rest, "generator")
        return result

    def e_dict_comprehension(self, node: ast.DictComp, frame: Frame) -> Any:
        result = Mapping()

        def take(inner: Frame, sure: bool) -> None:
            key = self.evaluate(node.key, inner)
            value = self.evaluate(node.value, inner)
            self.put_entry(result, key, value)

        self.comprehension(node, frame, take)
        return result

    def put_entry(self, mapping: Mapping, key: Any, value: Any) -> None:
        """`mapping[key] = value`."""
        known = key_of(key)
        if known is MISSING:
            joined = value if mapping.rest is MISSING else self.join(mapping.rest, value)
            self.heap.put(mapping, "rest", joined)
        else:
            if self.arms > mapping.arms and known not in mapping.entries:
                self.heap.put(mapping, "perhaps", mapping.perhaps | {known})
            self.heap.put(mapping.entries, known, value)

    # Generators

    def suspended(self, frame: Frame, body: list[ast.stmt], modes: Callable[[], Any]) -> Iterator:
        """A generator that has not started."""
        iterator = Iterator((), MISSING, "generator")
        iterator.generator = Suspended(self._coroutine(frame, body, modes))
        return iterator

    def _coroutine(
        self, frame: Frame, body: list[ast.stmt], modes: Callable[[], Any]
    ) -> Generator[Any, None, None]:
        """The values that a generator function yields, its body walked between them.

        A log of the heap is never left open across a yield, so branches that hold one are walked one
        after the other.
        """
        yield from self._yielding(body, frame)

    def _yielding(self, statements: list[ast.stmt], frame: Frame) -> Generator[Any, None, int]:
        for statement in statements:
            self.step()
            if not has_yield(statement):
                signal = self.block([statement], frame)
            else:
                signal = yield from self._yield_statement(statement, frame)
            if signal:
                return signal
        return NORMAL

    def _yield_statement(self, node: Any, frame: Frame) -> Generator[Any, None, int]:
        kind = type(node)
        if kind is ast.If:
            answer = self.truth(self.evaluate(node.test, frame))
            signal = NORMAL
            if answer is not False:
                signal = yield from self._yielding(node.body, frame)
                if answer is None and signal != NORMAL:
                    signal = NORMAL
            if answer is not True:
                signal = yield from self._yielding(node.orelse, frame)
            return signal
        if kind is ast.For or kind is ast.AsyncFor:
            for value, _ in self.rounds(self.evaluate(node.iter, frame), node.iter, frame):
                self.assign(node.target, value, frame)
                signal = yield from self._yielding(node.body, frame)
                if signal == BREAK:
                    break
                if signal == RETURN:
                    return RETURN
            return NORMAL
        if kind is ast.While:
            for _ in self._while_rounds(node, frame):
                signal = yield from self._yielding(node.body, frame)
                if signal == BREAK:
                    break
                if signal == RETURN:
                    return RETURN
            return NORMAL
        if kind is ast.With or kind is ast.AsyncWith:
            managers = []
            for item in node.items:
                manager = self.evaluate(item.context_expr, frame)
                value = self.enter(manager, item.context_expr, frame)
                managers.append((manager, item.context_expr))
                if item.optional_vars is not None:
                    self.assign(item.optional_vars, value, frame)
            try:
                signal = yield from self._yielding(node.body, frame)
            except GeneratorExit:  # dropped half way, at a moment that nobody knows: nothing is told of it
                raise
            except BaseException:
                self.leave_all(managers, frame)
                raise
            self.leave_all(managers, frame)
            return signal
        if kind is ast.Try:
            try:
                signal = yield from self._yielding(node.body, frame)
            except GeneratorExit:
                raise
            except BaseException:
                self.block(node.finalbody, frame)
                raise
            self.block(node.finalbody, frame)
            return signal
        yield from self._yield_expressions(node, frame)
        return NORMAL

    def _yield_expressions(self, node: Any, frame: Frame) -> Generator[Any, None, None]:
        """A simple statement that holds a `yield`: its value is yielded; what comes back is unknown."""
        value = getattr(node, "value", None)
        if type(value) is ast.Yield:
            yield None if value.value is None else self.evaluate(value.value, frame)
        elif type(value) is ast.YieldFrom:
            for item, _ in self.rounds(self.evaluate(value.value, frame), value, frame):
                yield item
        else:
            for part in ast.walk(node):
                if type(part) is ast.Yield:
                    yield None if part.value is None else self.evaluate(part.value, frame)
        for target in getattr(node, "targets", ()):
            self.assign(target, UNKNOWN, frame)


def key_of(key: Any) -> Any:
    """What serves as a key of `Mapping.entries`, MISSING when the key is not known."""
    kind = type(key)
    if kind in (int, str, bool, float, type(None), bytes):
        return key
    if kind is Sequence and key.kind == "tuple" and key.rest is MISSING:
        parts = tuple(key_of(item) for item in key.items)
        return MISSING if any(part is MISSING for part in parts) else parts
    if kind.__name__ in ("Instance", "Tensor", "Class", "Function"):
        return key
    if kind.__name__ == "Library":
        return ("library", key.path)
    return MISSING


def _take_back(lent: Lent) -> None:
    """After a loop its name is taken back from what had one before, or has one by its module.

    People know a weight as `net.fc.weight`, not by the variable of a loop that once went through all of them.
    """
    for value, before, name in reversed(lent):
        belongs = type(value) is Tensor and value.origin.kind == "module-parameter"
        if value.name == name and (before or belongs):
            value.name = before


def _names_in(target: ast.expr) -> frozenset[str]:
    """The plain names that the target of a loop binds."""
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    return frozenset(part.id for part in parts if isinstance(part, ast.Name))


def _may_settle(node: Any) -> bool:
    """Whether the rounds of a loop can be told apart by what they leave behind alone.

    Not if its counter is read, other than to be printed; remembered on the node.
    """
    known = getattr(node, "gradtrail_settles", None)
    if known is None:
        known = type(node) is not ast.While and not _reads_counter(node)
        node.gradtrail_settles = known
    return bool(known)


def _reads_counter(node: Any) -> bool:
    """Whether the body of a loop over range or enumerate reads the number, other than to print it."""
    function = getattr(node.iter.func, "id", "") if type(node.iter) is ast.Call else ""
    if function not in ("range", "enumerate", "trange"):
        return False
    counter = (
        node.target.elts[0] if function == "enumerate" and type(node.target) is ast.Tuple else node.target
    )
    if type(counter) is not ast.Name or counter.id == "_":
        return type(counter) is not ast.Name
    stack: list[Any] = list(node.body)
    while stack:
        part = stack.pop()
        if type(part) is ast.Name and part.id == counter.id:
            return True
        printed = type(part) is ast.Call and getattr(part.func, "id", "") == "print"
        if not printed and type(part) is not ast.JoinedStr:
            stack.extend(ast.iter_child_nodes(part))
    return False


def _carried(tensor: Tensor, started: int, begun: int) -> bool:
    """Whether the graph behind a tensor holds a node that an earlier round of this loop made."""
    if tensor.node is None:
        return False
    work, seen = [tensor.node], {tensor.node.serial}
    while work:
        node = work.pop()
        if started < node.serial < begun:
            return True
        if len(seen) > 300:
            return True
        for edge in node.edges:
            if type(edge) is Node and edge.serial not in seen:
                seen.add(edge.serial)
                work.append(edge)
    return False


def _outline_of(value: Any) -> Any:
    kind = type(value)
    if kind is Tensor:
        return (
            value.requires,
            value.leaf,
            value.dtype,
            value.shape,
            value.parameter,
            value.view_kind,
            value.node is None,
            value.inference,
        )
    if kind is Sequence:
        return (value.kind, tuple(_outline_of(item) for item in value.items[-1:]), type(value.rest))
    if kind is int or kind is bool or kind is str or kind is float:
        return value
    if kind is Mapping:
        return len(value.entries)
    return kind


def has_yield(node: Any) -> bool:
    """Whether a statement holds a `yield` of its own function; remembered on the node."""
    known = getattr(node, "gradtrail_yields", None)
    if known is None:
        known = _own_yield(node)
        node.gradtrail_yields = known
    return bool(known)


def _own_yield(node: Any) -> bool:
    stack = [node]
    while stack:
        part = stack.pop()
        kind = type(part)
        if kind is ast.Yield or kind is ast.YieldFrom:
            return True
        if part is not node and kind in (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef):
            continue
        if kind in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef) and part is node:
            return False
        stack.extend(ast.iter_child_nodes(part))
    return False
