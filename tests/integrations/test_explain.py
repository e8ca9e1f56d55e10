"""`gradtrail explain`: what it prints for ours, for others, and for code that was pasted with the error."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from gradtrail.integrations.command import main

Capture = pytest.CaptureFixture[str]

ERROR = """\
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    opt = torch.optim.Adam([w], lr=0.01)
ValueError: can't optimize a non-leaf Tensor
"""
CODE = """\
import torch
w = torch.randn(3, requires_grad=True) * 0.1
opt = torch.optim.Adam([w], lr=0.01)
"""


def explained(capsys: Capture, *arguments: str) -> tuple[int, str]:
    status = main(["explain", *arguments])
    return status, capsys.readouterr().out


def test_a_bare_message(capsys: Capture) -> None:
    status, told = explained(
        capsys, "Can’t call numpy () on Variable that requires grad. Use var.detach().numpy()"
    )
    assert status == 0
    for part in (
        "law: numpy has no gradients",
        "causes, the likeliest first",
        "t.requires_grad",
        "detach or no_grad?",
    ):
        assert part in told


def test_a_file_with_code_beside_the_error(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "paste.txt").write_text("It fails:\n\n" + CODE + "\n" + ERROR)
    status, told = explained(capsys, str(tmp_path / "paste.txt"))
    assert status == 0
    assert "in the code that came with it" in told
    assert "`w` is not a leaf, so Adam cannot optimize it" in told


def test_the_program_itself_is_looked_at_when_it_is_at_hand(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(ERROR.encode())))
    status, told = explained(capsys)
    assert status == 0
    assert "train.py:3:25" in told


def test_markdown(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "paste.txt").write_text(CODE + "\n" + ERROR)
    status, told = explained(capsys, str(tmp_path / "paste.txt"), "--output-format", "markdown")
    assert status == 0
    assert told.count("```") % 2 == 0
    assert "line 3:" in told


@pytest.mark.parametrize(
    "text",
    [
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
        "KeyError: 'params'",
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x3 and 4x3)",
        "it does not work",
    ],
)
def test_an_error_of_others(capsys: Capture, tmp_path: Path, text: str) -> None:
    (tmp_path / "paste.txt").write_text(text)
    status, told = explained(capsys, str(tmp_path / "paste.txt"))
    assert (status, told[:15]) == (1, "not one of ours")


def test_a_file_that_is_missing(capsys: Capture, tmp_path: Path) -> None:
    assert main(["explain", str(tmp_path / "no")]) == 2
    assert "no such file" in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_the_encodings_of_terminals_and_editors(capsys: Capture, tmp_path: Path, encoding: str) -> None:
    (tmp_path / "paste.txt").write_bytes(ERROR.encode(encoding))
    assert explained(capsys, str(tmp_path / "paste.txt"))[0] == 0


def test_of_a_long_log_the_end_is_read(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("step 1 loss 0.3\n" * 200_000 + ERROR)
    assert main(["explain", str(tmp_path / "train.log")]) == 0
    told = capsys.readouterr()
    assert "can't optimize a non-leaf Tensor" in told.out
    assert "only the last 2 MB are read" in told.err


def test_characters_that_are_none(capsys: Capture) -> None:
    status, told = explained(capsys, "can't optimize a non-leaf Tensor \udcff")
    assert status == 0
    assert told.startswith("can't optimize a non-leaf Tensor")


def test_an_empty_argument_is_named(capsys: Capture) -> None:
    assert main(["explain", " "]) == 2
    assert "is empty" in capsys.readouterr().err


def test_the_finding_is_that_of_the_line_that_raised(capsys: Capture, tmp_path: Path) -> None:
    code = (
        "import torch\ndef old():\n    x = torch.ones(3, requires_grad=True)\n    return x.numpy()\n"
        "def new():\n    net = torch.nn.Linear(3, 1)\n    out = net(torch.ones(2, 3))\n    return out.numpy()\nprint(new())\n"
    )
    error = (
        'Traceback (most recent call last):\n  File "gone.py", line 9, in <module>\n    print(new())\n'
        '  File "gone.py", line 8, in new\n    return out.numpy()\n'
        "RuntimeError: Can't call numpy() on Tensor that requires grad.\n"
    )
    (tmp_path / "paste.txt").write_text(code + "\n" + error)
    _, told = explained(capsys, str(tmp_path / "paste.txt"))
    assert "pasted.py:8:12" in told


def test_the_cell_of_a_notebook_is_looked_at(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "paste.txt").write_text(
        "-----------\nValueError          Traceback (most recent call last)\nCell In[4], line 3\n"
        "      1 import torch\n      2 w = torch.randn(3, requires_grad=True) * 0.1\n"
        "----> 3 opt = torch.optim.Adam([w], lr=0.01)\n\nValueError: can't optimize a non-leaf Tensor\n"
    )
    _, told = explained(capsys, str(tmp_path / "paste.txt"))
    assert "pasted.py:3:" in told


def test_only_the_causes_of_this_message(capsys: Capture) -> None:
    _, told = explained(capsys, "TypeError: param_group must be a dict")
    assert "1. a tensor among groups" in told
    assert "the module itself" not in told
