"""`# gradtrail: ignore` from end to end: what it hides, and what is said when it hides nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradtrail.integrations.command import main

Capture = pytest.CaptureFixture[str]

WRONG = "import torch\nw = torch.ones(3, requires_grad=True)\nw.detach(){comment}\n"
HIDDEN = WRONG.format(comment="  # gradtrail: ignore[dropped-result]")


def told(capsys: Capture, folder: Path, code: str, *arguments: str) -> list[str]:
    (folder / "a.py").write_text(code)
    main(["check", "--isolated", "--output-format", "concise", *arguments, str(folder)])
    return [line.partition("a.py:")[2] for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    "comment",
    [
        "  # gradtrail: ignore",
        "  # gradtrail: ignore[dropped-result]",
        "  # gradtrail: ignore[dropped-result] it is a demonstration",
        "  # noqa # gradtrail: ignore[dropped-result, unused-ignore, non-leaf-in-optimizer]",
    ],
)
def test_hidden(capsys: Capture, tmp_path: Path, comment: str) -> None:
    assert told(capsys, tmp_path, WRONG.format(comment=comment)) == []
    assert main(["check", "--isolated", str(tmp_path)]) == 0


@pytest.mark.parametrize(
    "code",
    [
        "w.detach(  # gradtrail: ignore[dropped-result]\n)\n",
        "w.detach(\n)  # gradtrail: ignore[dropped-result]\n",
        "(w\n  .detach()  # gradtrail: ignore\n)\n",
        "for _ in range(2):\n    w.detach()  # gradtrail: ignore\n",
    ],
)
def test_any_line_of_the_statement(capsys: Capture, tmp_path: Path, code: str) -> None:
    assert told(capsys, tmp_path, WRONG.replace("w.detach(){comment}\n", code)) == []


@pytest.mark.parametrize("names", ["", "[dropped-result]"])
def test_a_whole_file(capsys: Capture, tmp_path: Path, names: str) -> None:
    code = f'"""Says."""\n# gradtrail: ignore-file{names}\n' + WRONG.format(comment="")
    assert told(capsys, tmp_path, code) == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (WRONG.format(comment="  # gradtrail: ignore[in-place-on-leaf]"), None),
        (
            WRONG.format(comment="") + 's = "# gradtrail: ignore"\n',
            ["3:1: warning[dropped-result] the result of `detach` is dropped: `w` stays as it was"],
        ),
        (
            "import torch\nx = 1  # gradtrail: ignore\n",
            ["2:8: warning[unused-ignore] this comment hides nothing: nothing is found here"],
        ),
        (
            "x = 1  # gradtrail: ignore[dropped-result]\n",
            ["1:8: warning[unused-ignore] this comment hides nothing: `dropped-result` is not found here"],
        ),
        (
            "x = 1  # gradtrail: ignore[droped-result]\n",
            ["1:8: warning[unused-ignore] there is no rule `droped-result`; did you mean `dropped-result`?"],
        ),
        (
            "x = 1  # gradtrail: ignored[dropped-result]\ny = 2  # gradtrail: look\n",
            ["1:8: warning[unused-ignore] there is no comment `ignored`; did you mean `ignore`?"],
        ),
        (
            "x = 1  # gradtrail: noqa[dropped-result]\ny = 2  # gradtrail: ignorefile\n",
            [
                "1:8: warning[unused-ignore] there is no comment `noqa`",
                "2:8: warning[unused-ignore] there is no comment `ignorefile`; did you mean `ignore-file`?",
            ],
        ),
        ("x = 1  # gradtrail: ignore[zzzzzz]\n", ["1:8: warning[unused-ignore] there is no rule `zzzzzz`"]),
        (
            "x = 1  # gradtrail: ignore[]\n",
            ["1:8: warning[unused-ignore] this comment names no rule between `[` and `]`"],
        ),
        (
            "x = 1\n# gradtrail: ignore-file[dropped-result]\n",
            ["2:1: warning[unused-ignore] `ignore-file` counts only above the first line of code"],
        ),
        (
            "# gradtrail: ignore-file[dropped-result]\nx = 1\n",
            ["1:1: warning[unused-ignore] this comment hides nothing: `dropped-result` is not found here"],
        ),
        ("x = 1  # gradtrail: ignore[dropped-result, unused-ignore]\n", []),
        ("# gradtrail: ignore-file[unused-ignore]\nx = 1  # gradtrail: ignore\n", []),
    ],
)
def test_unused(capsys: Capture, tmp_path: Path, code: str, expected: list[str] | None) -> None:
    lines = told(capsys, tmp_path, code)
    if expected is None:
        assert len(lines) == 2
        assert "[dropped-result]" in lines[0]
        assert "`in-place-on-leaf`" in lines[1]
    else:
        assert lines == expected


def test_a_rule_that_is_not_looked_for_is_not_unused(capsys: Capture, tmp_path: Path) -> None:
    assert told(capsys, tmp_path, HIDDEN, "--ignore", "dropped-result") == []
    assert told(capsys, tmp_path, HIDDEN, "--select", "non-leaf-in-optimizer,unused-ignore") == []
    bare = "import torch\nx = 1  # gradtrail: ignore\n"
    assert told(capsys, tmp_path, bare, "--ignore", "dropped-result") == []
    assert told(capsys, tmp_path, bare, "--select", "dropped-result") == []
    assert told(capsys, tmp_path, bare, "--ignore", "unused-ignore") == []


RAISING = """\
import torch
x = torch.ones(3)  # gradtrail: ignore[dropped-result]
w = torch.ones(3, requires_grad=True) * 2
torch.optim.SGD([w], lr=0.1)  # gradtrail: ignore[non-leaf-in-optimizer]
w.detach()  # gradtrail: ignore[dropped-result]
"""


def test_what_comes_after_a_refusal_was_not_looked_at(capsys: Capture, tmp_path: Path) -> None:
    (line,) = told(capsys, tmp_path, RAISING)
    assert line.startswith("2:20: warning[unused-ignore]")


def test_a_file_that_a_finding_lies_in_is_asked_for_its_comments(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "utils.py").write_text("def cut(w):\n    w.detach()  # gradtrail: ignore[dropped-result]\n")
    code = "import torch\nfrom utils import cut\ncut(torch.ones(3, requires_grad=True))\n"
    assert told(capsys, tmp_path, code) == []


def test_a_function_that_only_another_file_calls(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "import torch\nfrom utils import cut\ncut(torch.ones(3, requires_grad=True))\n"
    )
    utils = tmp_path / "utils.py"
    utils.write_text("import torch\ndef cut(w):\n    w.detach()  # gradtrail: ignore[dropped-result]\n")
    assert main(["check", "--isolated", str(utils)]) == 0
    assert main(["check", "--isolated", str(tmp_path)]) == 0
    (tmp_path / "a.py").write_text("import torch\n")
    assert main(["check", "--isolated", str(tmp_path)]) == 1
    for code in (
        utils.read_text() + "cut(1)\n",
        utils.read_text().replace("(w)", "()").replace("w.", "torch.ones(1).cpu()."),
    ):
        utils.write_text(code.replace("dropped-result", "in-place-on-leaf"))
        main(["check", "--isolated", "--output-format", "concise", str(utils)])
        assert "`in-place-on-leaf` is not found here" in capsys.readouterr().out
        utils.write_text("import torch\ndef cut(w):\n    w.detach()  # gradtrail: ignore[dropped-result]\n")


def test_many_files(capsys: Capture, tmp_path: Path) -> None:
    for number in range(120):
        (tmp_path / f"z{number}.py").write_text("import torch\n")
    code = HIDDEN + "def f(x):\n    return x  # gradtrail: ignore[dropped-result]\n"
    (line,) = told(capsys, tmp_path, code)
    assert line.startswith("5:15: warning[unused-ignore]")


def test_in_a_notebook(capsys: Capture, tmp_path: Path) -> None:
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    cells = [
        "import torch\nw = torch.ones(3, requires_grad=True)",
        "w.detach()  # gradtrail: ignore\n1",
        "%who\nx = 1  # gradtrail: ignore",
    ]
    nbformat.write(new_notebook(cells=[new_code_cell(cell) for cell in cells]), tmp_path / "n.ipynb")
    main(["check", "--isolated", "--output-format", "concise", str(tmp_path)])
    assert "n.ipynb:cell 3:2:8: warning[unused-ignore]" in capsys.readouterr().out
    main(["check", "--isolated", str(tmp_path)])
    assert "  fix: line 2  x = 1\n" in capsys.readouterr().out
    main(["check", "--isolated", "--output-format", "json", str(tmp_path)])
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    (edit,) = finding["fixes"][0]["edits"]
    assert (edit["cell"], edit["location"], edit["end_location"]) == (
        3,
        {"row": 2, "column": 6},
        {"row": 2, "column": 27},
    )


def test_a_comment_hides_nothing_from_an_explanation(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = "import torch\nw = torch.ones(3, requires_grad=True)\nw.numpy()  # gradtrail: ignore\n"
    (tmp_path / "a.py").write_text(code)
    message = (
        "RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
    )
    pasted = f'Traceback (most recent call last):\n  File "{tmp_path / "a.py"}", line 3, in <module>\n    w.numpy()\n{message}\n'
    (tmp_path / "error.txt").write_text(pasted)
    main(["explain", "error.txt"])
    assert "a.py:3:" in capsys.readouterr().out


def test_the_page(capsys: Capture) -> None:
    assert main(["rule", "unused-ignore"]) == 0
    assert "hides findings hides none" in capsys.readouterr().out
    assert main(["rule"]) == 0
    assert "unused-ignore" in capsys.readouterr().out
    assert main(["rule", "unused-ignores"]) == 2
    assert "unused-ignore" in capsys.readouterr().err


def test_the_row_of_a_comment_that_is_taken_away_goes_with_it(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    lines = ["# gradtrail: ignore-file[dropped-result]", "x = (", "    # gradtrail: ignore", "    1,", ")"]
    path.write_text("\n".join([*lines, "y = 1  # gradtrail: ignore", "    # gradtrail: ignore"]))
    assert main(["check", "--isolated", "--fix", str(path)]) == 0
    assert path.read_text() == "x = (\n    1,\n)\ny = 1\n"
