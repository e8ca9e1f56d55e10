"""Gradients that a step has used and nobody has cleared before the next backward adds to them."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from gradtrail.interp.events import Event
from gradtrail.runtime.observers.form import TORCH, Detector, Moment, Scope, Spot, held_by

SAMPLED = 4
"""Parameters of an optimizer that are looked at."""

ELEMENTS = 8
"""Elements of a gradient that are compared."""

TWICE = 2
"""So many rounds in a row: once may be a first round that differs."""


class _Used:
    """Gradients as a step left them. `stale` is whether each backward since has found them unchanged."""

    def __init__(self, samples: list[tuple[weakref.ref[Any], Any]]) -> None:
        self.samples = samples
        self.backwards = 0
        self.stale = True
        self.where: Spot | None = None


class StaleGradients(Detector):
    """Compares some elements of each gradient before a backward with what they were when the last step had used them.

    The gradients of a GAN's discriminator are added to by the generator's backward, and cleared before its own: a round
    counts only if no backward between two steps of the optimizer found the gradients changed. How they are cleared, by
    zero_grad, by None or by hand, does not matter.
    """

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self._used: weakref.WeakKeyDictionary[Any, _Used] = weakref.WeakKeyDictionary()
        self._rounds: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def step_ended(self, optimizer: Any, when: Moment) -> None:
        """Remember what the gradients are."""
        samples: list[tuple[weakref.ref[Any], Any]] = []
        for tensor in held_by(optimizer):
            if tensor.grad is not None and len(samples) < SAMPLED:
                sample = _sample(tensor.grad)
                if sample is not None and bool((sample != 0).any()):
                    samples.append((weakref.ref(tensor), sample))
        self._used[optimizer] = _Used(samples)

    def backward_begins(self, roots: Sequence[Any], when: Moment) -> None:
        """See whether they still are."""
        for used in list(self._used.values()):
            if used.stale and used.samples:
                used.stale = all(map(_is_as_it_was, used.samples))
                used.backwards += 1
                used.where = when.spot()
                used.samples = used.samples if used.stale else []

    def backward_ended(self, roots: Sequence[Any], when: Moment) -> None:
        """What was added is what the next backward has to find, or somebody has cleared it."""
        for used in list(self._used.values()):
            if used.stale and used.samples:
                used.samples = [
                    (reference, _sample(tensor.grad))
                    for reference, _ in used.samples
                    for tensor in [reference()]
                    if tensor is not None and tensor.grad is not None
                ]

    def speaks_against(self, event: Event) -> bool:
        """Where every optimizer has made steps enough, and none used a gradient twice."""
        if event.kind != "gradient-mixed" or event.fields.get("left_out"):
            return False
        steps = list(self.training.steps.values())
        return bool(steps) and min(steps) > TWICE and not any(self._rounds.values())

    def step_begins(self, optimizer: Any, when: Moment) -> None:
        """A step that uses what an earlier one has used already."""
        used = self._used.get(optimizer)
        if used is None or not used.samples or not used.backwards or not used.stale:
            self._rounds[optimizer] = 0
            return
        if not all(map(_is_as_it_was, used.samples)):  # cleared after the backward, or changed by hand
            self._rounds[optimizer] = 0
            return
        self._rounds[optimizer] = self._rounds.get(optimizer, 0) + 1
        if self._rounds[optimizer] == TWICE:
            self.tell("gradient-mixed", used.where, "wrong")


def _sample(gradient: Any) -> Any:
    if gradient.layout is not TORCH.module.strided:
        return None
    return gradient.detach().flatten()[:ELEMENTS].clone()


def _is_as_it_was(sampled: tuple[weakref.ref[Any], Any]) -> bool:
    tensor, sample = sampled[0](), sampled[1]
    if tensor is None or tensor.grad is None or sample is None:
        return False
    now = _sample(tensor.grad)
    return now is not None and now.shape == sample.shape and bool((now == sample).all())
