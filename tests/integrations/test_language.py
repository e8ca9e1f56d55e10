"""Languages: which one is chosen, that every sentence has its translation, and that reports keep their form."""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from gradtrail.findings.answers import answer
from gradtrail.findings.engine import check_source
from gradtrail.findings.registry import all_rules
from gradtrail.integrations import language
from gradtrail.integrations.command import COMMANDS, main
from gradtrail.laws import messages, operations
from gradtrail.laws.text import speak
from gradtrail.reports import explanation, op_page, rule_page, terminal
from gradtrail.reports.cells import width
from gradtrail.source.files import SourceFiles
from support.scripts import load

Capture = pytest.CaptureFixture[str]
OTHERS = [name for name in language.LANGUAGES if name != "en"]


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    speak(None)


@pytest.fixture(scope="module")
def catalogues() -> Any:
    return load("make_catalogues")


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("en", "en"), ("en_US.UTF-8", "en"), ("C", "en"), ("POSIX", "en"), ("ja", "ja"), ("ja_JP.eucJP", "ja"),
        ("zh", "zh_CN"), ("zh-CN", "zh_CN"), ("zh_CN.UTF-8", "zh_CN"), ("zh_SG", "zh_CN"), ("zh_Hans", "zh_CN"),
        ("zh_TW", None), ("de_DE", None), ("", None),
    ],
)  # fmt: skip
def test_names_of_languages(name: str, means: str | None) -> None:
    assert language.language_of(name) == means


def test_the_order_in_which_a_language_is_asked_for(tmp_path: Path) -> None:
    everything = {"GRADTRAIL_LANG": "zh_CN", "LC_ALL": "ja_JP.UTF-8"}
    assert language.chosen("en", everything, language.configured([], str(tmp_path))) == "en"
    assert language.chosen(None, everything, language.configured([], str(tmp_path))) == "zh_CN"
    assert language.chosen(None, {"LANG": "ja_JP.UTF-8", "LC_ALL": "C.UTF-8"}, "") == "en"
    (tmp_path / "pyproject.toml").write_text('[tool.other]\nlang = "ja"\n')
    assert language.chosen(None, {}, language.configured([], str(tmp_path))) == "en"
    (tmp_path / "pyproject.toml").write_text('[tool.gradtrail]\nlang = "ja"\n[tool.other]\n')
    assert language.chosen(None, {"LANG": "zh_CN"}, language.configured([], str(tmp_path))) == "ja"
    with pytest.raises(ValueError, match="klingon"):
        language.chosen("klingon", {})


def test_the_option_may_stand_anywhere() -> None:
    assert language.taken_from(["--lang", "ja", "check", "a.py"]) == ("ja", ["check", "a.py"])
    assert language.taken_from(["check", "--lang=zh_CN", "a.py"]) == ("zh_CN", ["check", "a.py"])
    assert language.taken_from(["check"]) == (None, ["check"])
    assert language.taken_from(["tiny", "a.py", "--lang", "x"]) == (None, ["tiny", "a.py", "--lang", "x"])
    assert language.taken_from(["tiny", "--lang", "ja", "a.py"]) == ("ja", ["tiny", "a.py"])


def test_a_language_that_is_not_spoken(capsys: Capture) -> None:
    assert main(["--lang", "tlh", "check"]) == 2
    assert "en, zh_CN, ja" in capsys.readouterr().err


