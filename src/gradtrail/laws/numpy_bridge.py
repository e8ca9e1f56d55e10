"""Where tensors become numpy arrays, and what torch checks there.

Source: `tensor_to_numpy` in torch/csrc/utils/tensor_numpy.cpp (2.13); the order of the checks is asked of
torch by `tests/laws/test_numpy_bridge.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from gradtrail.laws.devices import is_cpu

CHECKS = ("numpy-sparse", "numpy-off-cpu", "numpy-requires-grad", "numpy-conj", "numpy-neg", "numpy-dtype")
"""Keys of messages, in the order in which torch checks."""


class BridgeFacts(NamedTuple):
    """The facts of a tensor that numpy() looks at; None is "not known"."""

    requires_grad: bool | None
    device: str | None = "cpu"
    conj: bool | None = False
    neg: bool | None = False
    dtype: str | None = None
    strided: bool | None = True


_WITHOUT_NUMPY = ("bfloat16", "complex32")


def refusal(facts: BridgeFacts, grad_enabled: bool | None = True, force: bool = False) -> str | None:
    """The key of the message that `tensor.numpy()` raises, or None when it is not certain to raise.

    With force=True the tensor is detached, moved and resolved first; only a dtype that numpy lacks is left
    to refuse. A tensor that requires grad converts when grad mode is off, and shares its memory.
    """
    if not force:
        if facts.strided is False:
            return "numpy-sparse"
        if facts.strided is None:
            return None
        if facts.device is not None and not is_cpu(facts.device):
            return "numpy-off-cpu"
        if facts.requires_grad and grad_enabled:
            # On an unknown device torch may name the device first, but it refuses either way.
            return "numpy-requires-grad"
        if facts.conj:
            return "numpy-conj"
        if facts.neg:
            return "numpy-neg"
    return "numpy-dtype" if facts.dtype in _WITHOUT_NUMPY else None


CONVERTS_TENSOR = frozenset(
    """array asarray asanyarray ascontiguousarray asfortranarray copy add subtract multiply divide power sqrt
    exp
    log sin cos tanh abs absolute maximum minimum dot matmul concatenate stack vstack hstack dstack
    column_stack
    where unique isnan isfinite save savez savetxt allclose isclose median percentile quantile
    average histogram bincount interp diff tile pad outer inner cross corrcoef cov atleast_1d atleast_2d
    linalg.norm linalg.inv linalg.det fft.fft expand_dims roll rot90 trapezoid count_nonzero nan_to_num
    nanmean
    nanmax nanmin nansum polyfit meshgrid float32 int32 int64 cumsum cumprod argsort argmax argmin clip ravel
    repeat reshape transpose diagonal trace round take sort ptp""".split()
)
"""numpy functions that turn a tensor among their arguments into an array, so that the checks above apply.

Names after `numpy.`. Elements of a list are converted one by one, with the same checks. Some of them try the
tensor's own method first, and convert when it does not take numpy's arguments."""

DELEGATES = frozenset("mean sum std var max min amax amin prod all any".split())
"""numpy functions that call the tensor's own method with numpy's arguments: TypeError, not numpy()'s
message."""

DELEGATES_QUIETLY = frozenset("squeeze swapaxes nonzero".split())
"""numpy functions that call the tensor's own method, and a tensor comes back."""

NEVER_REFUSES = frozenset("shape ndim size isscalar array_equal".split())
"""numpy functions that only look, or that answer False when the conversion is refused (`array_equal`)."""

PYTHON_NUMBERS = frozenset(
    "item tolist __float__ __int__ __bool__ __index__ __complex__ __format__ __repr__".split()
)
"""Methods that make Python values without numpy: they never raise over requires_grad."""

QUIET_FUNCTIONS = frozenset(("numpy.float64",))
"""numpy types that read a tensor of one element through `__float__`: no refusal (numpy.float32 does
refuse)."""
