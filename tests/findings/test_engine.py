"""The engine, with an interpreter that sees what the lines say."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

from gradtrail.findings import engine
from gradtrail.findings.engine import Report, StandardInput, check_paths, check_source
from gradtrail.source.reading import Unreadable
from support import fake_interpreter


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_interpreter.install(monkeypatch)


def written(folder: Path, **contents: str) -> None:
    for name, content in contents.items():
        (folder / f"{name}.py").write_text(content)


def spots(report: Report) -> list[tuple[str, int]]:
    return [(Path(one.place.filename).name, one.place.row) for one in report.findings]


def left_out(report: Report) -> list[tuple[str, str, bool]]:
    return [(Path(one.filename).name, str(one.reason), one.failed) for one in report.not_looked_at]


def test_findings_come_in_the_order_of_files_and_rows(tmp_path: Path) -> None:
    written(tmp_path, b="import torch\nx = 1  # fault\ny = 2  # fault\n", a="import torch\n\nx  # fault\n")
    report = check_paths([str(tmp_path)])
    assert spots(report) == [("a.py", 3), ("b.py", 2), ("b.py", 3)]
    assert report.files == 2
    assert not report.crashed


def test_what_is_seen_twice_is_told_once_and_counted(tmp_path: Path) -> None:
    written(tmp_path, a="import torch\nx = 1  # twice\ny = 2  # fault\n")
    report = check_paths([str(tmp_path)])
    assert [(one.place.row, one.count) for one in report.findings] == [(2, 2), (3, 1)]


def test_two_causes_are_two_findings() -> None:
    source = "x  # cause\ny  # fault\nx  # cause\n"
    assert len(check_source(source + source)) == 2


def test_the_byte_filter_puts_files_of_a_folder_aside_but_not_named_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "FEW_FILES", 0)
    written(tmp_path, a="x = 1  # fault\n", b="import torch\nfor in x:\n", c="x = (\n")
    report = check_paths([str(tmp_path)])
    assert spots(report) == []
    assert left_out(report) == []
    assert report.files == 3
    named = check_paths([str(tmp_path / name) for name in ("a.py", "b.py", "c.py")])
    assert spots(named) == [("a.py", 1)]
    assert [(name, failed) for name, _, failed in left_out(named)] == [("b.py", True), ("c.py", True)]
    assert named.files == 2, "what is cut off is looked at in part"


def test_a_file_that_cannot_be_read_does_not_stop_the_rest(tmp_path: Path) -> None:
    written(tmp_path, a="import torch\nx = 1  # fault\n", z="import torch\nx = 1  # fault\n")
    (tmp_path / "m.py").write_bytes(b"import torch\nfault = '\xff'\n")
    report = check_paths([str(tmp_path), str(tmp_path / "missing.py")])
    assert spots(report) == [("a.py", 2), ("z.py", 2)]
    assert left_out(report) == [
        ("m.py", "is not UTF-8: byte 23 (0xff, line 2) cannot be decoded", True),
        ("missing.py", "no such file or folder", True),
    ]


def test_select_and_ignore(tmp_path: Path) -> None:
    written(tmp_path, a="import torch\nx = 1  # fault\ny = 1  # suspicion\n")
    paths = [str(tmp_path)]
    assert spots(check_paths(paths)) == [("a.py", 2), ("a.py", 3)]
    assert spots(check_paths(paths, select=["sample-suspicion"])) == [("a.py", 3)]
    assert spots(check_paths(paths, ignore=["sample-suspicion"])) == [("a.py", 2)]
    assert spots(check_paths(paths, select=["sample-fault"], ignore=["sample-fault"])) == []


def test_standard_input_is_always_looked_at() -> None:
    report = check_paths([], stdin=StandardInput(b">>> x = 1  # fault\n2\n"))
    assert [(one.place.filename, one.place.row) for one in report.findings] == [("<stdin>", 1)]


def test_standard_input_stands_for_the_file_it_is_named_after(tmp_path: Path) -> None:
    written(tmp_path, a="import torch\n")
    stdin = StandardInput(b"import torch\nx = 1  # fault\n", str(tmp_path / "a.py"))
    assert spots(check_paths([], stdin=stdin)) == [("a.py", 2)]


def test_limits_are_told_and_are_no_failure(tmp_path: Path) -> None:
    written(tmp_path, a="import torch\nx = 'fault'  # limit\n", b="import torch\nx = 'fault'  # deep\n")
    assert left_out(check_paths([str(tmp_path)])) == [
        ("a.py", "a limit at line 2", False),
        ("b.py", "is nested too deeply to be followed", False),
    ]


def test_a_file_that_was_repaired_is_named(tmp_path: Path) -> None:
    written(tmp_path, a="  x = 1  # fault\n", b="x = 1  # fault\ny = (\n")
    report = check_paths([str(tmp_path / "a.py"), str(tmp_path / "b.py")])
    assert spots(report) == [("a.py", 1), ("b.py", 1)]
    assert left_out(report) == [
        ("a.py", "does not parse as it is, and was read as a pasted snippet", False),
        ("b.py", "line 2 is not Python and was left out", True),
    ]


def test_the_cut_end_of_a_snippet_is_told() -> None:
    report = check_paths([], stdin=StandardInput(b"x = 1  # fault\ny = f(\n"))
    assert left_out(report) == [("<stdin>", "line 2 is not Python and was left out", False)]
    report = check_paths([], stdin=StandardInput(b"x = 1  # fault\nTraceback (most recent call last)\n!\n"))
    assert left_out(report) == [("<stdin>", "lines 2 to 3 are not Python and were left out", False)]


def test_a_mistake_of_ours_is_told_and_the_rest_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, a="import torch\nx = 'fault'  # crash\n", b="import torch\nx = 1  # fault\n")
    with pytest.raises(ValueError, match="a mistake"):
        check_paths([str(tmp_path)])
    monkeypatch.setenv("GRADTRAIL_STRICT", "0")
    report = check_paths([str(tmp_path)])
    assert report.crashed
    assert spots(report) == [("b.py", 2)]
    assert left_out(report) == [
        (
            "a.py",
            "internal error, a mistake of gradtrail: ValueError: a mistake (GRADTRAIL_DEBUG=1 shows where)",
            True,
        )
    ]


def test_where_our_mistake_is_comes_on_demand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, a="import torch\nx = 'fault'  # crash\n")
    monkeypatch.setenv("GRADTRAIL_STRICT", "0")
    check_paths([str(tmp_path)])
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("GRADTRAIL_DEBUG", "1")
    check_paths([str(tmp_path)])
    assert "fake_interpreter.py" in capsys.readouterr().err


def test_the_process_is_left_as_it_was(tmp_path: Path) -> None:
    written(tmp_path, a="import torch\nx = 1  # fault\n")
    before = sys.getrecursionlimit(), gc.isenabled()
    check_paths([str(tmp_path)])
    assert (sys.getrecursionlimit(), gc.isenabled()) == before


def test_source_that_cannot_be_read_raises() -> None:
    with pytest.raises(Unreadable):
        check_source("x = (\n")
