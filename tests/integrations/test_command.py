"""The command through its front door, with an interpreter that sees what the lines say."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradtrail import __version__
from gradtrail.integrations.command import main
from support import fake_interpreter

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_interpreter.install(monkeypatch)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def given(standard_input: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(standard_input)))


def written(name: str = "a.py", content: str = "import torch\nx = 1  # fault\n") -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


REPORT = """\
error[sample-fault]: line 2 is a fault
  a.py:2:1
    2 | x = 1  # fault
      | ^^^^^
  help: take the mark away
  more: gradtrail rule sample-fault

Found 1 error in 1 file.
"""


def test_check_of_the_folder_is_the_default(capsys: Capture) -> None:
    written()
    assert main(["check"]) == 1
    assert capsys.readouterr().out == REPORT


def test_concise(capsys: Capture) -> None:
    written("sub/b.py")
    assert main(["check", "--output-format", "concise", "sub"]) == 1
    assert capsys.readouterr().out == "sub/b.py:2:1: error[sample-fault] line 2 is a fault\n"


def test_json_names_files_in_full(capsys: Capture) -> None:
    path = written().resolve()
    assert main(["check", "--output-format=json", "a.py", "missing.py"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [one["filename"] for one in told["findings"]] == [str(path)]
    assert told["not_looked_at"] == [
        {"filename": str(path.parent / "missing.py"), "reason": "no such file or folder"}
    ]


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    given(b">>> x = 1  # fault\n", monkeypatch)
    assert main(["check", "-"]) == 1
    assert "  <stdin>:1:1\n" in capsys.readouterr().out
    given(b"x = 1  # fault\n", monkeypatch)
    assert main(["check", "-", "--stdin-filename", "pasted.py", "--output-format", "concise"]) == 1
    assert capsys.readouterr().out.startswith("pasted.py:1:1: ")


@pytest.mark.parametrize(
    ("content", "arguments", "status"),
    [
        ("x = 1\n", [], 0),
        ("x = 1  # fault\n", [], 1),
        ("x = 1  # fault\n", ["--exit-zero"], 0),
        ("x = 1  # suspicion\n", [], 0),
        ("x = 1  # fault\n", ["missing.py"], 1),
        ("x = 1  # suspicion\n", ["missing.py"], 2),
        ("x = 1\n", ["missing.py"], 2),
        ("for in x\n" + "y = 1\n" * 30, [], 2),
        ("x = 1  # limit\n", [], 0),
        ("x = 1  # crash\n", [], 3),
        ("x = 1  # fault\nx = 2  # crash\n", [], 3),
        ("x = 1  # interrupt\n", [], 130),
    ],
)
def test_the_exit_status(
    monkeypatch: pytest.MonkeyPatch, content: str, arguments: list[str], status: int
) -> None:
    monkeypatch.setenv("GRADTRAIL_STRICT", "0")
    written(content=content)
    assert main(["check", "a.py", *arguments]) == status


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["check", "--select", "sample-falut"],
            "there is no rule `sample-falut`; did you mean `sample-fault`?",
        ),
        (
            ["check", "--ignore", "sample-fault,susp"],
            "there is no rule `susp`; did you mean `sample-suspicion`?",
        ),
        (["check", "--select", "zzz"], "there is no rule `zzz`; `gradtrail rule` lists them"),
        (["check", "--select", ""], "--select: names no rule"),
        (["check", "--ignore", " , "], "--ignore: names no rule"),
        (["check", "--fix", "--write-baseline", "b.json"], "--write-baseline records what is found"),
        (["check", "--diff", "--write-baseline", "b.json"], "it does not go with --fix or --diff"),
        (["check", "--torch-version", "new"], "`new` is not a version such as 2.13.0"),
        (["check", "--statistics", "--output-format", "json"], "--statistics is a table for people"),
        (["check", "--stdin-filename", "a.py", "a.py"], "it goes with the path -"),
        (["check", "--colour"], "unrecognized arguments: --colour"),
        (["check", "--output-format", "xml"], "invalid choice: 'xml'"),
        (["chek"], "there is no command `chek`; did you mean `gradtrail check`?"),
        (["a.py"], "there is no command `a.py`; did you mean `gradtrail check a.py`?"),
        (["zzzz"], "there is no command `zzzz`; `gradtrail --help` lists them"),
        ([], "usage: gradtrail COMMAND"),
        (["rule", "sample-falt"], "there is no rule `sample-falt`; did you mean `sample-fault`?"),
        (["op", "detatch"], "there is no operation `detatch`; did you mean `detach`?"),
        (["why", "a.py"], "give a file and a line"),
        (["why", "missing.py:3"], "missing.py: no such file or folder"),
        (["why", "a.py:30"], "a.py has no line 30"),
    ],
)
def test_wrong_usage_says_what_is_right(capsys: Capture, arguments: list[str], said: str) -> None:
    written()
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""
    assert told.err.count("\n") == 1 or not arguments


def test_lists_of_rules(capsys: Capture) -> None:
    written(content="import torch\nx = 1  # fault\ny = 1  # suspicion\n")
    assert main(["check", "--select", "sample-fault, sample-suspicion", "--output-format", "concise"]) == 1
    assert capsys.readouterr().out.count("\n") == 2
    assert main(["check", "--ignore", "sample-fault", "--output-format", "concise"]) == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_statistics(capsys: Capture) -> None:
    written(content="import torch\nx = 1  # fault\nx = 2  # fault\ny = 1  # suspicion\n")
    assert main(["check", "--statistics"]) == 1
    assert capsys.readouterr().out == (
        "2  error    sample-fault\n1  info     sample-suspicion\nFound 2 errors and 1 remark in 1 file.\n"
    )


def test_colour(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    written()

    def coloured(*arguments: str) -> bool:
        main(["check", *arguments])
        return "\x1b[" in capsys.readouterr().out

    assert not coloured()
    assert coloured("--color", "always")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert coloured()
    assert not coloured("--color", "never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not coloured()
    assert coloured("--color", "always")


def test_the_width_is_that_of_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    written("a.py", "import torch\nx = '" + "a" * 200 + "'  # fault\n")
    for columns, expected in (("60", 60), ("5", 40), ("1000", 120), ("none", 80), ("", 80)):
        monkeypatch.setenv("COLUMNS", columns)
        main(["check"])
        assert max(map(len, capsys.readouterr().out.splitlines())) == expected


def test_what_the_output_cannot_say_is_written_as_an_escape(tmp_path: Path) -> None:
    written("größe.py", "import torch\n")
    told = subprocess.run(
        [sys.executable, "-m", "gradtrail", "check", "größe.py", "fehlt_ä.py"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert told.returncode == 2
    assert told.stdout.startswith(b"not looked at: fehlt_\\xe4.py: no such file or folder\n")


def test_pages(capsys: Capture) -> None:
    assert main(["rule"]) == 0
    assert capsys.readouterr().out == (
        "sample-fault      error    A line says that it is a fault\n"
        "sample-suspicion  info     A line says that it is suspicious\n"
        "unused-ignore     warning  A comment that hides findings hides none\n"
    )
    assert main(["rule", "sample-fault"]) == 0
    assert capsys.readouterr().out.startswith("sample-fault (error)\n\nA line says that it is a fault.")
    assert main(["rule", "sample-fault", "--output-format", "markdown"]) == 0
    assert capsys.readouterr().out.startswith("# sample-fault\n")
    assert main(["op", "torch.Tensor.detach"]) == 0
    assert capsys.readouterr().out.startswith("detach(self)\n")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "nn.Linear",
            "nn.Linear is a module; its forward is nn.functional.linear\n\nnn.functional.linear(self",
        ),
        ("LSTM", "nn.LSTM is a module; its forward is composed of operations\n"),
        ("torch.optim.Adam", "Adam is an optimizer; "),
        ("torch.zeros", "zeros makes a new leaf; it requires grad with requires_grad=True\n"),
        ("from_numpy", "from_numpy makes a new leaf; it requires grad after requires_grad_()\n"),
    ],
)
def test_what_is_no_operation_is_said(capsys: Capture, name: str, said: str) -> None:
    assert main(["op", name]) == 0
    assert capsys.readouterr().out.startswith(said)


def test_version_and_help(capsys: Capture) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"gradtrail {__version__}\n"
    for arguments in (["--help"], ["help"], ["-h"], ["check", "--help"], ["op", "--help"], ["why", "-h"]):
        assert main(arguments) == 0
        assert "example" in capsys.readouterr().out


def test_a_mistake_of_ours_outside_of_a_file(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    from gradtrail.integrations import pages

    def broken(command: str, arguments: object) -> int:
        raise KeyError("oops")

    monkeypatch.setattr(pages, "run", broken)
    monkeypatch.setenv("GRADTRAIL_STRICT", "0")
    assert main(["op", "mul"]) == 3
    assert capsys.readouterr().err == (
        "gradtrail: internal error, a mistake of gradtrail: KeyError: 'oops'"
        " (GRADTRAIL_DEBUG=1 shows where)\n"
    )


ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has it")
def test_output_that_cannot_be_written(tmp_path: Path) -> None:
    written()
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gradtrail", "check", "a.py"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == b"gradtrail: cannot go on: No space left on device\n"


def test_a_folder_that_was_removed(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def gone() -> str:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "getcwd", gone)
    assert main(["check"]) == 2
    assert capsys.readouterr().err == "gradtrail: cannot go on: the current folder does not exist any more\n"


def test_a_reader_that_goes_away_is_no_mistake() -> None:
    for number in range(400):
        written(f"{number}.py", "import torch\nfor in x:\n" + "y = 1\n" * 30)
    names = sorted(str(path) for path in Path().glob("*.py"))
    process = subprocess.Popen(
        [sys.executable, "-m", "gradtrail", "check", *names],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 1


def listens_to_ctrl_c() -> None:
    """What runs in the background of a shell inherits that Ctrl-C is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_stops_at_once_and_cleanly() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "gradtrail", "check", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        preexec_fn=listens_to_ctrl_c,  # noqa: PLW1509 - no threads here
    )
    time.sleep(1)  # it waits for its input
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (130, b"", b"")
