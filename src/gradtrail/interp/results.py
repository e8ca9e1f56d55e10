"""What an operation gives: the facts of its results, and the node of the graph with what it saves."""

from __future__ import annotations

from typing import Any

from gradtrail.interp.calls import Calls
from gradtrail.interp.frames import Frame
from gradtrail.interp.operands import (
    Bound,
    Shape,
    is_contiguous,
    plain_value,
    value_kind,
)
from gradtrail.interp.values import (
    ANY_LEAF,
    LEAF,
    MAYBE,
    MISSING,
    NO,
    NON_LEAF,
    UNKNOWN,
    YES,
    Device,
    Dtype,
    Node,
    Origin,
    Saved,
    Sequence,
    Some,
    Tensor,
    Unknown,
    edge_of,
    may_be_tensor,
)
from gradtrail.laws import dtypes, shapes
from gradtrail.laws.node_names import node_name
from gradtrail.laws.operations import Operation, is_loss

_MOST_VIEWS = 32
"""More results of one split are not followed one by one."""


class Results(Calls):
    """Facts of results, and the nodes that record them."""

    def requires_of(self, row: Operation, bound: Bound) -> int:
        """Whether a fresh result requires grad: a set of answers as bits."""
        if row.gradient == "no" or self.modes.grad_mode is False or self.modes.inference_mode:
            return NO
        answer = NO
        for _, tensor in bound.tensors:
            if tensor.requires == YES and tensor.inference is not True:
                answer = YES
                break
            if tensor.requires & YES:
                answer = MAYBE  # an inference tensor with the flag: what records it differs by operation
        else:
            if bound.doubt:
                answer = MAYBE
        if answer == YES and (self.modes.grad_mode is None or self.modes.inference_mode is None):
            return MAYBE
        return answer

    def computed(self, row: Operation, bound: Bound, own: Tensor, node: Any, frame: Frame) -> Any:
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
                self.make_maybe_view(result, own)
            results.append(result)
        if graph is not None and is_loss(row.name):
            self.note_loss(results[0], node, frame)
        if graph is not None:
            graph.results = tuple(results)
            self.save_results(row, graph, results, bound)
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
        origin = self.origin(kind, node, frame, parents, op=row.name, dtype=dtype)
        if kind != "computed":
            self.note_cut(origin, parents)
        return origin

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
        if self.modes.inference_mode or own.inference:
            result.inference = own.inference
        if self.modes.grad_mode is False or self.modes.inference_mode or own.inference:
            result.requires = NO if own.inference else own.requires
            result.leaf = LEAF
            result.node = None
            result.view_kind = (
                "inference" if self.modes.inference_mode else "no-grad" if kind == "ordinary" else kind
            )
        elif self.modes.grad_mode is None:
            result.requires, result.leaf = own.requires | result.requires, ANY_LEAF

    def make_maybe_view(self, result: Tensor, own: Tensor) -> None:
        """`result` shares the memory of `own` or is a copy; only as a view does it require grad without recording."""
        self.may_be_written(own)
        self.may_be_written(result)
        if self.modes.grad_mode is False or self.modes.inference_mode:
            result.requires |= own.requires

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
        edges = edges_of([tensor for _, tensor in bound.tensors])
        if has_unknown_operand(row, bound):
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

    def save_results(self, row: Operation, graph: Node, results: list[Tensor], bound: Bound) -> None:
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


def edges_of(tensors: list[Tensor]) -> tuple[Any, ...]:
    found: list[Any] = []
    for tensor in tensors:
        edge = edge_of(tensor)
        if edge is not None and edge not in found:
            found.append(edge)
    return tuple(found)


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


def has_unknown_operand(row: Operation, bound: Bound) -> bool:
    """Whether what stands where a tensor may stand is not known to be one or none."""
    for marked in row.tensors:
        value = bound.values.get(marked.rstrip("*"))
        parts = (*value.items, value.rest) if type(value) is Sequence else (value,)
        if any(part is not MISSING and may_be_tensor(part) for part in parts):
            return True
    return False


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
