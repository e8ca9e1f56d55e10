"""`[tool.gradtrail]`: every setting, and what is wrong with settings."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from gradtrail.integrations import configuration
from gradtrail.integrations.command import main

Capture = pytest.CaptureFixture[str]

LEAF = "non-leaf-in-optimizer"
WRONG = """\
import torch
w = torch.ones(3, requires_grad=True)
w.detach()
v = w * 2
torch.optim.Adam([v])
"""
DROPPED = (3, "dropped-result")
NON_LEAF = (5, LEAF)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, content: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def settings(content: str, name: str = "pyproject.toml") -> None:
    write(name, "[project]\nname = 'x'\n\n[tool.gradtrail]\n" + content)


def found(capsys: Capture, *arguments: str) -> list[tuple[str, int, str]]:
    assert main(["check", "--output-format", "concise", *arguments]) < 2
    lines = capsys.readouterr().out.splitlines()
    told = []
    for line in lines:
        name, row, *_ = line.split(":")
        told.append((name.replace(os.sep, "/"), int(row), line.partition("[")[2].partition("]")[0]))
    return told


def rules(capsys: Capture, *arguments: str) -> list[tuple[int, str]]:
    return [(row, rule) for _, row, rule in found(capsys, *arguments)]


def test_select_and_ignore(capsys: Capture) -> None:
    write("a.py", WRONG)
    assert rules(capsys) == [DROPPED, NON_LEAF]
    settings(f'select = ["{LEAF}"]\n')
    assert rules(capsys) == [NON_LEAF]
    assert rules(capsys, "--select", "dropped-result") == [DROPPED]
    assert rules(capsys, "--isolated") == [DROPPED, NON_LEAF]
    settings(f'ignore = ["{LEAF}"]\n')
    assert rules(capsys) == [DROPPED]
    assert rules(capsys, "--ignore", "dropped-result") == [NON_LEAF]


def test_standard_input(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    settings('select = ["dropped-result"]\n')
    settings(f'select = ["{LEAF}"]\n', "inner/pyproject.toml")
    Path("deep").mkdir()
    os.chdir("deep")
    for arguments, expected in (([], [DROPPED]), (["--stdin-filename", "../inner/a.py"], [NON_LEAF])):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(WRONG.encode())))
        main(["check", "--output-format", "json", "-", *arguments])
        told = json.loads(capsys.readouterr().out)["findings"]
        assert [(one["location"]["row"], one["rule"]) for one in told] == expected


def test_per_file_ignores(capsys: Capture) -> None:
    for name in ("a.py", "tests/b.py", "tests/deep/c.py", "lib/a.py"):
        write(name, WRONG)
    both = f'["{LEAF}", "dropped-result"]'
    for glob, quiet in (
        ("tests/**", {"tests/b.py", "tests/deep/c.py"}),
        ("tests", {"tests/b.py", "tests/deep/c.py"}),
        ("tests/", {"tests/b.py", "tests/deep/c.py"}),
        ("tests/*.py", {"tests/b.py"}),
        ("a.py", {"a.py", "lib/a.py"}),
        ("/a.py", {"a.py"}),
        ("!tests/**", {"a.py", "lib/a.py"}),
    ):
        settings(f"[tool.gradtrail.per-file-ignores]\n'{glob}' = {both}\n")
        names = {name for name, _, _ in found(capsys)}
        assert names == {"a.py", "tests/b.py", "tests/deep/c.py", "lib/a.py"} - quiet, glob
        assert {name for name, _, _ in found(capsys, "tests/b.py", "a.py")} == {"tests/b.py", "a.py"} - quiet


def test_per_file_ignores_are_added_to_what_is_ignored(capsys: Capture) -> None:
    write("a.py", WRONG)
    settings(f'ignore = ["dropped-result"]\nper-file-ignores = {{"a.py" = ["{LEAF}"]}}\n')
    assert rules(capsys) == []
    assert rules(capsys, "--ignore", "in-place-on-leaf") == [DROPPED]


def test_exclude(capsys: Capture) -> None:
    for name in ("a.py", "old/b.py", "build/c.py", "lib/old.py"):
        write(name, WRONG)
    settings('extend-exclude = ["old", "lib/*.py"]\n')
    assert {name for name, _, _ in found(capsys)} == {"a.py"}
    settings('exclude = ["old"]\n')
    assert {name for name, _, _ in found(capsys)} == {"a.py", "build/c.py", "lib/old.py"}
    settings('exclude = []\nextend-exclude = ["a.py"]\n')
    assert {name for name, _, _ in found(capsys)} == {"build/c.py", "lib/old.py", "old/b.py"}
    # What is named is looked at.
    assert {name for name, _, _ in found(capsys, "a.py")} == {"a.py"}
    write(".gitignore", "lib\n")
    Path(".git").mkdir()
    assert {name for name, _, _ in found(capsys)} == {"build/c.py", "old/b.py"}


def test_the_nearest_settings_hold(capsys: Capture) -> None:
    for name in ("a.py", "inner/a.py", "inner/plain/a.py"):
        write(name, WRONG)
    settings('select = ["dropped-result"]\n')
    settings(f'select = ["{LEAF}"]\n', "inner/pyproject.toml")
    write("inner/plain/pyproject.toml", "[tool.other]\nx = 'tool.gradtrail'\n")
    expected = [("a.py", *DROPPED), ("inner/a.py", *NON_LEAF), ("inner/plain/a.py", *NON_LEAF)]
    assert found(capsys) == expected
    os.chdir("inner")
    assert rules(capsys, "../a.py") == [DROPPED]


def test_a_file_that_is_named(capsys: Capture) -> None:
    write("a.py", WRONG)
    settings('select = ["dropped-result"]\n')
    settings(f'select = ["{LEAF}"]\n', "other/mine.toml")
    assert rules(capsys, "--config", "other/mine.toml") == [NON_LEAF]
    assert rules(capsys, "--config=other/mine.toml", "a.py") == [NON_LEAF]


MODULES = """\
import torch
from torch import nn
import mylib

