"""Expressions: the value of each, and what evaluating it does."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from gradtrail.interp import budget
from gradtrail.interp.frames import NORMAL, Frame, PathEnds
from gradtrail.interp.loops import Loops, key_of
from gradtrail.interp.models import registry
from gradtrail.interp.statements import Later, Lazy
from gradtrail.interp.values import (
    BOOL,
    FLOAT,
    INT,
    MISSING,
    NUMBER,
    PLAIN,
    STR,
    UNKNOWN,
    Array,
    Class,
    Device,
    Dtype,
    Function,
    Instance,
    Iterator,
    Library,
    Mapping,
    OneOf,
    Sequence,
    Some,
    Super,
    Tensor,
    Unknown,
)

_BINARY: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("__add__", operator.add), ast.Sub: ("__sub__", operator.sub), ast.Mult: ("__mul__", operator.mul),
    ast.Div: ("__truediv__", operator.truediv), ast.FloorDiv: ("__floordiv__", operator.floordiv),
    ast.Mod: ("__mod__", operator.mod), ast.Pow: ("__pow__", operator.pow), ast.MatMult: ("__matmul__", operator.matmul),
    ast.BitAnd: ("__and__", operator.and_), ast.BitOr: ("__or__", operator.or_), ast.BitXor: ("__xor__", operator.xor),
    ast.LShift: ("__lshift__", operator.lshift), ast.RShift: ("__rshift__", operator.rshift),
}  # fmt: skip

_COMPARE: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("__eq__", operator.eq), ast.NotEq: ("__ne__", operator.ne), ast.Lt: ("__lt__", operator.lt),
    ast.LtE: ("__le__", operator.le), ast.Gt: ("__gt__", operator.gt), ast.GtE: ("__ge__", operator.ge),
}  # fmt: skip

_UNARY: dict[type, tuple[str, Callable[[Any], Any]]] = {
    ast.USub: ("__neg__", operator.neg), ast.UAdd: ("__pos__", operator.pos), ast.Invert: ("__invert__", operator.invert),
}  # fmt: skip

_BIGGEST_POWER = 64
_LONGEST_RESULT = 10_000

_PUT_OFF_NAMES = frozenset((Lazy, Later))

_REGISTRIES = {"_parameters": "parameter", "_buffers": "buffer", "_modules": "module"}

AVAILABLE = Some("available")
"""The answer to "is there an accelerator on this machine?"."""


class Expressions(Loops):
    """Evaluates expressions."""

    def evaluate(self, node: Any, frame: Frame) -> Any:
        """The value of an expression."""
        kind = type(node)
        if kind is ast.Name:  # every second expression is a name, and most are bound right here
            value = frame.names.get(node.id, MISSING)
            if value is MISSING or type(value) in _PUT_OFF_NAMES:
                value = self.e_name(node, frame)
        elif kind is ast.Constant:
            value = node.value
        else:
            handler = _EXPRESSIONS.get(kind)
            if handler is None:
                return UNKNOWN
            value = handler(self, node, frame)
        if self.on_value is not None:
            self.on_value(node, frame, value)
        return value

    def e_constant(self, node: ast.Constant, frame: Frame) -> Any:
        return node.value

    def e_name(self, node: ast.Name, frame: Frame) -> Any:
        value = frame.names.get(node.id, MISSING)
        if value is MISSING and frame.scope is None:
            value = frame.space.names.get(node.id, MISSING)
        if value is MISSING or type(value) in _PUT_OFF_NAMES:
            value = self.look_up(node.id, frame)
            if value is MISSING:
                value = self.builtin(node.id, frame)
        return value

    def builtin(self, name: str, frame: Frame) -> Any:
        raise NotImplementedError

    def e_attribute(self, node: ast.Attribute, frame: Frame) -> Any:
        receiver = self.evaluate(node.value, frame)
        kind = type(receiver)
        if kind is Library:
            return self.library_attribute(f"{receiver.path}.{node.attr}", node, frame)
        if kind is OneOf:
            receiver = self.settle(receiver)
            if type(receiver) is OneOf:
                return self.fork_values(
                    receiver.values, lambda one: self.attribute(one, node.attr, node, frame), frame
                )
        return self.attribute(receiver, node.attr, node, frame)

    def library_attribute(self, path: str, node: Any, frame: Frame) -> Any:
        raise NotImplementedError

    def e_call(self, node: ast.Call, frame: Frame) -> Any:
        self.steps += 1
        function = node.func
        if type(function) is ast.Attribute:
            receiver = self.evaluate(function.value, frame)
            if type(receiver) is OneOf:
                receiver = self.settle(receiver)
            args, keywords = self.arguments(node, frame)
            return self.call_method(receiver, function.attr, args, keywords, node, frame)
        if type(function) is ast.Name and function.id == "super" and not node.args:
            return self.bare_super(frame)
        value = self.evaluate(function, frame)
        args, keywords = self.arguments(node, frame)
        if type(value) is Library and value.path == "super" and len(args) == 2:
            first, receiver = args
            if type(first) is Library and type(receiver) is Instance:
                return Super(receiver, first)
            return self.named_super(first, receiver, frame)
        return self.call(value, args, keywords, node, frame)

    def named_super(self, first: Any, receiver: Any, frame: Frame) -> Any:
        """`super(Net, self)`: a name that may have been bound to something else must be the class all the same."""
        cls = receiver.cls if type(receiver) is Instance else receiver
        lineage = cls.lineage if type(cls) is Class else ()
        for one in first.values if type(first) is OneOf else (first,):
            if type(one) is Class and (one in lineage or not lineage):
                return Super(receiver, one)
        here = self.bare_super(frame)
        return here if type(here) is Super and here.receiver is receiver else UNKNOWN

    def bare_super(self, frame: Frame) -> Any:
        """`super()` of the method that `frame` runs."""
        here: Frame | None = frame
        while here is not None:
            if here.owner is not None and here.receiver is not MISSING:
                return Super(here.receiver, here.owner)
            here = here.scope
        return UNKNOWN

    def arguments(self, node: ast.Call, frame: Frame) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call. What a star brings in unknown number stands as `Supplied rest`."""
        args: list[Any] = []
        for argument in node.args:
            if type(argument) is not ast.Starred:
                args.append(self.evaluate(argument, frame))
            else:
                value = self.evaluate(argument.value, frame)
                found = self.items_of(value, argument, frame)
                if found is None:
                    args.append(Rest(UNKNOWN))
                else:
                    args.extend(found[0][: budget.ITEMS_TOGETHER])
                    if len(found[0]) > budget.ITEMS_TOGETHER:
                        args.append(Rest(UNKNOWN))
                    elif found[1] is not MISSING:
                        args.append(Rest(found[1]))
        keywords: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, frame)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            else:
                value = self.settle(value)
                if type(value) is Mapping and value.rest is MISSING:
                    for key, entry in value.entries.items():
                        if type(key) is str:
                            keywords[key] = entry
                elif type(value) is Mapping:
                    for key, entry in value.entries.items():
                        if type(key) is str:
                            keywords[key] = entry
                    keywords["**"] = UNKNOWN
                else:
                    keywords["**"] = UNKNOWN
        if "**" in keywords:
            keywords = OpenKeywords(keywords)
        return args, keywords

    def e_binary(self, node: ast.BinOp, frame: Frame) -> Any:
        left = self.evaluate(node.left, frame)
        right = self.evaluate(node.right, frame)
        return self.binary(type(node.op), left, right, node, frame)

    def binary(self, kind: type, left: Any, right: Any, node: Any, frame: Frame) -> Any:
        """`left <operator> right`."""
        name, compute = _BINARY[kind]
        left, right = self.settle(left), self.settle(right)
        one, two = type(left), type(right)
        if one in PLAIN and two in PLAIN:
            return _computed(compute, left, right)
        if one is Tensor or two is Tensor:
            return self.tensor_binary(name, left, right, node, frame)
        if one is Unknown or two is Unknown:
            return UNKNOWN
        if (one is Some and two in PLAIN) or (two is Some and one in PLAIN) or (one is Some and two is Some):
            return _some_of(name, left, right)
        if one is Sequence or one is Mapping:
            return self.call_method(left, name, [right], {}, node, frame)
        if two is Sequence and name == "__mul__":
            return self.call_method(right, name, [left], {}, node, frame)
        if one is Array or two is Array:
            return self.call_method(
                left if one is Array else right, name, [right if one is Array else left], {}, node, frame
            )
        if one is Instance:
            return self.call_method(left, name, [right], {}, node, frame)
        if two is Instance:
            return self.call_method(right, "__r" + name[2:], [left], {}, node, frame)
        return UNKNOWN

    def tensor_binary(self, name: str, left: Any, right: Any, node: Any, frame: Frame) -> Any:
        raise NotImplementedError

    def e_unary(self, node: ast.UnaryOp, frame: Frame) -> Any:
        value = self.settle(self.evaluate(node.operand, frame))
        if type(node.op) is ast.Not:
            answer = self.truth(value)
            return BOOL if answer is None else not answer
        name, compute = _UNARY[type(node.op)]
        if type(value) in PLAIN:
            try:
                return compute(value)
            except TypeError:
                return UNKNOWN
        if type(value) is Some:
            return value if value.type in ("int", "float", "number") else NUMBER
        return self.call_method(value, name, [], {}, node, frame)

    def e_compare(self, node: ast.Compare, frame: Frame) -> Any:
        left = self.evaluate(node.left, frame)
        result: Any = True
        for op, right_node in zip(node.ops, node.comparators, strict=False):
            right = self._registry(right_node, frame) if type(op) in (ast.In, ast.NotIn) else MISSING
            if right is MISSING:
                right = self.evaluate(right_node, frame)
            result = self.compare(type(op), left, right, node, frame)
            if result is False:
                return False
            left = right
        return result if len(node.ops) == 1 or result is True else BOOL

    def _registry(self, node: Any, frame: Frame) -> Any:
        """`module._parameters` and its like where it is only asked for a name, MISSING for anything else."""
        kind = _REGISTRIES.get(node.attr) if type(node) is ast.Attribute else None
        module = self.evaluate(node.value, frame) if kind is not None else None
        if type(module) is not Instance or module.opened:
            return MISSING
        names = {name: UNKNOWN for name, registered in module.registered.items() if registered == kind}
        return Mapping(names)

    def compare(self, kind: type, left: Any, right: Any, node: Any, frame: Frame) -> Any:
        """One comparison."""
        if kind is ast.Is or kind is ast.IsNot:
            answer = self._same_object(left, right)
            return BOOL if answer is None else answer == (kind is ast.Is)
        left, right = self.settle(left), self.settle(right)
        if kind is ast.In or kind is ast.NotIn:
            answer = self._contains(right, left)
            return BOOL if answer is None else answer == (kind is ast.In)
        name, compute = _COMPARE[kind]
        one, two = type(left), type(right)
        if one is Tensor or two is Tensor:
            return self.tensor_binary(name, left, right, node, frame)
        if one in PLAIN and two in PLAIN:
            try:
                return bool(compute(left, right))
            except TypeError:
                return BOOL
        if one is Array or two is Array:
            return Array("bool")
        if one is Sequence and two is Sequence and kind in (ast.Eq, ast.NotEq):
            answer = _equal_sequences(left, right)
            return BOOL if answer is None else answer == (kind is ast.Eq)
        if one is Library and two is Library and kind in (ast.Eq, ast.NotEq):
            return (left.path == right.path) == (kind is ast.Eq)
        if one is Instance and type(left.cls) is not Library and left.cls.find(name) is not MISSING:
            return self.call_method(left, name, [right], {}, node, frame)
        return UNKNOWN if one is Unknown or two is Unknown else BOOL

    def _same_object(self, left: Any, right: Any) -> bool | None:
        if type(left) in PLAIN and type(right) in PLAIN:
            return left is right or (left == right and type(left) is type(right))
        if left is right and type(left) not in (Unknown, Some, OneOf):
            return True
        for one, other in ((left, right), (right, left)):
            if one is None:
                if type(other) is OneOf:
                    return None if any(value is None for value in other.values) else False
                return None if type(other) is Unknown else False
        if type(left) is Tensor and type(right) is Tensor and not left.many and not right.many:
            return False if left.same_on_cpu is None and right.same_on_cpu is None else None
        if type(left) is Library and type(right) is Library:
            return left.path == right.path
        return None

    def _contains(self, container: Any, value: Any) -> bool | None:
        key = key_of(value)
        if type(container) is Mapping:
            if key is MISSING:
                return None
            if key in container.entries:
                return True
            return False if container.rest is MISSING else None
        if type(container) is Sequence and type(value) in PLAIN:
            for item in container.items:
                if type(item) in PLAIN and item == value:
                    return True
            if container.rest is MISSING and all(type(item) in PLAIN for item in container.items):
                return False
        if type(container) is Sequence and type(value) in (Tensor, Instance) and not value.many:
            if any(item is value for item in container.items):
                return True
            alike = all(type(item) is type(value) and not item.many for item in container.items)
            return False if container.rest is MISSING and alike else None
        if type(container) is Sequence and type(value) is Dtype and value.name is not None:
            names = [item.name if type(item) is Dtype else None for item in container.items]
            if value.name in names:
                return True
            return False if container.rest is MISSING and None not in names else None
        if type(container) is str and type(value) is str:
            return value in container
        return None

    def e_boolean(self, node: ast.BoolOp, frame: Frame) -> Any:
        stop = type(node.op) is ast.Or
        unsure: list[Any] = []
        for position, part in enumerate(node.values):
            if unsure and position:
                value = self._perhaps(part, frame)
            else:
                value = self.evaluate(part, frame)
            answer = self.truth(value)
            last = position == len(node.values) - 1
            if answer is stop or last:
                return self.heap.joiner.all_of((*unsure, value)) if unsure else value
            if answer is None:
                unsure.append(self._if_it_decides(value, stop))
        return UNKNOWN

    def _if_it_decides(self, value: Any, stop: bool) -> Any:
        """What `value` is when it decides an `or` (stop) or an `and`: None cannot decide an `or`."""
        if type(value) is OneOf:
            fitting = tuple(one for one in value.values if self.truth(one) is not (not stop))
            if fitting:
                return fitting[0] if len(fitting) == 1 else OneOf(fitting)
        return value

    def _perhaps(self, node: Any, frame: Frame) -> Any:
        """The value of an expression that may not be evaluated at all."""
        return self._forked([lambda: self.evaluate(node, frame), lambda: MISSING], frame)

    def _forked(self, ways: list[Callable[[], Any]], frame: Frame) -> Any:
        results: list[Any] = []

        def arm(way: Callable[[], Any]) -> Callable[[], int]:
            def run() -> int:
                results.append(way())
                return NORMAL

            return run

        self.fork(frame, [arm(way) for way in ways])
        value = self.heap.joiner.all_of(tuple(results))
        return UNKNOWN if value is MISSING else value

    def e_conditional(self, node: ast.IfExp, frame: Frame) -> Any:
        test = self.evaluate(node.test, frame)
        answer = self.truth(test)
        if answer is not None:
            return self.evaluate(node.body if answer else node.orelse, frame)

        def way(part: ast.expr, answer: bool) -> Callable[[], Any]:
            def run() -> Any:
                self.narrow(node.test, answer, frame)
                return self.evaluate(part, frame)

            return run

        ways = [way(node.body, True), way(node.orelse, False)]
        if test is AVAILABLE:
            chosen = self._chosen_device(node, frame)
            if chosen is not None:
                return chosen
        return self._forked(ways, frame)

    def _chosen_device(self, node: ast.IfExp, frame: Frame) -> Device | None:
        """`"cuda" if torch.cuda.is_available() else "cpu"`."""
        one, other = self.evaluate(node.body, frame), self.evaluate(node.orelse, frame)
        names = [value.name if type(value) is Device else value for value in (one, other)]
        if all(type(name) is str for name in names) and any(name == "cpu" for name in names):
            return Device("chosen", next((name for name in names if name != "cpu"), "cpu"))
        return None

    def e_subscript(self, node: ast.Subscript, frame: Frame) -> Any:
        receiver = self.settle(self.evaluate(node.value, frame))
        key = self.evaluate(node.slice, frame)
        if type(receiver) is Library:
            if self.canonical(receiver.path) in registry.MADE_BY_INDEX:
                return UNKNOWN
            return receiver  # `nn.ModuleList[int]`, `list[Tensor]`: a type
        if type(receiver) is OneOf:
            return self.fork_values(
                receiver.values,
                lambda one: self.call_method(one, "__getitem__", [key], {}, node, frame),
                frame,
            )
        return self.call_method(receiver, "__getitem__", [key], {}, node, frame)

    def e_slice(self, node: ast.Slice, frame: Frame) -> Any:
        parts = [
            None if part is None else self.evaluate(part, frame)
            for part in (node.lower, node.upper, node.step)
        ]
        return SliceValue(*parts)

    def e_tuple(self, node: ast.Tuple, frame: Frame) -> Any:
        return self._display("tuple", node, node.elts, frame)

    def e_list(self, node: ast.List, frame: Frame) -> Any:
        return self._display("list", node, node.elts, frame)

    def e_set(self, node: ast.Set, frame: Frame) -> Any:
        return self._display("set", node, node.elts, frame)

    def _display(self, kind: str, node: ast.expr, parts: list[ast.expr], frame: Frame) -> Sequence:
        items: list[Any] = []
        rest: Any = MISSING
        for part in parts:
            if type(part) is ast.Starred:
                found = self.items_of(self.evaluate(part.value, frame), part, frame) or ((), UNKNOWN)
                more, tail = found
                if rest is MISSING and len(items) + len(more) <= budget.ITEMS_TOGETHER:
                    items.extend(more)
                else:
                    rest = self.heap.joiner.all_of((*(() if rest is MISSING else (rest,)), *more))
                if tail is not MISSING:
                    rest = tail if rest is MISSING else self.join(rest, tail)
            else:
                value = self.evaluate(part, frame)
                if rest is MISSING:
                    items.append(value)
                else:
                    rest = self.join(rest, value)
        written = self.origin("written-down", parts[0] if parts else node, frame)
        return Sequence(kind, tuple(items), rest, (), written)

    def e_dict(self, node: ast.Dict, frame: Frame) -> Any:
        result = Mapping(origin=self.origin("written-down", node, frame))
        result.arms = self.arms
        for key_node, value_node in zip(node.keys, node.values, strict=False):
            value = self.evaluate(value_node, frame)
            if key_node is not None:
                self.put_entry(result, self.evaluate(key_node, frame), value)
            elif type(value) is Mapping:
                result.entries.update(value.entries)
                if value.rest is not MISSING:
                    result.rest = value.rest if result.rest is MISSING else self.join(result.rest, value.rest)
            else:
                result.rest = UNKNOWN
        return result

    def e_lambda(self, node: ast.Lambda, frame: Frame) -> Any:
        return self.make_function(node, frame)

    def e_joined_string(self, node: ast.JoinedStr, frame: Frame) -> Any:
        parts: list[str] = []
        known = True
        for part in node.values:
            if type(part) is ast.Constant:
                parts.append(str(part.value))
            elif type(part) is ast.FormattedValue:
                value = self.evaluate(part.value, frame)
                if type(value) in (str, int, bool) and part.format_spec is None and part.conversion == -1:
                    parts.append(str(value))
                else:
                    known = False
        return "".join(parts) if known and sum(map(len, parts)) <= _LONGEST_RESULT else STR

    def e_named(self, node: ast.NamedExpr, frame: Frame) -> Any:
        value = self.evaluate(node.value, frame)
        self.assign(node.target, value, frame)
        return value

    def e_await(self, node: ast.Await, frame: Frame) -> Any:
        return self.evaluate(node.value, frame)

    def e_yield(self, node: Any, frame: Frame) -> Any:
        if node.value is not None:
            self.evaluate(node.value, frame)
        return UNKNOWN

    def e_starred(self, node: ast.Starred, frame: Frame) -> Any:
        return self.evaluate(node.value, frame)


