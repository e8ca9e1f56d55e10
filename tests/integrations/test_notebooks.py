"""Notebooks from end to end."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from gradtrail.findings.engine import check_source
from gradtrail.integrations.command import main

Capture = pytest.CaptureFixture[str]

START = "%matplotlib inline\nimport torch\n!nvidia-smi"
LEAF = "%%time\nw = torch.randn(3, requires_grad=True)"


def write(path: Path, *cells: str) -> None:
    listed = [new_markdown_cell("# w.detach()"), *map(new_code_cell, cells)]
    nbformat.write(new_notebook(cells=listed), path)


def told(capsys: Capture, *arguments: str) -> list[str]:
    main(["check", "--isolated", "--output-format", "concise", *arguments])
    return [line.partition("n.ipynb:")[2] for line in capsys.readouterr().out.splitlines()]


def test_one_program_in_the_order_of_the_cells(capsys: Capture, tmp_path: Path) -> None:
    write(
        tmp_path / "n.ipynb",
        START,
        LEAF,
        "%%bash\nls",
        "größe = 1\nif größe:\n    %time v = w * größe",
        "opt = torch.optim.SGD([v], lr=1)",
    )
    assert told(capsys, str(tmp_path)) == [
        "cell 6:1:24: error[non-leaf-in-optimizer] `v` is not a leaf, so SGD cannot optimize it"
    ]
    assert main(["check", "--isolated", "--output-format", "json", str(tmp_path)]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["cell"], finding["location"], finding["end_location"]) == (
        6,
        {"row": 1, "column": 24},
        {"row": 1, "column": 25},
    )
    assert [(step["cell"], step["location"]) for step in finding["trail"]] == [
        (3, {"row": 2, "column": 5}),
        (5, {"row": 3, "column": 15}),
        (6, {"row": 1, "column": 24}),
    ]


def test_the_report_names_the_cells(capsys: Capture, tmp_path: Path) -> None:
    write(tmp_path / "n.ipynb", START, LEAF, "v = w * 2\ntorch.optim.SGD([v], lr=1)")
    main(["check", "--isolated", str(tmp_path / "n.ipynb")])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].endswith("n.ipynb:cell 4:2:18")
    assert lines[2:6] == [
        "  in cell 3",
        "    2 | w = torch.randn(3, requires_grad=True)",
        "      |     ---------------------------------- 1. a leaf: you created it",
        "  in cell 4",
    ]
    main(["check", "--isolated", "--output-format", "markdown", str(tmp_path / "n.ipynb")])
    assert "1. line 2 of cell 3: a leaf: you created it" in capsys.readouterr().out


def test_a_sentence_that_names_a_line_names_the_cell(capsys: Capture, tmp_path: Path) -> None:
    write(tmp_path / "n.ipynb", START, LEAF, "v = w.detach()\nloss = v.sum()", "loss.backward()")
    main(["check", "--isolated", "--output-format", "json", str(tmp_path / "n.ipynb")])
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert "the gradient ends on line 1 of cell 4:" in finding["help"]


@pytest.mark.parametrize(
    ("cells", "rows"),
    [
        (("w.detach()",), []),
        (("w.detach()  # to see it", "w.detach()\n\n"), []),
        (("w.detach();",), ["cell 4:1:1"]),
        (("w.detach()\nw.cpu()",), ["cell 4:1:1"]),
        (("for _ in range(3):\n    w.detach()",), ["cell 4:2:5"]),
        (("def f():\n    w.detach()", "f()"), ["cell 4:2:5"]),
    ],
)
def test_the_last_expression_of_a_cell_is_shown(
    capsys: Capture, tmp_path: Path, cells: tuple[str, ...], rows: list[str]
) -> None:
    write(tmp_path / "n.ipynb", START, LEAF, *cells)
    assert [line.partition(": ")[0] for line in told(capsys, str(tmp_path))] == rows


@pytest.mark.parametrize(
    ("code", "rows"),
    [
        (
            "# %%\nimport torch\nw = torch.ones(3)\n#%% [markdown]\n# text\n# %%\nw.detach()\n# %%\nw.detach()\n",
            [],
        ),
        ("# %%\nimport torch\nw = torch.ones(3)\nw.detach()\nw = 1\n", [4]),
        ("import torch\nw = torch.ones(3)\nw.detach()\n", [3]),
        ("import torch\nw = torch.ones(3)\ns = '%%'\nw.detach()\n", [4]),
        (">>> import torch\n>>> w = torch.ones(3)\n>>> w.detach()\ntensor([1., 1., 1.])\n>>> w.cpu()\n", []),
        (
            "In [1]: import torch\n   ...: w = torch.ones(3)\n   ...: w.detach()\n   ...: w.detach()\nIn [2]: w.detach()\n",
            [3],
        ),
    ],
)
def test_a_script_with_cells_and_a_session_show_values(code: str, rows: list[int]) -> None:
    assert [one.place.row for one in check_source(code)] == rows


def test_a_cell_that_does_not_parse_is_named_and_the_rest_is_looked_at(
    capsys: Capture, tmp_path: Path
) -> None:
    write(tmp_path / "n.ipynb", START, LEAF, "print w", "w.cpu();\n1")
    first, second = told(capsys, str(tmp_path))
    assert first.startswith("cell 5:1:1: warning[dropped-result]")
    assert second.startswith(" looked at in part: cell 4 was left out, since it does not parse: line 1:")


def test_what_a_cell_that_is_left_out_may_have_done(capsys: Capture, tmp_path: Path) -> None:
    write(
        tmp_path / "n.ipynb",
        START,
        LEAF,
        "v = w * 2",
        "v = v.detach().requires_grad_()\nprint v",
        "torch.optim.SGD([v], lr=1)",
    )
    (line,) = told(capsys, str(tmp_path))
    assert "cell 5 was left out" in line


def test_huge_outputs(capsys: Capture, tmp_path: Path) -> None:
    output = new_output("stream", text="torch é\n" * 500_000)
    cells = [new_code_cell(START, outputs=[output]), new_code_cell("w = torch.ones(2)\nw.cpu()\n1")]
    nbformat.write(new_notebook(cells=cells), tmp_path / "n.ipynb")
    assert [line.partition(": ")[0] for line in told(capsys, str(tmp_path))] == ["cell 2:2:1"]


def test_standard_input(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "n.ipynb", START, LEAF, "w.cpu()\n1")
    data = (tmp_path / "n.ipynb").read_bytes()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    main(["check", "--output-format", "concise", "-"])
    assert capsys.readouterr().out.startswith("<stdin>:cell 4:1:1: warning")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not a notebook: the file is empty"),
        (b"import torch\n", "is not a notebook: line 1 is not JSON: Expecting value"),
        (b'{"torch": 1, "nbformat": 4}', "is not a notebook: it has no list of cells"),
        (b'{"cells": [], "x": "\xff"}', "is not UTF-8: byte 21 (0xff, line 1) cannot be decoded"),
    ],
)
def test_what_is_no_notebook(capsys: Capture, tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "n.ipynb").write_bytes(content)
    assert main(["check", str(tmp_path / "n.ipynb")]) == 2
    shown = " ".join(capsys.readouterr().out.split())
    assert f"not looked at: {tmp_path / 'n.ipynb'}: {reason}" in shown


def test_another_language(capsys: Capture, tmp_path: Path) -> None:
    made = new_notebook(cells=[new_code_cell("library(torch)")], metadata={"language_info": {"name": "R"}})
    nbformat.write(made, tmp_path / "n.ipynb")
    assert main(["check", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "Found nothing in 1 file.\n"
    assert main(["check", str(tmp_path / "n.ipynb")]) == 0
    assert "is a notebook in R, not in Python" in " ".join(capsys.readouterr().out.split())


def test_copies_of_jupyter_are_not_looked_at(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / ".ipynb_checkpoints").mkdir()
    write(tmp_path / ".ipynb_checkpoints" / "n-checkpoint.ipynb", START, "w.cpu()\n1")
    assert told(capsys, str(tmp_path)) == []


def test_many_files(capsys: Capture, tmp_path: Path) -> None:
    for number in range(120):
        (tmp_path / f"z{number}.py").write_text("import torch\n")
    write(
        tmp_path / "n.ipynb",
        "x = '''torch'''\n" * 50 + START,
        LEAF,
        "def f(w):\n    w = torch.ones(3)\n    w.cpu()\n",
    )
    assert [line.partition(": ")[0] for line in told(capsys, str(tmp_path))] == ["cell 4:3:5"]


def why(capsys: Capture, spot: str) -> tuple[int, str]:
    status = main(["why", spot])
    said = capsys.readouterr()
    return status, said.out + said.err


def test_why(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    write(path, START, LEAF, "v = w * 2\nv")
    status, said = why(capsys, f"{path}:4:2:v")
    assert status == 0
    assert said.startswith(f"{path}:cell 4:2\n    v\n")
    assert "1. line 2 of cell 3  a leaf" in said
    assert why(capsys, f"{path}:4:2")[0] == 0
    for spot in (f"{path}:4:9", f"{path}:1:1", f"{path}:9:1:v", f"{path}:4:0"):
        status, said = why(capsys, spot)
        assert (status, "has no line" in said) == (2, True)
    assert "there is no `q` on line 4:2" in why(capsys, f"{path}:4:2:q")[1]
    assert "give a cell and a line in it" in why(capsys, f"{path}:4")[1]


def test_an_import_of_the_project(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "utils.py").write_text(
        "import torch\ndef make():\n    return torch.ones(3, requires_grad=True) * 2\n"
    )
    write(tmp_path / "n.ipynb", START, "from utils import make", "torch.optim.SGD([make()], lr=1)")
    found: Any = told(capsys, str(tmp_path))
    assert [line.partition(": ")[0] for line in found] == ["cell 4:1:18"]
