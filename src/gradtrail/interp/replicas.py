"""Modules that DistributedDataParallel wraps, called past the wrapper."""

from __future__ import annotations

from typing import Any

from gradtrail.interp.estimators import ancestors
from gradtrail.interp.frames import Frame
from gradtrail.interp.graph import Pass
from gradtrail.interp.keeping import Keeping
from gradtrail.interp.values import MISSING, Instance, Mapping, Origin, Sequence, Tensor


class Replicas(Keeping):
    """Knows of each wrapper whether the gradients came through it: only then are they averaged over the ranks."""

    def note_forward(self, wrapper: Instance, result: Any) -> None:
        """A wrapper's forward has given `result`."""
        found, sure = _tensors_in(result)
        self.through_wrapper.setdefault(wrapper.serial, set()).update(one.serial for one in found)
        if not sure:
            self.wrappers.pop(wrapper.serial, None)  # what comes out of it cannot be followed

    def hear_backward(self, passed: Pass) -> None:
        """At a backward: wrapped modules that it reaches, though nothing went through their wrappers."""
        super().hear_backward(passed)
        for wrapper in self.wrappers.values():
            module = wrapper.attributes.get("module")
            inside = [one for _, one in self.parameters_of(module)[0]] if type(module) is Instance else []
            reached = [one for one in inside if passed.reach.leaves.get(one) is True]
            if not reached or wrapper.opened:
                continue
            through = self.through_wrapper.get(wrapper.serial, set())
            entered = any(one.serial in through for root in passed.roots for one in ancestors(root))
            self.heap.put(wrapper.state, "past", None if entered else self._used_at(passed, reached[0]))

    def _used_at(self, passed: Pass, tensor: Tensor) -> tuple[Origin, Frame] | None:
        """The call in the frame of the backward by which a parameter came into its graph, and its frame."""
        for root in passed.roots:
            for one in ancestors(root):
                if tensor in one.origin.parents:
                    inner: Frame | None = one.origin.frame
                    if inner is passed.frame:
                        return one.origin, passed.frame
                    while inner is not None and inner.caller is not passed.frame:
                        inner = inner.caller
                    if inner is not None and hasattr(inner.call, "lineno"):
                        return self.origin("call-of-nameless", inner.call, passed.frame), passed.frame
        return None

    def hear_step(self, instance: Instance, held: list[Tensor], node: Any, frame: Frame) -> None:
        """At a step: parameters of a wrapped module whose gradients are this rank's own."""
        super().hear_step(instance, held, node, frame)
        for wrapper in self.wrappers.values():
            past = wrapper.state.get("past")
            module = wrapper.attributes.get("module")
            if not isinstance(past, tuple) or type(module) is not Instance:
                continue
            inside = [one for _, one in self.parameters_of(module)[0]]
            if any(one in held and type(one.grad) is Tensor for one in inside):
                self.tell("ddp-bypassed", past[0].node, past[1], None, certainty="wrong", trail=self.steps_of([wrapper.origin], frame),
                          wrapper=self.name_of_object(wrapper))  # fmt: skip


def _tensors_in(value: Any) -> tuple[list[Tensor], bool]:
    """The tensors of a result, and whether these are all."""
    if type(value) is Tensor:
        return [value], True
    if type(value) is Sequence and value.rest is MISSING:
        parts = [_tensors_in(one) for one in value.items]
    elif type(value) is Mapping and value.rest is MISSING:
        parts = [_tensors_in(one) for one in value.entries.values()]
    else:
        return [], value is None or type(value) in (int, float, bool, str)
    return [one for found, _ in parts for one in found], all(sure for _, sure in parts)
