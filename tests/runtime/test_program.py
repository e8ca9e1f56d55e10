"""A program under `gradtrail run` is what it is under Python: what it sees, prints and raises, and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

SEES = """
import sys, os
print(__name__, __file__, __package__, __spec__ and __spec__.name, __doc__)
print(sys.argv)
print(sys.path[0], len(sys.path))
print(sys.modules["__main__"].__dict__ is globals())
print(sorted(name for name in globals() if not name.startswith("__")))
print(os.getcwd())
"""

PROGRAMS = {
    "it ends well": "print('done')",
    "what it sees": SEES,
    "a docstring": '"""What it says."""\nprint(__doc__)',
    "an exception": """
        def inner(x):
            return x / 0
        def outer():
            inner(1)
        outer()
        """,
    "an exception of another one": """
        try:
            {}["a"]
        except KeyError as error:
            raise ValueError("b") from error
        """,
    "an exception while another one is handled": """
        try:
            {}["a"]
        except KeyError:
            int("x")
        """,
    "arguments of its own": """
        import argparse
        parser = argparse.ArgumentParser()
        commands = parser.add_subparsers(title="commands", dest="command")
        commands.add_parser("train").add_argument("--epochs", type=int)
        print(parser.format_help())
        parser.parse_args(["train", "--epochs", "many"])
        """,
    "an exit with a number": "import sys; sys.exit(7)",
    "an exit with a large number": "import sys; sys.exit(1000)",
    "an exit with a negative number": "import sys; sys.exit(-1)",
    "an exit without one": "import sys; sys.exit()",
    "an exit with words": "import sys; sys.exit('no data')",
    "an exit with True": "raise SystemExit(True)",
    "an exit in a function called at the end": """
        import atexit
        atexit.register(print, "last words")
        raise RuntimeError("boom")
        """,
    "a thread that raises": """
        import threading
        def work():
            raise ValueError("in a thread")
        thread = threading.Thread(target=work, name="worker")
        thread.start()
        thread.join()
        print("goes on")
        """,
    "a thread that outlives the program": """
        import threading, time
        def work():
            time.sleep(0.2)
            print("late")
        threading.Thread(target=work).start()
        print("early")
        """,
    "a hook of its own": """
        import sys
        def hook(kind, error, trace):
            print("mine:", kind.__name__, error, trace.tb_lineno)
        sys.excepthook = hook
        raise ValueError("x")
        """,
    "a hook that fails": """
        import sys
        def hook(kind, error, trace):
            raise KeyError("in the hook")
        sys.excepthook = hook
        raise ValueError("x")
        """,
    "it does not compile": "print('a'\nx = 1",
    "its bytes are no text": "# coding: utf-8\nx = '\udcff'",
    "an import from beside it": "import beside\nprint(beside.VALUE, beside.__file__)",
    "a module beside it raises": "import failing",
    "a pickle of its own class": """
        import pickle
        class Point:
            pass
        print(pickle.dumps(Point()))
        print(type(pickle.loads(pickle.dumps(Point()))) is Point)
        """,
    "processes that are spawned": """
        import multiprocessing
        def square(x):
            return x * x
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(2) as pool:
                print(pool.map(square, range(4)))
        """,
    "processes that are forked": """
        import multiprocessing
        def square(x):
            return x * x
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(square, range(4)))
        """,
    "standard input": "print(input()[::-1])",
    "warnings": "import warnings\nwarnings.warn('careful')",
    "a group of exceptions": """
        import sys
        if sys.version_info >= (3, 11):
            raise ExceptionGroup("several", [ValueError("a"), KeyError("b")])
        """,
    "deep recursion": """
        def f(n):
            return f(n + 1)
        try:
            f(0)
        except RecursionError:
            print("too deep")
        """,
    "an async program": """
        import asyncio
        async def main():
            await asyncio.sleep(0)
            raise ValueError("async")
        asyncio.run(main())
        """,
    "it ends its process": "import os, sys\nprint('x')\nsys.stdout.flush()\nos._exit(5)",
    "garbage is collected": "import gc\nprint(gc.isenabled())",
    "exec and compile": "exec(compile('print(1)', 'made', 'exec'))",
    "annotations of its own future": """
        from __future__ import annotations
        def f(x: Undefined) -> Nothing:
            return 1
        print(f.__annotations__)
        """,
    "no future of ours": "def f(x: int) -> str: ...\nprint(f.__annotations__)",
}

RUN = [sys.executable, "-m", "gradtrail", "run"]


def ended(command: list[str], folder: Path) -> tuple[int, str, str]:
    """How a command ended: status, standard output, standard error."""
    environment = {key: value for key, value in os.environ.items() if key != "GRADTRAIL_STRICT"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        input="abc\n",
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with what the programs import."""
    (tmp_path / "beside.py").write_text("VALUE = 3\n")
    (tmp_path / "failing.py").write_text("def f():\n    raise ValueError('at import')\nf()\n")
    return tmp_path


