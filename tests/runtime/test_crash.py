"""What is told of an error that torch raised, for every mistake that the rules know."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gradtrail.findings.registry import all_rules
from rules.test_rule_examples import marked, program
from support.observed import observed

RAISING = [
    pytest.param(rule, example, id=f"{rule.name}/{example.title}")
    for rule in sorted(all_rules(), key=lambda rule: rule.name)
    for example in rule.examples
    if example.raises and not example.off_cpu
]

STARTS_PROCESSES = ("torch.distributed", "multiprocessing", "num_workers")

ELSEWHERE = {"grad-of-non-leaf", "optimizer-duplicate", "reentrant-checkpoint-without-grad"}
"""Torch warns of these, it does not raise."""


@pytest.mark.parametrize(("rule", "example"), RAISING)
def test_the_error_is_explained_as_check_does(rule: Any, example: Any, tmp_path: Path) -> None:
    seen = observed(program(example.bad), tmp_path)
    assert seen.failed == []
    if not seen.raised:
        assert any(word in example.bad for word in STARTS_PROCESSES) or rule.name in ELSEWHERE
        return
    (found,) = seen.findings
    assert (found.rule, found.row) == (rule.name, marked(example.bad, "error")[0])
    assert set(marked(example.bad, "cause")) <= set(found.trail)
    assert seen.differs == []


@pytest.mark.parametrize(("rule", "example"), RAISING)
def test_without_the_source_the_rule_and_the_place_are_the_same(
    rule: Any, example: Any, tmp_path: Path
) -> None:
    seen = observed(program(example.bad), tmp_path, live_only=True)
    assert seen.failed == []
    if seen.raised and rule.name not in ONLY_BY_ITS_PLACE:
        (found,) = seen.findings
        assert (found.rule, found.row) == (rule.name, marked(example.bad, "error")[0])


ONLY_BY_ITS_PLACE = ("array-operator-tensor", "unsupported-dtype")
"""Rules some of whose errors numpy and torch word in ways that no law has: the source tells what they are about."""


@pytest.mark.parametrize(("rule", "example"), RAISING)
def test_what_the_live_facts_say_is_what_the_source_says(rule: Any, example: Any, tmp_path: Path) -> None:
    live = observed(program(example.bad), tmp_path, live_only=True)
    if any(one.by == "live" for one in live.findings):
        by_source = observed(program(example.bad), tmp_path)
        (told,), (wanted,) = ([one.message for one in each.findings] for each in (live, by_source))
        assert "``" not in told
        assert without_names(told) == without_names(wanted)


def without_names(message: str) -> str:
    """A sentence without what it calls things: the same tensor may have several names."""
    return re.sub(r"`[^`]*`", "`...`", message)
