"""In tests a mistake of gradtrail raises, reports are in English, and nothing is remembered from run to run."""

from __future__ import annotations

import os

os.environ.setdefault("GRADTRAIL_STRICT", "1")
os.environ["GRADTRAIL_LANG"] = "en"
os.environ["GRADTRAIL_CACHE_DIR"] = ""
