"""Operations on tensors: the rows of the laws, applied to abstract tensors.

`apply` is the one place where a row becomes facts of a result, a node of the graph, a write, or a refusal.
"""

from __future__ import annotations

from typing import Any

from gradtrail.interp.frames import Frame
from gradtrail.interp.moves import Moves
from gradtrail.interp.operands import (
    Bound,
    value_kind,
)
from gradtrail.interp.results import edges_of
from gradtrail.interp.values import (
    ANY_LEAF,
    BOOL,
    FLOAT,
    INT,
    LEAF,
    MAYBE,
    MISSING,
    NO,
    NON_LEAF,
    NUMBER,
    UNKNOWN,
    YES,
    Array,
    Dtype,
    Instance,
    Mapping,
    Node,
    Sequence,
    Tensor,
    Unknown,
    edge_of,
    may_be_tensor,
)
from gradtrail.interp.writes import may_be_empty
from gradtrail.laws import dtype_demands, operations
from gradtrail.laws.operations import Operation
from gradtrail.laws.text import one_of

_REFLECTED = {
    "__radd__": "__add__", "__rmul__": "__mul__", "__rsub__": "__sub__", "__rtruediv__": "__truediv__",
    "__rpow__": "__pow__", "__rmatmul__": "__matmul__", "__rand__": "__and__", "__ror__": "__or__",
    "__rfloordiv__": "__floordiv__", "__rmod__": "__mod__",
}  # fmt: skip

_DUNDER = {
    "__add__": "add", "__sub__": "sub", "__mul__": "mul", "__truediv__": "div", "__pow__": "pow",
    "__matmul__": "matmul", "__neg__": "neg", "__pos__": "positive", "__invert__": "bitwise_not",
    "__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge",
    "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_", "__ipow__": "pow_",
    "__and__": "bitwise_and", "__or__": "bitwise_or", "__xor__": "bitwise_xor", "__floordiv__": "floor_divide",
    "__mod__": "remainder", "__iand__": "bitwise_and_", "__ior__": "bitwise_or_", "__ifloordiv__": "floor_divide_",
    "__abs__": "abs", "__imatmul__": "matmul", "__lshift__": "bitwise_left_shift", "__rshift__": "bitwise_right_shift",
    "__imod__": "remainder_", "__ixor__": "bitwise_xor_",
}  # fmt: skip

_NO_OPERANDS = frozenset((Sequence, Mapping, Instance))
"""Where a tensor should stand torch refuses these: the program is not what it is taken for."""

_OF_ARRAYS = {
    "__add__": "+", "__sub__": "-", "__mul__": "*", "__matmul__": "@", "__pow__": "**", "__floordiv__": "//",
    "__mod__": "%",
}  # fmt: skip
"""Operators that refuse a tensor on the right of an array, whether it requires grad or not (torch 2.13, numpy 2)."""

_DEVICE_FREE = frozenset(
    (
        "to",
        "cpu",
        "cuda",
        "type_as",
        "copy_",
        "__getitem__",
        "__setitem__",
        "index_put_",
        "set_",
        "backward",
        "data",
    )
)
"""Operations that take tensors of different devices."""


