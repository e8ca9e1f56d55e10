"""Operations on tensors: the rows of the laws, applied to abstract tensors.

`apply` is the one place where a row becomes facts of a result, a node of the graph, a write, or a refusal.
"""

from __future__ import annotations

from typing import Any

from gradtrail.interp.calls import Calls
from gradtrail.interp.frames import Frame
from gradtrail.interp.values import (
    ANY_LEAF,
    BOOL,
    CPU,
    FLOAT,
    INT,
    LEAF,
    LEAF_ON_CPU,
    MAYBE,
    MISSING,
    NO,
    NON_LEAF,
    NON_LEAF_ELSEWHERE,
    NUMBER,
    PLAIN,
    UNKNOWN,
    YES,
    Array,
    AtLeast,
    Device,
    Dtype,
    Instance,
    Mapping,
    Node,
    Origin,
    Range,
    Saved,
    Sequence,
    Some,
    Storage,
    Tensor,
    Unknown,
    edge_of,
    may_be_tensor,
)
from gradtrail.laws import dtype_demands, dtypes, operations, shapes
from gradtrail.laws.node_names import node_name
from gradtrail.laws.operations import Operation
from gradtrail.laws.text import one_of

Shape = Any

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


class Bound:
    """The arguments of one application of a row, by name, and the tensors among them."""

    __slots__ = ("any_device", "doubt", "tensors", "values")

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.tensors: list[tuple[str, Tensor]] = []
        self.any_device = False  # an index may be on another device
        self.doubt = False  # an argument that may hold further tensors is not known


