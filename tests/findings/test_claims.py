"""Claims about autograd: torch runs the program of each, whose asserts prove the verdict."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from textwrap import dedent

import pytest

from gradtrail.findings.claims import CLAIMS, claim
from gradtrail.findings.claims.form import Claim
from gradtrail.integrations.command import main
from support.running import outcome_of_text

NAMES = [one.name for one in CLAIMS]


@pytest.mark.parametrize("one", CLAIMS, ids=NAMES)
def test_the_program_decides_the_claim(one: Claim, tmp_path: Path) -> None:
    program = dedent(one.program).strip() + "\n"
    ended = outcome_of_text(program, tmp_path)
    assert not ended.raised, f"{ended.error_type}: {ended.text} (line {ended.row})"


@pytest.mark.parametrize("one", CLAIMS, ids=NAMES)
def test_every_assert_is_reached(one: Claim, tmp_path: Path) -> None:
    counted = Counted()
    tree = counted.visit(ast.parse(dedent(one.program).strip()))
    assert counted.asserts
    program = "reached = set()\n" + ast.unparse(ast.fix_missing_locations(tree))
    assert outcome_of_text(program, tmp_path, f"reached == set(range({counted.asserts}))").proof


class Counted(ast.NodeTransformer):
    """Behind each assert, a note that it was reached and held."""

    asserts = 0

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        note = ast.parse(f"reached.add({self.asserts})").body
        self.asserts += 1
        return [node, *note]


def test_there_are_many_of_both_kinds() -> None:
    assert len(CLAIMS) >= 40
    assert sum(not one.holds for one in CLAIMS) >= 15
    assert sum(one.holds for one in CLAIMS) >= 10


def test_names_are_unique_and_in_kebab_case() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", name) for name in NAMES)
    assert len({str(one.statement) for one in CLAIMS}) == len(NAMES)


@pytest.mark.parametrize("one", CLAIMS, ids=NAMES)
def test_the_program_is_about_what_is_claimed(one: Claim) -> None:
    """Of each piece of code in the statement the longest name stands in the program, or all of it does."""
    pieces = re.findall(r"`([^`]+)`", str(one.statement))
    assert pieces
    for piece in pieces:
        if " " in piece and "(" not in piece and "=" not in piece:
            continue  # the text of an error
        longest = max(re.findall(r"\w+", piece), key=len)
        assert piece in one.program or (len(longest) > 1 and longest in one.program), piece


@pytest.mark.parametrize("one", CLAIMS, ids=NAMES)
def test_the_sentences(one: Claim) -> None:
    """A statement is a clause without a full stop, a verdict is one to three sentences."""
    statement, verdict = str(one.statement), str(one.verdict)
    assert not statement.endswith(".")
    assert verdict.endswith(".")
    assert 1 <= len(re.findall(r"\.(?: |$)", verdict)) <= 3
    assert not one.source or re.fullmatch(r"[\w.-]+/[\w.-]+#\d+|[\w-]+(\.[\w-]+)+: \S.*", one.source)


def test_few_are_without_a_source() -> None:
    assert sum(not one.source for one in CLAIMS) <= 3


def test_a_claim_by_its_name() -> None:
    assert claim("detach-copies") in CLAIMS
    assert claim("no-such-claim") is None


def test_the_command_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims"]) == 0
    told = capsys.readouterr().out
    for one in CLAIMS:
        assert f"{one.name} ({'true' if one.holds else 'false'})" in told
    assert "`detach()` makes a separate copy" in told


@pytest.mark.parametrize("output_format", ["text", "markdown"])
@pytest.mark.parametrize("one", CLAIMS, ids=NAMES)
def test_the_command_prints_one(one: Claim, output_format: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", one.name, "--output-format", output_format]) == 0
    told = capsys.readouterr().out
    flat = " ".join(told.split())
    assert str(one.statement) in flat
    assert str(one.verdict) in flat
    assert one.source in told
    for line in dedent(one.program).strip().splitlines():
        assert line in told


def test_markdown_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "--output-format", "markdown"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("# ")
    assert all(f"## {one.name}" in told for one in CLAIMS)


def test_a_name_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "detach-copie"]) == 2
    assert "did you mean `detach-copies`?" in capsys.readouterr().err
    assert main(["claims", "xyzzy"]) == 2
    assert "`gradtrail claims` lists them" in capsys.readouterr().err