class Tensors(Moves):
    """Applies rows of the laws."""

    def tensor_binary(self, name: str, left: Any, right: Any, node: Any, frame: Frame) -> Any:
        """An operator with a tensor on at least one side."""
        if type(left) is Tensor:
            if type(right) is Array and not right.may_be_number and name[2:-2] not in ("eq", "ne"):
                self.to_numpy(left, node, frame, "operator")
            return self.apply(name, [left, right], {}, node, frame)
        if may_be_tensor(left):
            return self.doubtful_result(right, node, frame)
        if type(left) is Array:
            if left.may_be_number:
                return self.doubtful_result(right, node, frame)
            if name == "__truediv__":
                self.to_numpy(right, node, frame, "operator")
            elif name in _OF_ARRAYS and right.requires == YES:
                self.refuse(
                    "array-times-tensor", node, frame, self.seen(right, node, frame), op=_OF_ARRAYS[name]
                )
            return UNKNOWN
        if name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
            return self.apply(_MIRROR[name], [right, left], {}, node, frame)
        return self.apply("__r" + name[2:], [right, left], {}, node, frame)

    def doubtful_result(self, tensor: Tensor, node: Any, frame: Frame) -> Any:
        """`unknown + tensor`: a tensor in all likelihood, with what can be told of it."""
        result = self.unknown_tensor(node, frame, "computed")
        if tensor.requires == YES and self.modes.grad_mode:
            result.requires, result.leaf = YES, NON_LEAF
            result.steps = (self.origin("computed", node, frame, (tensor,), op=""),)
            result.node = Node("", "opaque", edges_of([tensor]), (), None, result.origin, self.serial())
        return result

    def to_numpy(self, tensor: Tensor, node: Any, frame: Frame, how: str) -> Any:
        raise NotImplementedError

    # Applying a row

    def row(self, name: str, path: str = "") -> Operation | None:
        """The row for a method name, or for a function by its dotted path."""
        if path:
            return operations.function(path)
        return operations.method(_DUNDER.get(name, name))

    def apply(
        self, name: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame, path: str = ""
    ) -> Any:
        """The result of an operation, by its row; UNKNOWN when there is no row."""
        if name in _REFLECTED:
            return self._reflected(_REFLECTED[name], args, node, frame)
        row = self.row(name, path)
        if row is None:
            return UNKNOWN
        row, bound = self.chosen_row(row, args, keywords, node, frame)
        if path and row.result == "new" and not row.outputs and bound.doubt and not bound.tensors:
            return self._of_unknowns(row, node, frame)
        return self.apply_row(row, bound, node, frame)

    def _of_unknowns(self, row: Operation, node: Any, frame: Frame) -> Tensor:
        """What a function of torch makes of values that are not known: a tensor, and no more is known of it."""
        result = self.unknown_tensor(node, frame, "computed")
        result.result_of = row.name
        if row.gradient == "no" or self.modes.grad_mode is False:
            result.requires, result.leaf = NO, LEAF
        else:
            result.node = self.unseen(result.origin)
        return result

    def chosen_row(
        self, row: Operation, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> tuple[Operation, Bound]:
        """The row that a call amounts to, by the kinds of its arguments, with these bound."""
        bound = self.bind_row(row, args, keywords, node, frame)
        if row.overloads:
            given = {key: value_kind(value) for key, value in bound.values.items() if value is not None}
            chosen = row.overload(given)
            if chosen is not row:
                return chosen, self.bind_row(chosen, args, keywords, node, frame)
        return row, bound

    def _reflected(self, name: str, args: list[Any], node: Any, frame: Frame) -> Any:
        """`number - tensor`: as the operation on the tensor, keeping what its own row says it keeps."""
        if len(args) < 2:
            return UNKNOWN
        tensor, other = args[0], args[1]
        if name in ("__add__", "__mul__", "__and__", "__or__"):
            return self.apply(name, [tensor, other], {}, node, frame)
        special = {"__sub__": "rsub", "__truediv__": "reciprocal", "__pow__": "exp"}.get(name)
        if special == "rsub":
            return self.apply("rsub", [tensor, other], {}, node, frame)
        if special == "reciprocal":
            inverse = self.apply(special, [tensor], {}, node, frame)
            result = self.apply("mul", [inverse, other], {}, node, frame)
            if type(result) is Tensor and type(inverse) is Tensor:
                result.steps = inverse.steps  # what is written there is a division
            return result
        if special is not None:  # `2 ** x` keeps what exp keeps
            result = self.apply(special, [tensor], {}, node, frame)
            if type(result) is Tensor and result.node is not None and result.node.kind == "op":
                result.node.name = "PowBackward2"
            return result
        return self.doubtful_result(tensor, node, frame)

    def refresh(self, tensor: Tensor) -> None:
        """A view whose memory was written since: its history is that of its base now.

        Torch does this when the history is asked for (VariableHooks::grad_fn in torch/csrc/autograd/variable.cpp).
        """
        base = tensor.base
        if base is None or tensor.view_kind != "ordinary":
            return
        if tensor.node is None and base.node is None:
            if tensor.requires == NO and base.requires & YES and not tensor.inference:
                self.heap.put(tensor, "requires", MAYBE)  # the base was asked to since
            return
        known = -1 if tensor.node is None else tensor.node.serial
        written = tensor.storage.writes[-1].serial if tensor.storage.writes else -1
        behind = edge_of(base)
        if max(-1 if base.node is None else base.node.serial, written) <= known:
            return
        if behind is None:  # the base was taken off its history, the view has one that leads nowhere
            if tensor.node is not None:
                node = Node(
                    "AsStridedBackward0", tensor.node.kind, (), (), False, tensor.origin, self.serial()
                )
                self.heap.put(tensor, "node", node)
            return
        kind = "op" if base.requires == YES else "maybe"
        node = Node("AsStridedBackward0", kind, (behind,), (), False, tensor.origin, self.serial())
        if base.node is not None and base.node.serial > known:
            node.origin = base.node.origin
        self.heap.put(tensor, "node", node)
        self.heap.put(tensor, "requires", base.requires)
        self.heap.put(tensor, "leaf", NON_LEAF if base.requires == YES else ANY_LEAF)

    def bind_row(
        self, row: Operation, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Bound:
        """The arguments of a call by the row's parameter names, and the tensors among them in order."""
        bound = Bound()
        values = bound.values
        names = row.args
        gathers = row.gathers
        for index, value in enumerate(args):
            if gathers and index >= names.index(gathers):
                taken = args[index:]
                single = (len(taken) == 1 and type(taken[0]) is Dtype) or (
                    len(taken) == 1
                    and (type(taken[0]) is not Tensor or gathers + "*" in row.tensors)
                    and type(taken[0]) in (Sequence, Tensor)
                )
                values[gathers] = taken[0] if single else Sequence("tuple", tuple(taken))
                break
            if index < len(names):
                values[names[index]] = value
        for key, value in keywords.items():
            if key == "input" and "input" not in names and "self" in names:
                key = "self"
            elif key == "axis" and "dim" in names:
                key = "dim"
            elif key == "keepdims":
                key = "keepdim"
            elif key == "**":
                bound.doubt = True
            values[key] = value
        unread = self._unread(row, values)
        for marked in row.tensors:
            name = marked.rstrip("*")
            if name not in values or name in unread:
                continue
            value = self.settle(values[name])
            if marked is not name and marked[-1] == "*" and type(value) is not Tensor:
                self._gather_tensors(name, value, bound, node, frame)
            elif type(value) is Tensor:
                if value.base is not None:
                    self.refresh(value)
                bound.tensors.append((name, value))
            elif may_be_tensor(value) or type(value) in _NO_OPERANDS:
                bound.doubt = True
            values[name] = value
        return bound

    def _unread(self, row: Operation, values: dict[str, Any]) -> tuple[str, ...]:
        """The arguments that the other arguments of a call tell the operation to pass over."""
        switch, when_on, when_off = operations.UNREAD.get(row.name, ("", (), ()))
        if not switch:
            return ()
        on = self.truth(values.get(switch, row.defaults.get(switch)))
        return when_on if on else when_off if on is False else when_on + when_off

    def _gather_tensors(self, name: str, value: Any, bound: Bound, node: Any, frame: Frame) -> None:
        if type(value) is Unknown:
            bound.doubt = True
            return
        found = self.items_of(value, node, frame)
        if found is None:
            bound.doubt = True
            return
        items, rest = found
        for item in items:
            item = self.settle(item)
            if type(item) is Tensor:
                bound.tensors.append((name, item))
            elif may_be_tensor(item):
                bound.doubt = True
        if rest is not MISSING:
            rest = self.settle(rest)
            if type(rest) is Tensor:
                bound.tensors.append((name, rest))
            elif may_be_tensor(rest):
                bound.doubt = True
        bound.values[name] = Sequence("tuple", items, rest)

    def apply_row(self, row: Operation, bound: Bound, node: Any, frame: Frame) -> Any:
        """The result of a row on bound arguments."""
        tensors = bound.tensors
        own = tensors[0][1] if tensors else None
        kind = row.result
        if kind == "none":
            return None
        if kind == "python":
            return _python_result(row.name)
        if own is None:
            if bound.doubt:
                return UNKNOWN
            return self._result_without_tensors(row, bound, node, frame)
        if kind == "same":
            return own
        if "dropout" in row.name and kind in ("maybe-same", "written"):
            given = {**row.defaults, **bound.values}
            if given.get("training") is False or given.get("p") == 0:
                return own  # nothing is dropped, and nothing written
            if given.get("training") is not True and given.get("inplace") is not False:
                self.may_be_written(own)
                return own
        inplace = bound.values.get("inplace", row.defaults.get("inplace", False))
        if inplace is True and kind in ("new", "maybe-same"):
            kind = "written"
        elif inplace is not False and kind in ("new", "maybe-same"):
            bound.doubt = True
        self.check_devices(row, bound, node, frame)
        self.check_dtypes(row, bound, node, frame)
        if kind == "written":
            return self.write_in_place(row, bound, own, node, frame)
        if kind == "maybe-same":
            return self.maybe_same(row, bound, own, node, frame)
        if kind == "detached":
            result = self.detached(own, node, frame, row.name)
            if row.dtype != "same":
                result.dtype, result.shape = self.dtype_of(row, bound), None
            return result
        if kind == "cut":
            return self.cut(own, node, frame)
        out = bound.values.get("out")
        if (
            type(out) is Tensor
            and self.modes.grad_mode is True
            and (out.requires == YES or any(t.requires == YES for _, t in tensors))
        ):
            self.refuse("out-requires-grad", node, frame, self.seen(out, node, frame), op=row.name)
        result = self.computed(row, bound, own, node, frame)
        if type(out) is Tensor:
            self.bump(out, node, frame, "out=")
            return out
        return result

    def _result_without_tensors(self, row: Operation, bound: Bound, node: Any, frame: Frame) -> Any:
        if row.tensors and any(type(value) in (Array,) for value in bound.values.values()):
            return UNKNOWN
        return UNKNOWN

    # Checks

    def check_devices(self, row: Operation, bound: Bound, node: Any, frame: Frame) -> None:
        """Tensors with dimensions must be on one device."""
        if bound.any_device or len(bound.tensors) < 2 or row.name.partition(".")[0] in _DEVICE_FREE:
            return
        placed = [
            (name, t)
            for name, t in bound.tensors
            if t.device is not None and t.shape is not None and t.shape != ()
        ]
        for index, (_, one) in enumerate(placed):
            for _, other in placed[index + 1 :]:
                self.check_same_device(one, other, node, frame, row.name)

    def check_same_device(self, one: Tensor, other: Tensor, node: Any, frame: Frame, op: str) -> None:
        """Refuse when the two are certainly on different devices."""
        left, right = one.device, other.device
        if left is None or right is None:
            return
        kinds = {left.kind, right.kind}
        if "cpu" not in kinds or kinds == {"cpu"}:
            return
        on_cpu = one if left.kind == "cpu" else other
        away = other if on_cpu is one else one
        if away.device is None or away.device.kind == "unknown":
            return
        self.refuse(
            "device-mismatch", node, frame, self.seen(on_cpu, node, frame, "device"), (self.seen(away, node, frame, "device"),),
            off_cpu=away.device.kind != "other", op=op, device=away.device.told,
        )  # fmt: skip

    def check_dtypes(self, row: Operation, bound: Bound, node: Any, frame: Frame) -> None:
        """Operations that do not promote refuse some dtypes."""
        if self.modes.autocast or bound.any_device:
            return
        facts = [
            (name, None if may_be_empty(t) else t.dtype, None if t.shape is None else len(t.shape))
            for name, t in bound.tensors
        ]
        given = [name for name, value in bound.values.items() if value is not None]
        found = dtype_demands.refusal(row.name, facts, given)
        if found is None:
            return
        first = bound.tensors[found.position][1]
        second = None if found.other is None else bound.tensors[found.other][1]
        if second is not None and first.parameter:
            first, second = second, first
        others = () if second is None else (self.seen(second, node, frame, "dtype"),)
        key = (
            "dtype-mismatch-matmul" if found.key == "dtype-mismatch" and row.name in _PRODUCTS else found.key
        )
        self.refuse(
            key,
            node,
            frame,
            self.seen(first, node, frame, "dtype"),
            others,
            op=row.name,
            wanted=one_of(found.wanted),
        )


_PRODUCTS = frozenset(("nn.functional.linear", "linear", "matmul", "matmul.folded", "mm", "bmm"))

_MIRROR = {
    "__eq__": "__eq__",
    "__ne__": "__ne__",
    "__lt__": "__gt__",
    "__gt__": "__lt__",
    "__le__": "__ge__",
    "__ge__": "__le__",
}


def _python_result(name: str) -> Any:
    if name in ("size", "shape"):
        return UNKNOWN
    if name in (
        "dim",
        "ndimension",
        "numel",
        "nelement",
        "element_size",
        "get_device",
        "data_ptr",
        "storage_offset",
        "__len__",
        "__int__",
        "__index__",
    ):
        return INT
    if name in ("item",):
        return NUMBER
    if name == "__float__":
        return FLOAT
    if name.startswith("is_") or name in (
        "__bool__",
        "equal",
        "allclose",
        "requires_grad",
        "retains_grad",
        "__contains__",
    ):
        return BOOL
    return UNKNOWN
