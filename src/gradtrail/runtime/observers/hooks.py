"""The hooks that tell the detectors what happens, and that are taken away once enough has been seen."""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from gradtrail.interp.events import Event
from gradtrail.runtime.observers.form import Detector, Moment
from gradtrail.runtime.observers.training import Training
from gradtrail.runtime.torch_compat import TORCH
from gradtrail.runtime.user_code import Station, innermost_users

MOST_BACKWARDS = 200
"""After so many backwards nothing more is observed, whatever the optimizers do."""

MOST_SECONDS = 60.0
"""Nor after so much time since the first backward."""

MOST_TURNS = 3
"""Nor once one optimizer has made so many times the steps that each is watched for."""


class Hooks:
    """Watches the first `steps` steps of each optimizer. `over` is called when they have been made.

    Optimizer steps are heard by the hooks that torch offers. Constructors of optimizers, and `torch.autograd`'s `backward` and
    `grad`, are wrapped, and put back at the end. Calls of modules are not hooked: what they call would no longer compile.
    """

    def __init__(
        self,
        detectors: Sequence[Detector],
        training: Training,
        steps: int,
        over: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._detectors = list(detectors)
        self.trains: Callable[[], None] = lambda: None
        """Called when the first backward is about to run."""
        self._training = training
        self._steps = steps
        self._over = over
        self.compiles: Callable[[], None] = lambda: None
        """Called before the program calls torch.compile."""
        self.unseen: Callable[[], AbstractContextManager[Any]] = nullcontext
        """Around what the detectors do, for whoever watches the lines of the program."""
        self._listeners: dict[str, list[Detector]] = {}
        self._failed = failed
        self._handles: list[Any] = []
        self._wrapped: list[tuple[Any, str, Any]] = []
        self._moments = 0
        self._began: float | None = None
        self._inside = False
        self.is_on = False

    def begin(self) -> None:
        """Hear from now on."""
        torch = TORCH.module
        from torch.nn.modules import module
        from torch.optim import optimizer

        self.is_on = True
        self._handles += [
            optimizer.register_optimizer_step_pre_hook(self._before_step),
            optimizer.register_optimizer_step_post_hook(self._after_step),
            module.register_module_parameter_registration_hook(self._registered),
        ]
        self._wrap(torch.optim.Optimizer, "__init__", self._making)
        self._wrap(torch.autograd, "backward", self._running_backward)
        self._wrap(torch.autograd, "grad", self._running_grad)
        if hasattr(torch, "compile"):
            self._wrap(torch, "compile", self._compiling)

    def end(self) -> None:
        """Hear no more, and leave torch as it was found."""
        if not self.is_on:
            return
        self.is_on = False
        for handle in self._handles:
            handle.remove()
        for owner, name, (before, ours) in reversed(self._wrapped):
            if owner.__dict__.get(name) is ours:  # nobody has wrapped ours since
                setattr(owner, name, before)
        self._ask("finished")
        self._over()

    def drop(self) -> None:
        """Hear no more, in a copy of the process, where nothing is told of what this one has seen."""
        self._detectors = []
        self._over = lambda: None
        self.end()

    def speaks_against(self, event: Event) -> bool:
        """Whether a detector has seen that something did not happen which the interpreter tells."""
        return any(detector.speaks_against(event) for detector in self._detectors)

    @property
    def has_trained(self) -> bool:
        """Whether a backward or a step was seen."""
        return self._training.backwards > 0 or bool(self._training.steps)

    def program_ended(self) -> None:
        """The program is over; what was observed of it to its end may be told as absent."""
        if self.is_on:
            self._ask("program_ended")
        self.end()

    def _wrap(self, owner: Any, name: str, around: Callable[[Any], Any]) -> None:
        before = owner.__dict__[name]
        ours = functools.wraps(before)(around(before))
        setattr(owner, name, ours)
        self._wrapped.append((owner, name, (before, ours)))

    def _making(self, before: Any) -> Any:
        def init(optimizer: Any, *args: Any, **keywords: Any) -> None:
            before(optimizer, *args, **keywords)
            if self.is_on:
                self._training.optimizers.add(optimizer)
                self._ask("optimizer_made", optimizer, self._now())

        return init

    def _compiling(self, before: Any) -> Any:
        def compile(*args: Any, **keywords: Any) -> Any:
            if self.is_on:
                compiled = args[0] if args else keywords.get("model")
                self.compiles()
                if not TORCH.is_module(getattr(compiled, "__self__", compiled)):
                    self.end()  # a function may make steps, and the hooks of these would be compiled with it
            return before(*args, **keywords)

        return compile

    def _running_grad(self, before: Any) -> Any:
        def grad(*args: Any, **keywords: Any) -> Any:
            self._training.grads += 1
            return before(*args, **keywords)

        return grad

    def _running_backward(self, before: Any) -> Any:
        def backward(tensors: Any, *args: Any, **keywords: Any) -> Any:
            if not self.is_on or self._inside:
                return before(tensors, *args, **keywords)
            roots = (
                (tensors,) if TORCH.is_tensor(tensors) else tuple(tensors) if _is_sequence(tensors) else ()
            )
            if not self._training.backwards:
                self.trains()
            self._ask("backward_begins", roots, self._now())
            result = before(tensors, *args, **keywords)
            self._training.backwards += 1
            self._ask("backward_ended", roots, self._now())
            self._is_enough()
            return result

        return backward

    def _registered(self, module: Any, name: str, parameter: Any) -> None:
        if parameter is not None and TORCH.is_tensor(parameter):
            when = self._now()
            self._training.born(parameter, when.number, when.spot())

    def _before_step(self, optimizer: Any, args: Any, keywords: Any) -> None:
        self._training.optimizers.add(optimizer)
        self._ask("step_begins", optimizer, self._now())

    def _after_step(self, optimizer: Any, args: Any, keywords: Any) -> None:
        steps = self._training.steps
        steps[optimizer] = steps.get(optimizer, 0) + 1
        self._ask("step_ended", optimizer, self._now())
        self._is_enough()

    def _now(self) -> Moment:
        self._moments += 1
        frame = innermost_users(sys._getframe(2))
        at = None if frame is None else Station(frame, frame.f_code, frame.f_lasti, frame.f_lineno)
        return Moment(at, self._moments)

    def _ask(self, what: str, *arguments: Any) -> None:
        """Tell every detector, outside the program's modes. One that raises is switched off."""
        if self._inside or not self._hearing(what):
            return
        self._inside = True
        try:
            with self.unseen(), TORCH.quietly(), TORCH.module.no_grad():
                for detector in self._hearing(what):
                    try:
                        getattr(detector, what)(*arguments)
                    except Exception as wrong:
                        self._detectors.remove(detector)
                        self._listeners.clear()
                        self._failed(wrong)
        finally:
            self._inside = False

    def _hearing(self, what: str) -> list[Detector]:
        """The detectors that hear it: the others have the method of their base."""
        found = self._listeners.get(what)
        if found is None:
            inherited = getattr(Detector, what)
            found = [one for one in self._detectors if getattr(type(one), what) is not inherited]
            self._listeners[what] = found
        return found

    def _is_enough(self) -> None:
        if not self.is_on:
            return
        if self._training.rank is None:
            self._training.rank = TORCH.rank()
        now = time.monotonic()
        self._began = self._began or now
        made = [self._training.steps.get(one, 0) for one in list(self._training.optimizers)]
        if (
            (made and min(made) >= self._steps)
            or max(made, default=0) >= MOST_TURNS * self._steps
            or self._training.backwards >= MOST_BACKWARDS
            or now - self._began > MOST_SECONDS
        ):
            self.end()


def _is_sequence(value: object) -> bool:
    return isinstance(value, (list, tuple))
