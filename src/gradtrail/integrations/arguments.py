"""Parsers of arguments, whose help speaks the language of the run."""

from __future__ import annotations

import argparse

from gradtrail.laws.text import say, text

ARGPARSE = (
    text("usage: "),
    text("positional arguments"),
    text("options"),
    text("show this help message and exit"),
    text("%(prog)s: error: %(message)s\n"),
    text("the following arguments are required: %s"),
    text("unrecognized arguments: %s"),
    text("expected one argument"),
    text("argument %(argument_name)s: %(message)s"),
    text("invalid choice: %(value)r (choose from %(choices)s)"),
)
"""The words of argparse itself."""


def parser(command: str, description: str, examples: str = "") -> argparse.ArgumentParser:
    """A parser for `gradtrail COMMAND`. `description` and `examples` have been translated."""
    argparse._ = say  # type: ignore[attr-defined]  # what argparse says itself comes from our catalogues
    made = argparse.ArgumentParser(
        prog=f"gradtrail {command}",
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    made.add_argument("--lang", metavar="LANG", help=say("the language of what is printed: en, zh_CN or ja"))
    return made
