"""Moves, casts and cuts: whether the same tensor comes back, and whether its history goes along."""

from __future__ import annotations

from typing import Any

from gradtrail.interp.frames import Frame
from gradtrail.interp.operands import (
    Bound,
    device_from,
    is_contiguous,
)
from gradtrail.interp.results import edges_of
from gradtrail.interp.values import (
    ANY_LEAF,
    CPU,
    LEAF,
    LEAF_ON_CPU,
    NO,
    NON_LEAF,
    NON_LEAF_ELSEWHERE,
    UNKNOWN,
    YES,
    Device,
    Dtype,
    Node,
    Some,
    Storage,
    Tensor,
    Unknown,
)
from gradtrail.interp.writes import Writes
from gradtrail.laws import dtypes
from gradtrail.laws.operations import Operation


class Moves(Writes):
    """Moves and casts that may hand back the same tensor; detached tensors."""

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
        result = self.computed(row, bound, own, node, frame)
        if type(result) is Tensor and row.otherwise in ("view", "maybe-view"):
            if row.otherwise == "view" or is_contiguous(own):
                self.make_view(result, own, "ordinary")
            else:
                self.make_maybe_view(result, own)
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
            self.note_cut(result.origin, (own,))
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
            edges = edges_of([own])
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
        self.note_cut(result.origin, (own,))
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
        """`detach_()`: history taken from the tensor itself; a view refuses. In inference mode it does nothing."""
        if self.modes.inference_mode:
            return own
        if own.base is not None and own.view_kind == "ordinary":
            self.refuse("detach-view-in-place", node, frame, self.seen(own, node, frame))
        self.doubt_kin(own)
        put = self.heap.put
        put(own, "requires", NO)
        put(own, "leaf", LEAF)
        put(own, "node", None)
        self.note(own, self.origin("detached", node, frame, op="detach_"))
        return own
