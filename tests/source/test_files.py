"""Which files are found."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from gradtrail.source.files import Skipped, SourceFiles, discover
from gradtrail.source.reading import Unreadable


def tree(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")


def found(*paths: Path | str, base: Path) -> list[str]:
    listed = list(discover([str(path) for path in paths]))
    assert not [one for one in listed if isinstance(one, Skipped)]
    return [os.path.relpath(one, base) for one in listed if isinstance(one, str)]


def test_folders_are_walked_in_order_and_other_peoples_code_is_left_out(tmp_path: Path) -> None:
    tree(
        tmp_path,
        "b.py",
        "a.pyw",
        "notes.txt",
        "c/z.py",
        "c/y.py",
        ".hidden/x.py",
        ".venv/lib/x.py",
        "node_modules/x.py",
        "c/__pycache__/x.py",
        "build/x.py",
        "dist/x.py",
        "lib/site-packages/x.py",
        "myenv/lib/x.py",
    )
    (tmp_path / "myenv" / "pyvenv.cfg").write_text("")
    assert found(tmp_path, base=tmp_path) == ["a.pyw", "b.py", "c/y.py", "c/z.py"]


def test_what_is_named_is_always_taken_and_once(tmp_path: Path) -> None:
    tree(tmp_path, "notes.txt", "build/x.py", "a.py")
    (tmp_path / ".gitignore").write_text("*\n")
    names = [tmp_path / "notes.txt", tmp_path / "build", tmp_path / "build" / "x.py", tmp_path / "a.py"]
    assert found(names[0], names[3], names[2], base=tmp_path) == ["notes.txt", "a.py", "build/x.py"]
    assert found(names[2], names[2], base=tmp_path) == ["build/x.py"]


def test_a_named_folder_is_walked_even_where_folders_of_that_name_are_skipped(tmp_path: Path) -> None:
    tree(tmp_path, "build/x.py")
    assert found(tmp_path / "build", base=tmp_path) == ["build/x.py"]


def test_gitignore_holds_at_every_level_and_from_above(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    tree(tmp_path, "keep.py", "gen_a.py", "sub/gen_b.py", "sub/own.py", "sub/keep.py", "sub/deep/own.py")
    (tmp_path / ".gitignore").write_text("gen_*.py\n")
    (tmp_path / "sub" / ".gitignore").write_text("own.py\n!gen_b.py\n")
    assert found(tmp_path, base=tmp_path) == ["keep.py", "sub/gen_b.py", "sub/keep.py"]
    (tmp_path / "sub" / "gen_c.py").write_text("")
    assert found(tmp_path / "sub", base=tmp_path) == ["sub/gen_b.py", "sub/keep.py"]


def test_a_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    tree(tmp_path, "a/b/x.py")
    (tmp_path / "a" / "b" / "up").symlink_to(tmp_path, target_is_directory=True)
    assert found(tmp_path, base=tmp_path) == ["a/b/x.py"]


def test_links_that_lead_nowhere_and_pipes(tmp_path: Path) -> None:
    tree(tmp_path, "real.py")
    (tmp_path / "circle.py").symlink_to(tmp_path / "circle.py")
    (tmp_path / "dangling.py").symlink_to(tmp_path / "gone.py")
    (tmp_path / "linked.py").symlink_to(tmp_path / "real.py")
    os.mkfifo(tmp_path / "pipe.py")
    listed = list(discover([str(tmp_path)]))
    assert [one for one in listed if isinstance(one, str)] == [
        str(tmp_path / "linked.py"),
        str(tmp_path / "real.py"),
    ]
    assert [(one.filename, str(one.reason)) for one in listed if isinstance(one, Skipped)] == [
        (str(tmp_path / "circle.py"), "is a link that leads to no file"),
        (str(tmp_path / "dangling.py"), "is a link that leads to no file"),
    ]


def test_a_missing_path_is_told_in_its_place(tmp_path: Path) -> None:
    tree(tmp_path, "a.py")
    listed = list(discover([str(tmp_path / "missing.py"), str(tmp_path)]))
    assert isinstance(listed[0], Skipped)
    assert (listed[0].filename, str(listed[0].reason)) == (
        str(tmp_path / "missing.py"),
        "no such file or folder",
    )
    assert listed[1:] == [str(tmp_path / "a.py")]


def test_notebooks_are_taken_from_a_folder(tmp_path: Path) -> None:
    tree(tmp_path, "a.ipynb", "b.py", ".ipynb_checkpoints/a-checkpoint.ipynb")
    assert found(tmp_path, base=tmp_path) == ["a.ipynb", "b.py"]


def test_the_bytes_of_a_notebook_are_those_of_its_program(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(
        '{"cells": [{"cell_type": "code", "source": ["import torch\\n", "x = 1"], "outputs": ["torch"]}]}'
    )
    assert SourceFiles().data(str(path)) == b"import torch\nx = 1"


def test_what_settings_leave_out(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "old/b.py", "build/c.py")
    listed = list(discover([str(tmp_path)], lambda path, is_folder: is_folder and path.endswith("old")))
    assert listed == [str(tmp_path / "a.py"), str(tmp_path / "build" / "c.py")]


def test_a_folder_that_may_not_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, "a.py", "shut/b.py")
    scandir = os.scandir

    def refuse(path: Any) -> Any:
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    listed = list(discover([str(tmp_path)]))
    assert listed[0] == str(tmp_path / "a.py")
    assert isinstance(listed[1], Skipped)
    assert str(listed[1].reason) == "cannot be listed: Permission denied"


def test_files_are_read_once_and_given_text_goes_before_the_disk(tmp_path: Path) -> None:
    tree(tmp_path, "a.py")
    path = str(tmp_path / "a.py")
    files = SourceFiles({str(tmp_path / "b.py"): "y = 2\n"})
    assert files.read(path) is files.read(path)
    assert files.read(str(tmp_path / "b.py")).text == "y = 2\n"
    assert files.exists(str(tmp_path / "b.py"))
    assert files.exists(path)
    assert not files.exists(str(tmp_path / "c.py"))
    files.add(path, b"z = 3\n")
    assert files.read(path).text == "z = 3\n"


def test_what_cannot_be_read_is_said_at_every_call(tmp_path: Path) -> None:
    files = SourceFiles({"bad.py": "x = (\n"})
    for _ in range(2):
        with pytest.raises(Unreadable):
            files.read("bad.py")
    assert files.get("bad.py") is None
    assert files.get(str(tmp_path / "missing.py")) is None


def test_trees_that_were_asked_for_last_are_kept(tmp_path: Path) -> None:
    files = SourceFiles(dict.fromkeys(("a.py", "b.py", "c.py"), "x = 1\n"))
    trees = {name: files.read(name).parse() for name in ("a.py", "b.py", "c.py")}
    files.read("a.py")
    files.let_go_of_trees(12)
    assert files.read("a.py").parse() is trees["a.py"]
    assert files.read("c.py").parse() is trees["c.py"]
    assert files.read("b.py").parse() is not trees["b.py"]
    assert files.read("b.py").line(1) == "x = 1"
