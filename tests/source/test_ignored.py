"""Our reading of `.gitignore`, judged by git itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradtrail.source.ignored import Ignored

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge")

PATHS = (
    "a.py",
    "b.py",
    "ab.py",
    "a b.py",
    "#a.py",
    "!a.py",
    "x/a.py",
    "x/b.py",
    "x/y/a.py",
    "x/y/z/a.py",
    "y/a.py",
    "y/x/a.py",
    "x1/a.py",
    "a[b].py",
    "A.py",
    "a-b.py",
)


def by_git(folder: Path) -> set[str]:
    """The paths that git would not track."""
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard", "-z"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(PATHS) - set(listed.stdout.split("\0"))


def by_us(folder: Path) -> set[str]:
    left_out = set()

    def visit(at: Path, ignored: Ignored) -> None:
        ignored = ignored.inside(str(at))
        for path in sorted(at.iterdir()):
            if path.name == ".git":
                continue
            is_folder = path.is_dir()
            if ignored.leaves_out(str(path), is_folder):
                inside = path.rglob("*.py") if is_folder else [path]
                left_out.update(str(one.relative_to(folder)) for one in inside)
            elif is_folder:
                visit(path, ignored)

    visit(folder, Ignored.above(str(folder)))
    return left_out & set(PATHS)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    for name in PATHS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    return folder


def agree(repository: Path, top: str, below: str = "") -> None:
    (repository / ".gitignore").write_text(top)
    (repository / "x" / ".gitignore").write_text(below)
    assert by_us(repository) == by_git(repository), (top, below)


@pytest.mark.parametrize(
    "top",
    [
        "a.py",
        "/a.py",
        "x/",
        "/x",
        "x/y",
        "x/*",
        "x/**",
        "**/a.py",
        "x/**/a.py",
        "**/y/",
        "*.py\n!a.py",
        "x/\n!x/a.py",
        "x/*\n!x/a.py",
        "?.py",
        "*a*.py",
        "*a*b*",
        "x*/*/*a*.*y",
        "**/**/*a*p*",
        "*?*b*.p*",
        "[ab].py",
        "[!a].py",
        "[a-c].py",
        "[[:upper:]].py",
        "a\\[b\\].py",
        "\\#a.py",
        "\\!a.py",
        "# a comment",
        "a.py   ",
        "a\\ b.py",
        "a b.py",
        "[",
        "a**.py",
        "**",
        "x?y",
        "x[/]y",
        "!a.py",
        "/",
        "a.py\r\nb.py",
        "x/y/\n",
        "y",
        "a[b].py",
        "[]a].py",
        "[a",
        "a\\",
        "\\a.py",
        "**/x/**",
        "a-b.p[x-z]",
        "[a\\-z].py",
    ],
)
def test_the_forms_of_patterns(repository: Path, top: str) -> None:
    agree(repository, top)


@pytest.mark.parametrize(
    ("top", "below"), [("*.py", "!a.py"), ("", "/a.py"), ("", "y/"), ("a.py", "!y/a.py"), ("x/", "!a.py")]
)
def test_a_lower_file_decides(repository: Path, top: str, below: str) -> None:
    agree(repository, top, below)


@pytest.mark.parametrize("line", ["***/?", "a/***", "***", "/***/b*", "x***y", "a/***/b"])
def test_more_than_two_stars(repository: Path, line: str) -> None:
    agree(repository, line + "\n")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(alphabet="abxy*?/[]!-\\. ", min_size=1, max_size=7), min_size=1, max_size=3))
def test_any_pattern(repository: Path, lines: list[str]) -> None:
    agree(repository, "\n".join(lines) + "\n")


def test_many_stars_do_not_take_for_ever(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*a" * 30 + "*c\n" + "**/*a*" * 10 + "c\n")
    ignored = Ignored().inside(str(tmp_path))
    assert not ignored.leaves_out(str(tmp_path / ("a" * 200 + "b.py")), False)
    assert ignored.leaves_out(str(tmp_path / ("a" * 200 + "c")), False)


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".gitignore")
    assert not Ignored().inside(str(tmp_path)).leaves_out(str(tmp_path / "a.py"), False)
