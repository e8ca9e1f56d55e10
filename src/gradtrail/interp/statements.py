"""Statements: what each does to the names, the heap and the way control takes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gradtrail.interp.core import Core
from gradtrail.interp.frames import BREAK, CONTINUE, GONE, NORMAL, RETURN, BudgetSpent, Exits, Frame, PathEnds
from gradtrail.interp.project import dotted_name
from gradtrail.interp.values import (
    MISSING,
    OPAQUE,
    PLAIN,
    STR,
    UNKNOWN,
    Bound,
    Class,
    Function,
    Instance,
    Iterator,
    Library,
    Mapping,
    Module,
    OneOf,
    Sequence,
    Some,
    Tensor,
)

_PUT_OFF = frozenset(
    (
        ast.Call,
        ast.Dict,
        ast.List,
        ast.ListComp,
        ast.DictComp,
        ast.BinOp,
        ast.Tuple,
        ast.Set,
        ast.IfExp,
        ast.Subscript,
        ast.Attribute,
    )
)
"""Expressions at the top of an imported file that are worked out only when the name is used."""

_LARGE_TABLE = 12

_NEVER_STARRED = frozenset(
    (
        "len",
        "range",
        "print",
        "super",
        "isinstance",
        "zip",
        "enumerate",
        "list",
        "dict",
        "int",
        "float",
        "str",
    )
)

_TAKES_EXCEPTIONS = frozenset(
    "raises suppress assertRaises assertRaisesRegex assertRaisesWithPredicateMatch".split()
)
"""Context managers by name, of whatever object, whose block is expected to raise."""

_CATCH_ALL = frozenset(
    """Exception BaseException RuntimeError ValueError TypeError NotImplementedError IndexError LookupError
    AttributeError""".split()
)

MODULE_NAMES = {"__file__": STR, "__doc__": STR, "__package__": STR, "__spec__": OPAQUE}


class Lazy:
    """A name that an import of another project file binds; that file is read when the name is used."""

    __slots__ = ("busy", "filename", "name")

    def __init__(self, filename: str, name: str | None) -> None:
        self.filename = filename
        self.name = name
        self.busy = False


class Later:
    """A name of an imported file whose value is worked out when it is first used."""

    __slots__ = ("busy", "make")

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        self.busy = False


_WITHOUT_EFFECT = frozenset("detach to cuda cpu float double half bfloat16 clone".split())
"""Methods of tensors whose only effect is their result."""


def _names_rebound_in_vain(loop: Any) -> list[ast.Assign]:
    """In a loop over parameters: `p = p - step`, after which the round does not look at `p` any more.

    Remembered on the loop's node.
    """
    known: list[ast.Assign] | None = getattr(loop, "gradtrail_in_vain", None)
    if known is None:
        known = loop.gradtrail_in_vain = _rebound_in_vain(loop)
    return known


def _rebound_in_vain(loop: ast.For) -> list[ast.Assign]:
    over_parameters = any(
        type(part) is ast.Call and type(part.func) is ast.Attribute and part.func.attr in _GIVE_PARAMETERS
        for part in ast.walk(loop.iter)
    )
    if not over_parameters:
        return []
    bound = {part.id for part in ast.walk(loop.target) if type(part) is ast.Name}
    body = [inner for one in loop.body for inner in (one.body if type(one) is ast.With else [one])]
    found = []
    for index, statement in enumerate(body):
        if type(statement) is not ast.Assign or len(statement.targets) != 1:
            continue
        target = statement.targets[0]
        if (
            type(target) is not ast.Name
            or target.id not in bound
            or not _is_in_vain(target.id, statement.value)
        ):
            continue
        if not any(_names(later, target.id) for later in body[index + 1 :]):
            found.append(statement)
    return found


_GIVE_PARAMETERS = ("parameters", "named_parameters", "buffers")


def _is_in_vain(name: str, value: ast.expr) -> bool:
    """Whether a value made of what `name` stands for is of no use when only the name takes it."""
    if type(value) is ast.BinOp:
        return _names(value, name)
    called = value.func if type(value) is ast.Call else None
    own = type(called) is ast.Attribute and called.attr in _WITHOUT_EFFECT and type(called.value) is ast.Name
    return own and _names(called, name)


def _names(node: Any, name: str) -> bool:
    return any(type(part) is ast.Name and part.id == name for part in ast.walk(node))


class Statements(Core):
    """Walks statements. `block` returns one of the signals of `frames`."""

    def block(self, statements: list[ast.stmt], frame: Frame) -> int:
        """Walk `statements` in order until one leaves."""
        table = _STATEMENTS
        for statement in statements:
            self.steps += 1
            if self.steps > self.limit:
                raise BudgetSpent
            handler = table.get(type(statement))
            if handler is not None:
                signal = handler(self, statement, frame)
                if signal:
                    return signal
        return NORMAL

    # Simple statements

    def s_expression(self, node: ast.Expr, frame: Frame) -> int:
        value = node.value
        if type(value) is ast.Constant:
            return NORMAL
        if type(value) is ast.Call and type(value.func) is ast.Attribute:
            self.call_statement(value, frame)
        else:
            self.evaluate(value, frame)
        return NORMAL

    def call_statement(self, node: ast.Call, frame: Frame) -> None:
        """A method call whose result nobody takes."""
        self.evaluate(node, frame)

    def s_assign(self, node: ast.Assign, frame: Frame) -> int:
        at_top = frame.function is None and frame.owner is None and frame.caller is None
        if (
            at_top
            and len(node.targets) == 1
            and ((self.importing is frame and type(node.value) in _PUT_OFF) or _is_table(node.value))
        ):
            target = node.targets[0]
            if type(target) is ast.Name and target.id not in frame.names:
                self._put_off(target.id, lambda: self.evaluate(node.value, frame), frame)
                return NORMAL
        value = self.evaluate(node.value, frame)
        for target in node.targets:
            self.assign(target, value, frame)
        return NORMAL

    def s_annotated(self, node: ast.AnnAssign, frame: Frame) -> int:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value, frame), frame)
        elif frame.owner is not None and type(node.target) is ast.Name:
            self.heap.put(frame.owner.members, "?" + node.target.id, node)
        return NORMAL

    def s_return(self, node: ast.Return, frame: Frame) -> int:
        frame.value = None if node.value is None else self.evaluate(node.value, frame)
        return RETURN

    def s_pass(self, node: ast.stmt, frame: Frame) -> int:
        return NORMAL

    def s_break(self, node: ast.Break, frame: Frame) -> int:
        return BREAK

    def s_continue(self, node: ast.Continue, frame: Frame) -> int:
        return CONTINUE

    def s_raise(self, node: ast.Raise, frame: Frame) -> int:
        if node.exc is not None:
            self.evaluate(node.exc, frame)
        raise PathEnds

    def s_assert(self, node: ast.Assert, frame: Frame) -> int:
        value = self.evaluate(node.test, frame)
        if value is False:
            raise PathEnds
        self.narrow(node.test, True, frame)
        return NORMAL

    def s_delete(self, node: ast.Delete, frame: Frame) -> int:
        for target in node.targets:
            if type(target) is ast.Name:
                self.bind(target.id, MISSING, frame)
            elif type(target) is ast.Attribute:
                receiver = self.settle(self.evaluate(target.value, frame))
                if type(receiver) is Instance:
                    self.heap.put(receiver.attributes, target.attr, MISSING)
                    if target.attr in receiver.registered:
                        self.heap.put(receiver.registered, target.attr, MISSING)
            elif type(target) is ast.Subscript:
                receiver = self.settle(self.evaluate(target.value, frame))
                self.call_method(
                    receiver, "__delitem__", [self.evaluate(target.slice, frame)], {}, target, frame
                )
        return NORMAL

    def s_outer(self, node: ast.Global | ast.Nonlocal, frame: Frame) -> int:
        if frame.outer is None:
            frame.outer = {}
        for name in node.names:
            home: Frame | None = None
            if type(node) is ast.Nonlocal:
                home = frame.scope
                while home is not None and name not in home.names:
                    home = home.scope
            frame.outer[name] = home
        return NORMAL

    def _put_off(self, name: str, work: Callable[[], Any], frame: Frame) -> None:
        """Bind `name` in an imported file to what `work` gives when somebody asks for it."""
        frame.names[name] = Later(lambda: self.aside(frame.space, work))

    def aside(self, space: Any, work: Callable[[], Any]) -> Any:
        raise NotImplementedError

    # Names

    def bind(self, name: str, value: Any, frame: Frame) -> None:
        """Bind a name where the frame binds it: locally, or where `global`/`nonlocal` say."""
        names = frame.names
        if frame.outer is not None and name in frame.outer:
            home = frame.outer[name]
            names = frame.space.names if home is None else home.names
        self.heap.put(names, name, value)

    def look_up(self, name: str, frame: Frame) -> Any:
        """The value of a name, MISSING when it is bound nowhere we know."""
        here: Frame | None = frame
        while here is not None:
            value = here.names.get(name, MISSING)
            if value is not MISSING:
                if type(value) is Lazy or type(value) is Later:
                    value = self.fetch(value)
                    here.names[name] = value
                return value
            here = here.scope
        value = frame.space.names.get(name, MISSING)
        if type(value) is Lazy or type(value) is Later:
            value = self.fetch(value)
            frame.space.names[name] = value
        if value is MISSING and frame.space.stars:
            value = self._from_stars(name, frame.space)
        return value

    def _from_stars(self, name: str, space: Any) -> Any:
        """A name that a star import brings: from the last file that says it and binds it."""
        if name in _NEVER_STARRED:
            return MISSING
        word = name.encode()
        for filename in reversed(space.stars):
            if word in self.project.data(filename):
                other = self.project.module(filename)
                if other is not None and other is not space:
                    self.run_imported(other)
                    if name in other.names or other.stars:
                        value = self.name_of_module(other, name)
                        if value is not UNKNOWN:
                            space.names[name] = value
                            return value
        return MISSING

    def fetch(self, lazy: Lazy | Later) -> Any:
        """The value behind a name that was imported, or put off."""
        if type(lazy) is Later:
            if lazy.busy:
                return UNKNOWN
            lazy.busy = True
            try:
                return lazy.make()
            finally:
                lazy.busy = False
        assert type(lazy) is Lazy
        space = self.project.module(lazy.filename)
        if space is None or lazy.busy:
            return UNKNOWN
        if lazy.name is None:
            return Module(space)
        lazy.busy = True  # two files may import a name from each other
        try:
            return self.name_of_module(space, lazy.name)
        finally:
            lazy.busy = False

    def name_of_module(self, space: Any, name: str) -> Any:
        """A name of another file: its body is walked when it is first asked for one."""
        self.run_imported(space)
        value = space.names.get(name, MISSING)
        if type(value) is Lazy or type(value) is Later:
            value = self.fetch(value)
            space.names[name] = value
        if value is MISSING and space.stars and space.state == "done":
            value = self._from_stars(name, space)
        if value is MISSING:
            found = (
                self.project.find(name, space.filename, 1) if space.filename.endswith("__init__.py") else None
            )
            if found is not None:
                sub = self.project.module(found)
                return UNKNOWN if sub is None else Module(sub)
            return UNKNOWN
        return value

    def run_imported(self, space: Any) -> None:
        raise NotImplementedError

    def import_effects(self, filename: str | None) -> None:
        """A file that switches a mode of torch when it is imported is walked at once."""
        if filename is not None and self.project.switches_modes(filename):
            space = self.project.module(filename)
            if space is not None:
                self.run_imported(space)

    # Assignment

    def assign(self, target: Any, value: Any, frame: Frame) -> None:
        """Bind `target`, whatever its form, to `value`."""
        kind = type(target)
        if kind is ast.Name:
            if type(value) is Tensor or type(value) is Instance:
                if self.lent is not None:
                    self.lent.append((value, value.name, target.id))
                value.name = target.id
            if type(value) is Instance or type(value) is OneOf:
                self._note_replaced(frame.names.get(target.id), value, target, frame)
            self.bind(target.id, value, frame)
            if self.on_value is not None:
                self.on_value(target, frame, value)
        elif kind is ast.Attribute:
            receiver = self.settle(self.evaluate(target.value, frame))
            self.set_attribute(receiver, target.attr, value, target, frame)
            if self.on_value is not None:
                self.on_value(target, frame, value)
        elif kind is ast.Subscript:
            receiver = self.settle(self.evaluate(target.value, frame))
            key = self.evaluate(target.slice, frame)
            self.call_method(receiver, "__setitem__", [key, value], {}, target, frame)
        elif kind is ast.Tuple or kind is ast.List:
            self.unpack(target.elts, value, target, frame)
        elif kind is ast.Starred:
            self.assign(target.value, value, frame)

    def _note_replaced(self, old: Any, new: Any, target: ast.Name, frame: Frame) -> None:
        """A name that stood for a module stands for another one from here on."""
        ways = new.values if type(new) is OneOf else (new,)
        if type(old) is not Instance or not old.registered:
            return
        if all(type(one) is Instance and one is not old and _is_alike(one, old) for one in ways):
            self.rearranged += 1
            self.heap.put(old.state, "replaced", (ways[0], self.origin("replaced", target, frame)))
            self.stand_ins = (*self.stand_ins, (target.id, ways[0])) if len(ways) > 1 else self.stand_ins

    def unpack(self, targets: list[ast.expr], value: Any, node: ast.expr, frame: Frame) -> None:
        """Bind several targets to the items of `value`."""
        found = self.items_of(value, node, frame)
        if found is None:
            for target in targets:
                self.assign(target, UNKNOWN, frame)
            return
        items, rest = found
        star = next((i for i, target in enumerate(targets) if type(target) is ast.Starred), None)
        if star is None:
            for index, target in enumerate(targets):
                one = items[index] if index < len(items) else rest
                self.assign(target, UNKNOWN if one is MISSING else one, frame)
            return
        behind = len(targets) - star - 1
        for index, target in enumerate(targets[:star]):
            one = items[index] if index < len(items) else rest
            self.assign(target, UNKNOWN if one is MISSING else one, frame)
        last = items[len(items) - behind :] if behind and rest is MISSING else ()
        middle = items[star : len(items) - behind] if rest is MISSING else items[star:]
        self.assign(targets[star], Sequence("list", tuple(middle), rest), frame)
        for index, target in enumerate(targets[star + 1 :]):
            one = last[index] if index < len(last) else rest
            self.assign(target, UNKNOWN if one is MISSING else one, frame)

    def s_augmented(self, node: ast.AugAssign, frame: Frame) -> int:
        target = node.target
        name = _IN_PLACE[type(node.op)]
        if type(target) is ast.Name:
            old = self.look_up(target.id, frame)
            value = self.evaluate(node.value, frame)
            self.bind(target.id, self.in_place(old, name, value, node, frame), frame)
            if self.on_value is not None:
                self.on_value(target, frame, self.look_up(target.id, frame))
        elif type(target) is ast.Attribute:
            receiver = self.settle(self.evaluate(target.value, frame))
            old = self.attribute(receiver, target.attr, target, frame)
            value = self.evaluate(node.value, frame)
            self.set_attribute(
                receiver, target.attr, self.in_place(old, name, value, node, frame), node, frame
            )
        elif type(target) is ast.Subscript:
            receiver = self.settle(self.evaluate(target.value, frame))
            key = self.evaluate(target.slice, frame)
            old = self.call_method(receiver, "__getitem__", [key], {}, target, frame)
            value = self.evaluate(node.value, frame)
            new = self.in_place(old, name, value, node, frame)
            self.call_method(receiver, "__setitem__", [key, new], {"gradtrail_same": new is old}, node, frame)
        return NORMAL

    def in_place(self, old: Any, name: str, value: Any, node: Any, frame: Frame) -> Any:
        """`old += value`: a tensor and a list are written, everything else is computed anew."""
        old = self.settle(old)
        if type(old) in PLAIN or (type(old) is Some and old.type != "object"):
            return self.binary(type(node.op), old, value, node, frame)
        return self.call_method(UNKNOWN if old is MISSING else old, name, [value], {}, node, frame)

    def binary(self, kind: type, left: Any, right: Any, node: Any, frame: Frame) -> Any:
        raise NotImplementedError

    # Branches

    def s_if(self, node: ast.If, frame: Frame) -> int:
        test = self.evaluate(node.test, frame)
        answer = self.truth(test)
        if answer is False:
            self.skipped.setdefault(id(node), (node, frame))
        else:
            self.taken.add(id(node))
        if answer is not None:
            self.narrow(node.test, answer, frame)
            return self.block(node.body if answer else node.orelse, frame)

        def arm(statements: list[ast.stmt], answer: bool) -> Callable[[], int]:
            def run() -> int:
                self.narrow(node.test, answer, frame)
                before, self.stand_ins = self.rearranged, ()
                evaluating = self.evaluating
                signal = self.block(statements, frame)
                left_on = self.evaluating > evaluating and comes_again(node.test)
                self.evaluating = evaluating
                if (self.rearranged != before or left_on) and signal == NORMAL:
                    self.look_ahead(node, frame)
                return signal

            return run

        return self.fork(frame, [arm(node.body, True), arm(node.orelse, False)])

    def look_ahead(self, node: ast.If, frame: Frame) -> None:
        """A branch of `node` has changed what is trained: what its loop would do next is lost when branches join.

        The rest of this round and one more are walked as if the branch had been taken, and taken back.
        """
        if self.looking_ahead or not frame.loops:
            return
        body = frame.loops[-1][0].body
        if node not in body:
            return
        level = self.heap.push()
        frame.loops.append((Exits(level), Exits(level), len(frame.managers)))
        self.looking_ahead = True
        for name, one in self.stand_ins:
            self.bind(name, one, frame)  # one of several alike: to go on with all of them would tell nothing
        self.stand_ins = ()
        try:
            if self.block(body[body.index(node) + 1 :], frame) in (NORMAL, CONTINUE):
                self.block(body, frame)
        except PathEnds:
            pass
        finally:
            self.looking_ahead = False
            frame.loops.pop()
            self.heap.undo()

    def truth(self, value: Any) -> bool | None:
        """What `bool(value)` gives; None when it is not known."""
        kind = type(value)
        if kind in PLAIN:
            return bool(value)
        if kind is Sequence:
            if value.items:
                return True
            return False if value.rest is MISSING else None
        if kind is Mapping:
            if value.entries:
                return True
            return False if value.rest is MISSING and value.default is MISSING else None
        if (
            kind is Function
            or kind is Class
            or kind is Library
            or kind is Module
            or kind is Bound
            or kind is Iterator
        ):
            return True
        if kind is Instance:
            plain = type(value.cls) is not Class or value.cls.find("__len__") is MISSING
            if not plain or value.opened or value.cls is OPAQUE:
                return None
            return True
        if kind is OneOf:
            answers = {self.truth(one) for one in value.values}
            return answers.pop() if len(answers) == 1 else None
        return None

    def narrow(self, test: Any, answer: bool, frame: Frame) -> None:
        """What the names in `test` must be for it to have come out as `answer`."""
        kind = type(test)
        if kind is ast.UnaryOp and type(test.op) is ast.Not:
            self.narrow(test.operand, not answer, frame)
        elif kind is ast.BoolOp:
            every = type(test.op) is ast.And
            if every == answer:
                for part in test.values:
                    self.narrow(part, answer, frame)
        elif kind is ast.Compare and len(test.ops) == 1:
            operator, right = test.ops[0], test.comparators[0]
            if type(right) is ast.Constant and right.value is None and type(operator) in (ast.Is, ast.IsNot):
                self._keep(test.left, lambda one: one is None, (type(operator) is ast.Is) == answer, frame)
        elif kind is ast.Name or kind is ast.Attribute:
            self._keep(test, lambda one: self.truth(one) is not False, answer, frame, certain=self._falsy)
        elif (
            kind is ast.Call
            and type(test.func) is ast.Name
            and test.func.id == "isinstance"
            and len(test.args) == 2
        ):
            wanted = self.evaluate(test.args[1], frame)
            self._keep(test.args[0], lambda one: self.is_instance(one, wanted) is not False, answer, frame,
                       certain=lambda one: self.is_instance(one, wanted) is not True)  # fmt: skip

    def _falsy(self, value: Any) -> bool:
        return self.truth(value) is not True

    def is_instance(self, value: Any, wanted: Any) -> bool | None:
        raise NotImplementedError

    def _keep(
        self,
        node: Any,
        fits: Callable[[Any], bool],
        answer: bool,
        frame: Frame,
        certain: Callable[[Any], bool] | None = None,
    ) -> None:
        """Drop the alternatives of a name or attribute that do not fit the answer."""
        if type(node) is ast.Name:
            value = self.look_up(node.id, frame)
        elif type(node) is ast.Attribute and type(node.value) is ast.Name:
            owner = self.settle(self.look_up(node.value.id, frame))
            value = owner.attributes.get(node.attr, MISSING) if type(owner) is Instance else MISSING
        else:
            return
        if type(value) is not OneOf:
            return
        others = [
            one
            for one in value.values
            if (fits(one) if answer else (certain or (lambda x: not fits(x)))(one))
        ]
        if not others or len(others) == len(value.values):
            return
        narrowed = others[0] if len(others) == 1 else OneOf(tuple(others))
        if type(node) is ast.Name:
            self.bind(node.id, narrowed, frame)
        else:
            self.heap.put(owner.attributes, node.attr, narrowed)

    def s_match(self, node: Any, frame: Frame) -> int:
        subject = self.settle(self.evaluate(node.subject, frame))

        def arm(statements: list[ast.stmt]) -> Callable[[], int]:
            return lambda: self.block(statements, frame)

        arms: list[Callable[[], int]] = []
        for case in node.cases:
            answer = self._matches(case.pattern, subject, frame) if case.guard is None else None
            if answer is False:
                continue
            if answer is True and not arms:
                return self.block(case.body, frame)
            for pattern in ast.walk(case.pattern):
                for field in ("name", "rest"):
                    name = getattr(pattern, field, None)
                    if isinstance(name, str):
                        self.bind(name, UNKNOWN, frame)
            arms.append(arm(case.body))
        return self.fork(frame, [*arms, lambda: NORMAL])

    def _matches(self, pattern: Any, subject: Any, frame: Frame) -> bool | None:
        """Whether a pattern matches; None when that is not known, or when it binds names."""
        kind = type(pattern)
        if kind is ast.MatchAs and pattern.pattern is None and pattern.name is None:
            return True
        if type(subject) not in PLAIN:
            return None
        if kind is ast.MatchValue and type(pattern.value) is ast.Constant:
            return bool(pattern.value.value == subject)
        if kind is ast.MatchValue and type(pattern.value) is ast.Attribute:
            value = self.evaluate(pattern.value, frame)
            return bool(value == subject) if type(value) in PLAIN else None
        if kind is ast.MatchSingleton:
            return pattern.value is subject
        if kind is ast.MatchOr:
            answers = [self._matches(one, subject, frame) for one in pattern.patterns]
            return True if True in answers else None if None in answers else False
        return None

    # With and try

    def s_with(self, node: ast.With, frame: Frame) -> int:
        managers = []
        for item in node.items:
            manager = self.evaluate(item.context_expr, frame)
            value = self.enter(manager, item.context_expr, frame)
            managers.append((manager, item.context_expr))
            frame.managers.append(manager)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value, frame)
        guarded = sum(self.takes_exceptions(manager, expression) for manager, expression in managers)
        frame.guarded += guarded
        swallowed = False
        signal = NORMAL
        try:
            signal = self.block(node.body, frame)
        except PathEnds:
            if not guarded:
                self.leave_all(managers, frame)
                raise
            swallowed = True
        finally:
            frame.guarded -= guarded
        self.leave_all(managers, frame)
        return NORMAL if swallowed else signal

    def leave_all(self, managers: list[tuple[Any, Any]], frame: Frame) -> None:
        """Leave the context managers, the innermost first."""
        for manager, node in reversed(managers):
            if frame.managers and frame.managers[-1] is manager:
                frame.managers.pop()
            self.exit(manager, node, frame)

    def enter(self, manager: Any, node: Any, frame: Frame) -> Any:
        raise NotImplementedError

    def exit(self, manager: Any, node: Any, frame: Frame) -> None:
        raise NotImplementedError

    def takes_exceptions(self, manager: Any, node: ast.expr) -> bool:
        """Whether leaving through an exception is what the with-block is for (`pytest.raises`, `self.assertRaises`)."""
        if type(manager) is Library and manager.path.rpartition(".")[2] in _TAKES_EXCEPTIONS:
            return True
        called = node.func if type(node) is ast.Call else node
        return getattr(called, "attr", getattr(called, "id", "")) in _TAKES_EXCEPTIONS

    def s_try(self, node: ast.Try, frame: Frame) -> int:
        catches = any(self._takes_torch_errors(handler) for handler in node.handlers)
        self.heap.push()
        frame.guarded += catches
        try:
            signal = self.block(node.body, frame)
            ended = False
        except PathEnds:
            signal, ended = NORMAL, True
        finally:
            frame.guarded -= catches
        if ended and not (catches and node.handlers):
            self.heap.keep()
            if node.finalbody:
                self.block(node.finalbody, frame)
            raise PathEnds
        if not ended and signal == NORMAL and node.orelse:
            try:
                signal = self.block(node.orelse, frame)
            except PathEnds:
                ended = True
        self.heap.keep()
        if node.handlers and (ended or signal == NORMAL):

            def handle(handler: ast.ExceptHandler) -> Callable[[], int]:
                def run() -> int:
                    if handler.name:
                        self.bind(handler.name, OPAQUE, frame)
                    return self.block(handler.body, frame)

                return run

            handlers = [handle(handler) for handler in node.handlers]
            try:
                signal = self.fork(frame, handlers if ended else [lambda: NORMAL, *handlers])
            except PathEnds:
                if node.finalbody:
                    self.block(node.finalbody, frame)
                raise
        elif ended:
            raise PathEnds
        if node.finalbody:
            last = self.block(node.finalbody, frame)
            if last:
                return last
        return signal

    def _takes_torch_errors(self, handler: ast.ExceptHandler) -> bool:
        if handler.type is None:
            return True
        types = handler.type.elts if type(handler.type) is ast.Tuple else [handler.type]
        return any(type(one) is ast.Name and one.id in _CATCH_ALL for one in types)

    # Definitions and imports

    def s_function(self, node: Any, frame: Frame) -> int:
        lazily = self.importing is frame or (
            self.project.words is not None and frame.function is None and frame.owner is None
        )
        if lazily and node.decorator_list and node.name not in frame.names:
            frame.space.put_off.append(node)
            self._put_off(
                node.name, lambda: self.decorated(self.make_function(node, frame), node, frame), frame
            )
            return NORMAL
        function = self.make_function(node, frame)
        value = self.decorated(function, node, frame)
        self.bind(node.name, value, frame)
        return NORMAL

    def make_function(self, node: Any, frame: Frame) -> Function:
        raise NotImplementedError

    def decorated(self, function: Function, node: Any, frame: Frame) -> Any:
        raise NotImplementedError

    def s_class(self, node: ast.ClassDef, frame: Frame) -> int:
        if self.importing is frame and node.name not in frame.names:
            self._put_off(node.name, lambda: self.make_class(node, frame), frame)
            return NORMAL
        self.bind(node.name, self.make_class(node, frame), frame)
        return NORMAL

    def make_class(self, node: ast.ClassDef, frame: Frame) -> Class:
        """The class that a `class` statement makes."""
        bases = tuple(self.evaluate(base, frame) for base in node.bases if type(base) is not ast.Starred)
        bases = tuple(base.receiver if type(base) is Bound else base for base in bases)
        bases = tuple(Library(self.canonical(base.path)) if type(base) is Library else base for base in bases)
        cls = Class(node.name, node, frame.space, bases)
        cls.built_otherwise = cls.built_otherwise or self._is_built_otherwise(cls, frame)
        if cls.library is None and (self.given.modules or self.given.optimizers):
            path = f"{dotted_name(frame.space.filename)}.{node.name}"
            declared = self.canonical(path)
            if declared != path:
                cls.library, cls.declared, cls.opaque = declared, declared, False
        inner = Frame(
            cls.members, frame.space, frame if frame.function is not None else frame.scope, frame, node
        )
        inner.owner = cls
        inner.guarded = frame.guarded
        if self.importing is not frame:
            self.bind(node.name, cls, frame)
        for statement in node.body:
            self.step()
            handler = _STATEMENTS.get(type(statement))
            if handler is not None:
                handler(self, statement, inner)
        for decorator in node.decorator_list:
            self.class_decorator(cls, decorator, frame)
        if frame.function is None and not frame.owner:
            frame.space.classes.append(cls)
        return cls

    def _is_built_otherwise(self, cls: Class, frame: Frame) -> bool:
        """Whether code of the program's own may run before the `__init__` of a class."""
        for keyword in cls.node.keywords:
            value = self.evaluate(keyword.value, frame)
            plain = type(value) is Library and value.path in ("abc.ABCMeta", "type")
            if keyword.arg == "metaclass" and not plain:
                return True
        return bool(cls.node.decorator_list) or any("__init_subclass__" in one.members for one in cls.lineage)

    def class_decorator(self, cls: Class, decorator: ast.expr, frame: Frame) -> None:
        raise NotImplementedError

    def s_import(self, node: ast.Import, frame: Frame) -> int:
        for alias in node.names:
            found = self.project.find(alias.name, frame.space.filename)
            self.import_effects(found)
            if found is None and self.project.shadows_library(alias.name, frame.space.filename):
                self.bind(alias.asname or alias.name.partition(".")[0], UNKNOWN, frame)
            elif found is not None and alias.asname:
                self.bind(alias.asname, Lazy(found, None), frame)
            elif alias.asname:
                self.bind(alias.asname, Library(alias.name), frame)
            else:
                head = alias.name.partition(".")[0]
                top = self.project.find(head, frame.space.filename)
                self.bind(head, Library(head) if top is None else Lazy(top, None), frame)
        return NORMAL

    def s_import_from(self, node: ast.ImportFrom, frame: Frame) -> int:
        base = node.module or ""
        if base == "__future__":
            return NORMAL
        importer = frame.space.filename
        found = self.project.find(base, importer, node.level)
        self.import_effects(found)
        shadowed = found is None and not node.level and self.project.shadows_library(base, importer)
        for alias in node.names:
            name = alias.asname or alias.name
            if alias.name == "*":
                self._import_all(found, base, frame)
                continue
            sub = None
            if found is None or found.endswith("__init__.py"):
                sub = self.project.find((base + "." if base else "") + alias.name, importer, node.level)
            if sub is not None:
                self.bind(name, Lazy(sub, None), frame)
            elif found is not None:
                self.bind(name, Lazy(found, alias.name), frame)
            elif node.level or shadowed:
                self.bind(name, UNKNOWN, frame)
            else:
                self.bind(name, Library(f"{base}.{alias.name}"), frame)
        return NORMAL

    def _import_all(self, found: str | None, base: str, frame: Frame) -> None:
        if found is not None and found not in frame.space.stars:
            frame.space.stars.append(found)

    # Loops

    def s_for(self, node: ast.For, frame: Frame) -> int:
        iterable = self.evaluate(node.iter, frame)
        for lost in _names_rebound_in_vain(node):
            called = lost.value.func if type(lost.value) is ast.Call else None
            self.tell("loop-name-rebound", lost, frame, None, certainty="wasteful",
                      name=ast.unparse(lost.targets[0]), op=getattr(called, "attr", ""))  # fmt: skip
        return self.loop(node, frame, iterable, lambda: self.block(node.body, frame))

    def s_while(self, node: ast.While, frame: Frame) -> int:
        return self.loop(node, frame, None, lambda: self.block(node.body, frame))