class Tensors(Calls):
    """Applies rows of the laws."""

    def tensor_binary(self, name: str, left: Any, right: Any, node: Any, frame: Frame) -> Any:
        """An operator with a tensor on at least one side."""
        if type(left) is Tensor:
            if type(right) is Array and name[2:-2] not in ("eq", "ne"):
                self.to_numpy(left, node, frame, "operator")
            return self.apply(name, [left, right], {}, node, frame)
        if may_be_tensor(left):
            return self.doubtful_result(right, node, frame)
        if type(left) is Array:
            arithmetic = name in ("__add__", "__sub__", "__mul__", "__truediv__")
            if arithmetic and right.requires == YES and self.modes.grad_mode:
                self.refuse("array-times-tensor", node, frame, self.seen(right, node, frame))
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
            result.node = Node("", "opaque", _edges([tensor]), (), None, result.origin, self.serial())
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
        return self.apply_row(row, bound, node, frame)

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
        if special is not None:
            return self.apply(special, [tensor], {}, node, frame)
        return self.doubtful_result(tensor, node, frame)

    def refresh(self, tensor: Tensor) -> None:
        """A view whose memory was written since: its history is that of its base now.

        Torch does this when the history is asked for (VariableHooks::grad_fn in torch/csrc/autograd/variable.cpp).
        """
        base = tensor.base
        if base is None or tensor.view_kind != "ordinary" or (tensor.node is None and base.node is None):
            return
        known = -1 if tensor.node is None else tensor.node.serial
        written = tensor.storage.writes[-1].serial if tensor.storage.writes else -1
        behind = edge_of(base)
        if behind is None or max(-1 if base.node is None else base.node.serial, written) <= known:
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
        for marked in row.tensors:
            name = marked.rstrip("*")
            if name not in values:
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
        result = self._computed(row, bound, own, node, frame)
        if type(out) is Tensor:
            self.bump(out, node, frame, "out=")
            return out
        return result

    def _result_without_tensors(self, row: Operation, bound: Bound, node: Any, frame: Frame) -> Any:
        if row.tensors and any(type(value) in (Array,) for value in bound.values.values()):
            return UNKNOWN
        return UNKNOWN

    def requires_of(self, row: Operation, bound: Bound) -> int:
        """Whether a fresh result requires grad: a set of answers as bits."""
        if row.gradient == "no" or self.modes.grad_mode is False:
            return NO
        answer = NO
        for _, tensor in bound.tensors:
            if tensor.requires == YES:
                answer = YES
                break
            if tensor.requires & YES:
                answer = MAYBE
        else:
            if bound.doubt:
                answer = MAYBE
        if answer == YES and self.modes.grad_mode is None:
            return MAYBE
        return answer

    def _computed(self, row: Operation, bound: Bound, own: Tensor, node: Any, frame: Frame) -> Any:
        """A fresh result, a view, or several of them."""
        requires = self.requires_of(row, bound)
        parents = tuple(tensor for _, tensor in bound.tensors)
        dtype = self.dtype_of(row, bound)
        if dtype is not None and dtypes.can_require_grad(dtype) is False:
            requires = NO
        known_shape = row.shape != "?" and not bound.doubt
        plain = (
            {name: plain_value(value) for name, value in bound.values.items()}
            if known_shape or row.outputs
            else {}
        )
        shape = self.shape_of(row, bound, plain) if known_shape else None
        origin = self._computed_at(row, parents, dtype, node, frame)
        names = row.outputs
        views = row.result in ("view", "views") or (row.result == "maybe-view" and is_contiguous(own))
        results: list[Tensor] = []
        graph: Node | None = None
        if requires & YES:
            graph = self.record(row, bound, origin, requires)
        for index in range(len(names) if names and names != ("many",) else 1):
            result = self.new_tensor(origin)
            tracked = requires
            if names and names != ("many",) and names[index].endswith("!"):
                tracked = NO
                result.dtype = "int64" if "indices" in names[index] or "index" in names[index] else None
            else:
                result.dtype = dtype
            result.requires = tracked
            result.leaf = LEAF if tracked == NO else NON_LEAF if tracked == YES else ANY_LEAF
            result.shape = shape
            result.device = self.device_of(bound)
            result.result_of = row.name
            result.conj = self._lazy(row, own)
            if tracked & YES:
                result.node = graph
            if views:
                self.make_view(result, own, "multi" if row.result == "views" else "ordinary")
            elif row.result == "maybe-view":
                self.may_be_written(own)
                self.may_be_written(result)
            results.append(result)
        if graph is not None:
            graph.results = tuple(results)
            self._save_results(row, graph, results, bound)
        if row.result == "views" or names == ("many",):
            return self._several(row, bound, own, results[0], shape, plain)
        if names:
            return Sequence("namedtuple", tuple(results), MISSING, tuple(name.rstrip("!") for name in names))
        return results[0]

    def _computed_at(
        self, row: Operation, parents: tuple[Tensor, ...], dtype: str | None, node: Any, frame: Frame
    ) -> Origin:
        """The origin of a result: it also tells when no gradient passes the operation."""
        kind = "computed"
        if self.modes.grad_mode and any(parent.requires & YES for parent in parents):
            if dtype is not None and dtypes.can_require_grad(dtype) is False:
                kind = "integers"
            elif row.gradient == "no":
                kind = "cut"
        return self.origin(kind, node, frame, parents, op=row.name, dtype=dtype)

    def _several(
        self, row: Operation, bound: Bound, own: Tensor, first: Tensor, shape: Shape, plain: dict[str, Any]
    ) -> Sequence:
        """The results of split, chunk, unbind, meshgrid: as many as can be told, else one for all."""
        if row.name.endswith(".several"):
            return self._counted(first, plain)
        if row.name in ("meshgrid", "broadcast_tensors"):
            return self._each_its_own(row, bound, first)
        number = _number_of_views(row.name, plain, own.shape, len(bound.tensors))
        if first.shape is None:
            first.shape = _shape_of_view(row.name, plain, own.shape, number)
        if number is None:
            first.many = True
            return Sequence("tuple", (), first)
        results = [first]
        sizes = plain.get("split_size_or_sections")
        for _ in range(number - 1):
            other = self.new_tensor(first.origin)
            for field in (
                "requires",
                "leaf",
                "node",
                "dtype",
                "device",
                "shape",
                "storage",
                "base",
                "view_kind",
                "conj",
                "result_of",
            ):
                setattr(other, field, getattr(first, field))
            results.append(other)
        if type(sizes) is tuple and own.shape is not None and type(plain.get("dim", 0)) is int:
            dim = plain.get("dim", 0) % len(own.shape)
            for size, result in zip(sizes, results, strict=False):
                result.shape = (*own.shape[:dim], size, *own.shape[dim + 1 :])
        return Sequence("tuple", tuple(results[:number]))

    def _counted(self, first: Tensor, plain: dict[str, Any]) -> Sequence:
        """What `unique` gives: the values, and the integers that were asked for beside them."""
        results = [first]
        for name in ("return_inverse", "return_counts"):
            if plain.get(name) is True:
                other = self.new_tensor(first.origin)
                other.requires, other.leaf, other.dtype, other.device = NO, LEAF, "int64", first.device
                results.append(other)
        known = all(type(plain.get(name, False)) is bool for name in ("return_inverse", "return_counts"))
        return Sequence("tuple", tuple(results)) if known else Sequence("tuple", (first,), UNKNOWN)

    def _each_its_own(self, row: Operation, bound: Bound, first: Tensor) -> Sequence:
        """The results of operations that give one for each operand, which has its dtype and history."""
        given = bound.values.get(row.tensors[0].rstrip("*"))
        operands = given.items if type(given) is Sequence else (given,)
        if len(operands) == 1 and type(operands[0]) is Sequence:
            operands = operands[0].items
        results: list[Any] = []
        for operand in operands:
            if type(operand) is not Tensor:
                results.append(UNKNOWN)
                continue
            result = self.new_tensor(first.origin)
            recorded = self.modes.grad_mode
            result.requires = (
                operand.requires if recorded else NO if recorded is False else operand.requires | NO
            )
            result.leaf = LEAF if result.requires == NO else NON_LEAF if result.requires == YES else ANY_LEAF
            result.dtype, result.device, result.shape = operand.dtype, operand.device, first.shape
            result.result_of, result.conj = row.name, operand.conj
            if result.requires & YES:
                result.node = first.node
            self.make_view(result, operand, "multi")
            results.append(result)
        if first.node is not None:
            first.node.results = tuple(
                one for one in results if type(one) is Tensor and one.node is first.node
            )
        rest = MISSING if type(given) is not Sequence or given.rest is MISSING else UNKNOWN
        return Sequence("tuple", tuple(results), rest)

    def make_view(self, result: Tensor, own: Tensor, kind: str) -> None:
        """`result` shares the memory of `own`; without recording it keeps `requires_grad` and has no grad_fn."""
        result.storage = own.storage
        result.base = own.base if own.base is not None else own
        handed_on = own.base is not None and own.view_kind in ("multi", "no-grad", "function")
        result.view_kind = own.view_kind if kind == "ordinary" and handed_on else kind
        if self.modes.inference_mode:
            result.inference = own.inference
        if self.modes.grad_mode is False:
            result.requires = own.requires
            result.leaf = LEAF
            result.node = None
            result.view_kind = (
                "inference" if self.modes.inference_mode else "no-grad" if kind == "ordinary" else kind
            )
        elif self.modes.grad_mode is None:
            result.requires, result.leaf = own.requires | result.requires, ANY_LEAF

    def _lazy(self, row: Operation, own: Tensor) -> Any:
        if row.lazy in ("conj", "neg"):
            if own.dtype is None or own.conj not in (False, row.lazy):
                return None
            if own.conj == row.lazy:
                return False  # turned twice
            return row.lazy if dtypes.category(own.dtype) == "complex" else False
        if row.result in ("view", "views") and row.lazy == "" and row.name not in ("real",):
            return own.conj
        return False

    # Facts of a result

    def dtype_of(self, row: Operation, bound: Bound) -> str | None:
        """The dtype of a result, or None. Under autocast it is chosen by the operation."""
        if self.modes.autocast and row.dtype not in ("bool", "int64"):
            return None
        operands: list[tuple[str | None, bool | None, bool]] = []
        for marked in row.tensors:
            name = marked.rstrip("*")
            value = bound.values.get(name)
            if type(value) is Tensor:
                operands.append((value.dtype, None if value.shape is None else value.shape == (), False))
            elif type(value) is Sequence:
                for item in value.items if value.rest is MISSING else (*value.items, value.rest):
                    if type(item) is Tensor:
                        operands.append((item.dtype, None if item.shape is None else item.shape == (), False))
                    else:
                        operands.append((None, None, False))
            elif type(value) in (int, float, bool, complex):
                operands.append(
                    (
                        {int: "int64", float: "float32", bool: "bool", complex: "complex64"}[type(value)],
                        True,
                        True,
                    )
                )
            elif type(value) is Some:
                known = {"int": "int64", "float": "float32", "bool": "bool"}.get(value.type)
                operands.append((known, True, True))
            elif type(value) is Unknown:
                operands.append((None, None, False))
        asked = bound.values.get("dtype")
        arguments = (
            {"dtype": asked.name if asked.name else UNKNOWN}
            if type(asked) is Dtype
            else {"dtype": asked}
            if asked is not None
            else {}
        )
        return dtypes.dtype_of(row.dtype, operands, arguments, self.modes.default_dtype)

    def shape_of(self, row: Operation, bound: Bound, plain: dict[str, Any]) -> Shape:
        """The shape of a result, or None."""
        if row.shape == "?" or bound.doubt:
            return None
        seen: list[Shape] = []
        for marked in row.tensors:
            name = marked.rstrip("*")
            value = bound.values.get(name, MISSING)
            if type(value) is Tensor:
                seen.append(value.shape)
            elif type(value) is Sequence:
                if value.rest is not MISSING:
                    return None
                seen.extend(item.shape if type(item) is Tensor else () for item in value.items)
            elif type(value) in (int, float, bool) or (
                type(value) is Some and value.type in ("int", "float", "bool", "number")
            ):
                seen.append(())
        arguments: dict[str, Any] = {**row.defaults, **plain}
        try:
            return shapes.shape_of(shapes.UNREDUCED.get(row.name, row.shape), seen, arguments)
        except (TypeError, IndexError, ValueError):
            return None

    def device_of(self, bound: Bound) -> Device | None:
        """The device of a result: that of the tensors with dimensions, where they agree."""
        found: Device | None = None
        for _, tensor in bound.tensors:
            if tensor.device is None:
                return None
            if found is None or (found.kind == "cpu" and tensor.shape != ()):
                found = tensor.device
            elif (
                tensor.shape != ()
                and found is not tensor.device
                and (found.kind, found.name) != (tensor.device.kind, tensor.device.name)
            ):
                return None
        return None if bound.doubt else found

    # The graph

    def record(self, row: Operation, bound: Bound, origin: Origin, requires: int) -> Node:
        """The node of an operation that is recorded, with what it saves of its arguments."""
        sure = requires == YES
        kept = False
        saved: list[Saved] = []
        for what, needs in row.saves:
            certain, possible = self._needed(needs, bound)
            if not possible:
                continue
            kept = kept or certain
            for name, tensor in bound.tensors:
                if name == what:
                    saved.append(Saved(what, tensor, sure and certain))
        frees: bool | None
        if row.saves:
            frees = (
                True
                if kept or (not row.exact_saves and row.frees)
                else None
                if not row.exact_saves
                else (None if any(self._needed(n, bound)[1] for _, n in row.saves) else False)
            )
        else:
            frees = row.frees if row.exact_saves or row.frees else None
        self._check_inference(row, saved, origin)
        edges = _edges([tensor for _, tensor in bound.tensors])
        if _has_unknown_operand(row, bound):
            edges = (*edges, self.unseen(origin))
        given = {key: value_kind(value) for key, value in bound.values.items() if value is not None}
        name = node_name(row.name, row.node, given, [tensor.shape for _, tensor in bound.tensors]) or row.name
        return Node(name, "op" if sure else "maybe", edges, tuple(saved), frees, origin, self.serial())

    def unseen(self, origin: Origin) -> Node:
        """The edge to an operand of which nothing is known: any leaf may lie behind it."""
        return Node("", "opaque", (), (), None, origin, self.serial())

    def _needed(self, needs: tuple[str, ...], bound: Bound) -> tuple[bool, bool]:
        """Whether one of the arguments `needs` certainly, possibly requires grad."""
        if not needs:
            return True, True
        certain = possible = False
        for name, tensor in bound.tensors:
            if name in needs:
                certain = certain or tensor.requires == YES
                possible = possible or bool(tensor.requires & YES)
        return certain, possible or bound.doubt

    def _save_results(self, row: Operation, graph: Node, results: list[Tensor], bound: Bound) -> None:
        extra = []
        for what, needs in row.saves:
            if what.startswith("result"):
                certain, possible = self._needed(needs, bound)
                index = int(what[6:]) if what[6:].isdigit() else 0
                if possible and index < len(results):
                    extra.append(Saved("result", results[index], certain and results[index].requires == YES))
        if extra:
            graph.saved = (*graph.saved, *extra)

    def _check_inference(self, row: Operation, saved: list[Saved], origin: Origin) -> None:
        for entry in saved:
            if entry.sure and entry.tensor.inference is True and not self.modes.inference_mode:
                frame, node = origin.frame, origin.node
                self.refuse(
                    "inference-saved",
                    node,
                    frame,
                    self.seen(entry.tensor, node, frame, "inference"),
                    op=row.name,
                )

    # Writing in place

    def write_in_place(self, row: Operation, bound: Bound, own: Tensor, node: Any, frame: Frame) -> Tensor:
        """An in-place operation: the checks that torch makes, the write, and the new place in the graph."""
        self.check_write(own, bound, node, frame, row.name)
        self.check_cast(row, bound, own, node, frame)
        requires = self.requires_of(row, bound)
        if requires != YES and self.modes.grad_mode is not False:
            requires |= own.requires
        self.rebase(row, bound, own, requires, node, frame)
        return own

    def check_write(
        self, own: Tensor, bound: Bound | None, node: Any, frame: Frame, op: str, whole: bool = True
    ) -> None:
        """What torch refuses to write in place (check_inplace in torch/csrc/autograd/VariableTypeUtils.h).

        `whole` is False where only a part of the tensor is written, which may not overlap itself.
        """
        if (
            whole
            and own.result_of in ("expand", "expand_as", "broadcast_to")
            and own.origin.kind == "computed"
            and _repeats(own)
        ):
            self.refuse("expanded-in-place", node, frame, self.seen(own, node, frame, "shape"), op=op)
        if own.inference is True and self.modes.inference_mode is False and self.modes.grad_mode is not None:
            self.refuse("inference-in-place", node, frame, self.seen(own, node, frame, "inference"), op=op)
        if self.modes.grad_mode is not True:
            return
        needs = own.requires == YES or (
            bound is not None and any(t.requires == YES for _, t in bound.tensors)
        )
        if own.base is not None and own.view_kind and needs:
            key = {
                "multi": "multi-view-in-place",
                "no-grad": "no-grad-view-in-place",
                "function": "function-view-in-place",
            }.get(own.view_kind)
            if key is not None:
                self.refuse(key, node, frame, self.seen(own, node, frame), op=op)
            if (
                own.requires == YES
                and own.base.requires == YES
                and own.base.leaf & NON_LEAF == 0
                and own.base.node is None
            ):
                self.refuse(
                    "leaf-view-in-place",
                    node,
                    frame,
                    self.seen(own, node, frame),
                    (self.seen(own.base, node, frame),),
                    op=op,
                )
        if own.requires == YES and own.leaf & NON_LEAF == 0:
            self.refuse("leaf-in-place", node, frame, self.seen(own, node, frame), op=op)

    def check_cast(self, row: Operation, bound: Bound, own: Tensor, node: Any, frame: Frame) -> None:
        """`int_tensor += float_tensor`: the result cannot be cast back."""
        if row.name not in ("add_", "sub_", "mul_", "div_", "pow_") or own.dtype is None:
            return
        operands: list[tuple[str | None, bool | None, bool]] = [
            (own.dtype, None if own.shape is None else own.shape == (), False)
        ]
        other = bound.values.get("other", bound.values.get("exponent"))
        if type(other) is Tensor:
            operands.append((other.dtype, None if other.shape is None else other.shape == (), False))
        elif type(other) in (int, float, bool):
            operands.append(({int: "int64", float: "float32", bool: "bool"}[type(other)], True, True))
        else:
            return
        result = dtypes.promote(operands, self.modes.default_dtype)
        if (
            row.name == "div_"
            and result is not None
            and dtypes.category(result) in ("integer", "bool")
            and bound.values.get("rounding_mode") is None
        ):
            result = self.modes.default_dtype
        if result is not None and dtypes.can_cast(result, own.dtype) is False:
            self.refuse(
                "result-type-cast",
                node,
                frame,
                self.seen(own, node, frame, "dtype"),
                result=result,
                target=own.dtype,
            )

    def bump(self, own: Tensor, node: Any, frame: Frame, op: str, certain: bool = True) -> None:
        """The storage of `own` has been written: its version goes up."""
        for one in self.kin(own, joined=False):
            self._doubt(one)
            self.may_be_written(one)
        storage = own.storage
        version = storage.version
        put = self.heap.put
        if type(version) is int:
            put(storage, "version", version + 1 if certain else AtLeast(version))
        elif type(version) is AtLeast and certain:
            put(storage, "version", AtLeast(version.number + 1))
        if certain and len(storage.writes) < 64:
            put(storage, "writes", (*storage.writes, self.origin("written", node, frame, (own,), op=op)))

    def rebase(
        self,
        row: Operation,
        bound: Bound,
        own: Tensor,
        requires: int,
        node: Any,
        frame: Frame,
        slices: bool = False,
        op: str = "",
    ) -> None:
        """Make `own` (and the base it views) the result of the in-place operation."""
        parents = tuple(tensor for _, tensor in bound.tensors)
        origin = self.origin("computed", node, frame, parents, op=row.name)
        # Without a history for certain, only that it was written may be said.
        rebased = self.origin(
            "rebased" if requires == YES else "written", node, frame, parents, op=op or row.name
        )
        put = self.heap.put
        if self.modes.grad_mode is False or (row.gradient == "no" and own.requires == NO):
            self.bump(own, node, frame, row.name)
            return
        if not requires & YES or (own.dtype is not None and dtypes.can_require_grad(own.dtype) is False):
            self.bump(own, node, frame, row.name)
            return
        graph = self.record(row, bound, origin, requires)
        # What it keeps of the tensor that it writes is its result, or a copy made before.
        graph.saved = tuple(entry for entry in graph.saved if entry.tensor is not own)
        self.bump(own, node, frame, row.name)
        base = own.base
        name = own.node.name if own.node is not None and own.node.kind == "op" else "CopySlices"
        if not name[-1:].isdigit() and name != "CopySlices":
            graph.name = ""  # a composite may hand out a view, and then another node stands here
        if slices and graph.kind == "op":
            graph.name = "CopySlices"
        if base is not None and own.view_kind:
            edges = tuple(edge for edge in (edge_of(base), graph) if edge is not None)
            written = Node(
                "CopySlices", "op" if requires == YES else "maybe", edges, (), False, origin, self.serial()
            )
            put(base, "node", written)
            put(base, "requires", base.requires | requires if requires != YES else YES)
            put(base, "leaf", NON_LEAF if requires == YES else ANY_LEAF)
            self.note(base, rebased)
            graph = Node("AsStridedBackward0", written.kind, (written,), (), False, origin, self.serial())
        put(own, "node", graph)
        put(own, "requires", YES if requires == YES else own.requires | requires)
        put(own, "leaf", NON_LEAF if requires == YES else ANY_LEAF)
        self.note(own, rebased)
        self._save_results(row, graph, [own], bound)

    # Moves, casts, cuts

    def maybe_same(self, row: Operation, bound: Bound, own: Tensor, node: Any, frame: Frame) -> Any:
        """An operation that gives back the very same tensor under a condition."""
        name = row.name
        if row.same_when == "same-device-and-dtype":
            return self.move(row, bound, own, node, frame)
        if name == "cpu":
            return self.converted(own, own.dtype, CPU, node, frame, name, False)
        if name == "cuda":
            device = device_from(bound.values.get("device")) or Device("other", "cuda")
            return self.converted(
                own,
                own.dtype,
                device if device.kind != "cpu" else Device("other", "cuda"),
                node,
                frame,
                name,
                False,
            )
        if row.same_when == "same-dtype":
            target = row.dtype if dtypes.category(row.dtype) is not None else self.dtype_of(row, bound)
            return self.converted(own, target, own.device, node, frame, name, False)
        same = self._is_same(row, bound, own)
        if same:
            return own
        result = self._computed(row, bound, own, node, frame)
        contiguous = row.otherwise == "maybe-view" and is_contiguous(own)
        if (row.otherwise == "view" or contiguous) and type(result) is Tensor:
            self.make_view(result, own, "ordinary")
        if same is None and type(result) is Tensor:
            return self.join(own, result)
        return result

    def _is_same(self, row: Operation, bound: Bound, own: Tensor) -> bool | None:
        when = row.same_when
        if when == "always":
            return True
        if when == "real":
            return None if own.dtype is None else dtypes.category(own.dtype) != "complex"
        if when == "not-conj":
            return None if own.conj is None else own.conj != "conj"
        if when == "not-neg":
            return None if own.conj is None else own.conj != "neg"
        if when == "not-training":
            training = bound.values.get("training", row.defaults.get("training", True))
            return (not training) if type(training) is bool else None
        if when == "enough-dimensions":
            if own.shape is None:
                return None
            wanted = {"atleast_1d": 1, "atleast_2d": 2, "atleast_3d": 3}.get(row.name)
            return (
                len(own.shape) >= wanted if wanted else len(own.shape) == 1 if row.name == "flatten" else None
            )
        if when == "contiguous":
            return True if is_contiguous(own) else None
        return None

    def move(self, row: Operation, bound: Bound, own: Tensor, node: Any, frame: Frame) -> Any:
        """`.to(...)`, `.type_as(...)`."""
        values = bound.values
        device: Any = own.device
        dtype: str | None = own.dtype
        known_device = known_dtype = True
        other = self.settle(values.get("other"))
        first = self.settle(values.get("device"))
        if type(first) is Tensor or type(other) is Tensor:
            model = first if type(first) is Tensor else other
            device, dtype = model.device, model.dtype
            known_device, known_dtype = device is not None, dtype is not None
        else:
            for value in (first, self.settle(values.get("dtype"))):
                if value is None:
                    continue
                if type(value) is Dtype:
                    dtype, known_dtype = value.name, value.name is not None
                elif device_from(value) is not None:
                    device = device_from(value)
                elif type(value) is Unknown or type(value) is Some or type(value).__name__ == "OneOf":
                    if value is first:
                        known_device = known_dtype = False
                    else:
                        known_dtype = False
                    device, dtype = (None, None) if value is first else (device, None)
        copy = values.get("copy", False)
        return self.converted(
            own,
            dtype if known_dtype else None,
            device if known_device else None,
            node,
            frame,
            row.name,
            copy is True,
        )

    def converted(
        self,
        own: Tensor,
        dtype: str | None,
        device: Device | None,
        node: Any,
        frame: Frame,
        name: str,
        copy: bool,
    ) -> Tensor:
        """`own` as a tensor of `dtype` on `device`: itself where nothing is to be converted.

        None for `dtype` or `device` means: not known what it will be.
        """
        same_dtype = None if dtype is None or own.dtype is None else dtype == own.dtype
        on_cpu, elsewhere = self._stays(own.device, device)
        if not copy and same_dtype and on_cpu and elsewhere:
            return own
        moves_for_sure = copy or same_dtype is False or on_cpu is False
        result = self.new_tensor(
            self.origin(
                "moved" if same_dtype is not False else "cast",
                node,
                frame,
                (own,),
                op=name,
                device=device.told if device else "",
                dtype=dtype or "",
            )
        )
        result.dtype, result.shape, result.device = dtype, own.shape, device
        result.conj, result.result_of = own.conj, name
        result.inference = (
            own.inference
            if not moves_for_sure and own.inference == self.modes.inference_mode
            else (self.modes.inference_mode if moves_for_sure else None)
        )
        if dtype is not None and dtypes.can_require_grad(dtype) is False:
            result.requires, result.leaf = NO, LEAF
            result.steps = (self.origin("integers", node, frame, (own,), op=name, dtype=dtype),)
            return result
        recorded = (
            own.requires
            if self.modes.grad_mode
            else (NO if self.modes.grad_mode is False else own.requires | NO)
        )
        computed = LEAF if recorded == NO else NON_LEAF if recorded == YES else ANY_LEAF
        if moves_for_sure:
            result.requires, result.leaf, result.parameter = recorded, computed, False
        elif same_dtype and on_cpu and elsewhere is False:
            result.requires = own.requires if recorded == own.requires else own.requires | recorded
            result.leaf = own.leaf & (LEAF_ON_CPU | 2) | computed & (4 | NON_LEAF_ELSEWHERE)
            result.parameter = "cpu" if own.parameter is True else own.parameter
            result.same_on_cpu = own
            result.storage = own.storage
            result.grad, result.retains = own.grad, own.retains
            result.base, result.view_kind = own.base, own.view_kind
        else:
            result.requires = own.requires | recorded
            result.leaf = own.leaf | computed
            result.parameter = False if own.parameter is False else None
            result.grad = UNKNOWN
        if result.requires & YES and recorded & YES:
            kind = "op" if moves_for_sure else "join"
            edges = _edges([own])
            if not moves_for_sure and own.node is None and own.requires == YES:
                kind = "op"
            result.node = Node("ToCopyBackward0", kind, edges, (), False, result.origin, self.serial())
        return result

    def _stays(self, old: Device | None, new: Device | None) -> tuple[bool | None, bool | None]:
        """Whether a tensor on `old` is already on `new`: where the device is the CPU, and elsewhere."""
        if new is None or old is None:
            return None, None
        if (
            old is new
            or old.kind == new.kind == "cpu"
            or ((old.kind, old.name) == (new.kind, new.name) and old.kind not in ("symbol", "unknown"))
        ):
            return True, True
        kinds = {old.kind, new.kind}
        if kinds == {"cpu", "other"}:
            return False, False
        if kinds in ({"cpu", "chosen"}, {"cpu", "symbol"}):
            return True, False
        if kinds <= {"other", "chosen"}:
            return True, True
        return None, None

    def detached(self, own: Tensor, node: Any, frame: Frame, op: str) -> Tensor:
        """`detach()` and `.data`: the same memory, no history."""
        result = self.new_tensor(self.origin("detached", node, frame, (own,), op=op))
        result.requires, result.leaf = NO, LEAF
        result.dtype, result.device, result.shape, result.conj = own.dtype, own.device, own.shape, own.conj
        result.inference = own.inference
        if op == "data":
            result.storage = Storage(
                own.storage.memory
            )  # its version counter is its own: a write through it is not seen
        else:
            result.storage = own.storage
        result.result_of = op
        return result

    def cut(self, own: Tensor, node: Any, frame: Frame) -> Tensor:
        """`detach_()`: history taken from the tensor itself; a view refuses."""
        if own.base is not None and own.view_kind == "ordinary":
            self.refuse("detach-view-in-place", node, frame, self.seen(own, node, frame))
        self.doubt_kin(own)
        put = self.heap.put
        put(own, "requires", NO)
        put(own, "leaf", LEAF)
        put(own, "node", None)
        self.note(own, self.origin("detached", node, frame, op="detach_"))
        return own

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
            (name, None if _may_be_empty(t) else t.dtype, None if t.shape is None else len(t.shape))
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


