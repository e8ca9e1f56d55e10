"""In a kernel of Jupyter: the explanation under the traceback of a cell, `%gradtrail`, `gradtrail.why`, and taking it all away."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("ipykernel")
manager = pytest.importorskip("jupyter_client.manager")

SOURCE = str(Path(__file__).resolve().parents[2] / "src")


class Shown(NamedTuple):
    """What a cell has shown: both streams, and the kind of the error that it raised."""

    out: str
    err: str
    error: str


class Kernel:
    """A kernel that runs cells one after the other."""

    def __init__(self, folder: Path) -> None:
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, (SOURCE, os.environ.get("PYTHONPATH")))),
            "NO_COLOR": "1",
            "COLUMNS": "100",
            "IPYTHONDIR": str(folder),
        }
        self._manager, self._client = manager.start_new_kernel(
            kernel_name="python3", env=env, cwd=str(folder)
        )
        self.count = 0

    def __call__(self, cell: str) -> Shown:
        """What a cell shows; `count` is its number."""
        told: dict[str, str] = {"stdout": "", "stderr": "", "error": ""}

        def hear(message: dict[str, Any]) -> None:
            content = message["content"]
            if message["msg_type"] == "stream":
                told[content["name"]] += content["text"]
            elif message["msg_type"] == "error":
                told["error"] = content["ename"]

        self._client.execute_interactive(cell, output_hook=hear, timeout=60, allow_stdin=False)
        self.count += 1
        return Shown(told["stdout"], told["stderr"], told["error"])

    def end(self) -> None:
        """Take it down."""
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    made = Kernel(tmp_path_factory.mktemp("kernel"))
    assert made("%load_ext gradtrail") == ("", "", "")
    assert made("import torch\nw = torch.ones(3, requires_grad=True)\ny = w * 2") == ("", "", "")
    yield made
    made.end()


def test_an_array_of_a_tensor_is_explained_with_the_cells_of_its_way(kernel: Kernel) -> None:
    shown = kernel("\ny.numpy()")
    assert shown.error == "RuntimeError"
    assert f"In:cell {kernel.count}:1:1" in shown.err
    assert "`y` requires grad, so it cannot be" in shown.err
    assert "in cell 2\n" in shown.err and "3 | y = w * 2" in shown.err
    assert "y.detach().numpy()" in shown.err


def test_a_second_backward_is_explained_though_a_cell_before_has_raised(kernel: Kernel) -> None:
    assert kernel("loss = y.pow(2).sum()\nloss.backward()") == ("", "", "")
    before = kernel.count
    shown = kernel("loss.backward()")
    assert "error[second-backward]: backward from `loss` meets" in shown.err
    assert f"in cell {before}\n" in shown.err and "this backward frees the graph" in shown.err


def test_a_function_of_an_earlier_cell_is_explained_each_time(kernel: Kernel) -> None:
    kernel("def show(x):\n    z = x * 2\n    return z.tolist(), z.numpy()")
    defined = kernel.count
    for _ in range(2):
        shown = kernel("show(w)")
        assert f"In:cell {defined}:3:24" in shown.err
        assert "`z` requires grad" in shown.err


def test_an_error_of_no_law_is_left_alone(kernel: Kernel) -> None:
    assert kernel("w.nothing") == ("", "", "AttributeError")
    assert kernel("1 +") == ("", "", "SyntaxError")


def test_why_names_the_cells(kernel: Kernel) -> None:
    shown = kernel("import gradtrail\nv = y + 1\nt = gradtrail.why(v)")
    assert shown.out.startswith(f"In:cell {kernel.count}:3\n    t = gradtrail.why(v)\n\n  v\n")
    assert f"AddBackward0  (line 2 of cell {kernel.count})" in shown.out
    assert "MulBackward0  (line 3 of cell 2)" in shown.out
    assert "`w`, a leaf" in shown.out


def test_the_cells_so_far_are_checked_and_the_extension_goes(kernel: Kernel) -> None:
    kernel("def lost():\n    return (w * 2).numpy()")
    row = f"In:cell {kernel.count}:2:12"
    assert row in kernel("%gradtrail").out
    assert kernel("%unload_ext gradtrail") == ("", "", "")
    assert kernel("y.numpy()") == ("", "", "RuntimeError")
    assert "not found" in kernel("%gradtrail").err
