"""Graphs that live longer than anyone uses them: kept in lists, grown from round to round, retained, never used."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtrail.interp.copies import Copies
from gradtrail.interp.estimators import ancestors
from gradtrail.interp.frames import Frame
from gradtrail.interp.graph import Pass, reach
from gradtrail.interp.values import LEAF, YES, Instance, Node, Origin, Sequence, Tensor

_MOST_KEPT = 6
"""Tensors of one place that are kept in mind: those of the first rounds."""


class _Kept(NamedTuple):
    """A tensor that was put into a list."""

    tensor: Tensor
    container: Any
    at: Origin


class Keeping(Copies):
    """Follows graphs from round to round."""

    # Lists

    def note_kept(self, tensor: Tensor, container: Any, origin: Origin, frame: Frame) -> None:
        """A tensor is put into a list that is older than all the loops that are running."""
        begun = first_loop(frame)
        made = getattr(container, "origin", None)
        if begun is None or made is None or tensor.requires != YES or tensor.leaf & LEAF or tensor.many:
            return
        if self.calls_open and made.serial > self.call_began:
            return  # a layer's own list of intermediate results, which is gone when the call is over
        if made.serial > begun or self.modes.inference_mode:
            return
        known = self.kept.setdefault((id(origin.node), id(container)), [])
        if len(known) < _MOST_KEPT:
            known.append(_Kept(tensor, container, origin))

    def tell_kept(self, frame: Frame) -> None:
        """Tensors that loops have put into lists with their graphs, and that no backward has taken from there."""
        if not self._follows_all():
            return
        places: dict[int, list[list[_Kept]]] = {}
        for (place, _), kept in self.kept.items():
            places.setdefault(place, []).append(kept)
        for lists in places.values():
            if all(map(self._is_of_no_use, lists)):
                kept = lists[0]
                tensor, _, origin = kept[-1]
                where = origin.frame or frame
                self.tell(
                    "graph-kept",
                    origin.node,
                    where,
                    self.seen(tensor, origin.node, where),
                    certainty="wasteful",
                )

    def _is_of_no_use(self, kept: list[_Kept]) -> bool:
        """Whether no backward has gone through what was put into lists at one place since it stands there.

        A backward of the round in which it was put there went another way, if the tensor still stood there in
        the next.
        """
        for number, (tensor, container, at) in enumerate(kept):
            used = max(
                self.taken_for_roots.get(tensor.serial, 0), self.taken_for_numbers.get(tensor.serial, 0)
            )
            until = at.serial
            if (
                number + 1 < len(kept)
                and kept[number + 1].container is container
                and _holds(container, tensor)
            ):
                until = kept[number + 1].at.serial
            elif number and used >= until and _holds(container, tensor):
                continue  # of the last one that is known it cannot be told
            if used >= until:
                return False
        return True

    def _follows_all(self) -> bool:
        return bool(self.steppers) and not (self.unseen_backward or self.roots_cut_off or self.limits_told)

    # Sums

    def note_growing(self, tensor: Tensor, started: int, begun: int) -> None:
        """A value at the end of a round that `begun` in a loop that `started`: does it hold earlier rounds' graphs?"""
        trains = started < self.last_backward  # else the rounds are layers, or steps of one computation
        if not trains or tensor.requires != YES or tensor.many or tensor.node is None:
            return
        behind = [node.serial for node, sure in reach([tensor.node]).nodes.items() if sure]
        if any(started < one < begun for one in behind) and any(one > begun for one in behind):
            known = self.growing.setdefault(id(tensor.steps[-1].node), [])
            known.append(tensor)
            del known[1:-_MOST_KEPT]

    def tell_growing(self, frame: Frame) -> None:
        """Values that have grown from round to round, and that no backward has come by."""
        if not self._follows_all():
            return
        for known in self.growing.values():
            if any(one.serial in self.taken_for_roots for one in known):
                continue
            tensor = known[-1]
            origin = tensor.steps[-1]
            where = origin.frame or frame
            self.tell(
                "graph-grows", origin.node, where, self.seen(tensor, origin.node, where), certainty="wasteful"
            )

    # Backward passes that retain the graph

    def hear_backward(self, passed: Pass) -> None:
        """At a backward: what it walks that an earlier round's has walked already."""
        super().hear_backward(passed)
        self.last_backward = self.count
        if passed.retain is not True or passed.create is not False or not passed.accumulate:
            return
        begun = last_loop(passed.frame)
        newest = max((root.node.serial for root in passed.roots if root.node is not None), default=0)
        again: Node | None = None
        for node, sure in passed.reach.nodes.items():
            if not sure or node.kind != "op":
                continue
            place, time = self.retained.get(node, (None, 0))
            if place is passed.node and begun is not None and begun < node.serial and time < newest:
                again = node if again is None or node.serial > again.serial else again
            self.retained.setdefault(node, (passed.node, self.count))
        if again is not None:
            root = passed.roots[0]
            self.tell("graph-walked-again", passed.node, passed.frame, self.seen(root, passed.node, passed.frame),
                      certainty="wasteful", trail=self.steps_of([again.origin], passed.frame),
                      tuples=tuple(name for name, value in passed.frame.names.items() if type(value) is Sequence))  # fmt: skip

    # Forwards

    def note_called(self, module: Instance, result: Any, node: Any, frame: Frame) -> None:
        """A module that no other one has called has given `result`; in loops it is kept in mind."""
        if self.modes.grad_mode is not True or first_loop(frame) is None:
            return
        values = result.items if type(result) is Sequence else (result,)
        tensors = [
            one for one in values if type(one) is Tensor and one.requires == YES and one.node is not None
        ]
        if tensors and module.attributes.get("training") is False:
            self.evaluated.setdefault(id(node), []).append((module, tensors, node, frame))
        elif module.attributes.get("training") is True:
            self.forwards.update((one.serial, module) for one in tensors)

    def note_loss(self, tensor: Tensor, node: Any, frame: Frame) -> None:
        """A loss function has given `tensor`."""
        if self.modes.grad_mode is True and tensor.requires == YES and first_loop(frame) is not None:
            known = self.losses.setdefault(id(node), [])
            known.append((tensor, node, frame))
            self.loops_of_losses.setdefault(id(node), set()).add(_body(frame))
            del known[1:-_MOST_KEPT]  # the last rounds may do otherwise than the first

    def hear_step(self, instance: Instance, held: list[Tensor], node: Any, frame: Frame) -> None:
        """At a step: the loop that it is made in is one that trains."""
        super().hear_step(instance, held, node, frame)
        self.loops_of_steps.add(_body(frame))

    def tell_unused_losses(self, frame: Frame) -> None:
        """Losses that no backward has come by, of what a module that is trained has given for them alone."""
        if not self._follows_all():
            return
        told: set[int] = set()
        for place, known in self.losses.items():
            if any(tensor.serial in self.taken_for_roots for tensor, _, _ in known):
                continue
            if not self.loops_of_losses[place] <= self.loops_of_steps:
                continue  # of a loop in which nothing is trained it is a measure
            tensor, node, where = known[-1]
            for one in ancestors(tensor):
                module = self.forwards.get(one.serial)
                if module is None or module.serial in told or one.serial in self.taken_for_roots:
                    continue
                inside = [each for _, each in self.parameters_of(module)[0]]
                if inside and all(
                    each.serial in self.reached and each.serial in self.moved for each in inside
                ):
                    told.add(module.serial)
                    self.tell("loss-unused", node, where, self.seen(tensor, node, where), certainty="wasteful",
                              trail=self.steps_of([one.origin], where), module=self.name_of_object(module))  # fmt: skip

    def tell_evaluated(self, frame: Frame) -> None:
        """Results of evaluation that have a graph which no backward has come by."""
        if not self._follows_all():
            return
        for calls in self.evaluated.values():
            used = any(one.serial in self.taken_for_roots for _, tensors, _, _ in calls for one in tensors)
            module, tensors, node, where = calls[0]
            trained = any(one.serial in self.reached for _, one in self.parameters_of(module)[0])
            if trained and not used:
                mode = module.state.get("mode")
                trail = self.steps_of([mode], where) if isinstance(mode, Origin) else ()
                self.tell("evaluation-recorded", node, where, self.seen(tensors[0], node, where),
                          certainty="wasteful", trail=trail, module=self.name_of_object(module))  # fmt: skip


def _holds(container: Any, tensor: Tensor) -> bool:
    """Whether a list still has a tensor in it."""
    if type(container) is not Sequence:
        return False
    return any(
        one is tensor or (type(one) is Tensor and tensor in one.either)
        for one in (*container.items, container.rest)
    )


def _body(frame: Frame) -> int:
    """Which loop of the program is the innermost that is running; 0 for none."""
    here: Frame | None = frame
    while here is not None:
        if here.loops:
            return id(here.loops[-1][0].body)
        here = here.caller
    return 0


def first_loop(frame: Frame) -> int | None:
    """When the outermost of the loops that are running began."""
    begun: int | None = None
    here: Frame | None = frame
    while here is not None:
        begun = here.loops[0][0].started if here.loops else begun
        here = here.caller
    return begun


def last_loop(frame: Frame) -> int | None:
    """When the innermost of the loops that are running began."""
    here: Frame | None = frame
    while here is not None:
        if here.loops:
            return int(here.loops[-1][0].started)
        here = here.caller
    return None
