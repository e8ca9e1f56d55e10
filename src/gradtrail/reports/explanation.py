"""What a pasted error means: the law, the diagnosis of code at hand, the causes with their repairs, the way out."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from gradtrail.findings.answers import Answer
from gradtrail.findings.diagnostic import Diagnostic
from gradtrail.findings.rule import Example
from gradtrail.laws.messages import Message
from gradtrail.laws.text import say
from gradtrail.laws.wordings import fold
from gradtrail.reports import rule_page, terminal
from gradtrail.reports.cells import clean, gap_behind, width, wrap
from gradtrail.reports.names import headed, shown_name

MOST_CAUSES = 4
"""Causes that are shown; the rule's page has all."""

_LONGEST_MESSAGE = 300


class Explanation(NamedTuple):
    """An error that was recognised, and what was found in the code that came with it.

    `said` is the error as it was pasted; `where` is the file that the diagnosis is of, empty for pasted code.
    """

    said: str
    message: Message
    answer: Answer
    diagnosis: tuple[Diagnostic, ...] = ()
    where: str = ""


def render(explained: Explanation, lookup: terminal.Lookup, style: terminal.Style = terminal.PLAIN) -> str:
    """The explanation for a terminal. `lookup` gives the text of a file that a diagnosis speaks of."""
    said = clean(explained.said)
    said = said if len(said) <= _LONGEST_MESSAGE else said[: _LONGEST_MESSAGE - 3] + "..."
    lines = [style.paint("bold", line) for line in wrap(said, style.width, hanging=4)]
    lines += _paragraph(say("law:"), say(explained.message.law), style)
    for finding in explained.diagnosis:
        place = say("in {file}:", file=shown_name(explained.where, style.folder)) if explained.where else ""
        lines += ["", style.paint("bold", place or say("in the code that came with it:")), ""]
        lines += terminal.render_one(finding, lookup, style, first=False).rstrip("\n").split("\n")
    why, what_to_do = _why_and_what(explained.answer)
    lines += [
        "",
        *_paragraph(say("why:"), why, style),
        *_paragraph(say("what to do:"), what_to_do, style),
    ]
    lines += ["", style.paint("bold", say("causes, the likeliest first"))]
    for number, example in enumerate(_causes(explained), 1):
        lines += _cause(number, example, style)
    lines += ["", style.paint("bold", say("print beside the failing line"))]
    room = max(width(check.expression) for check in explained.answer.family.checks)
    for check in explained.answer.family.checks:
        head = f"  {check.expression:<{room}}  "
        if len(head) > style.width // 2:
            lines += [
                "  " + check.expression,
                *("      " + one for one in wrap(str(check.says), style.width - 6)),
            ]
        else:
            first, *rest = wrap(str(check.says), style.width - len(head))
            lines += [head + first, *(" " * len(head) + one for one in rest)]
    lines += ["", *_paragraph(say("detach or no_grad?"), str(explained.answer.family.way_out), style)]
    for rule in explained.answer.rules:
        more = say("more:")
        lines.append(style.paint("bold", more) + gap_behind(more) + f"gradtrail rule {rule.name}")
    return "".join(line.rstrip() + "\n" for line in lines)


def markdown(explained: Explanation) -> str:
    """The explanation as Markdown, fit for an answer in a forum."""
    why, what_to_do = _why_and_what(explained.answer)
    parts = [
        f"**`{clean(explained.said)[:_LONGEST_MESSAGE]}`**",
        "",
        say("law:") + gap_behind(say("law:")) + say(explained.message.law),
        "",
    ]
    for finding in explained.diagnosis:
        parts += ["- " + headed(say("line {row}", row=finding.place.row), str(finding.message))]
        parts += [
            f"    {number}. {headed(say('line {row}', row=step.place.row), str(step.text))}"
            for number, step in enumerate(finding.trail, 1)
        ]
        parts += [f"- {finding.help}" if finding.help is not None else "", ""]
    parts += [why, "", what_to_do, ""]
    for number, example in enumerate(_causes(explained), 1):
        parts += [
            f"{number}. {say(example.title)}",
            "",
            "```python",
            rule_page.marked(example.bad),
            "```",
            "",
        ]
        parts += [say("put right:"), "", "```python", rule_page.marked(example.good), "```", ""]
    parts += [say("{head}:", head=say("print beside the failing line")), ""]
    parts += [
        "- " + headed(f"`{check.expression}`", str(check.says)) for check in explained.answer.family.checks
    ]
    question = say("detach or no_grad?")
    parts += ["", f"{question}{gap_behind(question)}{explained.answer.family.way_out}"]
    return "\n".join(parts) + "\n"


def _why_and_what(answer: Answer) -> tuple[str, str]:
    if answer.page is not None:
        return str(answer.page.why), str(answer.page.what_to_do)
    found = rule_page.sections(answer.rules[0])
    return found[1], found[2]


def _causes(explained: Explanation) -> list[Example]:
    """The causes of this very message; those of its rule that torch refuses in other words only where it has none."""
    if explained.answer.page is not None:
        return list(explained.answer.page.examples)
    known = [example for rule in explained.answer.rules for example in rule.examples]
    said = fold(explained.message.piece)
    same = [one for one in known if one.raises and (said in fold(one.raises) or fold(one.raises) in said)]
    return (same or known)[:MOST_CAUSES]


def _cause(number: int, example: Example, style: terminal.Style) -> list[str]:
    lines = ["", *wrap(f"  {number}. {say(example.title)}", style.width, hanging=5), ""]
    wrong, right = (rule_page.marked(code).split("\n") for code in (example.bad, example.good))
    lines += [f"     {row}" for row in wrong]
    lines += ["", f"     {say('put right:')}", ""]
    lines += [f"     {row}" for row in right]
    return lines


def _paragraph(head: str, words: str, style: terminal.Style) -> list[str]:
    """A head, and the words behind it; paragraphs and lists of a page stay apart."""
    if "\n" not in words.strip():
        first, *rest = wrap(f"{head}{gap_behind(head)}{words}", style.width, hanging=2)
        return [style.paint("bold", first[: len(head)]) + first[len(head) :], *rest]
    return [style.paint("bold", head), textwrap.indent(rule_page.folded(words, style.width - 2), "  ")]
