"""What has become of a gradient: whether a step has used it, and what was added to it since.

`Tensor.spent` of a gradient is None (nothing has used it), a `Spent` or a `Mixed`. Each holds the version that the
gradient's memory had: a write in between (`p.grad.zero_()`) makes it another gradient, of which nothing is known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtrail.interp.values import Origin, Tensor


class Spent(NamedTuple):
    """A step has moved the parameter along this gradient."""

    version: int
    step: Origin


class Mixed(NamedTuple):
    """A backward has added to a gradient that a step had used already. `cleared` is what cleared others meanwhile."""

    version: int
    step: Origin
    backward: Origin
    cleared: Origin | None


def state_of(gradient: Any) -> Spent | Mixed | None:
    """What is certainly known of a gradient."""
    if type(gradient) is not Tensor:
        return None
    spent = gradient.spent
    if type(spent) in (Spent, Mixed) and gradient.storage.version == spent.version:
        return spent  # type: ignore[no-any-return]
    return None


def version_of(gradient: Tensor) -> int | None:
    """The version of a gradient's memory where it is known."""
    version = gradient.storage.version
    return version if type(version) is int else None
