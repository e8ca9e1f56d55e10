"""`gradtrail explain`: an error as somebody pasted it, and what it means."""

from __future__ import annotations

import os
import re
import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from gradtrail.findings.diagnostic import Diagnostic
from gradtrail.findings.engine import Report, StandardInput, check_paths
from gradtrail.integrations.arguments import parser
from gradtrail.integrations.command import FOUND, NOTHING, USAGE
from gradtrail.integrations.output import complain, current_folder, output_width, put, wants_colour
from gradtrail.laws.messages import Message
from gradtrail.laws.text import say, text
from gradtrail.laws.wordings import Went, recognise
from gradtrail.reports import explanation, terminal
from gradtrail.reports.cells import wrap
from gradtrail.source import reading, traceback
from gradtrail.source.traceback import Frame, Raised

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
    """The last error in a pasted text that is one of autograd's, and its law; None when there is none.

    A warning of autograd's explains nothing when another error has stopped the program after it.
    """
    raised = traceback.read(pasted)
    stopped = False
    for one in reversed(raised):
        is_warning = one.error.endswith("Warning")
        frames = [Went(frame.filename, frame.function, frame.code) for frame in one.frames]
        for error, message in one.wordings():
            entry = None if is_warning and stopped else recognise(error, message, frames)
            if entry is not None:
                return one, entry
        stopped = stopped or not is_warning
    return None if raised else _bare(pasted)


def _bare(pasted: str) -> tuple[Raised, Message] | None:
    """The law of a message that was pasted without its type: a line of its own, or the whole text."""
    lines = [line.strip() for line in traceback.plain(pasted).split("\n") if line.strip()]
    candidates = [line for line in lines if not _IS_CODE.search(line)]
    if (
        len(lines) <= _MOST_BARE_LINES
        and not any(map(_IS_COMMENT.search, lines))
        and not traceback.is_traceback(pasted)
    ):
        candidates += [" ".join(lines), "".join(lines)]
    for words in candidates:
        entry = recognise("", words)
        if entry is not None:
            return Raised("", words.strip("\"'`* ")), entry
    return None


_IS_COMMENT = re.compile(r"\A#|(?<!\w)# ")
_IS_CODE = re.compile(rf"\A(?:\d+ +)?raise |{_IS_COMMENT.pattern}")
_MOST_BARE_LINES = 12
"""A longer text is no message that was broken into lines."""


def _parser() -> ArgumentParser:
    errors = parser(
        "explain",
        say("What an error of autograd means: paste the traceback, or its last line. Nothing is run."),
        say("examples: {examples}", examples="gradtrail explain error.txt · gradtrail explain - < error.txt"),
    )
    errors.add_argument(
        "paste", nargs="?", default="-", help=say("a file, `-` for standard input, or the message itself")
    )
    errors.add_argument(
        "--output-format", choices=("text", "markdown"), default="text", help=say("how to print it")
    )
    return errors


def _pasted(paste: str) -> str:
    """The text that is meant: of standard input, of a file, or the argument itself when it is no name of a file.

    Of a long log the end is read, where the error stands. Raises `Unreadable`.
    """
    if paste == "-":
        if sys.stdin is None:
            raise reading.Unreadable("-", text("standard input is closed"))
        data = sys.stdin.buffer.read()
    elif not paste.strip():
        raise reading.Unreadable("''", text("is empty: give a file, `-`, or the message itself"))
    elif not os.path.lexists(paste) and (" " in paste.strip() or "\n" in paste):
        return paste.encode("utf-8", "replace").decode("utf-8")
    else:
        data = reading.read_data(paste)
    if len(data) > _LONGEST:
        complain("gradtrail explain: " + say("only the last {size} MB are read", size=_LONGEST // 1_000_000))
        start = data[:4]
        data = data[-_LONGEST:]
        data = start + data if not start.isascii() or b"\0" in start else data[data.find(b"\n") + 1 :]
    return traceback.decoded(data)


_LONGEST = 2_000_000


def _not_ours(pasted: str) -> str:
    raised = traceback.read(pasted)
    if not raised:
        return say("not one of ours: no error of torch's autograd stands in this text")
    return say(
        "not one of ours: gradtrail knows no law of autograd behind `{error}` with this text",
        error=raised[-1].error,
    )


def _explained(raised: Raised, entry: Message, pasted: str, output_format: str) -> str:
    from gradtrail.findings.answers import answer

    known = answer(entry.key)
    names = frozenset(rule.name for rule in known.rules)
    report, diagnosis, where = _diagnosis(raised, names, pasted)
    said = f"{raised.error}: {raised.message}" if raised.error else raised.message
    explained = explanation.Explanation(said, entry, known, diagnosis, where)
    if output_format == "markdown":
        return explanation.markdown(explained)
    style = terminal.Style(output_width(), wants_colour("auto"), current_folder())
    return explanation.render(explained, report.sources.get, style)


_Diagnosed = tuple[Report, tuple[Diagnostic, ...], str]


def _diagnosis(raised: Raised, names: frozenset[str], pasted: str) -> _Diagnosed:
    """What `check` finds where the error was raised, and the file it stands in ("" when it was pasted).

    Files at hand come first, then the cells that a notebook shows, then code that was pasted with the error.
    """
    frames = [*raised.frames, *(frame for one in reversed(traceback.read(pasted)) for frame in one.frames)]
    for filename in _own_files(frames):
        report = check_paths([filename], comments_hide=False)
        rows = {frame.row for frame in frames if frame.filename == filename}
        found = _at(report, names, rows)
        if found:
            return report, found, filename
    for name, code in traceback.cells(pasted).items():
        report = check_paths(
            [], stdin=StandardInput(code.encode("utf-8", "replace"), _PASTED), comments_hide=False
        )
        found = _at(report, names, {frame.row for frame in raised.frames if frame.filename == name})
        if found:
            return report, found, ""
    source = traceback.unquoted(traceback.plain(pasted)).encode("utf-8", "replace")
    report = check_paths([], stdin=StandardInput(source, _PASTED), comments_hide=False)
    shown = {frame.code for frame in raised.frames if frame.code and not _is_library(frame.filename)}
    said = [one for one in report.findings if one.rule in names]
    if shown:
        lines = source.decode("utf-8").split("\n")
        said = [one for one in said if _is_shown(lines[one.place.row - 1].strip(), shown)]
    return report, tuple(said[:1]), ""


def _own_files(frames: Sequence[Frame]) -> list[str]:
    """The files at hand that an error went through; none of libraries."""
    names = dict.fromkeys(frame.filename for frame in frames)
    own = [name for name in names if name.endswith(".py") and not _is_library(name) and os.path.isfile(name)]
    return own[:_MOST_FILES]


def _is_library(filename: str) -> bool:
    return any(
        part in filename
        for part in ("site-packages", "dist-packages", "lib/python", "lib\\python", "<frozen")
    )


def _is_shown(line: str, shown: set[str]) -> bool:
    """Whether a line is one that the traceback shows, which may be cut."""
    return any(line == code or (len(code) >= _ENOUGH and line.startswith(code)) for code in shown)


def _at(report: Report, names: frozenset[str], rows: set[int]) -> tuple[Diagnostic, ...]:
    """The finding of these rules that stands on one of the rows, or else whose trail passes one."""
    said = [one for one in report.findings if one.rule in names]
    here = [one for one in said if one.place.row in rows]
    passing = [one for one in said if rows & {step.place.row for step in one.trail}]
    return tuple((here or passing)[:1])


_MOST_FILES = 5
_ENOUGH = 12
