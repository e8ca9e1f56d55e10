"""Parameters that stand for others: copies that share memory, and copies that follow what they were made from."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from gradtrail.interp.estimators import Estimators, ancestors
from gradtrail.interp.frames import Frame
from gradtrail.interp.graph import Pass
from gradtrail.interp.values import MISSING, YES, Instance, Mapping, OneOf, Origin, Tensor

if TYPE_CHECKING:
    from gradtrail.source.place import Place

_NEAR = 12
"""Tensors behind a value that are looked at for parameters it is mixed of."""


class _Follower(NamedTuple):
    """A parameter into which a share of others is mixed, which it is to follow; `at` is the last such write."""

    tensor: Tensor
    leaders: frozenset[Tensor]
    at: Origin


class Copies(Estimators):
    """Compares the memory of what is copied, and watches what follows something else."""

    def note_share(self, own: Tensor, value: Tensor, origin: Origin) -> None:
        """`own.data = value`: from now on both are the same memory."""
        if own.parameter is True and not own.many and not own.either and not value.either:
            node, frame = origin.node, origin.frame
            names = (self.seen(own, node, frame), self.name_of(value, node, frame))
            self.heap.put(own, "shares", (value.storage.memory, origin, *names))
            self.sharers[own.serial] = own

    def note_mix(self, own: Tensor, values: tuple[Tensor, ...], whole: bool, node: Any, frame: Frame) -> None:
        """Something made of `values` is written into `own`; with `whole`, in the place of all that was there."""
        target = self._parameter_of(own)
        if target is None or target.many or target.either:
            return
        sources = [one for value in values for one in ancestors(value, _NEAR)]
        found = {known for one in sources if (known := self._parameter_of(one)) is not None}
        leaders = frozenset(one for one in found if one is not target)
        if leaders and (not whole or target in found):
            at = self.origin("mixed", node, frame)
            self.followers[target.serial] = _Follower(target, leaders, at)

    def _parameter_of(self, tensor: Tensor) -> Tensor | None:
        """The parameter whose memory `tensor` is."""
        if tensor.parameter is True:
            return tensor
        if tensor.origin.kind == "detached" and tensor.origin.parents:
            parent = tensor.origin.parents[0]
            return parent if parent.parameter is True else None
        return None

    def hear_backward(self, passed: Pass) -> None:
        """At a backward: where the gradient comes to followers."""
        super().hear_backward(passed)
        leaves = passed.reach.leaves
        reached = {one for one, sure in leaves.items() if sure and one.serial in self.followers}
        if not reached:
            return
        for root in passed.roots:
            for one in ancestors(root):
                for parent in one.origin.parents:
                    if parent in reached:
                        self.followers_used.setdefault(parent.serial, one.origin)

    def hear_step(self, instance: Instance, held: list[Tensor], node: Any, frame: Frame) -> None:
        """At a step of an optimizer: followers that it moves, and parameters that move with what it moves."""
        self._tell_shared(held, frame)
        name = (instance.library or "").rpartition(".")[2]
        for tensor in held:
            follower, used = self.followers.get(tensor.serial), self.followers_used.get(tensor.serial)
            if follower is None or used is None or type(tensor.grad) is not Tensor or tensor.requires != YES:
                continue
            led = [one for one in follower.leaders if one.serial in self.reached]
            if led and not self._is_mutual(follower):
                where = used.frame or frame
                self.tell("follower-trained", used.node, where, self.seen(tensor, used.node, where),
                          certainty="wrong", trail=self.steps_of([follower.at], frame), optimizer=name,
                          call=self._own_call(used.node, where, tensor, follower.leaders))  # fmt: skip
                return

    def _own_call(self, node: Any, frame: Frame, tensor: Tensor, leaders: frozenset[Tensor]) -> Place:
        """Where the module that holds `tensor`, and nothing of what it follows, is called from outside."""
        place = self.place(node, frame)
        here: Frame | None = frame
        while here is not None and here.caller is not None and type(here.receiver) is Instance:
            held = [one for _, one in self.parameters_of(here.receiver)[0]]
            if tensor not in held or any(one in held for one in leaders):
                break
            place, here = self.place(here.call, here.caller), here.caller
        return place

    def _is_mutual(self, follower: _Follower) -> bool:
        return any(
            follower.tensor in known.leaders
            for one in follower.leaders
            if (known := self.followers.get(one.serial)) is not None
        )

    def _tell_shared(self, held: list[Tensor], frame: Frame) -> None:
        """Parameters that no optimizer holds and that share the memory of one that a step has moved."""
        for tensor in self.sharers.values():
            if tensor.shares is None or tensor.serial in self.optimized:
                continue
            memory, origin, seen, source = tensor.shares
            moved = next((one for one in held if one.storage.memory is memory), None)
            if moved is None or moved is tensor:
                continue
            if tensor.serial in self.taken_for_roots and moved.serial in self.taken_for_roots:
                where = origin.frame or frame
                self.tell("data-shared", origin.node, where, seen, certainty="wrong", source=source)

    def tell_own_state(self, module: Instance, given: Any, node: Any, frame: Frame) -> None:
        """`load_state_dict` of what shares the module's own memory and was asked for before it was written."""
        ways = given.values if type(given) is OneOf else (given,)
        ways = tuple(one for one in ways if one is not None)
        if not ways or not all(type(one) is Mapping and one.rest is MISSING for one in ways):
            return
        own = dict(self.parameters_of(module)[0])
        found: list[Tensor] = []
        for way in ways:
            for name, tensor in own.items():
                kept = way.entries.get(name)
                if type(kept) is not Tensor or not _is_own(kept, tensor):
                    return
                found.extend(kept.either or (kept,))
        written = [
            write
            for kept in found
            for write in kept.storage.writes
            if write.serial > kept.origin.serial and write.node is not node
        ]
        if written or _other_name(node):
            self.tell("state-loaded-into-itself", node, frame, self.seen(found[0], node, frame), certainty="wrong",
                      trail=self.steps_of(written[:1], frame), module=self._called_on(module, node, frame),
                      other=_other_name(node),
                      taken=tuple(dict.fromkeys(self.place(one.origin.node, one.origin.frame or frame) for one in found)))  # fmt: skip

    def _called_on(self, module: Instance, node: Any, frame: Frame) -> str:
        own = getattr(node, "func", None)
        return self._source(own.value, frame) if type(own) is ast.Attribute else self.name_of_object(module)


def _is_own(kept: Tensor, tensor: Tensor) -> bool:
    """Whether all that a joined value may be is the memory of `tensor`."""
    if kept.either:
        return all(_is_own(one, tensor) for one in kept.either)
    return kept.storage.memory is tensor.storage.memory and kept.origin.kind == "detached"


def _other_name(node: Any) -> str:
    """Of `target.load_state_dict(online.state_dict())` the other name of what is one module; else ""."""
    given = node.args[0] if getattr(node, "args", None) else None
    asked = given.func if type(given) is ast.Call else None
    own = getattr(node, "func", None)
    if type(asked) is not ast.Attribute or asked.attr != "state_dict" or type(own) is not ast.Attribute:
        return ""
    return "" if ast.dump(asked.value) == ast.dump(own.value) else ast.unparse(asked.value)
