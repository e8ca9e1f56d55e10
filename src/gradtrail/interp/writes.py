"""Writes in place: what torch refuses, what it counts, and what becomes of the graph."""

from __future__ import annotations

from typing import Any

from gradtrail.interp.frames import Frame
from gradtrail.interp.operands import (
    Bound,
)
from gradtrail.interp.results import Results
from gradtrail.interp.values import (
    ANY_LEAF,
    MAYBE,
    NO,
    NON_LEAF,
    YES,
    AtLeast,
    Node,
    Tensor,
    edge_of,
)
from gradtrail.laws import dtypes
from gradtrail.laws.operations import Operation


class Writes(Results):
    """Checks of writes, their version counts, and the history that a written tensor has."""

    def write_in_place(self, row: Operation, bound: Bound, own: Tensor, node: Any, frame: Frame) -> Tensor:
        """An in-place operation: the checks that torch makes, the write, and the new place in the graph."""
        self.check_write(own, bound, node, frame, row.name)
        self.check_cast(row, bound, own, node, frame)
        others = tuple(tensor for _, tensor in bound.tensors if tensor is not own)
        if others:
            self.note_mix(own, others, row.name == "copy_", node, frame)
        if self.modes.inference_mode is True:  # whatever grad mode says, nothing is recorded
            self.bump(own, node, frame, row.name)
            return own
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
            and op not in ("zero_", "fill_", "masked_fill_")
            and own.result_of in ("expand", "expand_as", "broadcast_to")
            and own.origin.kind == "computed"
            and _repeats(own)
            and not (op == "copy_" and _gives_itself(own, bound))
        ):
            self.refuse("expanded-in-place", node, frame, self.seen(own, node, frame, "shape"), op=op)
        if own.inference is True and self.modes.inference_mode is False and self.modes.grad_mode is not None:
            self.refuse("inference-in-place", node, frame, self.seen(own, node, frame, "inference"), op=op)
        if self.modes.grad_mode is not True or self.modes.inference_mode is not False:
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
        if self.modes.grad_mode is None and own.requires == YES and own.leaf & NON_LEAF == 0:
            self.bump(own, node, frame, row.name, certain=False)  # with grad mode on a leaf is not written
            return
        # A leaf of which nobody knows whether it requires grad: the refusal would be caught, and nothing written.
        certain = not (frame.guarded and own.requires == MAYBE and own.node is None)
        if self.modes.grad_mode is False or (row.gradient == "no" and own.requires == NO):
            self.bump(own, node, frame, row.name)
            return
        if not requires & YES or (own.dtype is not None and dtypes.can_require_grad(own.dtype) is False):
            self.bump(own, node, frame, row.name, certain)
            return
        graph = self.record(row, bound, origin, requires)
        # What it keeps of the tensor that it writes is its result, or a copy made before.
        graph.saved = tuple(entry for entry in graph.saved if entry.tensor is not own)
        self.bump(own, node, frame, row.name, certain)
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
        self.save_results(row, graph, [own], bound)


def may_be_empty(tensor: Tensor) -> bool:
    """Whether a tensor may hold nothing: an index of no elements is taken whatever its dtype."""
    return tensor.shape is not None and 0 in tensor.shape


def _gives_itself(own: Tensor, bound: Bound | None) -> bool:
    """Whether what is written may be what stands there: torch finishes such a `copy_` before it looks."""
    return bound is not None and sum(tensor.storage is own.storage for _, tensor in bound.tensors) > 1


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
