"""Every rule by its own examples: found where marked, quiet on the right programs, true on torch.

`# error` at the end of a line marks the place of the finding, `# cause` a line that its trail passes.
An example with `off_cpu` is run with the stand-in device `meta` in the place of a GPU. Where the
stand-in cannot show the error the program is only run on the CPU, and the summary of the run says so.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from gradtrail.findings.diagnostic import SEVERITIES
from gradtrail.findings.registry import all_rules
from support.checking import findings_in_text
from support.running import Outcome, outcome_of_text

RULES = sorted(all_rules(), key=lambda rule: rule.name)
EXAMPLES = [
    pytest.param(rule, example, id=f"{rule.name}/{example.title}")
    for rule in RULES
    for example in rule.examples
]
NEAR_MISSES = [
    pytest.param(rule, near, id=f"{rule.name}/{near.title}") for rule in RULES for near in rule.near_misses
]

MARK = re.compile(r"[ ]*# (error|cause)$", re.MULTILINE)

OFF_CPU_WORDS = (
    (re.compile(r"torch\.(cuda|mps|xpu)\.is_available\(\)"), "True"),
    (re.compile(r"""(["'])(cuda|mps|xpu)(:\d+)?\1"""), '"meta"'),
    (re.compile(r"\.cuda\(\)"), '.to("meta")'),
)
"""How a program is rewritten for the stand-in device."""


def program(text: str) -> str:
    """The program of an example, without its marks. Rows stay."""
    return MARK.sub("", dedent(text).strip()) + "\n"


def marked(text: str, mark: str) -> list[int]:
    """The rows that end with a mark."""
    lines = dedent(text).strip().splitlines()
    return [row for row, line in enumerate(lines, 1) if line.endswith(f"# {mark}")]


def on_the_stand_in(source: str) -> str:
    """The program with `meta` where it names a GPU."""
    for pattern, replacement in OFF_CPU_WORDS:
        source = pattern.sub(replacement, source)
    return source


QUOTES_NOTHING = ("mixed-dtypes",)
"""Rules for which torch has many texts, one for each kind of operation."""


def without_device_names(message: str) -> str:
    """A message of torch with every device called the same."""
    return re.sub(r"\b(cuda(:\d+)?|meta|mps|xpu)\b", "DEVICE", message)


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_found_exactly_where_marked(rule: Any, example: Any, tmp_path: Path) -> None:
    found = findings_in_text(program(example.bad), tmp_path)
    assert [(each.rule, each.spot[1]) for each in found] == [
        (rule.name, row) for row in marked(example.bad, "error")
    ]
    passed = {row for each in found for _, row in each.trail}
    assert set(marked(example.bad, "cause")) <= passed


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_the_good_program_is_quiet(rule: Any, example: Any, tmp_path: Path) -> None:
    assert findings_in_text(program(example.good), tmp_path) == []


@pytest.mark.parametrize(("rule", "near"), NEAR_MISSES)
def test_the_near_miss_is_quiet(rule: Any, near: Any, tmp_path: Path) -> None:
    assert findings_in_text(program(near.code), tmp_path) == []


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_torch_agrees_on_the_bad_program(
    rule: Any, example: Any, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    assert bool(example.raises) != bool(example.proof), "an example says `raises` or `proof`, one of them"
    bad = program(example.bad)
    if example.off_cpu:
        result = outcome_of_text(on_the_stand_in(bad), tmp_path, example.proof)
        if shows(result, example):
            record_property("off_cpu", "raised on the stand-in")
        else:
            assert not outcome_of_text(bad, tmp_path).raised
            record_property("off_cpu", "only run on the CPU")
    else:
        result = outcome_of_text(bad, tmp_path, example.proof)
        assert shows(result, example), result


@pytest.mark.parametrize(
    ("rule", "example"), [each for each in EXAMPLES if each.values[1].raises and not each.values[1].off_cpu]
)
def test_the_words_of_torch_are_torchs(rule: Any, example: Any, tmp_path: Path) -> None:
    """What stands under the marked place as an error is what torch raises; `...` leaves something out."""
    (finding,) = findings_in_text(program(example.bad), tmp_path)
    quoted = re.fullmatch(r"(\w+(?:Error|Exception)): (.*)", finding.label)
    if quoted is None:
        assert "Error" not in finding.label and rule.name in QUOTES_NOTHING
        return
    raised = outcome_of_text(program(example.bad), tmp_path)
    assert quoted[1] == raised.error_type
    assert re.search(
        ".*".join(map(re.escape, re.split(r" ?\.\.\. ?", quoted[2]))), " ".join(raised.text.split())
    )


def shows(result: Outcome, example: Any) -> bool:
    """Whether torch did what the example says: the proof is true, or the error is raised on a marked row."""
    if example.proof:
        return result == Outcome(proof=True)
    expected, told = example.raises, result.text
    if example.off_cpu:
        expected, told = without_device_names(expected), without_device_names(told)
    return expected in told and result.row in marked(example.bad, "error")


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_torch_agrees_on_the_good_program(rule: Any, example: Any, tmp_path: Path) -> None:
    result = outcome_of_text(program(example.good), tmp_path, example.proof)
    assert result == Outcome(proof=False if example.proof else None)


@pytest.mark.parametrize(("rule", "near"), NEAR_MISSES)
def test_the_near_miss_runs(rule: Any, near: Any, tmp_path: Path) -> None:
    assert outcome_of_text(program(near.code), tmp_path) == Outcome()


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_the_bad_program_has_its_marks(rule: Any, example: Any) -> None:
    assert marked(example.bad, "error"), "no line says `# error`"
    for mark in ("error", "cause"):
        assert marked(example.good, mark) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_form_of_the_page(rule: Any) -> None:
    page = inspect.cleandoc(rule.__doc__ or "")
    first, *rest = page.splitlines()
    assert 0 < len(first) <= 79
    assert first.endswith(".")
    assert rest[:1] in ([], [""])
    assert re.search(r"^## Why", page, re.MULTILINE)
    assert re.search(r"^## What to do$", page, re.MULTILINE)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_form_of_the_rule(rule: Any) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.name)
    assert not rule.name.startswith("no-")
    assert rule.severity in SEVERITIES
    assert rule.hears
    assert rule.examples
    assert rule.near_misses, "what looks just like this mistake and is right?"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_titles_are_unique(rule: Any) -> None:
    titles = [each.title for each in (*rule.examples, *rule.near_misses)]
    assert sorted(set(titles)) == sorted(titles)


def test_names_are_unique() -> None:
    names = [rule.name for rule in RULES]
    assert sorted(set(names)) == names