def test_every_sentence_that_is_drawn_is_in_the_catalogue(catalogues: Any, capsys: Capture) -> None:
    asked: set[str] = set()

    def hear(template: str) -> str:
        asked.add(template)
        return template

    speak(hear)
    for rule in all_rules():
        rule_page.text_page(rule)
        rule_page.markdown_page(rule)
        for example in rule.examples:
            code = dedent(example.bad).strip() + "\n"
            found = check_source(code, "example.py")
            lookup = SourceFiles({"example.py": code}).get
            terminal.render(found, [], 1, lookup)
    for key in sorted(set(messages.keys())):
        said = explanation.Explanation("text", messages.message(key), answer(key))
        explanation.render(said, lambda name: None)
        explanation.markdown(said)
    for name in operations.names():
        row = operations.operation(name)
        assert row is not None
        op_page.render(row)
    from gradtrail.integrations import command

    command._help()
    for name in COMMANDS:
        main_help = [name, "--help"]
        if name == "tiny":
            command._run(main_help)
        else:
            with pytest.raises(SystemExit):
                command._run(main_help)
    capsys.readouterr()
    known = set(catalogues.sentences())
    assert (
        sorted(one for one in asked - known if any(sign.isalpha() for sign in re.sub(r"{\\w+}", "", one)))
        == []
    )


@pytest.mark.parametrize("name", OTHERS)
def test_the_catalogue_is_complete(catalogues: Any, name: str) -> None:
    catalogue = catalogues.merged(name)
    assert [entry.id for entry in catalogue if entry.id and (not entry.string or entry.fuzzy)] == []


@pytest.mark.parametrize("name", OTHERS)
def test_the_catalogue_is_compiled_as_it_stands(catalogues: Any, name: str) -> None:
    folder = Path(language.FOLDER, name, "LC_MESSAGES")
    catalogue = catalogues.merged(name)
    assert (folder / "gradtrail.po").read_bytes() == catalogues.as_po(catalogue)
    spoken = gettext.translation("gradtrail", language.FOLDER, [name])
    for entry in catalogue:
        if entry.id:
            assert spoken.gettext(entry.id) == entry.string


@pytest.mark.parametrize("name", OTHERS)
def test_placeholders_and_code_are_the_same(catalogues: Any, name: str) -> None:
    for entry in catalogues.merged(name):
        if entry.id and entry.string:
            for form in (r"{\w+}", r"`[^`]+`", r"%\(?\w+\)?[sr]?"):
                assert sorted(re.findall(form, entry.id)) == sorted(re.findall(form, entry.string)), entry.id


@pytest.mark.parametrize("name", OTHERS)
def test_a_report_in_another_language(name: str, capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import torch\nw = torch.zeros(3, requires_grad=True) * 2  # 変数\ntorch.optim.SGD([w], lr=0.1)\n"
    )
    assert main(["--lang", name, "check", "--color", "never", str(tmp_path / "train.py")]) == 1
    told = capsys.readouterr().out
    assert "`w`" in told and "ValueError: can't optimize a non-leaf Tensor" in told
    assert "is not a leaf" not in told and "why:" not in told
    assert all(width(line) <= 80 for line in told.splitlines() if str(tmp_path) not in line)


@pytest.mark.parametrize("name", language.LANGUAGES)
@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help_in_every_language(name: str, command: str, capsys: Capture) -> None:
    assert main(["--lang", name, command, "--help"]) == 0
    told = capsys.readouterr().out
    assert f"gradtrail {command} [-h]" in told
    assert all(width(line) <= 80 or "gradtrail " in line for line in told.splitlines())


@pytest.mark.parametrize("name", OTHERS)
def test_no_space_is_left_where_a_phrase_meets_its_sentence(name: str) -> None:
    language.use(name)
    wide = "[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]"
    for known in ("stack", "cat", "index_put_", "to"):
        row = operations.operation(known)
        assert row is not None
        for _, sentence in op_page.facts(row):
            assert not re.search(f"{wide} {wide}", str(sentence))


@pytest.mark.parametrize("name", OTHERS)
def test_heads_end_with_a_wide_colon(name: str, capsys: Capture) -> None:
    assert main(["check", "--help", "--lang", name]) == 0
    assert ":\n" not in capsys.readouterr().out
    assert main(["check", "nothing-of-this-name.py", "--lang", name]) == 2
    assert "：nothing-of-this-name.py：" in capsys.readouterr().out
