"""Standard output: how wide it is, whether it takes colour, and what its encoding cannot say."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

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
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def current_folder() -> str:
    """The folder we are in, from which names are told; the root where it has been removed."""
    try:
        return os.getcwd()
    except OSError:
        return os.path.abspath(os.sep)


def open_closed_streams() -> None:
    """Where a stream of the process was closed by whoever started it, what is written goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def complain(message: str) -> None:
    """Write a message to standard error, on a line of its own; what cannot be shown is made visible."""
    from gradtrail.reports.cells import clean

    with suppress(OSError, ValueError):  # nobody can be told that
        sys.stderr.write(clean(message) + "\n")
        sys.stderr.flush()


def put(text: str) -> None:
    """Write `text` to standard output; what its encoding lacks is written as an escape."""
    encoding = sys.stdout.encoding or "ascii"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.encode(encoding, "backslashreplace").decode(encoding)
    sys.stdout.write(text)
