"""`gradtrail explain`: an error as somebody pasted it, and what it means."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from gradtrail.findings.diagnostic import Diagnostic
from gradtrail.findings.engine import Report, StandardInput, check_paths
from gradtrail.integrations.arguments import parser
from gradtrail.integrations.command import FOUND, NOTHING, USAGE
from gradtrail.integrations.output import complain, current_folder, output_width, put, wants_colour
from gradtrail.laws.messages import Message
from gradtrail.laws.text import say
from gradtrail.laws.wordings import recognise
from gradtrail.reports import explanation, terminal
from gradtrail.reports.cells import wrap
from gradtrail.source import reading, traceback
from gradtrail.source.traceback import Raised

_PASTED = "pasted.py"


def run(arguments: Sequence[str]) -> int:
    """Explain the error that `arguments` name; the exit status comes back: 1 when it is not one of ours."""
    options = _parser().parse_args(arguments)
    try:
        pasted = _pasted(options.paste)
    except reading.Unreadable as unreadable:
        complain(f"gradtrail explain: {unreadable.filename}: {unreadable.reason}")
        return USAGE
    found = recognised(pasted)
    if found is None:
        put("\n".join(wrap(_not_ours(pasted), output_width(), hanging=2)) + "\n")
        return FOUND
    put(_explained(*found, pasted, options.output_format))
    return NOTHING


def recognised(pasted: str) -> tuple[Raised, Message] | None:
    """The last error in a pasted text that is one of autograd's, and its law; None when there is none."""
    raised = traceback.read(pasted)
    for one in reversed(raised):
        filenames = tuple(frame.filename for frame in one.frames)
        entry = recognise(one.error, one.message, filenames, tuple(frame.code for frame in one.frames))
        if entry is not None:
            return one, entry
    if any(one.error for one in raised):
        return None
    bare = " ".join(traceback.plain(pasted).split())
    entry = recognise("", bare)
    return None if entry is None else (Raised("", entry.piece), entry)


def _parser() -> ArgumentParser:
    errors = parser(
        "explain",
        say("What an error of autograd means: paste the traceback, or its last line. Nothing is run."),
        say("examples: {examples}", examples="pbpaste | gradtrail explain · gradtrail explain error.txt"),
    )
    errors.add_argument(
        "paste", nargs="?", default="-", help=say("a file, `-` for standard input, or the message itself")
    )
    errors.add_argument(
        "--output-format", choices=("text", "markdown"), default="text", help=say("how to print it")
    )
    return errors


def _pasted(paste: str) -> str:
    """The text that is meant: of standard input, of a file, or the argument itself when it is no name of a file."""
    if paste == "-":
        data = b"" if sys.stdin is None else sys.stdin.buffer.read()
        return data.decode("utf-8", "replace")
    if not os.path.lexists(paste) and (" " in paste.strip() or "\n" in paste):
        return paste
    return reading.read_data(paste).decode("utf-8", "replace")


def _not_ours(pasted: str) -> str:
    raised = traceback.read(pasted)
    if not raised:
        return say("not one of ours: no error of torch's autograd stands in this text")
    return say(
        "not one of ours: `{error}` with this text is no refusal of torch's autograd", error=raised[-1].error
    )


def _explained(raised: Raised, entry: Message, pasted: str, output_format: str) -> str:
    from gradtrail.findings.answers import answer

    known = answer(entry.key)
    names = frozenset(rule.name for rule in known.rules)
    report, diagnosis = _diagnosis(raised, names, pasted)
    said = f"{raised.error}: {raised.message}" if raised.error else raised.message
    explained = explanation.Explanation(said, entry, known, diagnosis)
    if output_format == "markdown":
        return explanation.markdown(explained)
    style = terminal.Style(output_width(), wants_colour("auto"), current_folder())
    return explanation.render(explained, report.sources.get, style)


def _diagnosis(raised: Raised, names: frozenset[str], pasted: str) -> tuple[Report, tuple[Diagnostic, ...]]:
    """What `check` finds where the error was raised: in a file at hand, else in code that was pasted with it."""
    for frame in reversed(raised.frames):
        if os.path.isfile(frame.filename) and frame.filename.endswith(".py"):
            report = check_paths([frame.filename])
            here = [one for one in report.findings if one.rule in names and one.place.row == frame.row]
            if here:
                return report, tuple(here[:1])
    report = check_paths([], stdin=StandardInput(pasted.encode(), _PASTED))
    return report, tuple(one for one in report.findings if one.rule in names)[:1]
