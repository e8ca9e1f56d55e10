"""How wide text is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradtrail.reports.cells import clean, cut, draw, width, wrap


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("abc", 3),
        ("ß", 1),
        ("権重", 4),
        ("e\u0301", 1),
        ("ｱ", 1),
        ("Ａ", 2),
        ("🙂", 2),
        ("a\u200bb", 2),
        ("", 0),
    ],
)
def test_width(text: str, cells: int) -> None:
    assert width(text) == cells


def test_tabs_go_to_the_next_stop() -> None:
    drawn = draw("a\tb\t\tc")
    assert drawn.text == "a   b       c"
    assert [drawn.cell(column) for column in range(1, 8)] == [0, 1, 4, 5, 8, 12, 13]


def test_columns_outside_of_the_line_are_its_ends() -> None:
    drawn = draw("ab")
    assert [drawn.cell(column) for column in (-3, 0, 1, 3, 99)] == [0, 0, 0, 2, 2]


@given(st.text(max_size=40))
def test_the_last_cell_is_the_width_of_what_is_drawn(line: str) -> None:
    drawn = draw(line)
    assert len(drawn.starts) == len(line) + 1
    assert width(drawn.text) == drawn.starts[-1]
    assert drawn.starts == sorted(drawn.starts)


@given(st.text(alphabet="ab権e\u0301🙂", max_size=30), st.integers(0, 40), st.integers(0, 40))
def test_a_cut_is_as_wide_as_it_can_be(text: str, first: int, room: int) -> None:
    assert width(cut(text, first, room)) == max(0, min(room, width(text) - first))


@given(st.text(max_size=40))
def test_clean_text_has_no_control_characters(text: str) -> None:
    assert not any(ord(sign) < 0x20 or 0x7F <= ord(sign) < 0xA0 for sign in clean(text))


@given(st.text(alphabet="ab ", max_size=60), st.integers(2, 30))
def test_wrapping_keeps_all_words_in_order(text: str, room: int) -> None:
    lines = wrap(text, room)
    assert " ".join(lines).split() == text.split()
    assert all(width(line) <= room or " " not in line for line in lines)


@given(st.text(alphabet="ab 権限、。（）", max_size=60), st.integers(8, 30))
def test_wrapping_between_wide_characters_keeps_all_in_order(text: str, room: int) -> None:
    lines = wrap(text, room)
    assert "".join(lines).replace(" ", "") == "".join(text.split())


def test_a_line_ends_between_wide_characters_and_not_before_a_closing_sign() -> None:
    assert wrap("叶子张量，不是参数。", 8) == ["叶子张", "量，不是", "参数。"]
    assert wrap("`w` 不是叶子", 8) == ["`w` 不是", "叶子"]