@pytest.mark.parametrize("title", PROGRAMS)
def test_it_is_as_under_python(title: str, folder: Path) -> None:
    source = dedent(PROGRAMS[title]).lstrip("\n")
    (folder / "train.py").write_bytes(source.encode("utf-8", "surrogateescape"))
    arguments = ["train.py", "--lr", "0.1", "-m", "x"]
    assert ended([*RUN, *arguments], folder) == ended([sys.executable, *arguments], folder)


def test_from_another_folder(folder: Path) -> None:
    (folder / "train.py").write_text(SEES + "import beside\n")
    (folder / "work").mkdir()
    arguments = ["../train.py", "a"]
    assert ended([*RUN, *arguments], folder / "work") == ended([sys.executable, *arguments], folder / "work")


def test_a_link(folder: Path) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "real.py").write_text(SEES)
    (folder / "train.py").symlink_to(folder / "inner" / "real.py")
    assert ended([*RUN, "train.py"], folder) == ended([sys.executable, "train.py"], folder)


@pytest.mark.parametrize("name", ["package", "package.inner", "beside", "failing"])
def test_a_module(name: str, folder: Path) -> None:
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("print('package')\n")
    (folder / "package" / "__main__.py").write_text(SEES + "from . import inner\n1 / 0\n")
    (folder / "package" / "inner.py").write_text(SEES)
    status, out, err = ended([*RUN, "-m", name, "--lr", "1"], folder)
    wanted = ended([sys.executable, "-m", name, "--lr", "1"], folder)
    without_runpy = "\n".join(line for line in wanted[2].split("\n") if "<frozen runpy>" not in line)
    assert (status, out, err) == (wanted[0], wanted[1], without_runpy)


def test_a_folder_and_an_archive(folder: Path) -> None:
    import zipfile

    (folder / "app").mkdir()
    (folder / "app" / "__main__.py").write_text("import sys\nprint(__name__, sys.argv, sys.path[0])\n")
    with zipfile.ZipFile(folder / "app.pyz", "w") as archive:
        archive.write(folder / "app" / "__main__.py", "__main__.py")
    for name in ("app", "app.pyz"):
        assert ended([*RUN, name, "x"], folder) == ended([sys.executable, name, "x"], folder)


def test_an_interrupt(folder: Path) -> None:
    (folder / "train.py").write_text(
        "print('x', flush=True)\nimport os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    )
    assert ended([*RUN, "train.py"], folder) == ended([sys.executable, "train.py"], folder)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.py"], "missing.py"),
        (["-m", "no_such_module"], "no_such_module"),
        (["-m", "no.such.module"], "no.such.module"),
        ([], "script"),
        (["-m"], "script"),
        (["--steps", "many", "train.py"], "many"),
        (["--colour", "train.py"], "--colour"),
    ],
)
def test_what_cannot_be_run_is_named(arguments: list[str], said: str, folder: Path) -> None:
    status, out, err = ended([*RUN, *arguments], folder)
    assert status == 2
    assert out == ""
    assert said in err and "Traceback" not in err


@pytest.mark.parametrize("name", ["nt", "ast", "typing", "tokenize", "textwrap", "json", "bisect", "difflib"])
def test_files_of_the_user_that_are_called_like_pythons(name: str, folder: Path) -> None:
    """They are the program's to import, and nobody else's."""
    (folder / f"{name}.py").write_text("raise SystemExit('a file of the user was run')\n")
    (folder / "train.py").write_text("print('ran')\nraise ValueError\n")
    status, out, err = ended([*RUN, "train.py"], folder)
    assert (status, out) == (1, "ran\n"), err
    status, out, err = ended([sys.executable, "-m", "gradtrail", "check", "--no-cache", "train.py"], folder)
    assert (status, err) == (0, "")


def test_where_another_tool_traces_the_report_says_so(folder: Path) -> None:
    """One line, and only where a trail is missing for it."""
    traced = "import sys\nsys.settrace(lambda *what: None)\nimport torch\n"
    untold = "w = eval('torch.ones(3, requires_grad=True)')\ny = w * 2\ny.numpy()\n"
    (folder / "train.py").write_text(traced + untold)
    err = ended([*RUN, "train.py"], folder)[2]
    assert ("which lines made the tensors was not recorded: another tool traces" in err) is (
        sys.version_info < (3, 12)
    )
    (folder / "train.py").write_text("import torch\n" + untold)
    assert "not recorded" not in ended([*RUN, "train.py"], folder)[2]
