"""Standard output: how wide it is, whether it takes colour, and what its encoding cannot say."""

from __future__ import annotations

import os
import sys

NARROWEST, WIDEST, USUAL = 40, 120, 80


def output_width() -> int:
    """The width for a report: that of the terminal within bounds, `COLUMNS` when it is set, else 80."""
    try:
        columns = int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size(sys.stdout.fileno()).columns
    except (ValueError, OSError, AttributeError):
        return USUAL
    return max(NARROWEST, min(columns, WIDEST)) if columns > 0 else USUAL


def wants_colour(choice: str) -> bool:
    """Whether to use colour: `always`, `never`, or `auto`: NO_COLOR, FORCE_COLOR and the terminal decide."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def put(text: str) -> None:
    """Write `text` to standard output; what its encoding lacks is written as an escape."""
    encoding = sys.stdout.encoding or "ascii"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.encode(encoding, "backslashreplace").decode(encoding)
    sys.stdout.write(text)
