"""Baselines: findings that are known, and what is new."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gradtrail.integrations.command import main

Capture = pytest.CaptureFixture[str]

WRONG = """\
import torch
w = torch.ones(3, requires_grad=True)
w.detach()
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("src").mkdir()
    Path("src/a.py").write_text(WRONG)


def check(capsys: Capture, *arguments: str, status: int) -> str:
    assert main(["check", *arguments]) == status
    return capsys.readouterr().out


def test_what_is_recorded_is_hidden(capsys: Capture) -> None:
    assert check(capsys, "--write-baseline", "known.json", status=0) == (
        "note: known.json: 1 finding is recorded\nFound nothing in 1 file.\n"
    )
    assert json.loads(Path("known.json").read_text()) == {
        "version": 1,
        "findings": [
            {
                "filename": "src/a.py",
                "rule": "dropped-result",
                "message": "the result of `detach` is dropped: `w` stays as it was",
                "line": "w.detach()",
                "count": 1,
            }
        ],
    }
    assert check(capsys, "--baseline", "known.json", status=0) == (
        "note: known.json: 1 finding that is recorded there is hidden\nFound nothing in 1 file.\n"
    )
    os.chdir("src")
    assert "hidden" in check(capsys, "--baseline", "../known.json", "a.py", status=0)
    assert check(capsys, "--baseline", "../known.json", "--lang", "ja", status=0)


def test_moved_lines_are_known_and_one_more_is_new(capsys: Capture) -> None:
    check(capsys, "--write-baseline", "known.json", status=0)
    Path("src/a.py").write_text("# a comment\n\n" + WRONG.replace("w.detach()", "if True:\n    w.detach()"))
    assert "hidden" in check(capsys, "--baseline", "known.json", status=0)
    Path("src/a.py").write_text(WRONG + "x = 1\nw.detach()\n")
    told = check(capsys, "--baseline", "known.json", status=1)
    assert told.count("warning[dropped-result]") == 1
    assert "src/a.py:5:1" in told.replace(os.sep, "/")
    check(capsys, "--write-baseline", "known.json", status=0)
    assert json.loads(Path("known.json").read_text())["findings"][0]["count"] == 2


def test_what_does_not_occur_any_more_is_told(capsys: Capture) -> None:
    Path("src/b.py").write_text(WRONG)
    Path("src/c.py").write_text(WRONG + "w.detach()\n")
    check(capsys, "--write-baseline", "known.json", status=0)
    Path("src/a.py").write_text("import torch\n")
    Path("src/c.py").unlink()
    told = check(capsys, "--baseline", "known.json", status=0)
    assert told == (
        "note: known.json: 1 finding that is recorded there is hidden\n"
        "note: known.json: `dropped-result` in src/a.py does not occur any more:\n"
        "    `w.detach()`\n"
        "note: known.json: `dropped-result` in src/c.py does not occur any more:\n"
        "    `w.detach()` (2 times)\n"
        "Found nothing in 2 files.\n"
    )
    # A file that was not looked at, and a rule that was not looked for, say nothing.
    Path("src/c.py").write_text(WRONG + "w.detach()\n")
    assert "any more" not in check(capsys, "--baseline", "known.json", "src/b.py", status=0)
    assert "any more" not in check(
        capsys, "--baseline", "known.json", "--select", "in-place-on-leaf", status=0
    )
    Path("src/a.py").write_text(
        "import torch\nx = torch.ones(2, requires_grad=True) * 1\ntorch.optim.SGD([x])\n"
    )
    assert "any more" not in check(capsys, "--baseline", "known.json", status=1)


def test_notebooks(capsys: Capture) -> None:
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    cells = [*WRONG.split("\n", 1)[:1], WRONG.split("\n", 1)[1] + "1"]
    nbformat.write(new_notebook(cells=[new_code_cell(cell) for cell in cells]), "src/n.ipynb")
    check(capsys, "--write-baseline", "known.json", status=0)
    nbformat.write(new_notebook(cells=[new_code_cell(cell) for cell in ["0", *cells]]), "src/n.ipynb")
    assert "2 findings that are recorded there are hidden" in check(
        capsys, "--baseline", "known.json", status=0
    )


def test_json_and_other_formats(capsys: Capture) -> None:
    check(capsys, "--write-baseline", "known.json", status=0)
    for form in ("json", "concise", "markdown"):
        told = check(capsys, "--baseline", "known.json", "--output-format", form, status=0)
        assert "1 finding that is recorded there is hidden" in told
        assert "dropped-result" not in told


def test_a_file_that_cannot_be_read_is_still_told(capsys: Capture) -> None:
    Path("src/bad.py").write_bytes(b"import torch\n\xff\n")
    check(capsys, "--write-baseline", "known.json", status=2)
    check(capsys, "--baseline", "known.json", status=2)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "no such file or folder"),
        ("", "is not JSON: Expecting value"),
        ("\udcff", "is not JSON: "),
        ("[" * 100_000, "is not JSON: "),
        ("[]", "is not a baseline: it has no list `findings`"),
        ('{"findings": []}', "is a baseline of version None, which is not known"),
        ('{"version": 2, "findings": []}', "is a baseline of version 2, which is not known"),
        ('{"version": 1, "findings": [3]}', "is not a baseline: its entry 1 is not one"),
        ('{"version": 1, "findings": [{"rule": "x"}]}', "is not a baseline: its entry 1 is not one"),
    ],
)
def test_what_is_no_baseline(capsys: Capture, content: str | None, told: str) -> None:
    if content is not None:
        Path("known.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    assert main(["check", "--baseline", "known.json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"gradtrail: known.json: {told}")


def test_a_count_that_is_none(capsys: Capture) -> None:
    check(capsys, "--write-baseline", "known.json", status=0)
    known: dict[str, Any] = json.loads(Path("known.json").read_text())
    for count in (0, -1, True, "1"):
        known["findings"][0]["count"] = count
        Path("known.json").write_text(json.dumps(known))
        assert main(["check", "--baseline", "known.json"]) == 2


def test_a_baseline_that_cannot_be_written(capsys: Capture) -> None:
    assert main(["check", "--write-baseline", "missing/known.json"]) == 2
    assert "known.json: cannot be written: " in capsys.readouterr().err
