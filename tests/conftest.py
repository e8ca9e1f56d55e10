"""In tests a mistake of gradtrail raises, instead of being told in the report."""

from __future__ import annotations

import os

os.environ.setdefault("GRADTRAIL_STRICT", "1")