class Net(mylib.layers.Base):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2)]
        self.head = nn.Linear(2, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    net(torch.ones(4, 2)).sum().backward()
    optimizer.step()
"""


def test_modules(capsys: Capture) -> None:
    write("a.py", MODULES)
    assert rules(capsys) == []
    settings('modules = ["mylib.layers.Base"]\n')
    assert rules(capsys) == [(8, "parameter-outside-optimizer")]
    write("a.py", MODULES.replace("[nn.Linear(2, 2)]", "nn.ModuleList([nn.Linear(2, 2)])"))
    assert rules(capsys) == []


def test_a_class_of_the_project_may_be_declared(capsys: Capture) -> None:
    write("layers.py", "from mylib import make\nclass Base(make()):\n    pass\n")
    write(
        "a.py",
        MODULES.replace("import mylib", "from layers import Base").replace("mylib.layers.Base", "Base"),
    )
    assert rules(capsys) == []
    settings('modules = ["layers.Base"]\n')
    assert rules(capsys) == [(8, "parameter-outside-optimizer")]


OPTIMIZERS = """\
import torch
from mylib import Lion

w = torch.ones(3, requires_grad=True)
v = w * 2
Lion([v], lr=0.1)
"""

CLEARED = """\
import torch
from mylib import Lion

w = torch.ones(3, requires_grad=True)
optimizer = Lion([w], lr=0.1)
for _ in range(3):
    (w * 2).sum().backward()
    optimizer.step()
"""


def test_optimizers(capsys: Capture) -> None:
    write("a.py", OPTIMIZERS)
    assert rules(capsys) == []
    settings('optimizers = ["mylib.Lion"]\n')
    assert rules(capsys) == [(6, LEAF)]
    write("a.py", CLEARED)
    assert [rule for _, rule in rules(capsys)] == ["gradient-not-cleared"]
    write("a.py", CLEARED.replace("optimizer.step()", "optimizer.step()\n    optimizer.zero_grad()"))
    assert rules(capsys) == []


DEVICE = """\
import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
w = torch.ones(3, requires_grad=True)
w = w.to(device)
torch.optim.SGD([w], lr=0.1)
"""


def test_why_takes_the_same_for_given(capsys: Capture) -> None:
    write("a.py", DEVICE)
    assert main(["why", "a.py:5:w"]) == 0
    open_device = capsys.readouterr().out
    settings('device = "cuda"\n')
    assert main(["why", "a.py:5:w"]) == 0
    assert "leaf           no" in capsys.readouterr().out
    assert "leaf           no" not in open_device
    settings("device = 3\n")
    assert main(["why", "a.py:5:w"]) == 2
    assert "`device` must be a string" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("device", "told"),
    [
        ("", "Adam will refuse"),
        ('device = "cpu"', ""),
        ('device = "cuda"', "is not a leaf, so SGD cannot optimize it"),
        ('device = "mps"', ""),
    ],
)
def test_device(capsys: Capture, device: str, told: str) -> None:
    write("a.py", DEVICE)
    settings(device + "\n")
    main(["check", "--output-format", "concise"])
    assert told.replace("Adam", "SGD") in capsys.readouterr().out
    assert bool(rules(capsys)) is bool(told)


def test_the_release_of_torch(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    from gradtrail.findings import engine

    asked: list[object] = []
    look = engine._Run.hear

    def hear(run: engine._Run, filename: str) -> None:
        asked.append(run._settings_of(filename).torch_version)
        look(run, filename)

    monkeypatch.setattr(engine._Run, "hear", hear)
    write("a.py", WRONG)
    settings('torch-version = "1.13.1+cu117"\n')
    for arguments in ([], ["--torch-version", "2.1"]):
        main(["check", *arguments])
    assert asked == ["1.13.1", "2.1"]
    capsys.readouterr()


def test_the_language(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRADTRAIL_LANG", raising=False)
    monkeypatch.setenv("LC_ALL", "C")
    write("a.py", "x = 1\n")
    settings('select = ["dropped-result"]\nlang = "ja"\n')
    Path("deep").mkdir()
    write("deep/b.py", "x = 1\n")
    os.chdir("deep")
    main(["check"])
    japanese = "1 個のファイルに問題は見つかりませんでした。\n"
    assert capsys.readouterr().out == japanese
    for arguments in (["--lang", "en"], ["--isolated"]):
        main(["check", *arguments])
        assert capsys.readouterr().out == "Found nothing in 1 file.\n"
    settings('lang = "zh-CN"\n', "mine.toml")
    main(["check", "--config", "mine.toml"])
    assert "1 个" in capsys.readouterr().out


def test_the_baseline(capsys: Capture) -> None:
    write("a.py", WRONG)
    assert main(["check", "--write-baseline", "known.json"]) == 0
    settings('baseline = "known.json"\n')
    assert main(["check"]) == 0
    Path("deep").mkdir()
    os.chdir("deep")
    assert main(["check", ".."]) == 0
    assert main(["check", "..", "--isolated"]) == 1
    capsys.readouterr()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('selct = ["dropped-result"]', "there is no setting `selct`; did you mean `select`?"),
        ("zzzz = 1", "there is no setting `zzzz`"),
        ('select = "dropped-result"', "`select` must be a list of strings"),
        ("ignore = [1]", "`ignore` must be a list of strings"),
        ("select = []", "`select` names no rule"),
        ('select = ["droped-result"]', "`select`: there is no rule `droped-result`; did you mean `dropped-result`?"),
        ('ignore = ["E501"]', "`ignore`: there is no rule `E501`"),
        ('per-file-ignores = ["a"]', "`per-file-ignores` must be a table from globs to lists of rules"),
        ('per-file-ignores = {"a.py" = "x"}', "`per-file-ignores.a.py` must be a list of strings"),
        ('per-file-ignores = {"a.py" = ["x-y"]}', "`per-file-ignores.a.py`: there is no rule `x-y`"),
        ('exclude = "a"', "`exclude` must be a list of strings"),
        ("extend-exclude = {}", "`extend-exclude` must be a list of strings"),
        ('modules = ["Base"]', "`modules`: `Base` is not the dotted name of a class"),
        ('optimizers = ["a.b-c"]', "`optimizers`: `a.b-c` is not the dotted name of a class"),
        ('device = "gpu"', "`device`: `gpu` is none of cpu, cuda, mps, xpu"),
        ("device = 1", "`device` must be a string"),
        ('torch-version = "new"', "`torch-version`: `new` is not a version such as 2.13.0"),
        ("torch-version = 2.1", "`torch-version` must be a string"),
        ('lang = "tlh"', "`lang`: `tlh` is none of en, zh_CN, ja"),
        ("baseline = true", "`baseline` must be a string"),
    ],
)  # fmt: skip
def test_a_wrong_setting(capsys: Capture, content: str, told: str) -> None:
    write("a.py", WRONG)
    settings(content + "\n", "inner/pyproject.toml")
    write("inner/a.py", WRONG)
    assert main(["check"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == (
        "",
        f"gradtrail: {os.path.join('inner', 'pyproject.toml')}: [tool.gradtrail]: {told}\n",
    )
    assert main(["check", "--isolated"]) == 1
    capsys.readouterr()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"[tool.gradtrail\n", "is not TOML: "),
        (b"[tool.gradtrail]\nselect = ['\xff']\n", "is not UTF-8\n"),
        (b"[tool]\ngradtrail = 3\n", "`tool.gradtrail` must be a table\n"),
        (b"[[tool.gradtrail]]\n", "`tool.gradtrail` must be a table\n"),
        (b"[tool.gradtrail]\nselect = ['a']\nselect = ['b']\n", "is not TOML: "),
    ],
)
def test_a_broken_file(capsys: Capture, content: bytes, told: str) -> None:
    Path("pyproject.toml").write_bytes(content)
    write("a.py", "x = 1\n")
    assert main(["check"]) == 2
    assert f"gradtrail: pyproject.toml: {told}" in capsys.readouterr().err
    assert main(["rule", "dropped-result"]) == 0


def test_a_broken_file_of_others_is_not_ours(capsys: Capture) -> None:
    Path("pyproject.toml").write_bytes(b"[tool.other\n\xff")
    Path("inner/pyproject.toml").parent.mkdir()
    Path("inner/pyproject.toml").mkdir()
    write("inner/a.py", WRONG)
    assert rules(capsys) == [DROPPED, NON_LEAF]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--config", "missing.toml"], "missing.toml: no such file or folder"),
        (["--config", "."], "is a folder, not a file"),
        (["--config", "empty.toml"], "empty.toml: has no table `[tool.gradtrail]`"),
        (
            ["--config", "empty.toml", "--isolated"],
            "--isolated reads no settings: it does not go with --config",
        ),
        (["--config"], "expected one argument"),
    ],
)
def test_a_wrong_file_is_named(capsys: Capture, arguments: list[str], told: str) -> None:
    write("empty.toml", "x = 1\n")
    assert main(["check", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_toml_is_read_only_where_settings_are() -> None:
    write("a.py", "import torch\n")
    write("pyproject.toml", "[tool.other]\n")
    code = (
        "import sys; from gradtrail.integrations.command import main; main(['check']);"
        "print(any(n.startswith('toml') for n in sys.modules))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(configuration.__file__).parents[2])}
    for content, expected in (("[tool.other]\n", "False"), ("[tool.gradtrail]\n", "True")):
        write("pyproject.toml", content)
        told = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
        )
        assert told.stdout.splitlines()[-1] == expected
