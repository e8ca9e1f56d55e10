"""A traceback as it is pasted: which error, in which words, through which lines.

Tracebacks come from a terminal, a notebook, a test run, a cluster's log, a chat: with colours, with prefixes, quoted,
in typographic or full-width characters, without their beginning, or as their last line alone.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple


class Frame(NamedTuple):
    """A line that the error went through: where, in which function, and its code when it was shown."""

    filename: str
    row: int
    function: str = ""
    code: str = ""


class Raised(NamedTuple):
    """An exception or a warning: its type without the module ("" when only its words were given)."""

    error: str
    message: str
    frames: tuple[Frame, ...] = ()


_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\^\[\[[0-9;]*m|\[(?:\d{1,3};)*\d{1,3}m")
_QUOTES = str.maketrans("‘’‚‛′＇`´“”„‟″「」『』《》", '\'\'\'\'\'\'\'\'\'""""""""""')
_PREFIXES = (
    re.compile(r"\[(?:rank|default|node|worker)[ _]?\d+\]:? ?", re.I),
    re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*(?: (?:ERROR|INFO|WARNING|CRITICAL))? ?"),
    re.compile(r"\((?:pid=\d+|\w+ pid=\d+[^)]*)\) ?"),
    re.compile(r"[\w.-]+_\d+ +\| "),
    re.compile(r"[│┃] ?"),
    re.compile(r"> ?"),
    re.compile(r"E +(?=\S)"),
)
_FRAME_ENDS = re.compile(r"\s*[│┃]\s*\Z")

_PYTHON = re.compile(r'\s*File "(?P<file>[^"\n]+)", line (?P<row>\d+)(?:, in (?P<function>.+))?\s*\Z')
_NOTEBOOK = re.compile(r"\s*File (?P<file>\S.*?):(?P<row>\d+),? in (?P<function>.+?)\s*\Z")
_CELL = re.compile(r"\s*(?:Cell|Input) In ?\[(?P<cell>\d+)\](?:, line (?P<row>\d+)|, in )")
_OLD_CELL = re.compile(r"\s*(?P<file><ipython-input-[^>]*>|\S+\.py) in (?P<function>\S.*?)\s*\Z")
_ARROW = re.compile(r"\s*-{1,}> *(?P<row>\d+)(?: (?P<code>.*))?\Z")
_TEST = re.compile(r"\s*(?P<file>\S+\.py):(?P<row>\d+): (?:in )?(?P<function>[\w<>.]+)\s*\Z")
_RAISED_AT = re.compile(r"\s*(?P<file>\S+\.py):(?P<row>\d+): \w+(?:Error|Exception|Warning)\s*\Z")
_RICH = re.compile(r"\s*(?P<file>\S+\.py):(?P<row>\d+) in (?P<function>[\w<>.]+)\s*\Z")
_WARNING = re.compile(r"\s*(?P<file>\S+\.py):(?P<row>\d+): (?P<error>\w+Warning): (?P<message>.*)\Z")
_ERROR = re.compile(
    r"\s*(?:[\w.]+\.)?(?P<error>[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Timeout))"
    r"(?P<sign>\s*: ?|\s*\Z| +Traceback)(?P<message>.*)\Z"
)
_BETWEEN = re.compile(
    r"\s*(?:Traceback \(|During handling of the above|The above exception was|-{20,}|={10,}|╭|╰)"
)


def plain(text: str) -> str:
    """`text` without colours, with the quotes, spaces and widths of ASCII."""
    text = unicodedata.normalize("NFKC", _COLOUR.sub("", text)).translate(_QUOTES)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read(text: str) -> list[Raised]:
    """The errors in a pasted text, in the order in which they stand there; none when no error has a type."""
    raised: list[Raised] = []
    frames: list[Frame] = []
    opened: Frame | None = None  # a frame whose row or code is still to come
    message: list[str] | None = None
    error = ""

    def close() -> None:
        nonlocal message, frames, opened
        if message is not None:
            raised.append(Raised(error, " ".join(" ".join(message).split()), tuple(frames)))
            message, frames, opened = None, [], None

    for line in map(_without_prefixes, plain(text).split("\n")):
        frame = _frame(line)
        if frame is not None:
            close()
            opened = frame
            frames += [frame] if frame.row else []
            continue
        at = _RAISED_AT.match(line)
        if at is not None and raised and message is None:
            raised[-1] = raised[-1]._replace(frames=(*raised[-1].frames, Frame(at["file"], int(at["row"]))))
            frames = []
            continue
        warning, head = _WARNING.match(line), _ERROR.match(line)
        if warning is not None:
            close()
            error, message = warning["error"], [warning["message"]]
            frames = [Frame(warning["file"], int(warning["row"]))]
        elif head is not None and (message is None or head["sign"].startswith(":")):
            close()
            if not head["sign"].endswith("Traceback"):  # as a notebook begins one
                error, message = head["error"], [head["message"]]
        elif _BETWEEN.match(line) or (message is not None and not line.strip()):
            close()
        elif message is not None:
            message.append(line.strip())
        elif opened is not None:
            opened = _completed(opened, line, frames)
    close()
    return raised


def _without_prefixes(line: str) -> str:
    for _ in range(3):
        for prefix in _PREFIXES:
            found = prefix.match(line.lstrip())
            if found is not None:
                line = _FRAME_ENDS.sub("", line.lstrip()[found.end() :])
                break
        else:
            break
    return line


def _frame(line: str) -> Frame | None:
    """The frame that a line begins; row 0 when a later line has it."""
    for pattern in (_PYTHON, _NOTEBOOK, _RICH):
        found = pattern.match(line)
        if found is not None:
            return Frame(found["file"], int(found["row"]), (found["function"] or "").strip())
    found = _TEST.match(line)
    if found is not None and not found["function"].endswith(("Error", "Exception", "Warning")):
        return Frame(found["file"], int(found["row"]), found["function"])
    found = _CELL.match(line)
    if found is not None:
        return Frame(f"In[{found['cell']}]", int(found["row"] or 0))
    found = _OLD_CELL.match(line)
    if found is not None:
        return Frame(found["file"], 0, found["function"])
    return None


def _completed(opened: Frame, line: str, frames: list[Frame]) -> Frame | None:
    """An open frame with what `line` says of it: the row where an arrow stands, or its code."""
    arrow = _ARROW.match(line)
    if arrow is not None:
        complete = opened._replace(row=int(arrow["row"]), code=(arrow["code"] or "").strip())
        if frames and frames[-1] is opened:
            frames.pop()
        frames.append(complete)
        return complete
    if opened.row and not opened.code and line.strip() and frames and not set(line.strip()) <= set("^~-"):
        frames[-1] = opened._replace(code=line.strip())
        return frames[-1]
    return opened