def _may_be_empty(tensor: Tensor) -> bool:
    """Whether a tensor may hold nothing: an index of no elements is taken whatever its dtype."""
    return tensor.shape is not None and 0 in tensor.shape


_PRODUCTS = frozenset(("nn.functional.linear", "linear", "matmul", "matmul.folded", "mm", "bmm"))

_MIRROR = {
    "__eq__": "__eq__",
    "__ne__": "__ne__",
    "__lt__": "__gt__",
    "__gt__": "__lt__",
    "__le__": "__ge__",
    "__ge__": "__le__",
}


def _edges(tensors: list[Tensor]) -> tuple[Any, ...]:
    found: list[Any] = []
    for tensor in tensors:
        edge = edge_of(tensor)
        if edge is not None and edge not in found:
            found.append(edge)
    return tuple(found)


def _repeats(tensor: Tensor) -> bool:
    """Whether an expanded view certainly has several elements at one place of memory."""
    base = tensor.base
    if (
        base is None
        or tensor.shape is None
        or base.shape is None
        or None in tensor.shape
        or None in base.shape
    ):
        return False
    number, held = 1, 1
    for size in tensor.shape:
        number *= size or 0
    for size in base.shape:
        held *= size or 0
    return number > held > 0


def is_contiguous(tensor: Tensor) -> bool:
    """Whether a tensor is certainly contiguous: made by a factory and never viewed otherwise."""
    return (
        tensor.base is None
        and tensor.origin.kind in ("created", "created-no-grad", "parameter", "module-parameter")
        and tensor.shape is not None
    )


