"""The release of torch, found without importing it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gradtrail.integrations.torch_version import found_version, release


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ("2.13.0", "2.13.0"),
        ("2.13.0+cu128", "2.13.0"),
        ("2.13", "2.13"),
        ("v1.9.1", "1.9.1"),
        ("2.14.0.dev20260101", "2.14.0"),
        ("2.13.0rc1", "2.13.0"),
        ("two", None),
        ("2", None),
        ("", None),
        ("2.x", None),
    ],
)
def test_releases(version: str, found: str | None) -> None:
    assert release(version) == found


def test_nothing_is_known(tmp_path: Path) -> None:
    assert found_version(str(tmp_path)) is None


def installed(folder: Path, version: str) -> str:
    (folder / f"torch-{version}.dist-info").mkdir(parents=True)
    (folder / "torchvision-0.1.0.dist-info").mkdir()
    return str(folder)


def test_what_is_installed_here_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = installed(tmp_path / "here" / "site-packages", "2.9.1+cpu")
    active = tmp_path / "active"
    installed(active / "lib" / "python3.12" / "site-packages", "2.8.0")
    installed(tmp_path / ".venv" / "lib" / "python3.12" / "site-packages", "2.7.0")
    (tmp_path / "requirements.txt").write_text("torch==2.6.0\n")
    assert found_version(str(tmp_path)) == "2.7.0"
    monkeypatch.setenv("VIRTUAL_ENV", str(active))
    assert found_version(str(tmp_path)) == "2.8.0"
    monkeypatch.setattr(sys, "path", [here])
    assert found_version(str(tmp_path)) == "2.9.1"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.5.1+cu121"\nsource = {}\n'),
        ("poetry.lock", '[[package]]\nname = "torch"\nversion = "2.5.1"\n'),
        ("pdm.lock", '[[package]]\nname = "torch"\r\nversion = "2.5.1"\r\n'),
        ("pylock.toml", '[[packages]]\nname = "torch"\nversion = "2.5.1"\n'),
        ("Pipfile.lock", '{"default": {"torch": {"hashes": ["a"], "version": "==2.5.1"}}}'),
        ("requirements.txt", "numpy\ntorch == 2.5.1+cpu  # pinned\n"),
    ],
)
def test_lock_files(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_bytes(content.encode())
    assert found_version(str(tmp_path)) == "2.5.1"


def test_a_file_that_does_not_lock_torch(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text('name = "torchvision"\nversion = "0.1"\n')
    (tmp_path / "requirements.txt").write_text("torch>=2.0\ntorchvision==0.20\n")
    assert found_version(str(tmp_path)) is None
