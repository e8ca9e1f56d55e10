"""Two versions of a file as a unified diff, such as `patch` and `git apply` read."""

from __future__ import annotations

import re


def difference(old: str, new: str, name: str) -> str:
    """The diff from `old` to `new`; empty where they are the same."""
    import difflib

    lines = difflib.unified_diff(_lines(old), _lines(new), name, name)
    return "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines
    )


def _lines(text: str) -> list[str]:
    """The lines with their ends, split at line feeds alone, as `patch` does."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)
