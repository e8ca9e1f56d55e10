"""The judges of the specification themselves: a page that is wrong fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from .adapter import Stated
from .judges import on_torch, unlike_refused, unlike_stated
from .pages import BadPage, Program, programs_of

PAGE = """
# A page

```python
import torch

w = torch.zeros(3, requires_grad=True)
reveal(w * 2)  # {said}
w.numpy()  # raises: Can't call numpy()
reveal(w)  # not reached
```
"""
REVEALED, RAISING, AFTER = ("page.py", 8), ("page.py", 9), ("page.py", 10)


def page(folder: Path, text: str) -> Program:
    """The only program of a page."""
    path = folder / "page.md"
    path.write_text(text, encoding="utf-8")
    (program,) = programs_of(path)
    return program


def test_a_true_page_agrees(tmp_path: Path) -> None:
    assert list(on_torch(page(tmp_path, PAGE.format(said="non-leaf, requires grad, reaches w")))) == []


@pytest.mark.parametrize(
    "said",
    [
        "leaf",
        "no grad",
        "grad_fn=AddBackward0",
        "Parameter",
        "same as w",
        "shares storage with w",
        "device=meta",
        "dtype=float64",
        "shape=(2,)",
        "one element",
        "version=1",
        "reaches nothing",
        "reaches a_name_that_is_not_there",
        "not reached",
    ],
)
def test_a_false_fact_fails_on_torch(tmp_path: Path, said: str) -> None:
    assert [row for row, _ in on_torch(page(tmp_path, PAGE.format(said=said)))] == [REVEALED]


@pytest.mark.parametrize(
    ("written", "instead", "row"),
    [
        ("  # raises: Can't call numpy()", "", RAISING),
        ("Can't call", "Cannot call", RAISING),
        ("w.numpy()", "w.detach().numpy()", RAISING),
        ("requires_grad=True", "requires_grad=False", RAISING),
        ("  # raises", "  # may raise", RAISING),
    ],
)
def test_another_refusal_fails_on_torch(
    tmp_path: Path, written: str, instead: str, row: tuple[str, int]
) -> None:
    program = page(tmp_path, PAGE.format(said="device=cpu").replace(written, instead))
    assert row in [row for row, _ in on_torch(program)]


def test_a_fact_must_hold_however_the_flag_falls(tmp_path: Path) -> None:
    program = page(
        tmp_path,
        "```python\nimport torch\nx = torch.zeros(2 if flag() else 3)\nreveal(x)  # shape=(2,)\n```\n",
    )
    assert ("page.py", 4) in [row for row, _ in on_torch(program)]


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("```python\nreveal(1)  # a leaf\n```\n", "no such fact"),
        ("```python\nreveal(1)\n```\n", "nothing is said"),
        ("```python\nx = 1\n```\n", "says nothing"),
        ("```python\nreveal(1)  # leaf\n", "no end"),
    ],
)
def test_a_page_out_of_form_is_refused(tmp_path: Path, text: str, piece: str) -> None:
    with pytest.raises(BadPage, match=piece):
        page(tmp_path, text)


def stated_of(*facts: str, row: tuple[str, int] = REVEALED) -> Stated:
    """What an interpreter might state."""
    return Stated(row, frozenset(facts), unknown=not facts)


@pytest.mark.parametrize(
    ("stated", "rows"),
    [
        ([stated_of("non-leaf", "reaches w")], []),
        ([stated_of("non-leaf", "reaches w"), stated_of("non-leaf")], [REVEALED]),
        ([stated_of("non-leaf")], [REVEALED]),
        ([], [REVEALED]),
        ([stated_of("non-leaf", "reaches w", "no grad")], [REVEALED]),
        ([stated_of("non-leaf", "reaches w"), stated_of(row=AFTER)], [AFTER]),
    ],
)
def test_what_the_interpreter_states_is_judged(
    tmp_path: Path, stated: list[Stated], rows: list[tuple[str, int]]
) -> None:
    program = page(tmp_path, PAGE.format(said="non-leaf, reaches w"))
    assert [row for row, _ in unlike_stated(program, stated)] == rows


def test_what_the_interpreter_refuses_is_judged(tmp_path: Path) -> None:
    program = page(tmp_path, PAGE.format(said="non-leaf"))
    assert list(unlike_refused(program, [(RAISING, "numpy-requires-grad")])) == []
    assert [row for row, _ in unlike_refused(program, [])] == [RAISING]
    assert [
        row
        for row, _ in unlike_refused(
            program, [(RAISING, "numpy-requires-grad"), (REVEALED, "numpy-requires-grad")]
        )
    ] == [REVEALED]


def test_another_refusal_than_torchs_is_judged(tmp_path: Path) -> None:
    program = page(tmp_path, PAGE.format(said="non-leaf"))
    assert [row for row, _ in unlike_refused(program, [(RAISING, "backward-twice")])] == [RAISING]