class OpenKeywords(dict[str, Any]):
    """Keyword arguments of which a `**` has brought more: what is not among them is not known, not the default."""

    def get(self, key: str, default: Any = None) -> Any:
        """The argument of that name, or UNKNOWN."""
        return super().get(key, UNKNOWN)


class Rest:
    """The further arguments that a star brings, in unknown number; each is like `value`."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class SliceValue:
    """`start:stop:step` inside brackets; the parts are values."""

    __slots__ = ("start", "step", "stop")

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start = start
        self.stop = stop
        self.step = step

    def known(self) -> slice | None:
        """The Python slice, when all parts are known."""
        parts = (self.start, self.stop, self.step)
        if all(part is None or type(part) is int for part in parts) and self.step != 0:
            return slice(*parts)
        return None


def _computed(compute: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """The result on known Python values, kept small: nothing of the user's may blow up here."""
    if compute is operator.pow and not (type(right) in (int, float) and abs(right) <= _BIGGEST_POWER):
        return NUMBER
    if compute is operator.lshift and not (type(right) is int and 0 <= right <= _BIGGEST_POWER):
        return INT
    if compute in (operator.mul, operator.mod) and (
        type(left) in (str, bytes) or type(right) in (str, bytes)
    ):
        return STR
    try:
        result = compute(left, right)
    except (TypeError, ValueError, ArithmeticError):
        return UNKNOWN
    if (type(result) is int and result.bit_length() > 256) or (
        type(result) is str and len(result) > _LONGEST_RESULT
    ):
        return Some(type(result).__name__)
    return result


