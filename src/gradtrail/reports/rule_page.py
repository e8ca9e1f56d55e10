"""The page of a rule: its docstring, its examples, and what looks like the mistake and is right."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.laws.text import say
from gradtrail.reports.cells import padded, wrap
from gradtrail.reports.cells import width as cells
from gradtrail.reports.names import bracketed

_ITEM = re.compile(r"[ ]*(?:[-*]|\d+\.) ")
_MARK = re.compile(r"#\s*(error|cause)\s*$", re.M)


def text_page(rule: type[Rule], width: int = 80) -> str:
    """The page as plain text, for a terminal."""
    parts = [bracketed(rule.name, say(rule.severity)), "", folded(page_text(rule), width), ""]
    for example in rule.examples:
        parts += _text_example(example, width)
    for near_miss in _shown(rule):
        parts += _text_near_miss(near_miss, width)
    return "\n".join(parts).rstrip() + "\n"


def markdown_page(rule: type[Rule]) -> str:
    """The page as Markdown."""
    parts = [
        f"# {rule.name}",
        "",
        say("Severity: {severity}", severity=say(rule.severity)),
        "",
        page_text(rule),
        "",
    ]
    if rule.examples:
        parts += ["## " + say("Examples"), ""]
    for example in rule.examples:
        parts += [f"### {say(example.title)}", "", *_fence(example.bad), "", _torch_says(example), ""]
        parts += [say("Put right:"), "", *_fence(example.good), ""]
    if _shown(rule):
        parts += ["## " + say("Looks like it, and is right"), ""]
    for near_miss in _shown(rule):
        parts += [f"### {say(near_miss.title)}", "", *_fence(near_miss.code), ""]
    return "\n".join(parts).rstrip() + "\n"


def list_of_rules(rules: Iterable[type[Rule]], width: int = 80) -> str:
    """Each rule with its severity and the first sentence of its page: in one line where all fit, else below."""
    named = [(rule.name, rule.severity, first_sentence(rule)) for rule in rules]
    column = max((len(name) for name, _, _ in named), default=0)
    lines = [
        f"{name:<{column}}  {padded(say(severity), 7)}  {sentence}" for name, severity, sentence in named
    ]
    if any(cells(line) > width for line in lines):
        lines = []
        for name, severity, sentence in named:
            lines += [bracketed(name, say(severity)), *("    " + line for line in wrap(sentence, width - 4))]
    return "".join(line + "\n" for line in lines)


def folded(page: str, width: int) -> str:
    """`page` with its paragraphs and the items of its lists in lines of at most `width`; code stays."""
    lines: list[str] = []
    piece: list[str] = []

    def close() -> None:
        if piece:
            head = _ITEM.match(piece[0])
            indent = len(piece[0]) - len(piece[0].lstrip())
            hanging = len(head.group()) - indent if head else 0
            lines.extend(
                " " * indent + line for line in wrap(" ".join(piece), width - indent, hanging=hanging)
            )
            piece.clear()

    for line in page.splitlines():
        if not line.strip() or line.startswith(("    ", "#")):
            close()
            lines.append(line)
        else:
            if _ITEM.match(line):
                close()
            piece.append(line)
    close()
    return "\n".join(lines)


def first_sentence(rule: type[Rule]) -> str:
    """What the rule finds, in one sentence, without its full stop."""
    return re.split(r"\.(?:\s|$)|。", say(paragraphs(rule)[0]), maxsplit=1)[0]


def page_text(rule: type[Rule]) -> str:
    """The docstring without the indentation it has in the file."""
    return "".join(before + say(words) for before, words in _pieces(rule))


def paragraphs(rule: type[Rule]) -> list[str]:
    """The paragraphs, headings and items of the page, each in one line: what is translated."""
    return [words for _, words in _pieces(rule)]


def _pieces(rule: type[Rule]) -> list[tuple[str, str]]:
    """The paragraphs of the docstring, each with the line ends before it."""
    first, _, rest = (rule.__doc__ or "").strip().partition("\n")
    pieces: list[tuple[str, str]] = []
    ends, open_one = "", False
    for line in (first, *textwrap.dedent(rest).split("\n")):
        if not line.strip():
            open_one = False
        elif open_one and not line.startswith(("    ", "#")) and not _ITEM.match(line):
            before, words = pieces[-1]
            pieces[-1] = before, words + " " + line.strip()
            ends = ""
        else:
            pieces.append((ends, line.rstrip()))
            open_one = not line.startswith(("    ", "#"))
            ends = ""
        ends += "\n"
    return pieces


def sections(rule: type[Rule]) -> tuple[str, str, str]:
    """The parts of a page: what the rule finds, why it is a mistake, and what to do."""
    first, *rest = re.split(r"^## .*\n+", page_text(rule), flags=re.M)
    why, what_to_do = (*rest, "", "")[:2]
    return first.strip(), why.strip(), what_to_do.strip()


def marked(code: str) -> str:
    """`code` as it is shown: `# error` and `# cause` as arrows, no empty lines around it."""
    return _MARK.sub(lambda mark: f"# <- {say(mark.group(1))}", textwrap.dedent(code).strip("\n"))


def _shown(rule: type[Rule]) -> list[NearMiss]:
    return [near_miss for near_miss in rule.near_misses if near_miss.shown]


def _text_example(example: Example, width: int) -> list[str]:
    return [
        *wrap(say("Example: {title}", title=say(example.title)), width, hanging=2),
        "",
        _indented(marked(example.bad)),
        "",
        *("  " + line for line in wrap(_torch_says(example), width - 2, hanging=2)),
        "  " + say("Put right:"),
        "",
        _indented(marked(example.good)),
        "",
    ]


def _text_near_miss(near_miss: NearMiss, width: int) -> list[str]:
    head = wrap(say("Looks like it, and is right: {title}", title=say(near_miss.title)), width, hanging=2)
    return [*head, "", _indented(marked(near_miss.code)), ""]


def _torch_says(example: Example) -> str:
    if example.raises and example.off_cpu:
        return say("torch raises (on a device that is not the CPU): {message}", message=example.raises)
    if example.raises:
        return say("torch raises: {message}", message=example.raises)
    if example.off_cpu:
        return say(
            "It runs (on a device that is not the CPU), and afterwards this is true: {proof}",
            proof=example.proof,
        )
    return say("It runs, and afterwards this is true: {proof}", proof=example.proof)


def _indented(code: str) -> str:
    return textwrap.indent(code, "    ")


def _fence(code: str) -> list[str]:
    return ["```python", marked(code), "```"]
