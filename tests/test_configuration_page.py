"""What the page on settings shows is so."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from gradtrail.integrations.check import OPTIONS
from gradtrail.integrations.command import main

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "configuration.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(toml|python)\n(.*?)^```$", re.M | re.S)
TABLES = [content for kind, content in BLOCK.findall(PAGE) if kind == "toml"]


def programs() -> list[tuple[str, str]]:
    """Each program with the settings above it in its section, if there are any."""
    found: list[tuple[str, str]] = []
    for section in PAGE.split("\n## "):
        table = ""
        for kind, content in BLOCK.findall(section):
            if kind == "toml":
                table = content
            else:
                found.append((table, content))
    return found


def rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[int]:
    main(["check", "--output-format", "json", *arguments, "train.py"])
    return [one["location"]["row"] for one in json.loads(capsys.readouterr().out)["findings"]]


def marked(program: str, *marks: str) -> list[int]:
    return [row for row, line in enumerate(program.splitlines(), 1) if line.endswith(marks)]


@pytest.mark.parametrize(("table", "program"), programs())
def test_programs(
    table: str,
    program: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text(table)
    Path("train.py").write_text(program)
    assert rows(capsys) == marked(program, "# shown")
    if "modules =" in table or "optimizers =" in table:
        assert rows(capsys, "--isolated") == []
    elif table:
        assert rows(capsys, "--isolated") == marked(program, "# shown", "# hidden")
    elif "# shown" not in program:
        Path("train.py").write_text(program.replace("gradtrail:", ""))
        assert rows(capsys)


@pytest.mark.parametrize("table", TABLES)
def test_tables(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text(table)
    Path("a.py").write_text("x = 1\n")
    (tmp_path / "gradtrail-baseline.json").write_text('{"version": 1, "findings": []}')
    assert main(["check"]) == 0
    capsys.readouterr()


def test_every_setting_and_option_is_there() -> None:
    from gradtrail.integrations.configuration import Configuration

    settings = [
        name.replace("_", "-") for name in Configuration._fields if name not in ("filename", "folder")
    ]
    heads = re.findall(r"^## (.*)$", PAGE, re.M)
    assert set(settings) == {name for head in heads for name in re.findall(r"`([a-z-]+)`", head)}
    shown = {key for table in TABLES for key in tomllib.loads(table)["tool"]["gradtrail"]}
    assert shown == set(settings)
    for option in ("--config", "--isolated", "--baseline", "--write-baseline"):
        assert option in PAGE
        assert option in [one.name for one in OPTIONS]
