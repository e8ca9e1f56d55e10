"""Errors as people paste them: the right law for ours, none for others.

`made/` holds what python, IPython, pytest and torchrun print for the field cases (see `make.py`); `public/` holds
errors of many releases as they stand in public threads, each with its source, cut to frames and message.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gradtrail.integrations.explain import recognised

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent


def laws(folder: str) -> list[tuple[Path, str]]:
    index = tomllib.loads((HERE / folder / "index.toml").read_text(encoding="utf-8"))
    return [(HERE / folder / name, entry["law"]) for name, entry in index.items()]


PASTED = [
    pytest.param(path, law, id=f"{path.parent.name}/{path.stem}")
    for folder in ("made", "public")
    for path, law in laws(folder)
]


@pytest.mark.parametrize(("path", "law"), PASTED)
def test_the_law_of_a_pasted_error(path: Path, law: str) -> None:
    found = recognised(path.read_text(encoding="utf-8"))
    assert (found[1].key if found is not None else "") == law


def test_there_are_enough_of_both_kinds() -> None:
    known = [law for folder in ("made", "public") for _, law in laws(folder)]
    assert sum(map(bool, known)) >= 200
    assert known.count("") >= 50


@pytest.mark.parametrize("folder", ["made", "public"])
def test_every_file_is_in_the_index(folder: str) -> None:
    assert {path.name for path, _ in laws(folder)} == {path.name for path in (HERE / folder).glob("*.txt")}
