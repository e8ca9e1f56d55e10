"""`check --fix` and `--diff` on notebooks: cells change, and nothing else in the file does."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from gradtrail.integrations.command import main
from gradtrail.source.notebook import sources

Capture = pytest.CaptureFixture[str]

START = "%matplotlib inline\nimport torch\nnet = torch.nn.Linear(2, 1)\n!nvidia-smi"
TRAIN = """opt = torch.optim.SGD(net.parameters(), lr=0.1)
history = []
for _ in range(3):
    loss = net(torch.ones(1, 2)).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append(loss)  # größe"""
STATE = "best = net.state_dict()"
AGAIN = "for _ in range(3):\n    opt.zero_grad()\n    net(torch.ones(1, 2)).sum().backward()\n    opt.step()"
BACK = "net.load_state_dict(best)"


def write(path: Path, *cells: str, indent: int | None = 1) -> bytes:
    """A notebook with outputs and metadata, written as `indent` says; its bytes."""
    listed = [new_markdown_cell("# Größe"), *map(new_code_cell, cells)]
    listed[1]["outputs"] = [new_output("stream", text="history.append(loss)\n")]
    listed[1]["execution_count"] = 3
    notebook = new_notebook(cells=listed, metadata={"z": 1, "a": {"language": "python"}})
    path.write_text(json.dumps(notebook, indent=indent, ensure_ascii=False) + "\n", encoding="utf-8")
    return path.read_bytes()


def fix(*arguments: str) -> int:
    return main(["check", "--isolated", "--unsafe-fixes", *arguments])


def test_one_cell_changes_and_no_other_byte(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "n.ipynb"
    old = write(path, START, TRAIN)
    assert fix("--fix", str(path)) == 0
    assert "1 repaired: 1 graph-kept-in-list" in capsys.readouterr().out
    new = path.read_bytes()
    assert new == old.replace(b"history.append(loss)  #", b"history.append(loss.detach())  #")
    nbformat.validate(nbformat.read(path, as_version=4))
    assert fix("--fix", str(path)) == 0
    assert path.read_bytes() == new


@pytest.mark.parametrize("indent", [1, 4, None])
def test_several_cells_and_an_import(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "n.ipynb"
    old = write(path, START, TRAIN, STATE, "%%bash\nls", AGAIN, BACK, indent=indent)
    assert fix("--fix", str(path)) == 0
    before, after = sources(old), sources(path.read_bytes())
    assert after[2] == START.replace("import torch", "import torch\nimport copy")
    assert after[3] == TRAIN.replace("(loss)", "(loss.detach())")
    assert after[4] == "best = copy.deepcopy(net.state_dict())"
    assert [after[number] for number in (5, 6, 7)] == [before[number] for number in (5, 6, 7)]
    nbformat.validate(nbformat.read(path, as_version=4))
    kept = json.loads(path.read_bytes())
    for number, said in before.items():
        kept["cells"][number - 1]["source"] = said
    assert kept == json.loads(old)


def test_the_difference_is_shown_cell_by_cell(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "n.ipynb"
    old = write(path, START, TRAIN, STATE, AGAIN, BACK)
    assert fix("--diff", str(path)) == 1
    shown = capsys.readouterr().out
    heads = [line.rpartition("n.ipynb:")[2] for line in shown.splitlines() if line.startswith("+++")]
    assert heads == ["cell 2", "cell 3", "cell 4"]
    assert "\n-    history.append(loss)  # größe\n" in shown
    assert "\n+    history.append(loss.detach())  # größe\n" in shown
    assert path.read_bytes() == old


def test_the_last_row_of_a_cell_is_moved(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    clip = "torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)"
    loop = "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    loop += "for _ in range(3):\n    opt.zero_grad()\n    net(torch.ones(1, 2)).sum().backward()\n"
    write(path, START, f"{loop}    opt.step()\n    {clip}", "print(net.weight)")
    assert fix("--fix", str(path)) == 0
    after = sources(path.read_bytes())
    assert after[3] == f"{loop}    {clip}\n    opt.step()"
    assert after[4] == "print(net.weight)"


def test_what_lies_in_two_cells_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    train = "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nopt.zero_grad()\nnet(torch.ones(1, 2)).sum().backward()"
    old = write(path, START, train, "opt.step()", "torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)")
    fix("--fix", str(path))
    changed = sources(path.read_bytes())
    assert set(changed) == set(sources(old))
    nbformat.validate(nbformat.read(path, as_version=4))
