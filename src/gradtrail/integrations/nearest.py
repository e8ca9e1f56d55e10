"""What somebody may have meant by a name that does not exist, for the command line."""

from __future__ import annotations

from gradtrail.findings.nearest import nearest

__all__ = ["nearest"]
