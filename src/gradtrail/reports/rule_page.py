"""The page of a rule: its docstring, its examples, and what looks like the mistake and is right."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.reports.cells import wrap

_ITEM = re.compile(r"[ ]*(?:[-*]|\d+\.) ")
_MARK = re.compile(r"#\s*(error|cause)\s*$", re.M)


def text_page(rule: type[Rule], width: int = 80) -> str:
    """The page as plain text, for a terminal."""
    parts = [f"{rule.name} ({rule.severity})", "", folded(page_text(rule), width), ""]
    for example in rule.examples:
        parts += _text_example(example, width)
    for near_miss in _shown(rule):
        parts += _text_near_miss(near_miss, width)
    return "\n".join(parts).rstrip() + "\n"


def markdown_page(rule: type[Rule]) -> str:
    """The page as Markdown."""
    parts = [f"# {rule.name}", "", f"Severity: {rule.severity}", "", page_text(rule), ""]
    if rule.examples:
        parts += ["## Examples", ""]
    for example in rule.examples:
        parts += [f"### {example.title}", "", *_fence(example.bad), "", _torch_says(example), ""]
        parts += ["Put right:", "", *_fence(example.good), ""]
    if _shown(rule):
        parts += ["## Looks like it, and is right", ""]
    for near_miss in _shown(rule):
        parts += [f"### {near_miss.title}", "", *_fence(near_miss.code), ""]
    return "\n".join(parts).rstrip() + "\n"


def list_of_rules(rules: Iterable[type[Rule]], width: int = 80) -> str:
    """Each rule with its severity and the first sentence of its page: in one line where all fit, else below."""
    named = [(rule.name, rule.severity, first_sentence(rule)) for rule in rules]
    column = max((len(name) for name, _, _ in named), default=0)
    lines = [f"{name:<{column}}  {severity:<7}  {sentence}" for name, severity, sentence in named]
    if any(len(line) > width for line in lines):
        lines = []
        for name, severity, sentence in named:
            lines += [f"{name} ({severity})", *("    " + line for line in wrap(sentence, width - 4))]
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
    paragraph = " ".join(page_text(rule).partition("\n\n")[0].split())
    return re.split(r"\.(?:\s|$)", paragraph, maxsplit=1)[0]


def page_text(rule: type[Rule]) -> str:
    """The docstring without the indentation it has in the file."""
    first, _, rest = (rule.__doc__ or "").strip().partition("\n")
    return first + ("\n" + textwrap.dedent(rest) if rest else "")


def sections(rule: type[Rule]) -> tuple[str, str, str]:
    """The parts of a page: what the rule finds, why it is a mistake, and what to do."""
    first, *rest = re.split(r"^## .*\n+", page_text(rule), flags=re.M)
    why, what_to_do = (*rest, "", "")[:2]
    return first.strip(), why.strip(), what_to_do.strip()


def marked(code: str) -> str:
    """`code` as it is shown: `# error` and `# cause` as arrows, no empty lines around it."""
    return _MARK.sub(r"# <- \1", textwrap.dedent(code).strip("\n"))


def _shown(rule: type[Rule]) -> list[NearMiss]:
    return [near_miss for near_miss in rule.near_misses if near_miss.shown]


def _text_example(example: Example, width: int) -> list[str]:
    return [
        *wrap(f"Example: {example.title}", width, hanging=2),
        "",
        _indented(marked(example.bad)),
        "",
        *("  " + line for line in wrap(_torch_says(example), width - 2, hanging=2)),
        "  Put right:",
        "",
        _indented(marked(example.good)),
        "",
    ]


def _text_near_miss(near_miss: NearMiss, width: int) -> list[str]:
    head = wrap(f"Looks like it, and is right: {near_miss.title}", width, hanging=2)
    return [*head, "", _indented(marked(near_miss.code)), ""]


def _torch_says(example: Example) -> str:
    where = " (on a device that is not the CPU)" if example.off_cpu else ""
    if example.raises:
        return f"torch raises{where}: {example.raises}"
    return f"It runs{where}, and afterwards this is true: {example.proof}"


def _indented(code: str) -> str:
    return textwrap.indent(code, "    ")


def _fence(code: str) -> list[str]:
    return ["```python", marked(code), "```"]
