"""The rules by name and event. Made by `scripts/make_rule_index.py`; not to be edited."""

from __future__ import annotations

MODULES: dict[str, str] = {}

HEARS: dict[str, tuple[str, ...]] = {}

WORDS: tuple[bytes, ...] = ()