def value_kind(value: Any) -> str:
    """How the laws tell an argument's value apart when they choose an overload."""
    kind = type(value)
    if kind is Tensor:
        if value.shape is None:
            return "tensor"
        return "matrix" if len(value.shape) <= 2 else "batch"
    if kind is bool:
        return "true" if value else "false"
    if kind is int and value == 1:
        return "one"
    if kind in (int, float) or (kind is Some and value.type in ("int", "float", "number")):
        return "number"
    if kind is Dtype:
        return "dtype"
    if kind is str:
        return "text"
    if value is Ellipsis or kind.__name__ == "SliceValue":
        return "basic"
    if kind is Sequence:
        ones = value.items and all(type(one) is int and one == 1 for one in value.items)
        if ones and value.kind == "tuple" and value.rest is MISSING:
            return "ones"
        if value.kind == "list" or any(type(one) is Tensor or type(one) is Sequence for one in value.items):
            return "advanced"
        return "basic" if value.rest is MISSING else "value"
    return "value"


def plain_value(value: Any) -> Any:
    """An argument as the laws take it: numbers, strings, tuples of them, dtypes by name; else UNKNOWN."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is Dtype:
        return value.name if value.name is not None else UNKNOWN
    if kind is Sequence:
        if value.rest is not MISSING:
            return UNKNOWN
        return tuple(plain_size(item) for item in value.items)
    if kind is Range and value.length is not None and value.length < 16:
        return tuple(range(value.start, value.stop, value.step))
    return UNKNOWN


def plain_size(value: Any) -> Any:
    """A size: an int, or None where it is some int; nested sequences as tuples."""
    kind = type(value)
    if kind is int:
        return value
    if kind is Some or kind is Unknown:
        return None
    return plain_value(value)


def device_from(value: Any) -> Device | None:
    """The device that a value names, or None when it names none."""
    if type(value) is Device:
        return value
    if type(value) is str:
        head = value.partition(":")[0]
        if head == "cpu":
            return CPU
        if head.isidentifier() and head not in ("float", "double", "half"):
            return Device("other", value)
    if type(value) is int and type(value) is not bool:
        return Device("other", f"cuda:{value}")
    return None


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


def _shape_of_view(name: str, plain: dict[str, Any], shape: Shape, number: int | None) -> Shape:
    """The shape of each of several views, where they are all alike."""
    dim = plain.get("dim", 0)
    if shape is None or type(dim) is not int or not -len(shape) <= dim < len(shape):
        return None
    dim %= len(shape)
    if name == "unbind":
        return (*shape[:dim], *shape[dim + 1 :])
    if name not in ("chunk", "split"):
        return None
    size, part = shape[dim], None
    if name == "chunk" and number and size is not None and size % number == 0:
        part = size // number
    each = plain.get("split_size_or_sections")
    if name == "split" and type(each) is int and size is not None and each > 0 and size % each == 0:
        part = each
    return (*shape[:dim], part, *shape[dim + 1 :])


def _has_unknown_operand(row: Operation, bound: Bound) -> bool:
    """Whether what stands where a tensor may stand is not known to be one or none."""
    for marked in row.tensors:
        value = bound.values.get(marked.rstrip("*"))
        parts = (*value.items, value.rest) if type(value) is Sequence else (value,)
        if any(part is not MISSING and may_be_tensor(part) for part in parts):
            return True
    return False


_MOST_VIEWS = 32
"""More results of one split are not followed one by one."""


def _number_of_views(name: str, plain: dict[str, Any], shape: Shape, operands: int) -> int | None:
    if name == "chunk":
        number, dim = plain.get("chunks"), plain.get("dim", 0)
        size = (
            shape[dim] if shape is not None and type(dim) is int and -len(shape) <= dim < len(shape) else None
        )
        if type(number) is int and 0 < number <= _MOST_VIEWS:
            return number if size is None or size % number == 0 else None
    if name in ("split", "tensor_split"):
        sizes = plain.get("split_size_or_sections")
        if type(sizes) is tuple:
            return len(sizes)
        dim = plain.get("dim", 0)
        if (
            type(sizes) is int
            and sizes > 0
            and shape is not None
            and type(dim) is int
            and -len(shape) <= dim < len(shape)
            and shape[dim] is not None
        ):
            number = -(-shape[dim] // sizes)
            return number if number <= _MOST_VIEWS else None
    if name == "unbind":
        dim = plain.get("dim", 0)
        if (
            shape is not None
            and type(dim) is int
            and -len(shape) <= dim < len(shape)
            and shape[dim] is not None
            and shape[dim] <= _MOST_VIEWS
        ):
            return int(shape[dim])
    if name in ("meshgrid", "broadcast_tensors"):
        return operands or None
    return None
