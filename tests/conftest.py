"""In tests a mistake of gradtrail raises, instead of being told in the report, and reports are in English."""

from __future__ import annotations

import os

os.environ.setdefault("GRADTRAIL_STRICT", "1")
os.environ["GRADTRAIL_LANG"] = "en"
