"""What somebody may have meant by a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of `names` that looks most like `name`, or None when none does."""
    from difflib import get_close_matches

    spelled = {one.lower(): one for one in sorted(names)}
    found = get_close_matches(name.lower(), list(spelled), n=1, cutoff=0.7)
    if found:
        return spelled[found[0]]
    # A piece of a name is what is remembered: "non-leaf" for "non-leaf-in-optimizer".
    return next((one for low, one in spelled.items() if name and name.lower() in low), None)
