"""Parsers of arguments, whose help speaks the language of the run."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn

from gradtrail.integrations.command import USAGE
from gradtrail.integrations.output import complain, output_width
from gradtrail.laws.text import say, text
from gradtrail.reports.cells import width, wrap

ARGPARSE = (
    text("usage: "),
    text("positional arguments"),
    text("options"),
    text("%(heading)s:"),
    text("show this help message and exit"),
    text("%(prog)s: error: %(message)s\n"),
    text("the following arguments are required: %s"),
    text("unrecognized arguments: %s"),
    text("expected one argument"),
    text("argument %(argument_name)s: %(message)s"),
    text("invalid choice: %(value)r (choose from %(choices)s)"),
)
"""The words of argparse itself."""


class Help(argparse.RawDescriptionHelpFormatter):
    """Help whose lines are measured in cells, which argparse counts as characters."""

    def _format_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any) -> str:
        english, spoken = "usage: ", say("usage: ")
        if usage is not None:
            return f"{spoken}{usage}\n\n"
        told = super()._format_usage(usage, actions, groups, english)
        first, *rest = told.removeprefix(english).split("\n")
        shift = width(spoken) - len(english)
        indent = [" " * max(shift, 0) + line[max(-shift, 0) :] if line.strip() else line for line in rest]
        return "\n".join([spoken + first, *indent])

    def format_help(self) -> str:
        """The help; before Python 3.12 argparse sets the colon behind a heading itself."""
        told = super().format_help()
        for heading in (say("positional arguments"), say("options")):
            told = told.replace(f"{heading}:\n", say("%(heading)s:") % {"heading": heading} + "\n")
        return told

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(text, width)


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line, without all that would be right before it.

    It keeps its usage whole: for arguments in any order argparse cuts off as much as "usage: " is long.
    """

    def error(self, message: str) -> NoReturn:
        """End with a usage error."""
        told = say("%(prog)s: error: %(message)s\n") % {"prog": self.prog, "message": message}
        complain(told.rstrip("\n"))
        sys.exit(USAGE)

    def parse_known_intermixed_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The arguments, options before, between and behind them."""
        self.usage = self.format_usage().strip().removeprefix(say("usage: ").strip()).strip()
        return super().parse_known_intermixed_args(args, namespace)


_PYTHONS: Any = vars(argparse)["_"]


def give_back() -> None:
    """Let argparse say what it says itself in Python's words again, for a program that is going to run in this process."""
    argparse._ = _PYTHONS  # type: ignore[attr-defined]


def parser(command: str, description: str, examples: str = "") -> argparse.ArgumentParser:
    """A parser for `gradtrail COMMAND`. `description` and `examples` have been translated."""
    argparse._ = say  # type: ignore[attr-defined]  # what argparse says itself comes from our catalogues
    made = Parser(
        prog=f"gradtrail {command}",
        description="\n".join(wrap(description, output_width())),
        epilog=examples,
        formatter_class=Help,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    made.add_argument("--lang", metavar="LANG", help=say("the language of what is printed: en, zh_CN or ja"))
    return made