def _is_table(node: ast.expr) -> bool:
    """Whether an expression is a large table of constants, or hands one to a function."""
    while type(node) is ast.Call and node.args:
        node = node.args[0]
    return type(node) is ast.Dict and len(node.keys) >= _LARGE_TABLE


def exits_at(level: int) -> Exits:
    """A fresh place for early exits of a scope whose log has `level`."""
    return Exits(level)


_IN_PLACE: dict[type, str] = {
    ast.Add: "__iadd__", ast.Sub: "__isub__", ast.Mult: "__imul__", ast.Div: "__itruediv__",
    ast.FloorDiv: "__ifloordiv__", ast.Mod: "__imod__", ast.Pow: "__ipow__", ast.MatMult: "__imatmul__",
    ast.BitAnd: "__iand__", ast.BitOr: "__ior__", ast.BitXor: "__ixor__", ast.LShift: "__ilshift__",
    ast.RShift: "__irshift__",
}  # fmt: skip

_STATEMENTS: dict[type, Callable[[Any, Any, Frame], int]] = {
    ast.Expr: Statements.s_expression,
    ast.Assign: Statements.s_assign,
    ast.AnnAssign: Statements.s_annotated,
    ast.AugAssign: Statements.s_augmented,
    ast.Return: Statements.s_return,
    ast.If: Statements.s_if,
    ast.For: Statements.s_for,
    ast.AsyncFor: Statements.s_for,
    ast.While: Statements.s_while,
    ast.With: Statements.s_with,
    ast.AsyncWith: Statements.s_with,
    ast.Try: Statements.s_try,
    ast.FunctionDef: Statements.s_function,
    ast.AsyncFunctionDef: Statements.s_function,
    ast.ClassDef: Statements.s_class,
    ast.Import: Statements.s_import,
    ast.ImportFrom: Statements.s_import_from,
    ast.Pass: Statements.s_pass,
    ast.Break: Statements.s_break,
    ast.Continue: Statements.s_continue,
    ast.Raise: Statements.s_raise,
    ast.Assert: Statements.s_assert,
    ast.Delete: Statements.s_delete,
    ast.Global: Statements.s_outer,
    ast.Nonlocal: Statements.s_outer,
    ast.Match: Statements.s_match,
}
if hasattr(ast, "TryStar"):
    _STATEMENTS[ast.TryStar] = Statements.s_try

__all__ = ["GONE", "MODULE_NAMES", "Lazy", "Some", "Statements"]


def _is_alike(one: Instance, other: Instance) -> bool:
    """Whether two objects are of one class."""
    return one.cls is other.cls or (
        one.library is not None and type(one.cls) is Library and one.library == other.library
    )


def comes_again(test: ast.expr) -> bool:
    """Whether a condition holds every few rounds (`epoch % 5 == 0`), and not perhaps in the last one alone."""
    return any(type(part) is ast.BinOp and type(part.op) is ast.Mod for part in ast.walk(test))
