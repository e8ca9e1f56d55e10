"""What a program calls itself: `install`, `watch`, `why`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from support.running import in_a_child

NETWORK = """
import gradtrail
import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
x = torch.randn(5, 3)
"""


def ended(source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """How a program ended under Python."""
    (folder / "program.py").write_text(dedent(source).lstrip(), encoding="utf-8")
    environment = {**os.environ, "COLUMNS": "100"}
    return subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_an_installed_program_explains_its_error(tmp_path: Path) -> None:
    done = ended(
        "import gradtrail\ngradtrail.install()\n" + NETWORK + "print('before')\nnet(x).numpy()\n", tmp_path
    )
    assert (done.returncode, done.stdout) == (1, "before\n")
    traceback, report = done.stderr.split("\nerror[", 1)
    assert traceback.startswith("Traceback (most recent call last):") and "gradtrail" not in traceback
    assert report.startswith("numpy-of-tensor-that-requires-grad]: ")


def test_an_installed_program_tells_what_is_silent(tmp_path: Path) -> None:
    source = (
        "import gradtrail\ngradtrail.install(output_format='json', output_file='found.json')\n"
        + NETWORK
        + "opt = torch.optim.Adam(net.parameters())\n"
        "for _ in range(8):\n    net(x).mean().backward()\n    opt.step()\n"
    )
    done = ended(source, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["findings"]
    assert [one["rule"] for one in found] == ["gradient-not-cleared"]


def test_a_hook_of_the_programs_own_is_asked_first(tmp_path: Path) -> None:
    source = """
        import sys
        import gradtrail
        sys.excepthook = lambda kind, error, trace: print("mine", kind.__name__)
        gradtrail.install()
        gradtrail.install()
        raise KeyError("x")
        """
    done = ended(source, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, "mine KeyError\n", "")


def watched(source: str, folder: Path) -> list[str]:
    """The rules that a program has left in `told`."""
    path = folder / "program.py"
    path.write_text(NETWORK.lstrip() + dedent(source), encoding="utf-8")

    def run() -> list[str]:
        space = {"__name__": "__main__", "__file__": str(path), "told": []}
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)
        return list(space["told"])

    answer = in_a_child(folder, run)
    assert answer is not None
    return list(answer)


def test_a_block_is_watched(tmp_path: Path) -> None:
    source = """
        opt = torch.optim.Adam(net.parameters())
        with gradtrail.watch(quiet=True) as found:
            for _ in range(8):
                net(x).mean().backward()
                opt.step()
        told += [one.rule for one in found.findings]
        with gradtrail.watch(quiet=True) as found:
            for _ in range(8):
                opt.zero_grad()
                net(x).mean().backward()
                opt.step()
        told += [one.rule for one in found.findings]
        """
    assert watched(source, tmp_path) == ["gradient-not-cleared"]


def test_an_exception_in_a_watched_block_goes_on(tmp_path: Path) -> None:
    source = """
        try:
            with gradtrail.watch(quiet=True) as found:
                net(x).numpy()
        except RuntimeError:
            told += [one.rule for one in found.findings]
        """
    assert watched(source, tmp_path) == ["numpy-of-tensor-that-requires-grad"]


def page_of(source: str, folder: Path) -> str:
    """What a program that asks `why` prints."""
    done = ended("import gradtrail\ngradtrail.install()\n" + NETWORK + dedent(source), folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_why_tells_the_facts_the_lines_and_the_leaves(tmp_path: Path) -> None:
    page = page_of("loss = net(x).pow(2).mean()\ngradtrail.why(loss)\n", tmp_path)
    for said in (
        "program.py:11",
        "leaf           no",
        "requires grad  yes",
        "grad_fn        MeanBackward0",
        "MeanBackward0  (line 10)",
        "`net[0].weight`, a leaf",
        "`net[2].bias`, a leaf",
    ):
        assert said in page


def test_why_tells_what_was_cut(tmp_path: Path) -> None:
    page = page_of("loss = net(x).pow(2).mean().detach()\ngradtrail.why(loss)\n", tmp_path)
    assert "requires grad  no" in page
    assert "line 10  `detach` gives a tensor without history" in page


def test_why_of_a_deep_graph_ends(tmp_path: Path) -> None:
    page = page_of("y = net[0].weight\nfor _ in range(5000):\n    y = y * 1.0\ngradtrail.why(y)\n", tmp_path)
    assert "..." in page and len(page.splitlines()) < 500


def test_why_gives_the_page_back(tmp_path: Path) -> None:
    page = page_of(
        "told = gradtrail.why(x)\nassert 'leaf' in str(told)\nassert len(repr(told)) < 80\n", tmp_path
    )
    assert "leaf           yes" in page


@pytest.mark.parametrize("value", ["3", "None", "net", "'x'"])
def test_why_refuses_what_is_no_tensor(value: str, tmp_path: Path) -> None:
    done = ended(NETWORK + f"gradtrail.why({value})\n", tmp_path)
    assert done.returncode == 1
    assert "TypeError: why() is asked about a tensor" in done.stderr
