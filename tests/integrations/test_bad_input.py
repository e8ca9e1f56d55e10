"""Files that are no good: one clear line for each, the rest is checked, and nothing of them is run."""

from __future__ import annotations

import builtins
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gradtrail.integrations.command import main
from support import fake_interpreter

Capture = pytest.CaptureFixture[str]

GOOD = b"import torch\nx = 1  # fault\n"


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_interpreter.install(monkeypatch)
    monkeypatch.chdir(tmp_path)


def checked(capsys: Capture, *paths: str) -> tuple[int, list[str], list[str]]:
    """The exit status, the findings and what was not looked at, as `file:row` and `file: reason`."""
    status = main(["check", "--output-format", "json", *paths])
    told = json.loads(capsys.readouterr().out)
    findings = [f"{os.path.basename(one['filename'])}:{one['location']['row']}" for one in told["findings"]]
    left_out = [f"{os.path.basename(one['filename'])}: {one['reason']}" for one in told["not_looked_at"]]
    return status, findings, left_out


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (
            b"import torch\nfor in x:  # fault\n" + b"y = 1\n" * 30,
            "does not parse: line 2: invalid syntax (read as Python {}.{})".format(*sys.version_info),
        ),
        (b"import torch\n# caf\xe9 fault\n", "is not UTF-8: byte 19 (0xe9, line 2) cannot be decoded"),
        (b"import torch\nfault\0", "is binary: byte 19 is zero"),
        (b"# coding: klingon\nimport torch\nfault\n", "declares the encoding klingon, which is not known"),
        (
            b"\xff\xfe" + "import torch  # fault".encode("utf-16-le"),
            "is UTF-16, which Python does not read as source",
        ),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_one_line_names_it_and_the_rest_is_checked(
    capsys: Capture, tmp_path: Path, data: bytes, reason: str, named: bool
) -> None:
    (tmp_path / "bad.py").write_bytes(data)
    (tmp_path / "good.py").write_bytes(GOOD)
    paths = ["bad.py", "good.py"] if named else ["."]
    told = [f"bad.py: {reason}"]
    assert checked(capsys, *paths) == (1, ["good.py:2"], told)
    (tmp_path / "good.py").unlink()
    assert checked(capsys, *paths[:1]) == (2, [], told)


@pytest.mark.parametrize(
    ("data", "row"),
    [
        (b"# -*- coding: latin-1 -*-\nimport torch  # \xe9\nx = 1  # fault\n", 3),
        (b"\xef\xbb\xbfimport torch\nx = 1  # fault\n", 2),
        (b"import torch\r\nx = 1  # fault\r\n", 2),
        (b"import torch\n\x0c\nx = '\xe2\x80\xa8'  # fault\n", 3),
        (b"import torch\rx = 1  # fault\r", 2),
    ],
)
def test_what_python_reads_is_checked(capsys: Capture, tmp_path: Path, data: bytes, row: int) -> None:
    (tmp_path / "a.py").write_bytes(data)
    assert checked(capsys, "a.py") == (1, [f"a.py:{row}"], [])


def test_an_empty_file(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"")
    assert checked(capsys, "a.py") == (0, [], [])


def test_five_megabytes(capsys: Capture, tmp_path: Path) -> None:
    rows = 5_000_000 // 16
    (tmp_path / "a.py").write_bytes(b"import torch\n" + b"x = 'abcdefghi'\n" * rows + b"x = 1  # fault\n")
    assert checked(capsys, "a.py") == (1, [f"a.py:{rows + 2}"], [])


@pytest.mark.parametrize(
    "expression",
    ["(" * 1000 + ")" * 1000, "a" + ".b" * 100_000, "-" * 100_000 + "1", "[" * 1000 + "]" * 1000],
)
def test_nested_too_deeply(capsys: Capture, tmp_path: Path, expression: str) -> None:
    (tmp_path / "a.py").write_text(f"x = {expression}\n" + "y = 1\n" * 30)
    (tmp_path / "good.py").write_bytes(GOOD)
    status, findings, left_out = checked(capsys, "a.py", "good.py")
    assert (status, findings) == (1, ["good.py:2"])
    # Python 3.10 parses some of these; there is nothing to say then.
    for told in left_out:
        assert told.startswith(
            ("a.py: is nested too deeply", "a.py: does not parse: line 1: too many nested")
        )


def test_links_in_a_circle(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "good.py").write_bytes(GOOD)
    (tmp_path / "circle.py").symlink_to("circle.py")
    (tmp_path / "folder").symlink_to(".", target_is_directory=True)
    assert checked(capsys, ".") == (1, ["good.py:2"], ["circle.py: is a link that leads to no file"])
    status, findings, left_out = checked(capsys, "circle.py")
    assert (status, findings) == (2, [])
    assert left_out[0].startswith("circle.py: cannot be read: ")


def test_a_missing_path(capsys: Capture) -> None:
    assert checked(capsys, "missing.py") == (2, [], ["missing.py: no such file or folder"])
    assert checked(capsys, "missing/") == (2, [], ["missing: no such file or folder"])


def test_an_empty_name_is_not_the_folder_we_are_in(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "good.py").write_bytes(GOOD)
    assert checked(capsys, "") == (2, [], [": the name of the path is empty"])


def test_an_empty_folder(capsys: Capture) -> None:
    assert checked(capsys, ".") == (0, [], [])


def test_an_unreadable_file(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shut.py").write_bytes(GOOD)
    (tmp_path / "good.py").write_bytes(GOOD)
    (tmp_path / "shut.py").chmod(0)
    really_open = open

    def as_for_others(path: Any, *arguments: Any, **keywords: Any) -> Any:
        # root may read everything, so the refusal is played where the tests run as root
        if str(path).endswith("shut.py"):
            raise PermissionError(13, "Permission denied", path)
        return really_open(path, *arguments, **keywords)

    monkeypatch.setattr(builtins, "open", as_for_others)
    assert checked(capsys, ".") == (1, ["good.py:2"], ["shut.py: not permitted to read it"])
    assert checked(capsys, "shut.py") == (2, [], ["shut.py: not permitted to read it"])


def test_nothing_is_imported_or_run(capsys: Capture, tmp_path: Path) -> None:
    hostile = (
        "import os, sys, torch\n"
        "open('witness', 'w').write('ran')\n"
        "os._exit(7)\n"
        "class Meta(type):\n"
        "    def __del__(self): open('witness', 'w')\n"
        "x = 1  # fault\n"
    )
    for name in ("a.py", "torch.py", "conftest.py", "sitecustomize.py", "numpy.py", "ast.py", "gradtrail.py"):
        (tmp_path / name).write_text(hostile)
    before = set(sys.modules)
    status, findings, left_out = checked(capsys, ".")
    assert (status, len(findings), left_out) == (1, 7, [])
    assert not (tmp_path / "witness").exists()
    assert not {"a", "conftest", "sitecustomize"} & (set(sys.modules) - before)


def test_a_name_that_would_steer_the_terminal(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "a\x1b[31m\n.py").write_bytes(GOOD)
    main(["check", "."])
    told = capsys.readouterr().out
    assert "\x1b" not in told
    assert "a␛[31m␊.py:2:1" in told
