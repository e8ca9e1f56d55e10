"""Rules are found by looking, and the generated index says the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradtrail.findings import index as generated
from gradtrail.findings import registry
from gradtrail.findings.registry import BadRule, all_rules, make_index, rule_named
from gradtrail.source.words import Word
from support import fake_interpreter

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_generated_index_is_not_stale() -> None:
    script = [sys.executable, str(ROOT / "scripts" / "make_rule_index.py"), "--check"]
    told = subprocess.run(script, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def test_the_index_names_every_rule_and_event() -> None:
    made = make_index(all_rules())
    assert made.modules == generated.MODULES
    assert made.hears == generated.HEARS
    assert made.words == generated.WORDS


def test_every_rule_is_found_by_its_name() -> None:
    for rule in all_rules():
        assert rule_named(rule.name) is rule
    assert rule_named("no-such-rule") is None


def test_an_index_is_made_of_what_rules_say(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_interpreter.install(monkeypatch)
    made = make_index(all_rules())
    assert made.modules == {"sample-fault": "sample_family", "sample-suspicion": "sample_family"}
    assert made.hears == {"fault": ("sample_family",), "suspicion": ("sample_family",)}
    assert made.words == (Word(b"fault"), Word(b"suspicion"), Word(b"twice"))


def test_a_rule_without_words_matters_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_interpreter.install(monkeypatch)
    monkeypatch.setattr(fake_interpreter.SampleFault, "words", ())
    assert make_index(all_rules()).words == ()


@pytest.mark.parametrize("name", ["NotKebab", "two--dashes", "-front", "back-", "under_score", "1st", ""])
def test_a_name_that_is_not_in_kebab_case_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    fake_interpreter.install(monkeypatch)
    monkeypatch.setattr(fake_interpreter.SampleFault, "name", name)
    with pytest.raises(BadRule, match="kebab-case"):
        all_rules()


def test_a_name_that_is_taken_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_interpreter.install(monkeypatch)
    monkeypatch.setattr(fake_interpreter.SampleFault, "name", "sample-suspicion")
    with pytest.raises(BadRule, match="sample-suspicion"):
        all_rules()


def test_a_rule_without_a_page_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_interpreter.install(monkeypatch)
    monkeypatch.setattr(fake_interpreter.SampleFault, "__doc__", None)
    with pytest.raises(BadRule, match="docstring"):
        all_rules()


def test_a_checkout_with_newer_rules_does_not_trust_the_index(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    findings = tmp_path / "src" / "gradtrail" / "findings"
    (findings / "rules").mkdir(parents=True)
    (findings / "registry.py").write_text("")
    (findings / "index.py").write_text("")
    (findings / "rules" / "family.py").write_text("")
    monkeypatch.setattr(registry, "__file__", str(findings / "registry.py"))
    os.utime(findings / "index.py", (1, 1))
    assert not registry._outdated(), "an installed package is not edited"
    (tmp_path / "pyproject.toml").write_text("")
    assert registry._outdated()
    os.utime(findings / "rules" / "family.py", (1, 1))
    assert not registry._outdated()
