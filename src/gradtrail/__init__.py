"""gradtrail finds, explains and repairs autograd mistakes in PyTorch programs.

What a program itself may call is here: `install`, `watch` and `why`. It is imported when it is first asked for.
"""

from __future__ import annotations

TYPE_CHECKING = (
    False  # not from `typing`: with -m the user's folder comes first in sys.path, where one may lie
)
if TYPE_CHECKING:
    from typing import Any

    from gradtrail.integrations.inside import install, watch, why
    from gradtrail.integrations.ipython import load_ipython_extension, unload_ipython_extension

__version__ = "0.1.0"

__all__ = ["__version__", "install", "load_ipython_extension", "unload_ipython_extension", "watch", "why"]

_HOMES = {
    "install": "inside",
    "watch": "inside",
    "why": "inside",
    "load_ipython_extension": "ipython",
    "unload_ipython_extension": "ipython",
}


def __getattr__(name: str) -> Any:
    """What is imported late: to check a file costs no more for it."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"gradtrail.integrations.{home}"), name)
