"""`gradtrail check` from end to end, with the interpreter and the rules as they are."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradtrail.integrations.command import main

Capture = pytest.CaptureFixture[str]

WRONG = """\
import torch

w = torch.randn(10, 1, requires_grad=True)
w = w * 0.01
optimizer = torch.optim.Adam([w], lr=0.01)
"""

RIGHT = WRONG.replace("w = w * 0.01\n", "")


def findings(capsys: Capture, *arguments: str) -> list[dict[str, Any]]:
    main(["check", "--output-format", "json", *arguments])
    told: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["findings"]
    return told


def spots(told: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    return [(one["rule"], one["location"]["row"], one["location"]["column"]) for one in told]


def test_a_mistake_and_its_trail(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(WRONG)
    (finding,) = findings(capsys, str(tmp_path))
    assert spots([finding]) == [("non-leaf-in-optimizer", 5, 31)]
    assert finding["filename"] == str(tmp_path / "train.py")
    assert [step["location"]["row"] for step in finding["trail"]] == [3, 4, 5]


def test_the_same_program_put_right(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(RIGHT)
    assert main(["check", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "Found nothing in 1 file.\n"


@pytest.mark.parametrize(
    ("before", "data", "column"),
    [
        ("a byte order mark", b"\xef\xbb\xbf" + WRONG.encode(), 31),
        ("CRLF", WRONG.replace("\n", "\r\n").encode(), 31),
        ("wide names", WRONG.replace("optimizer", "最適化").encode(), 25),
        ("latin-1", ("# coding: latin-1\n" + WRONG.replace("optimizer", "größe")).encode("latin-1"), 27),
        ("form feeds", WRONG.replace("\noptimizer", "\n\x0coptimizer").encode(), 32),
    ],
)
def test_columns_count_characters(
    capsys: Capture, tmp_path: Path, before: str, data: bytes, column: int
) -> None:
    (tmp_path / "train.py").write_bytes(data)
    (finding,) = findings(capsys, str(tmp_path / "train.py"))
    assert finding["location"]["column"] == column, before


def test_a_paste_with_prompts_and_without_imports(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    paste = "    >>> w = torch.randn(3, requires_grad=True) * 2\n    >>> opt = optim.Adam([w])\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(paste.encode())))
    assert spots(findings(capsys, "-")) == [("non-leaf-in-optimizer", 2, 27)]


def test_two_files_that_import_each_other(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "weights.py").write_text(
        "import torch\n\ndef make():\n    return torch.randn(3, requires_grad=True) * 0.01\n"
    )
    (tmp_path / "train.py").write_text(
        "import torch\nfrom weights import make\n\nw = make()\ntorch.optim.SGD([w], lr=0.1)\n"
    )
    (finding,) = findings(capsys, str(tmp_path))
    assert finding["filename"] == str(tmp_path / "train.py")
    assert str(tmp_path / "weights.py") in [step["filename"] for step in finding["trail"]]


def test_a_thousand_levels_do_not_stop_the_rest(capsys: Capture, tmp_path: Path) -> None:
    deep = {
        "attributes": "x = a" + ".b" * 1000,
        "sum": "x = " + " + ".join(["a"] * 1000),
        "calls": "x = a" + "()" * 1000,
        "branches": "if a: pass\n" + "elif b: pass\n" * 1000,
        "blocks": "".join(" " * depth + "if x:\n" for depth in range(90)) + " " * 90 + "pass",
    }
    for name, code in deep.items():
        (tmp_path / f"{name}.py").write_text(f"import torch\n# optim backward\n{code}\n")
    (tmp_path / "train.py").write_text(WRONG)
    assert len(findings(capsys, str(tmp_path))) == 1


def test_the_process_ends_with_the_status(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(WRONG)
    for arguments, status in ((["train.py"], 1), (["train.py", "--exit-zero"], 0), (["missing.py"], 2)):
        command = [sys.executable, "-m", "gradtrail", "check", *arguments]
        environment = {"PYTHONPATH": ":".join(sys.path)}
        told = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
        assert (told.returncode, told.stderr) == (status, b"")


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("check train.py >&-", 1),
        ("check missing.py 2>&-", 2),
        ("chekc 2>&-", 2),
        ("chekc 2>/dev/full", 2),
        ("check - <&-", 0),
        ("--help >&-", 0),
        ("rule no-such 2>&-", 2),
    ],
)
def test_streams_that_are_closed(tmp_path: Path, command: str, status: int) -> None:
    (tmp_path / "train.py").write_text(WRONG)
    line = f"{sys.executable} -m gradtrail {command}"
    environment = {"PYTHONPATH": ":".join(sys.path)}
    told = subprocess.run(line, shell=True, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert told.returncode == status
    assert b"Traceback" not in told.stderr and b"internal error" not in told.stderr


def test_in_a_folder_that_was_removed_absolute_names_still_work(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(WRONG)
    (tmp_path / "gone").mkdir()
    line = f"cd gone && rmdir ../gone && {sys.executable} -m gradtrail check {tmp_path / 'train.py'}"
    environment = {"PYTHONPATH": ":".join(sys.path)}
    told = subprocess.run(line, shell=True, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert told.returncode == 1


def test_a_device_is_not_read(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(WRONG)
    assert main(["check", "/dev/zero", str(tmp_path / "train.py")]) == 1
    assert "/dev/zero: is a device" in capsys.readouterr().out


def test_why_on_a_file_that_is_nested_too_deeply(capsys: Capture, tmp_path: Path) -> None:
    deep = tmp_path / "deep.py"
    deep.write_text("x = " + "1 if a else " * 2_000 + "2\n")
    assert main(["why", f"{deep}:1:x"]) == 2
    assert "nested too deeply" in capsys.readouterr().err


def test_why_tells_what_a_tensor_is(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(WRONG)
    assert main(["why", "train.py:5:w"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("train.py:5\n    optimizer = torch.optim.Adam([w], lr=0.01)\n\n  w\n    leaf  ")
    assert "grad_fn        MulBackward0" in told
    assert "1. line 3  " in told
    assert "└─ " in told
    assert main(["why", "train.py:1"]) == 0
    assert "nothing is known of a tensor here" in capsys.readouterr().out


def test_why_looks_into_lists_tuples_and_dicts(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(
        "import torch\n"
        "w = torch.ones(2, requires_grad=True)\n"
        "held = {'both': (w * 2, w.detach()), 'size': 3}\n"
        "print(held)\n"
    )
    assert main(["why", "train.py:4:held"]) == 0
    told = capsys.readouterr().out
    assert "held['both'][0]" in told and "held['both'][1]" in told and "'size'" not in told
    assert main(["why", "train.py:4:held['both'][1]"]) == 0
    told = capsys.readouterr().out
    assert "held['both'][0]" not in told
    assert "requires grad  no" in told
