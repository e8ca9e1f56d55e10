"""The form of a claim."""

from __future__ import annotations

from typing import NamedTuple

from gradtrail.laws.text import Text


class Claim(NamedTuple):
    """One claim: as people make it, whether it holds, what torch does, the program that decides, where it was read.

    `source` is a public thread, `owner/name#number`, or a page, `host: title`, that makes the claim or takes it for
    granted; empty where none is known.
    """

    name: str
    statement: Text
    holds: bool
    verdict: Text
    program: str
    source: str
