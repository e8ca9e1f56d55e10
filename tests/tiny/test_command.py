"""`gradtrail tiny` through its front door: programs that run, and programs that break a law."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def gradtrail_tiny(
    *arguments: str, folder: Path = ROOT, path: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own, where no other torch can be meant."""
    paths = [str(each) for each in (path, ROOT / "src") if each]
    return subprocess.run(
        [sys.executable, "-m", "gradtrail", "tiny", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "NO_COLOR": "1", "COLUMNS": "80"},
    )


def script(folder: Path, text: str) -> str:
    (folder / "program.py").write_text(text, encoding="utf-8")
    return "program.py"


def test_a_program_runs_as_main_with_its_arguments(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("import torch.nn.functional as F\nrelu = F.relu\n", encoding="utf-8")
    name = script(
        tmp_path,
        "import sys\nimport torch\nfrom helper import relu\n\nif __name__ == '__main__':\n"
        "    w = torch.tensor([-1.0, 2.0], requires_grad=True)\n    relu(w).sum().backward()\n"
        "    print(sys.argv, torch.__version__, w.grad)\n",
    )
    result = gradtrail_tiny(name, "--epochs", "3", folder=tmp_path)
    assert result.stderr == ""
    assert result.stdout == "['program.py', '--epochs', '3'] 2.13.0+tiny tensor([0., 1.])\n"
    assert result.returncode == 0


@pytest.mark.parametrize(("ending", "status"), [("sys.exit(7)", 7), ("sys.exit()", 0), ("sys.exit('no')", 1)])
def test_the_exit_status_is_the_programs(tmp_path: Path, ending: str, status: int) -> None:
    assert gradtrail_tiny(script(tmp_path, f"import sys\n{ending}\n"), folder=tmp_path).returncode == status


def test_a_broken_law_is_diagnosed(tmp_path: Path) -> None:
    name = script(tmp_path, "import torch\n\nw = torch.zeros(3, requires_grad=True)\nw += 1\n")
    result = gradtrail_tiny(name, folder=tmp_path)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith(
        f'Traceback (most recent call last):\n  File "{tmp_path / "program.py"}", line 4, in <module>\n'
        "    w += 1\nRuntimeError: a leaf Variable that requires grad is being used in an in-place operation.\n"
        "\nerror[in-place-on-leaf]: `w` is a leaf that requires grad and must not be\n"
    )
    assert os.path.join("gradtrail", "tiny") not in result.stderr


def test_what_check_does_not_see_is_told_by_its_law(tmp_path: Path) -> None:
    name = script(tmp_path, "import torch\n\nw = eval('torch.zeros(3, requires_grad=True)')\nw += 1\n")
    result = gradtrail_tiny(name, folder=tmp_path)
    assert result.stderr.endswith("in-place operation.\n\nlaw: leaves are not written in place\n")


@pytest.mark.parametrize(
    ("line", "lacking"),
    [
        ("torch.fft", "torch.fft"),
        ("torch.ones(2).cumsum(0)", "torch.Tensor.cumsum"),
        ("torch.nn.Conv2d(1, 1, 1)", "torch.nn.Conv2d"),
        ("import torch.distributed", "torch.distributed"),
        ("from torch.nn import GRU", "torch.nn.GRU"),
    ],
)
def test_what_tiny_lacks_is_not_torchs_fault(tmp_path: Path, line: str, lacking: str) -> None:
    result = gradtrail_tiny(script(tmp_path, f"import torch\n{line}\n"), folder=tmp_path)
    assert f"gradtrail.tiny has no `{lacking}`" in result.stderr
    assert result.returncode == 1


def test_without_numpy_one_sentence_says_so(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ModuleNotFoundError('no', name='numpy')\n", encoding="utf-8")
    result = gradtrail_tiny(script(tmp_path, "import torch\n"), folder=tmp_path, path=tmp_path)
    assert result.stderr == "gradtrail: `gradtrail tiny` needs numpy: pip install 'gradtrail[tiny]'\n"
    assert result.returncode == 2


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    result = gradtrail_tiny("nowhere.py", folder=tmp_path)
    assert result.stderr == "gradtrail tiny: nowhere.py: no such file or folder\n"
    assert result.returncode == 2


def test_how_it_is_used() -> None:
    assert gradtrail_tiny("--help").stdout.startswith("usage: gradtrail tiny [-h] SCRIPT")
    assert gradtrail_tiny().returncode == 2


def test_an_example_that_breaks_a_law() -> None:
    result = gradtrail_tiny("examples/policy_gradient.py")
    assert result.returncode == 1
    assert "error[numpy-of-tensor-that-requires-grad]: " in result.stderr


AT_THE_END = """
import atexit, gc, threading, time
import torch

file = open("log.txt", "w")


def log(text):
    file.write(text + "\\n")


@atexit.register
def leave():
    import torch.nn as nn
    print("left", nn.Linear.__name__, torch.ones(1))


def work():
    time.sleep(0.2)
    print("worked", torch.ones(1))


threading.Thread(target=work).start()
log("kept")
print("ends", gc.isenabled())
"""


def test_the_process_ends_as_python_ends(tmp_path: Path) -> None:
    result = gradtrail_tiny(script(tmp_path, AT_THE_END), folder=tmp_path)
    assert result.stderr == ""
    assert result.stdout.splitlines() == ["ends True", "worked tensor([1.])", "left Linear tensor([1.])"]
    assert (tmp_path / "log.txt").read_text(encoding="utf-8") == "kept\n"


@pytest.mark.parametrize(
    "text",
    [
        "print(__file__, __spec__, __cached__, __loader__ is None, __builtins__.__name__)",
        "class Own(BaseException): pass\nraise Own('x')",
        "import sys; sys.exit(2**70)",
        "import sys; sys.exit(-1)",
        "raise GeneratorExit",
        "def f():\n    raise ValueError('x')\ntry:\n    f()\nexcept ValueError as e:\n    raise KeyError from e",
        "import sys; sys.excepthook = lambda kind, error, trace: print('mine', error)\n1 / 0",
        "import importlib.util as u; print(u.find_spec('torch.distributed') is None, u.find_spec('torch').name)",
        "import sys; sys.meta_path.pop(0); print('removed')",
        "import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start(); t.join(); print('goes on')",
    ],
)
def test_it_runs_as_python_runs_it(tmp_path: Path, text: str) -> None:
    name = script(tmp_path, text + "\n")
    theirs = subprocess.run(
        [sys.executable, name], capture_output=True, text=True, encoding="utf-8", check=False, cwd=tmp_path
    )
    ours = gradtrail_tiny(name, folder=tmp_path)
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


def test_ctrl_c_shows_where_the_program_was(tmp_path: Path) -> None:
    result = gradtrail_tiny(script(tmp_path, "import torch\nraise KeyboardInterrupt\n"), folder=tmp_path)
    assert result.returncode == 130
    assert "line 2, in <module>" in result.stderr
    assert os.path.join("gradtrail", "integrations") not in result.stderr


@pytest.mark.parametrize(
    "text",
    [
        "w = torch.ones(2, requires_grad=True)\ny = w * 2\nprint(y.grad, 1 / 0)",
        "w = torch.ones(2, requires_grad=True)\ny = w * 2\nprint(y.grad, torch.fft)",
        "config = None\nconfig.lr",
        "net = torch.nn.Linear(2, 2)\nnet(torch.ones(2, 3))",
        "opt = torch.optim.Adam([torch.ones(1, requires_grad=True)], amsgrad=True)",
    ],
)
def test_another_error_on_the_line_of_a_finding_is_not_diagnosed(tmp_path: Path, text: str) -> None:
    result = gradtrail_tiny(script(tmp_path, f"import torch\n{text}\n"), folder=tmp_path)
    assert result.returncode == 1
    assert not any(each in result.stderr for each in ("error[", "warning[", "law:"))
