"""A traceback as it is pasted: which error, in which words, through which lines.

Tracebacks come from a terminal, a notebook, a test run, a cluster's log, a chat: with colours, with prefixes, quoted,
in typographic or full-width characters, without their beginning, or as their last line alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple


class Frame(NamedTuple):
    """A line that the error went through: where, in which function, and its code when it was shown."""

    filename: str
    row: int
    function: str = ""
    code: str = ""


class Raised(NamedTuple):
    """An exception or a warning: its type without the module, its words, and the lines they were pasted in."""

    error: str
    message: str
    frames: tuple[Frame, ...] = ()
    lines: tuple[str, ...] = ()

    def wordings(self) -> Iterator[tuple[str, str]]:
        """Type and words as they may be meant: also with the lines put together, and of an error told inside."""
        for message in dict.fromkeys((self.message, "".join(self.lines))):
            yield self.error, message
        for inner in _INNER.finditer(self.message):
            yield inner["error"], self.message[inner.end() :]


_COLOUR = re.compile(
    r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\^\[\[[0-9;]*m|\[(?:\d{1,3};)*\d{1,3}m"
)
_UNLIKE_ASCII = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′＇´ʼ", "'"),
        **dict.fromkeys("“”„‟″「」『』《》", '"'),
        **dict.fromkeys("‐‑‒–—−", "-"),
        **dict.fromkeys("\xad\u200b\u200c\u200d\u2060\ufeff"),
        **dict.fromkeys("\u2028\u2029\x85\v\f", "\n"),
    }
)
_ENTITIES = (("&#39;", "'"), ("&#x27;", "'"), ("&apos;", "'"), ("&quot;", '"'), ("&lt;", "<"), ("&gt;", ">"),
             ("&nbsp;", " "), ("&amp;", "&"))  # fmt: skip
_ESCAPED = re.compile(r"\\{1,2}([_*'\"`])")
_PREFIX = re.compile(
    r"""\[(?:rank|default|node|worker)[ _]?\d+\]:?\x20?
    |\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\s\]]*\]?(?:[ ,]+\[?(?:ERROR|INFO|WARNING|CRITICAL)\]?:?)?\x20?
    |\[[\d/]+\ \d\d:\d\d:\d\d\](?:\ (?:ERROR|INFO|WARNING|CRITICAL))?\x20{0,4}
    |\w{3}\ +\d{1,2}\ \d\d:\d\d:\d\d\ \S{1,40}\ [\w.-]{1,40}(?:\[\d+\])?:\x20
    |\d\d:\d\d:\d\d(?:[.,]\d+)?\x20
    |[EWIF]\d{4}\ \d\d:\d\d:\d\d\.\d+\ +\d+\ \S{1,60}\]\x20
    |\#\#\[error\]\x20?
    |\((?:pid=\d+|\w+\ pid=\d+[^)\n]{0,80})\)\x20?
    |[\w.-]{1,40}[_-]\d+\ +\|\x20
    |(?:node|host|rank|gpu)[\w-]{0,20}:\x20
    |\d{1,3}:\x20
    |[│┃|]\x20?
    |>\x20?
    |E\ +(?=\S)""",
    re.X,
)
_STAMP = re.compile(r"\s*(?:\[?\d{4}-\d\d-\d\d[T ]|[EWIF]\d{4} )\d\d:\d\d:\d\d")
_FRAME_ENDS = re.compile(r"[ \t]*[│┃][ \t]*\Z")

_PYTHON = re.compile(r'\s*File "(?P<file>[^"\n]+)", line (?P<row>\d{1,7})(?:, in (?P<function>.+))?\s*\Z')
_NOTEBOOK = re.compile(r"\s*File (?P<file>\S.*?):(?P<row>\d{1,7}),? in (?P<function>.+?)\s*\Z")
_CELL = re.compile(r"\s*(?:Cell|Input) In ?\[(?P<cell>\d{1,7})\](?:, line (?P<row>\d{1,7})|, in )")
_OLD_CELL = re.compile(r"\s*(?P<file><ipython-input-[^>]*>|\S+\.py) in (?P<function>\S.*?)\s*\Z")
_ARROW = re.compile(r"\s*-{1,}> *(?P<row>\d{1,7})(?: (?P<code>.*))?\Z")
_NUMBERED = re.compile(r"\s*(?:-{1,}> *)?(?P<row>\d{1,7})(?: (?P<code>.*))?\Z")
_TEST = re.compile(r"\s*(?P<file>\S+\.py):(?P<row>\d{1,7}): (?:in )?(?P<function>[\w<>.]+)?\s*\Z")
_RAISED_AT = re.compile(r"\s*(?P<file>\S+\.py):(?P<row>\d{1,7}): \w+(?:Error|Exception|Warning)\b")
_RICH = re.compile(r"\s*(?P<file>\S+\.py):(?P<row>\d{1,7}) in (?P<function>[\w<>.]+)\s*\Z")
_WARNING = re.compile(r"\s*(?P<file>\S+\.py):(?P<row>\d{1,7}): (?P<error>\w+Warning): (?P<message>.*)\Z")
_ERROR = re.compile(
    r"\s*(?:[\w.]+\.)?(?P<error>[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Timeout))"
    r"(?P<sign>\s*: ?|\s*\Z| +Traceback)(?P<message>.*)\Z"
)
_ANY_ERROR = re.compile(r"(?:[\w.]+\.)?(?P<error>[A-Z]\w*)(?P<sign>: ?|\s*\Z)(?P<message>.*)\Z")
_INNER = re.compile(r"\b(?P<error>[A-Z]\w*(?:Error|Exception|Warning))(?:: |\(['\"])")
_WITHIN = re.compile(
    r"(?!.*(?:\bexcept\b|\braise [\w.]+\(|\bassert )).{0,200}?(?<![\w.#])(?P<error>[A-Z]\w*(?:Error|Exception|Warning))(?P<sign>: ) *:?"
    r"(?P<message>.*)\Z"
)
_ANNOUNCED = re.compile(r"\s*(?:[\w.]+\.)?(?P<error>[A-Z]\w*) {2,}Traceback \(most recent call last\)")
_TESTED = re.compile(r"E {1,8}(?=\S)")
_SHOWN = re.compile(r"> +(?P<code>\S.*)\Z")
_BETWEEN = re.compile(
    r"\s*(?:Traceback \(|During handling of the above|The above exception was|-{20,}|={10,}|╭|╰|\+(?:-\+)?-{8,}"
    r"|FAILED |\+ Exception Group Traceback)"
)
_NEXT_WORD = re.compile(r"\S*")
_FULL_LINE = 72
"""A line that the next word would have taken beyond this was broken for want of room."""


def decoded(data: bytes) -> str:
    """The text of a pasted file, in any of the encodings that terminals and editors write."""
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8-sig"),
        (b"\xff\xfe\x00\x00", "utf-32"),
        (b"\x00\x00\xfe\xff", "utf-32"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    start = data[:400]
    if start.count(0) > len(start) // 3:
        return data.decode(
            "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be", "replace"
        )
    return data.decode("utf-8", "replace")


def plain(text: str) -> str:
    """`text` without colours, with the quotes, hyphens, spaces and widths of ASCII."""
    if "&" in text:
        for entity, sign in _ENTITIES:
            text = text.replace(entity, sign)
    text = unicodedata.normalize("NFKC", _COLOUR.sub("", text).translate(_UNLIKE_ASCII))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def unquoted(text: str) -> str:
    """`text` without what a log, a mail or a chat puts before each line."""
    return "\n".join(map(_without_prefixes, text.split("\n")))


def is_traceback(text: str) -> bool:
    """Whether a text shows lines that an error went through, even where the error itself is missing."""
    lines = [_without_prefixes(line) for line in plain(text).split("\n")]
    return any("Traceback (most recent" in line or _frame(line) is not None for line in lines)


def read(text: str) -> list[Raised]:
    """The errors in a pasted text, in the order in which they stand there; none when no error has a type."""
    return _Reader().read(_ESCAPED.sub(r"\1", plain(text)))


class _Reader:
    """Reads line by line. What is open: an error whose words may go on, a frame whose row or code is to come."""

    def __init__(self) -> None:
        self.raised: list[Raised] = []
        self.frames: list[Frame] = []
        self.opened: Frame | None = None
        self.error = ""
        self.words: list[str] | None = None
        self.announced = ""  # the type that a notebook tells first
        self.fresh = False  # right behind a frame, where the error stands, whatever it is called
        self.shown = ""  # the line that a test report marks with `>`

    def read(self, text: str) -> list[Raised]:
        for line in text.split("\n"):
            if line and not line.isspace():
                self.line(line)
            else:
                self.close()
        self.close()
        return self.raised

    def line(self, line: str) -> None:
        tested = _TESTED.match(line) is not None
        shown = _SHOWN.match(line)
        self.shown = shown["code"] if shown is not None else self.shown
        if _STAMP.match(line) is not None:
            self.close()
        line = _without_prefixes(line)
        frame = _frame(line)
        if frame is not None:
            self.close()
            self.opened, self.fresh = frame, True
            self.frames += [frame] if frame.row else []
            return
        at = _RAISED_AT.match(line)
        if at is not None and self.raised and _WARNING.match(line) is None:
            self.close()
            last = self.raised[-1]
            where = Frame(at["file"], int(at["row"]), "", self.shown)
            self.raised[-1] = last._replace(frames=(*last.frames, where))
            self.frames, self.shown = [], ""
            return
        if self._begins(line, tested):
            return
        if _BETWEEN.match(line):
            self.close()
            self.fresh = "╰" in line
        elif self.words is not None:
            if self._goes_on(line, tested):
                self.words.append(line.strip())
            else:
                self.close()
        elif self.opened is not None:
            self.opened = _completed(self.opened, line, self.frames)

    def _begins(self, line: str, tested: bool) -> bool:
        """Whether an error begins on this line; if so it is open now."""
        announced = _ANNOUNCED.match(line)
        if announced is not None:
            self.close()
            self.announced = announced["error"]
            return True
        warning = _WARNING.match(line)
        if warning is not None:
            self.close()
            self.error, self.words = warning["error"], [warning["message"]]
            self.frames = [Frame(warning["file"], int(warning["row"]))]
            return True
        head = _ERROR.match(line) or self._of_any_name(line, tested)
        if head is None or (self.words is not None and not head["sign"].strip().startswith(":")):
            return False
        self.close()
        if not head["sign"].endswith("Traceback"):
            self.error, self.words = head["error"], [head["message"]]
        return True

    def _of_any_name(self, line: str, tested: bool) -> re.Match[str] | None:
        """An error behind other words on its line, or one whose name does not say that it is one."""
        if self.words is not None:
            return None
        found = _ANY_ERROR.match(line)
        if found is not None and (tested or self.fresh or found["error"] == self.announced):
            return found
        return None if self.fresh or line.lstrip().startswith("#") else _WITHIN.match(line)

    def _goes_on(self, line: str, tested: bool) -> bool:
        """Whether a line belongs to the words before it: it was broken there, or is indented in a test report."""
        assert self.words is not None
        before = self.words[-1]
        word = _NEXT_WORD.match(line.strip())
        room = len(before) + 1 + len(word.group() if word is not None else "")
        if len(self.words) == 1:
            room += len(self.error) + 2
        broken = room > _FULL_LINE or not before
        goes_on = line.strip()[:1].islower() and before[-1:] not in ".!?:"
        return tested or broken or goes_on

    def close(self) -> None:
        """What is open ends here."""
        if self.words is not None:
            message = " ".join(" ".join(self.words).split())
            self.raised.append(Raised(self.error, message, tuple(self.frames), tuple(self.words)))
            self.words, self.frames, self.opened, self.announced = None, [], None, ""
        self.fresh = False


def _without_prefixes(line: str) -> str:
    for _ in range(3):
        start = line.lstrip()
        found = _PREFIX.match(start)
        if found is None:
            break
        line = (
            _FRAME_ENDS.sub("", start[found.end() :]) if "│" in line or "┃" in line else start[found.end() :]
        )
    return line


def _frame(line: str) -> Frame | None:
    """The frame that a line begins; row 0 when a later line has it."""
    if ".py" not in line and "File" not in line and "In" not in line and "<ipython" not in line:
        return None
    for pattern in (_PYTHON, _NOTEBOOK, _RICH):
        found = pattern.match(line)
        if found is not None:
            return Frame(found["file"], int(found["row"]), (found["function"] or "").strip())
    found = _TEST.match(line)
    if found is not None and not (found["function"] or "").endswith(("Error", "Exception", "Warning")):
        return Frame(found["file"], int(found["row"]), found["function"] or "")
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


def cells(text: str) -> dict[str, str]:
    """The code of notebook cells that a traceback shows, by the name that frames have for them.

    Each row stands where it stands in the cell; rows that are not shown are empty.
    """
    found: dict[str, dict[int, str]] = {}
    name = ""
    for line in plain(text).split("\n"):
        line = _without_prefixes(line) if not _ARROW.match(line) else line
        frame = _frame(line)
        if frame is not None:
            name = frame.filename if frame.filename.startswith(("In[", "<ipython")) else ""
            continue
        numbered = _NUMBERED.match(line)
        if not name or numbered is None:
            name = name if line.strip() else ""
            continue
        found.setdefault(name, {})[int(numbered["row"])] = numbered["code"] or ""
    return {
        name: "\n".join(rows.get(row, "") for row in range(1, max(rows) + 1)) + "\n"
        for name, rows in found.items()
        if max(rows) < _MOST_ROWS
    }


_MOST_ROWS = 10_000
