"""What is known of the training that is watched: its modules, its optimizers, and when each was seen first. All held weakly."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradtrail.runtime.observers.form import Spot


class Training:
    """The modules and the optimizers that have been seen."""

    def __init__(self) -> None:
        self.modules: weakref.WeakSet[Any] = weakref.WeakSet()
        """Modules that the program has names for where it goes backward."""
        self.optimizers: weakref.WeakSet[Any] = weakref.WeakSet()
        self.steps: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        """How many steps each optimizer has made."""
        self._born: dict[int, tuple[weakref.ref[Any], int, Spot | None]] = {}
        self.backwards = 0
        """How often `backward` has run."""
        self.rank: int | None = None
        """That of this process in its process group, once there is one."""
        self.grads = 0
        """How often `torch.autograd.grad` has."""

    def born(self, parameter: Any, number: int, spot: Spot | None) -> None:
        """A parameter is registered, at this number in the order of things."""
        key = id(parameter)
        self._born.setdefault(
            key, (weakref.ref(parameter, lambda gone: self._born.pop(key, None)), number, spot)
        )

    def born_at(self, parameter: Any) -> tuple[int, Spot | None] | None:
        """When and where a parameter was first registered; None where that was not seen, as of a copy."""
        known = self._born.get(id(parameter))
        return None if known is None or known[0]() is not parameter else known[1:]

    def roots(self) -> list[Any]:
        """The modules that are a part of no other one that was seen."""
        modules = list(self.modules)
        parts = {id(child) for module in modules for child in module._modules.values() if child is not None}
        return [module for module in modules if id(module) not in parts]

    def parameters(self) -> Iterator[tuple[str, Any, Any]]:
        """Each parameter of these modules: the name in its outermost module, itself, and that module."""
        told: set[int] = set()
        for root in self.roots():
            for name, parameter in root.named_parameters():
                if id(parameter) not in told:
                    told.add(id(parameter))
                    yield name, parameter, root

    def held(self) -> dict[int, Any]:
        """The tensors that optimizers hold, by identity, each with its optimizer."""
        return {
            id(tensor): optimizer
            for optimizer in list(self.optimizers)
            for group in optimizer.param_groups
            for tensor in group["params"]
        }
