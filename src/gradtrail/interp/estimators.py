"""What values drawn from a distribution become: the two ways in which a loss may learn from them.

A reparameterised draw (`rsample`) carries the gradient itself. A plain one (`sample`) does not; a loss learns
from it by its score, the log-probability of what was drawn, times a signal that is a constant for this purpose.
"""

from __future__ import annotations

from typing import NamedTuple

from gradtrail.interp.graph import Pass, Reach, reach
from gradtrail.interp.libraries import Libraries
from gradtrail.interp.values import NO, YES, Origin, Tensor, edge_of
from gradtrail.laws.distributions import REPARAMETERISED

_NOTHING: frozenset[Origin] = frozenset()

_PRODUCTS = frozenset(
    ("mul", "mul_", "multiply", "multiply_", "dot", "matmul", "inner", "mv", "mm", "einsum")
)

_MOST_TENSORS = 4_000
"""Tensors behind a loss that are looked at for draws."""


class _Flow(NamedTuple):
    """What a tensor has of the draws behind it.

    `drawn`: draws it depends on by operations of which none loses a gradient; `mixed`: those of them that
    have met something that requires grad, a layer's weights say; `scored`: draws whose log-probability it
    is made of.
    """

    drawn: frozenset[Origin] = _NOTHING
    mixed: frozenset[Origin] = _NOTHING
    scored: frozenset[Origin] = _NOTHING


class Estimators(Libraries):
    """Looks at the losses that are made of draws."""

    def hear_backward(self, passed: Pass) -> None:
        """At a backward: the draws that its roots were made of."""
        super().hear_backward(passed)
        self._tell_reversed(passed)
        self._tell_own_target(passed)
        if not any(cut.kind == "sampled" for cut, _ in self.cuts.values()):
            return
        flows = _Flows(self)
        mixed = frozenset().union(*(flows.of(root).mixed for root in passed.roots))
        for factor, product in flows.attached:
            self.tell(
                "score-times-attached",
                product.node,
                product.frame or passed.frame,
                self.seen(factor, product.node, product.frame or passed.frame),
                certainty="wrong",
                right=product.parents[-1] is factor,
            )
        for draw in sorted(mixed - flows.estimated, key=lambda one: one.serial):
            fields = draw.fields or {}
            if fields.get("cls") in REPARAMETERISED and _also_reached(draw, passed.reach):
                self.tell(
                    "draw-without-gradient",
                    draw.node,
                    draw.frame or passed.frame,
                    self.seen(draw.parents[0], draw.node, draw.frame or passed.frame),
                    certainty="wrong",
                    distribution=fields["cls"],
                )

    def _tell_reversed(self, passed: Pass) -> None:
        """Sums in which a value and its own detached copy cancel, and the gradient that is left is the negative one."""
        if not any(cut.kind == "detached" for cut, _ in self.cuts.values()):
            return
        for root in passed.roots:
            for one in ancestors(root):
                source = _cancelled(one) if one.requires == YES else None
                if source is not None:
                    where = one.origin.frame or passed.frame
                    self.tell("straight-through-reversed", one.origin.node, where,
                              self.seen(source, one.origin.node, where), certainty="wrong")  # fmt: skip

    def _tell_own_target(self, passed: Pass) -> None:
        """A loss between what a network says of one state and `reward + factor * (what it says of the next)`."""
        for root in passed.roots:
            for one in ancestors(root, _NEAR):
                op = (one.origin.fields or {}).get("op", "")
                if op not in _DISTANCES or len(one.origin.parents) != 2:
                    continue
                given, target = one.origin.parents
                if target.requires != YES or given.requires != YES or not _is_bootstrapped(target):
                    continue
                behind = [
                    reach([tensor.node]).leaves for tensor in (given, target) if tensor.node is not None
                ]
                if len(behind) == 2 and any(sure and behind[1].get(leaf) for leaf, sure in behind[0].items()):
                    where = one.origin.frame or passed.frame
                    self.tell("target-trained", one.origin.node, where, self.seen(target, one.origin.node, where),
                              certainty="wrong")  # fmt: skip


_NEAR = 40
"""Tensors behind a loss among which the comparison with its target is looked for."""

_DISTANCES = ("nn.functional.mse_loss", "nn.functional.smooth_l1_loss", "nn.functional.huber_loss")


def _cancelled(tensor: Tensor) -> Tensor | None:
    """Of `(f(a) - a) + a.detach()` the `a`, where only the wrong one of the two carries a gradient."""
    if (tensor.origin.fields or {}).get("op") not in ("add", "add_") or len(tensor.origin.parents) != 2:
        return None
    for copy, rest in (tensor.origin.parents, tensor.origin.parents[::-1]):
        if copy.origin.kind != "detached" or (rest.origin.fields or {}).get("op") != "sub":
            continue
        if (
            len(rest.origin.parents) == 2
            and copy.origin.parents
            and rest.origin.parents[1] is copy.origin.parents[0]
        ):
            return copy.origin.parents[0]
    return None


