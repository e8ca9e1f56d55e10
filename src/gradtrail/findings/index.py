"""The rules by name and event. Made by `scripts/make_rule_index.py`; not to be edited."""

from __future__ import annotations

MODULES: dict[str, str] = {
    "dropped-result": "dropped_results",
    "from-numpy-of-tensor": "numpy_conversion",
    "grad-of-non-leaf": "leaf_status",
    "non-leaf-in-optimizer": "leaf_status",
    "numpy-of-lazy-conjugate": "numpy_conversion",
    "numpy-of-tensor-off-cpu": "numpy_conversion",
    "numpy-of-tensor-that-requires-grad": "numpy_conversion",
    "requires-grad-on-integers": "leaf_status",
    "requires-grad-on-non-leaf": "leaf_status",
}

HEARS: dict[str, tuple[str, ...]] = {
    "flag-of-non-leaf": ("leaf_status",),
    "from-numpy-of-tensor": ("numpy_conversion",),
    "grad-of-non-leaf": ("leaf_status",),
    "non-leaf-optimizer": ("leaf_status",),
    "numpy-conj": ("numpy_conversion",),
    "numpy-neg": ("numpy_conversion",),
    "numpy-off-cpu": ("numpy_conversion",),
    "numpy-requires-grad": ("numpy_conversion",),
    "requires-grad-integer": ("leaf_status",),
    "result-dropped": ("dropped_results",),
}

WORDS: tuple[bytes, ...] = ()
