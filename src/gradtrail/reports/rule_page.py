"""The page of a rule: its docstring, its examples, and what looks like the mistake and is right."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

from gradtrail.findings.rule import Example, NearMiss, Rule

_MARK = re.compile(r"#\s*(error|cause)\s*$", re.M)


def text_page(rule: type[Rule]) -> str:
    """The page as plain text, for a terminal."""
    parts = [f"{rule.name} ({rule.severity})", "", page_text(rule), ""]
    for example in rule.examples:
        parts += _text_example(example)
    for near_miss in rule.near_misses:
        parts += _text_near_miss(near_miss)
    return "\n".join(parts).rstrip() + "\n"


def markdown_page(rule: type[Rule]) -> str:
    """The page as Markdown."""
    parts = [f"# {rule.name}", "", f"Severity: {rule.severity}", "", page_text(rule), ""]
    if rule.examples:
        parts += ["## Examples", ""]
    for example in rule.examples:
        parts += [f"### {example.title}", "", *_fence(example.bad), "", _torch_says(example), ""]
        parts += ["Put right:", "", *_fence(example.good), ""]
    if rule.near_misses:
        parts += ["## Looks like it, and is right", ""]
    for near_miss in rule.near_misses:
        parts += [f"### {near_miss.title}", "", *_fence(near_miss.code), ""]
    return "\n".join(parts).rstrip() + "\n"


def list_of_rules(rules: Iterable[type[Rule]]) -> str:
    """A line for each rule: its name and the first sentence of its page."""
    named = [(rule.name, rule.severity, first_sentence(rule)) for rule in rules]
    width = max((len(name) for name, _, _ in named), default=0)
    return "".join(f"{name:<{width}}  {severity:<7}  {sentence}\n" for name, severity, sentence in named)


def first_sentence(rule: type[Rule]) -> str:
    """What the rule finds, in one sentence, without its full stop."""
    paragraph = " ".join(page_text(rule).partition("\n\n")[0].split())
    return re.split(r"\.(?:\s|$)", paragraph, maxsplit=1)[0]


def page_text(rule: type[Rule]) -> str:
    """The docstring without the indentation it has in the file."""
    first, _, rest = (rule.__doc__ or "").strip().partition("\n")
    return first + ("\n" + textwrap.dedent(rest) if rest else "")


def marked(code: str) -> str:
    """`code` as it is shown: `# error` and `# cause` as arrows, no empty lines around it."""
    return _MARK.sub(r"# <- \1", textwrap.dedent(code).strip("\n"))


def _text_example(example: Example) -> list[str]:
    return [
        f"Example: {example.title}",
        "",
        _indented(marked(example.bad)),
        "",
        "  " + _torch_says(example),
        "  Put right:",
        "",
        _indented(marked(example.good)),
        "",
    ]


def _text_near_miss(near_miss: NearMiss) -> list[str]:
    return [f"Looks like it, and is right: {near_miss.title}", "", _indented(marked(near_miss.code)), ""]


def _torch_says(example: Example) -> str:
    where = " (on a device that is not the CPU)" if example.off_cpu else ""
    if example.raises:
        return f"torch raises{where}: {example.raises}"
    return f"It runs{where}, and afterwards this is true: {example.proof}"


def _indented(code: str) -> str:
    return textwrap.indent(code, "    ")


def _fence(code: str) -> list[str]:
    return ["```python", marked(code), "```"]
