"""`gradtrail claims`: what people say about autograd, and what torch says to it."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence

from gradtrail.integrations.arguments import parser
from gradtrail.integrations.command import NOTHING, USAGE
from gradtrail.integrations.nearest import nearest
from gradtrail.integrations.output import complain, output_width, put
from gradtrail.laws.text import say


def run(arguments: Sequence[str]) -> int:
    """Print all claims, or the one that `arguments` name; the exit status comes back."""
    options = _parser().parse_args(arguments)
    from gradtrail.findings.claims import CLAIMS, claim
    from gradtrail.reports import claims_page

    markdown = options.output_format == "markdown"
    if options.name is None:
        put(
            claims_page.markdown_list(CLAIMS)
            if markdown
            else claims_page.list_of_claims(CLAIMS, output_width())
        )
        return NOTHING
    found = claim(options.name)
    if found is None:
        return _no_such(options.name, nearest(options.name, [one.name for one in CLAIMS]))
    put(claims_page.markdown_page(found) if markdown else claims_page.text_page(found, output_width()))
    return NOTHING


def _parser() -> ArgumentParser:
    claims = parser(
        "claims",
        say(
            "What people say about autograd, whether it is true, and the program that decides it."
            " Without a name: all claims."
        ),
        say("examples: {examples}", examples="gradtrail claims · gradtrail claims detach-copies"),
    )
    claims.add_argument("name", nargs="?", default=None, metavar="NAME", help=say("the name of a claim"))
    claims.add_argument(
        "--output-format", choices=("text", "markdown"), default="text", help=say("how to print it")
    )
    return claims


def _no_such(name: str, near: str | None) -> int:
    if near:
        hint = say("did you mean `{near}`?", near=near)
    else:
        hint = say("`{listing}` lists them", listing="gradtrail claims")
    told = say("there is no claim `{name}`", name=name)
    complain("gradtrail: " + say("{told}; {hint}", told=told, hint=hint))
    return USAGE
