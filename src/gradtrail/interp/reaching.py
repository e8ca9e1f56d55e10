"""What no backward has reached when the program is over, and where the way to it was cut."""

from __future__ import annotations

from typing import Any

from gradtrail.interp.frames import Frame
from gradtrail.interp.graph import reach
from gradtrail.interp.models.optim import Built
from gradtrail.interp.stepping import Stepping
from gradtrail.interp.values import YES, Instance, Origin, Sequence, Tensor, edge_of


class Reaching(Stepping):
    """Compares, at the end, what the optimizers hold with what the backward passes have reached."""

    def tell_unreached(self, frame: Frame) -> None:
        """Tensors of optimizers that have made steps, that were used, and that no backward has reached.

        Only when every backward was followed: code that is not known may have called one.
        """
        if self.unseen_backward or self.unknown_reach or self.limits_told or not self.behind_roots:
            return
        told: set[int] = set()
        for instance in self.steppers.values():
            built = instance.state.get("built")
            if not isinstance(built, Built) or not built.complete:
                continue
            held = [one for group in built.groups for one in group]
            missed = [one for one in held if self._is_missed(one)]
            by_cut: dict[int, tuple[Origin, list[Tensor]]] = {}
            for tensor in missed:
                cut = self._cut_before(tensor)
                if cut is not None:
                    by_cut.setdefault(id(cut.node), (cut, []))[1].append(tensor)
            for cut, tensors in by_cut.values():
                if id(cut.node) not in told:
                    told.add(id(cut.node))
                    self._tell_cut(instance, built, cut, tensors, len(held), frame)
            for module in built.covers:
                call = self._call_without_grad(module)
                parts = [] if call is None else [one for _, one in self.parameters_of(module)[0]]
                if call is not None and parts and all(one in missed and one.grad is None for one in parts):
                    self._tell_cut(instance, built, call, parts, len(held), frame)

    def note_ungraded(self, module: Instance, result: Any, node: Any, frame: Frame) -> None:
        """A module gives `result` while grad mode is off."""
        known = self.ungraded.setdefault(module.serial, [])
        values = result.items if type(result) is Sequence else (result,)
        if len(known) < _MOST_CALLS:
            origin = self.origin("no-grad", node, frame)
            known.extend((one.origin, origin) for one in values if type(one) is Tensor)

    def _call_without_grad(self, module: Instance) -> Origin | None:
        """Where a module gave, while grad mode was off, what a loss was made of.

        A part that is frozen this way on purpose may stand in an optimizer of the whole model. One that the optimizer was
        made for by itself (`covers`) is meant to learn.
        """
        known = self.ungraded.get(module.serial, ())
        return next((call for made, call in known if made.serial in self.behind_roots), None)

    def _is_missed(self, tensor: Tensor) -> bool:
        known = not tensor.many and not tensor.either and not tensor.part_of
        follows = tensor.serial in self.followers  # it is moved by its average
        return known and tensor.requires == YES and tensor.serial not in self.reached and not follows

    def _cut_before(self, tensor: Tensor) -> Origin | None:
        """The place where the way from the loss to a tensor was cut, if there is one that it can only be."""
        cuts = [
            origin
            for origin, parents in self.cuts.values()
            if any(_passes(parent, tensor) for parent in parents)
        ]
        flowing = [one for one in cuts if one.serial in self.behind_roots or one.kind == "wrapped"]
        if flowing:
            return flowing[0]
        numbers = [one for one in cuts if one.kind == "number"]
        return numbers[0] if len(numbers) == len(cuts) == 1 else None

    def _tell_cut(
        self, instance: Instance, built: Any, cut: Origin, tensors: list[Tensor], held: int, frame: Frame
    ) -> None:
        subject = self.seen(tensors[0], cut.node, cut.frame or frame)
        self.tell("never-reached", cut.node, cut.frame or frame, subject, certainty="wrong",
                  trail=self.steps_of([cut, built.at], frame), number=len(tensors), all=len(tensors) == held,
                  cut=cut.kind, op=(cut.fields or {}).get("op", ""), cls=(cut.fields or {}).get("cls", ""),
                  optimizer=(instance.library or "").rpartition(".")[2])  # fmt: skip


_MOST_CALLS = 6
"""Calls of a module that are kept in mind: those of the first rounds."""


def _passes(parent: Tensor, leaf: Tensor) -> bool:
    """Whether the graph behind a tensor certainly passes a leaf."""
    edge = edge_of(parent)
    return edge is not None and reach([edge]).leaves.get(leaf) is True
