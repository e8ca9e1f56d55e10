"""Checkpointing: keep nothing on the way forward, and compute it once more on the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gradtrail.tiny import words
from gradtrail.tiny.autograd import Saved, Tensor, backward, saved_hooks, walks
from gradtrail.tiny.functions import Function
from gradtrail.tiny.making import RANDOM
from gradtrail.tiny.modes import enable_grad
from gradtrail.tiny.values import only, warn


class CheckpointError(RuntimeError):
    """What is computed the second time is not what was computed the first time."""

    __module__ = "torch.utils.checkpoint"


class _Enough(BaseException):
    """Stops the second run when all that was kept is there again."""


def checkpoint(
    function: Callable[..., Any],
    *arguments: Any,
    use_reentrant: bool | None = None,
    context_fn: Any = only(None),
    determinism_check: Any = only("default"),
    debug: Any = only(False),
    early_stop: Any = only(True),
    preserve_rng_state: bool = True,
    **keywords: Any,
) -> Any:
    """Keep nothing of what `function` computes; backward computes it once more."""
    if use_reentrant is None:
        warn(words.REENTRANT_OR_NOT)
    if use_reentrant is False:
        return _Frame(function, arguments, keywords, preserve_rng_state).first_run()
    if keywords:
        raise ValueError("Unexpected keyword arguments: " + ",".join(keywords))
    return CheckpointFunction.apply(function, preserve_rng_state, *arguments)


@contextmanager
def _as_before(state: Any) -> Iterator[None]:
    """The random numbers of the first run, and those of now afterwards."""
    later = RANDOM.bit_generator.state
    RANDOM.bit_generator.state = state or later
    try:
        yield
    finally:
        RANDOM.bit_generator.state = later


class _Frame:
    """One call: each tensor that a node would keep is replaced by its number.

    The first number that is asked for runs the function again, with the inputs (if nobody wrote them), and collects
    what is kept this time. `Saved` puts it in the place in the graph that the first one had.
    """

    def __init__(self, function: Any, arguments: tuple[Any, ...], keywords: Any, same_numbers: bool) -> None:
        self.function, self.keywords = function, keywords
        self.held = [Saved(each) if isinstance(each, Tensor) else each for each in arguments]
        self.arguments = arguments
        self.state = RANDOM.bit_generator.state if same_numbers else None
        self.kinds: list[dict[str, Any]] = []
        self.again: dict[int, Tensor] = {}
        self.is_complete = False

    def first_run(self) -> Any:
        saved_hooks.append((self.pack, self.unpack))
        try:
            return self.function(*self.arguments, **self.keywords)
        finally:
            saved_hooks.pop()
            self.is_complete, self.arguments = True, ()

    def pack(self, kept: Tensor) -> int:
        self.kinds.append(_kind(kept))
        return len(self.kinds) - 1

    def unpack(self, number: int) -> Tensor:
        if number not in self.again:
            self.second_run()
        return self.again.pop(number)

    def second_run(self) -> None:
        fresh: list[Tensor] = []

        def collect(kept: Tensor) -> Tensor:
            fresh.append(kept.detach())
            if len(fresh) == len(self.kinds):
                raise _Enough
            return fresh[-1]

        inputs = [each.unpack() if isinstance(each, Saved) else each for each in self.held]
        saved_hooks.append((collect, lambda kept: kept))
        try:
            with enable_grad(), _as_before(self.state):
                self.function(*inputs, **self.keywords)
        except _Enough:
            pass
        finally:
            saved_hooks.pop()
        self.again = dict(enumerate(fresh))
        if self.is_complete:
            self.check(fresh)

    def check(self, fresh: list[Tensor]) -> None:
        """What was computed now has to be of the kind that was kept."""
        if len(fresh) != len(self.kinds):
            told = words.OTHER_COUNT.format(len(self.kinds), len(fresh))
            raise CheckpointError(told + words.CHECKPOINT_TIP)
        other = [
            words.OTHER_KIND_AT.format(number, kind, _kind(kept))
            for number, (kind, kept) in enumerate(zip(self.kinds, fresh, strict=True))
            if kind != _kind(kept)
        ]
        if other:
            raise CheckpointError(words.OTHER_KIND.format("".join(other)) + words.CHECKPOINT_TIP)


def _kind(tensor: Tensor) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


class CheckpointFunction(Function):
    """The older way: one node, whose backward computes with a graph and calls `backward` on it."""

    @staticmethod
    def forward(ctx: Any, function: Any, same_numbers: bool, *arguments: Any) -> Any:
        """The result, and nothing else."""
        if not any(isinstance(each, Tensor) and each.requires_grad for each in arguments):
            warn(words.NO_INPUT_WANTS)
        ctx.function, ctx.state = function, RANDOM.bit_generator.state if same_numbers else None
        ctx.others = [None if isinstance(each, Tensor) else each for each in arguments]
        ctx.save_for_backward(*(each if isinstance(each, Tensor) else None for each in arguments))
        return function(*arguments)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """The leaves of the inner graph get their gradients at once: so it must be all leaves that are wanted."""
        if not walks[-1]:
            raise RuntimeError(words.NOT_REENTRANT)
        inputs = list(ctx.others)
        for number, kept in enumerate(ctx.saved_tensors):
            if kept is not None:
                inputs[number] = kept.detach()
                inputs[number].requires_grad = kept.requires_grad
        with _as_before(ctx.state), enable_grad():
            outputs = ctx.function(*inputs)
        results = [outputs] if isinstance(outputs, Tensor) else outputs
        wanted = [
            (result, gradient)
            for result, gradient in zip(results, gradients, strict=True)
            if isinstance(result, Tensor) and result.requires_grad
        ]
        if not wanted:
            raise RuntimeError(words.NEEDLESS)
        backward([result for result, _ in wanted], [gradient for _, gradient in wanted])
        return None, None, *(each.grad if isinstance(each, Tensor) else None for each in inputs)
