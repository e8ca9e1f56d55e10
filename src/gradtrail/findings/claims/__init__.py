"""What people say about autograd in public, and what torch says to it.

A claim holds when its program, whose asserts prove the verdict, says so. `tests/findings/test_claims.py` runs them all
on torch. A device other than the CPU is `meta` there, whose tensors have facts but no values.
"""

from __future__ import annotations

from gradtrail.findings.claims import backward, copies, detach, in_place, leaves, modes, modules, optimizers
from gradtrail.findings.claims.form import Claim

CLAIMS: tuple[Claim, ...] = (
    *leaves.CLAIMS,
    *detach.CLAIMS,
    *copies.CLAIMS,
    *modules.CLAIMS,
    *optimizers.CLAIMS,
    *backward.CLAIMS,
    *modes.CLAIMS,
    *in_place.CLAIMS,
)
"""All claims, those about one thing together."""


def claim(name: str) -> Claim | None:
    """The claim of that name, or None."""
    return next((one for one in CLAIMS if one.name == name), None)
