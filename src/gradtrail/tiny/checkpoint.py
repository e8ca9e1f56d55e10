"""Checkpointing: keep nothing on the way forward, and compute it once more on the way back."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from gradtrail.tiny.autograd import Saved, Tensor, enable_grad, saved_hooks
from gradtrail.tiny.making import RANDOM
from gradtrail.tiny.values import NotInTiny


def checkpoint(
    function: Callable[..., Any], *arguments: Any, use_reentrant: bool | None = None, **keywords: Any
) -> Any:
    """Keep nothing of what `function` computes; backward computes it once more.

    Each tensor that a node would keep is replaced by its number. The first that is asked for runs the
    function again, with the inputs (if nobody wrote them) and the random numbers of the first run, and
    collects what is kept this time.
    """
    if use_reentrant is not False:
        raise NotInTiny("torch.utils.checkpoint.checkpoint without use_reentrant=False")
    numbers, state = itertools.count(), RANDOM.bit_generator.state
    again: dict[int, Tensor] = {}
    held = [Saved(each) if isinstance(each, Tensor) else each for each in arguments]

    def unpack(number: int) -> Tensor:
        if number not in again:
            fresh, later = itertools.count(), RANDOM.bit_generator.state
            inputs = [_fresh(each.unpack()) if isinstance(each, Saved) else each for each in held]
            saved_hooks.append((lambda kept: again.update({next(fresh): kept.detach()}), lambda kept: kept))
            RANDOM.bit_generator.state = state
            try:
                with enable_grad():
                    function(*inputs, **keywords)
            finally:
                saved_hooks.pop()
                RANDOM.bit_generator.state = later
        return again.pop(number)

    saved_hooks.append((lambda kept: next(numbers), unpack))
    try:
        return function(*arguments, **keywords)
    finally:
        saved_hooks.pop()


def _fresh(tensor: Tensor) -> Tensor:
    copied: Tensor = tensor.detach()
    copied._flag = tensor.requires_grad
    return copied