def _is_bootstrapped(target: Tensor) -> bool:
    """Whether a value is `reward + factor * max(...)`: data, and the best of what a network says, by a constant."""
    if (target.origin.fields or {}).get("op") not in ("add", "add_") or len(target.origin.parents) != 2:
        return False
    for reward, rest in (target.origin.parents, target.origin.parents[::-1]):
        if reward.requires != NO or rest.requires != YES:
            continue
        for _ in range(_LONGEST_FACTOR):
            op = (rest.origin.fields or {}).get("op", "")
            if op in ("max", "amax", "max.dim", "max.other"):
                return True
            learned = [one for one in rest.origin.parents if one.requires == YES]
            if len(learned) != 1:
                break
            rest = learned[0]
    return False


_LONGEST_FACTOR = 6
"""Operations between the best value and the sum: factors, masks, changes of shape."""


class _Flows:
    """The flows of tensors, each found once."""

    def __init__(self, machine: Estimators) -> None:
        self._cuts = {origin.serial for origin, _ in machine.cuts.values()}
        self._known: dict[int, _Flow] = {}
        self.attached: list[tuple[Tensor, Origin]] = []  # factors of a score that have a gradient, and where
        self.estimated: set[Origin] = set()  # draws whose score is multiplied by a signal

    def of(self, root: Tensor) -> _Flow:
        """The flow of `root`; what lies behind it is gone through once, the oldest first."""
        work, begun = [root], set[int]()
        while work and len(begun) < _MOST_TENSORS:
            here = work[-1]
            if here.serial not in begun:
                begun.add(here.serial)
                work.extend(one for one in self._parents(here) if one.serial not in begun)
                continue
            work.pop()
            if here.serial not in self._known:
                self._known[here.serial] = self._flow(here)
        return self._known.get(root.serial, _Flow())

    def _parents(self, tensor: Tensor) -> list[Tensor]:
        parents = [one for step in tensor.steps if not self._ends(step) for one in step.parents]
        return [*parents, *tensor.either]

    def _ends(self, origin: Origin) -> bool:
        """Whether no gradient passes an origin."""
        return origin.serial in self._cuts or origin.kind in ("detached", "sampled", "number")

    def _flow(self, tensor: Tensor) -> _Flow:
        """The flow of a tensor whose parents' are known."""
        drawn: frozenset[Origin] = _NOTHING
        mixed, scored = drawn, drawn
        for one in tensor.either:
            known = self._known.get(one.serial, _Flow())
            drawn, mixed, scored = drawn | known.drawn, mixed | known.mixed, scored | known.scored
        for step in tensor.steps:
            if step.kind == "sampled":
                drawn |= {step}
                continue
            if self._ends(step):
                continue
            op = (step.fields or {}).get("op", "")
            if op == "log_prob":
                value = self._known.get(step.parents[-1].serial, _Flow()) if step.parents else _Flow()
                scored |= value.drawn
                continue
            flows = [self._known.get(one.serial, _Flow()) for one in step.parents]
            if op in _PRODUCTS and len(flows) == 2:
                self._product(step, flows)
            meets = any(
                one.requires == YES and not flow.drawn for one, flow in zip(step.parents, flows, strict=True)
            )
            for flow in flows:
                drawn, mixed, scored = drawn | flow.drawn, mixed | flow.mixed, scored | flow.scored
            if meets:
                mixed |= drawn
        return _Flow(drawn, mixed, scored)

    def _product(self, step: Origin, flows: list[_Flow]) -> None:
        for score, signal, flow in zip(flows, reversed(step.parents), reversed(flows), strict=True):
            if not score.scored or flow.scored or self._is_coefficient(signal):
                continue
            self.estimated |= score.scored
            if (
                signal.requires == YES
                and signal.node is not None
                and not any(self._stands_on(signal, one) for draw in score.scored for one in draw.parents)
                and any(known for known in reach([signal.node]).leaves.values())
            ):
                self.attached.append((signal, step))

    def _is_coefficient(self, tensor: Tensor) -> bool:
        """Whether a tensor is made of learned values alone (a temperature), and not of data or draws."""
        behind = ancestors(tensor)
        if any(one.origin.kind == "sampled" for one in behind):
            return False
        sources = [one for one in behind if not one.origin.parents]
        return bool(sources) and all(one.parameter is True or one.requires == YES for one in sources)

    def _stands_on(self, tensor: Tensor, other: Tensor) -> bool:
        return any(one is other for one in ancestors(tensor))


def ancestors(tensor: Tensor, most: int = _MOST_TENSORS) -> list[Tensor]:
    """A tensor and what it was made of, as far as is looked."""
    found: list[Tensor] = []
    seen, work = {tensor.serial}, [tensor]
    while work and len(found) < most:
        here = work.pop()
        found.append(here)
        for one in (*(parent for step in here.steps for parent in step.parents), *here.either):
            if one.serial not in seen:
                seen.add(one.serial)
                work.append(one)
    return found


def _also_reached(draw: Origin, whole: Reach) -> bool:
    """Whether the backward certainly reached something that the distribution was made of, by another way."""
    for parent in draw.parents:
        edge = edge_of(parent)
        if edge is None or parent.requires != YES:
            continue
        behind = reach([edge]).leaves
        if any(sure and whole.leaves.get(leaf) is True for leaf, sure in behind.items()):
            return True
    return False