def _some_of(name: str, left: Any, right: Any) -> Any:
    kinds = {value.type if type(value) is Some else type(value).__name__ for value in (left, right)}
    if "str" in kinds:
        return STR
    if "object" in kinds or "available" in kinds:
        return UNKNOWN
    if name == "__truediv__" or "float" in kinds:
        return FLOAT if not kinds - {"int", "float", "bool"} else NUMBER
    return INT if kinds <= {"int", "bool"} else NUMBER


def _equal_sequences(left: Sequence, right: Sequence) -> bool | None:
    if left.rest is not MISSING or right.rest is not MISSING:
        return None
    if len(left.items) != len(right.items):
        return False
    for one, two in zip(left.items, right.items, strict=False):
        if type(one) not in PLAIN or type(two) not in PLAIN:
            return None
        if one != two:
            return False
    return True


_EXPRESSIONS: dict[type, Callable[[Any, Any, Frame], Any]] = {
    ast.Constant: Expressions.e_constant,
    ast.Name: Expressions.e_name,
    ast.Attribute: Expressions.e_attribute,
    ast.Call: Expressions.e_call,
    ast.BinOp: Expressions.e_binary,
    ast.UnaryOp: Expressions.e_unary,
    ast.Compare: Expressions.e_compare,
    ast.BoolOp: Expressions.e_boolean,
    ast.IfExp: Expressions.e_conditional,
    ast.Subscript: Expressions.e_subscript,
    ast.Slice: Expressions.e_slice,
    ast.Tuple: Expressions.e_tuple,
    ast.List: Expressions.e_list,
    ast.Set: Expressions.e_set,
    ast.Dict: Expressions.e_dict,
    ast.ListComp: Expressions.e_list_comprehension,
    ast.SetComp: Expressions.e_list_comprehension,
    ast.GeneratorExp: Expressions.e_list_comprehension,
    ast.DictComp: Expressions.e_dict_comprehension,
    ast.Lambda: Expressions.e_lambda,
    ast.JoinedStr: Expressions.e_joined_string,
    ast.NamedExpr: Expressions.e_named,
    ast.Await: Expressions.e_await,
    ast.Yield: Expressions.e_yield,
    ast.YieldFrom: Expressions.e_yield,
    ast.Starred: Expressions.e_starred,
}

__all__ = ["AVAILABLE", "Expressions", "Function", "Iterator", "PathEnds", "Rest", "SliceValue"]
