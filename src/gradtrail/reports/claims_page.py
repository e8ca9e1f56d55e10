"""Claims about autograd: all in a list, or one with the program that decides it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from gradtrail.findings.claims.form import Claim
from gradtrail.laws.text import say
from gradtrail.reports.cells import wrap
from gradtrail.reports.names import bracketed


def list_of_claims(claims: Iterable[Claim], width: int = 80) -> str:
    """Each claim with its name, whether it holds, and the statement."""
    lines: list[str] = []
    for claim in claims:
        lines += [bracketed(claim.name, _decided(claim))]
        lines += ["    " + line for line in wrap(str(claim.statement), width - 4)]
    return "".join(line + "\n" for line in lines)


def markdown_list(claims: Iterable[Claim]) -> str:
    """All claims, each whole, as one page of Markdown."""
    parts = ["# " + say("Is it true?"), ""]
    for claim in claims:
        parts += _markdown(claim, "##")
    return "\n".join(parts).rstrip() + "\n"


def text_page(claim: Claim, width: int = 80) -> str:
    """One claim as plain text, for a terminal."""
    said = say("People say: {statement}", statement=claim.statement)
    verdict = say("Torch says: {verdict}", verdict=claim.verdict)
    parts = [bracketed(claim.name, _decided(claim)), "", *wrap(said, width), "", *wrap(verdict, width), ""]
    parts += [say("The program that decides it:"), "", textwrap.indent(program(claim), "    "), ""]
    if claim.source:
        parts += [say("Read in: {source}", source=claim.source), ""]
    return "\n".join(parts).rstrip() + "\n"


def markdown_page(claim: Claim) -> str:
    """One claim as Markdown."""
    return "\n".join(_markdown(claim, "#")).rstrip() + "\n"


def program(claim: Claim) -> str:
    """The program as it is run and shown."""
    return textwrap.dedent(claim.program).strip("\n").rstrip()


def _decided(claim: Claim) -> str:
    return say("true") if claim.holds else say("false")


def _markdown(claim: Claim, heading: str) -> list[str]:
    parts = [
        f"{heading} {bracketed(claim.name, _decided(claim))}",
        "",
        say("People say: {statement}", statement=claim.statement),
        "",
        say("Torch says: {verdict}", verdict=claim.verdict),
        "",
        "```python",
        program(claim),
        "```",
        "",
    ]
    if claim.source:
        parts += [say("Read in: {source}", source=_linked(claim.source)), ""]
    return parts


def _linked(source: str) -> str:
    """A thread as a link to it; a page as it is."""
    repository, sign, number = source.partition("#")
    return f"[{source}](https://github.com/{repository}/issues/{number})" if sign else source
