"""Findings in public code are kept with their verdicts, and the page is made of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import precision  # noqa: E402

WRONG = """import torch

w = torch.ones(3, requires_grad=True)
w += 1
"""
REPOSITORY = {"name": "some/body", "commit": "c" * 40}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of a small repository with one mistake."""
    folder = tmp_path / "some+body"
    folder.mkdir()
    (folder / "wrong.py").write_text(WRONG, encoding="utf-8")
    return folder


def finding(row: int = 4, **more: Any) -> dict[str, Any]:
    """A finding as it is kept."""
    given = {
        "path": "wrong.py",
        "row": row,
        "column": 1,
        "rule": "in-place-on-leaf",
        "message": "said",
        "told": True,
    }
    judged = dict.fromkeys(precision.JUDGED, "")
    return {
        "repo": "some/body",
        "commit": REPOSITORY["commit"],
        "severity": "error",
        "look": "usual",
        "excerpt": [],
        **judged,
        **given,
        **more,
    }


def test_a_finding_is_kept_with_the_rows_that_its_trail_names(copy: Path) -> None:
    (found,), failed = precision.found_in(copy, REPOSITORY)
    assert failed == []
    assert (found["path"], found["row"], found["rule"], found["look"]) == (
        "wrong.py",
        4,
        "in-place-on-leaf",
        "usual",
    )
    assert found["excerpt"] == ["3: w = torch.ones(3, requires_grad=True)", "4: w += 1"]
    assert found["verdict_first"] == ""


def test_a_later_run_keeps_verdicts_and_renews_the_rest() -> None:
    old = finding(verdict_first="true", reason_first="read", message="old words")
    (kept,) = precision.merged([old], [finding(message="new words")], ["some/body"])
    assert (kept["verdict_first"], kept["reason_first"], kept["message"]) == ("true", "read", "new words")


def test_what_is_not_told_any_more_stays_and_is_marked() -> None:
    old, new = finding(verdict_first="false"), finding(row=9)
    assert [(each["row"], each["told"]) for each in precision.merged([old], [new], ["some/body"])] == [
        (4, False),
        (9, True),
    ]
    assert precision.merged([old], [], ["other/one"]) == [old]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    program = 'import torch\nprint("a \\\\ b")'
    whole = finding(
        reason_first='"quoted" \\ 文', program=program, excerpt=["4: w += 1"], verdict_first="false"
    )
    size = {**REPOSITORY, "files": 1, "torch_files": 1, "lines": 4, "checked": "2026-01-01"}
    path = tmp_path / "findings.toml"
    path.write_text(precision.written([size], [whole]), encoding="utf-8")
    repositories, (read,) = precision.kept_in(path)
    assert repositories == [size]
    assert read == {**whole, "program": program + "\n"}
    assert precision.written(repositories, [read]) == path.read_text(encoding="utf-8")


def test_a_failure_of_gradtrail_itself_is_told(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reason = "internal error, a mistake of gradtrail: KeyError: 'x' (GRADTRAIL_DEBUG=1 shows where)"
    report = {"findings": [], "not_looked_at": [{"filename": "wrong.py", "reason": reason}]}
    looks = []
    monkeypatch.setattr(
        precision, "checked", lambda folder, environment, longest: looks.append(environment) or report
    )
    assert precision.found_in(copy, REPOSITORY, ["usual"]) == (
        [],
        ["wrong.py: internal error, a mistake of gradtrail: KeyError: 'x'"],
    )
    assert looks == [{}]
    size = {**REPOSITORY, "files": 1, "torch_files": 1, "lines": 4, "failed": ["wrong.py: KeyError"]}
    assert "- some/body `wrong.py: KeyError`" in precision.page([size], [])


def test_the_page_counts_what_is_told_and_lists_each_verdict() -> None:
    size = {**REPOSITORY, "files": 1, "torch_files": 1, "lines": 4000, "checked": "2026-01-01"}
    findings = [
        finding(
            1, verdict_first="true", verdict_second="false", reason_first="it raises", verified_first="run"
        ),
        finding(2, verdict_first="true", verdict_second="true"),
        finding(3, verdict_first="false", program="import torch\n", reason_first="it does not"),
        finding(4, verdict_first="false", told=False, reason_first="mended"),
    ]
    text = precision.page([size], findings)
    assert "| `in-place-on-leaf` | 3 | 2 of 3 (67%) | 1 of 2 (50%) |" in text
    parts = {part.splitlines()[0]: part for part in text.split("\n## ")}
    assert "it raises Verified: run" in parts["Mistakes that were found"]
    assert "import torch" in parts["False alarms"] and "mended" not in parts["False alarms"]
    assert "mended" in parts["Told no more"]
    assert (
        "wrong.py:1" in parts["Where the readers differ"]
        and "wrong.py:2" not in parts["Where the readers differ"]
    )
    assert "| some/body | `cccccccccccc` | 1 | 1 | 4000 | 3 |" in parts["Repositories"]


def test_a_run_with_one_look_leaves_what_the_other_found() -> None:
    usual, everything = finding(1), finding(2, look="everything")
    after = precision.merged([usual, everything], [], ["some/body"], ["usual"])
    assert [(each["row"], each["told"]) for each in after] == [(1, False), (2, True)]


def test_a_run_over_a_folder(copy: Path, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "repositories.toml").write_text(precision.written([], []) + precision.written([REPOSITORY], []))
    precision.run_over(copy.parent, [], ["usual"], 600, pages)
    (size,), (found,) = precision.kept_in(pages / "findings.toml")
    assert (size["files"], size["lines"], found["repo"]) == (1, 4, "some/body")
    with pytest.raises(SystemExit, match="no copy of"):
        precision.run_over(tmp_path / "nowhere", [], ["usual"], 600, pages)


def test_the_page_that_is_kept_is_the_one_that_is_made() -> None:
    kept = precision.kept_in(precision.PAGES / "findings.toml")
    assert precision.page(*kept) == (precision.PAGES / "README.md").read_text(encoding="utf-8")


def test_every_false_alarm_of_the_list_has_its_reason() -> None:
    for each in precision.kept_in(precision.PAGES / "findings.toml")[1]:
        for reader in ("first", "second"):
            assert each[f"verdict_{reader}"] in ("", "true", "false", "unclear")
            assert bool(each[f"verdict_{reader}"]) == bool(each[f"reason_{reader}"]), precision.key_of(each)
