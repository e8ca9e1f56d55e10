"""The limits of the interpreter. Each has a name and a sentence; when one is hit, the report says so."""

from __future__ import annotations

from gradtrail.laws.text import Text, text

STEPS_OF_MODULE = 60_000
STEPS_OF_MODULE_IN_FOLDER = 4_000
STEPS_OF_IMPORT = 4_000
STEPS_OF_FUNCTION = 8_000
STEPS_OF_FUNCTION_IN_FOLDER = 150
STEPS_OF_FILE = 1_500
STEPS_OF_NAMED_FILE = 60_000
DEPTH_OF_CALLS = 40
DEPTH_OF_RECURSION = 6
DEPTH_OF_OPEN_RECURSION = 2
"""Of a function that is called without a known number, which could tell when to stop."""
ROUNDS_OF_LOOP = 3
ITEMS_OF_LOOP = 24
ITEMS_OF_SEQUENCE = 256
ITEMS_TOGETHER = 4_096
"""Of sequences that are put together: a program may double them again and again."""

SENTENCES: dict[str, str] = {
    "steps": "{number} of its functions took too many steps and were followed in part only, `{name}` first",
    "depth": "calls deeper than {depth} are not followed (in `{name}`)",
}


def sentence(limit: str, **fields: object) -> Text:
    """What is told when `limit` was hit."""
    return text(SENTENCES[limit], **fields)
