"""Places of `ast` nodes, judged by `ast.get_source_segment`."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradtrail.source.place import Edit, Place
from gradtrail.source.reading import from_data
from gradtrail.source.text import SourceText, apply, point, split_lines


def source_text(text: str, filename: str = "a.py") -> SourceText:
    return from_data(filename, text.encode("utf-8"))


STRANGE_LINES = [
    "x = 1",
    "größe = 'ß' + x",
    "変数 = (x,  '𝔘𝔫𝔦', größe)",
    "y = '\u2028' + 'e\u0301' ; z = y",
    "\x0cw = [x, 2]",
    "if x:\n\tv = x",
    "s = '''one\nzwölf\n''' + 'three'",
    "t = x \\\n  + 1",
]


@given(
    st.lists(st.sampled_from(STRANGE_LINES), min_size=1, max_size=8), st.sampled_from(["\n", "\r\n", "\r"])
)
def test_the_segment_of_a_place_is_what_ast_says(lines: list[str], ending: str) -> None:
    text = ("x = 0\n" + "\n".join(lines) + "\n").replace("\n", ending)
    source = source_text(text)
    for node in ast.walk(source.parse()):
        if isinstance(node, (ast.expr, ast.stmt)):
            segment = source.segment(source.place(node))
            expected = ast.get_source_segment(text, node)
            assert expected is not None
            assert segment.replace("\r\n", "\n").replace("\r", "\n") == expected.replace(
                "\r\n", "\n"
            ).replace("\r", "\n")


def test_columns_count_characters() -> None:
    source = source_text("größe = über(x)\n")
    call = source.parse().body[0].value  # type: ignore[attr-defined]
    assert source.place(call) == Place("a.py", 1, 9, 1, 16)


def test_a_form_feed_and_a_line_separator_end_no_line() -> None:
    source = source_text("a = '\u2028'\n\x0cb = 1\nc = 2\n")
    assert [source.place(node).row for node in source.parse().body] == [1, 2, 3]
    assert source.line(2) == "\x0cb = 1"
    assert source.place(source.parse().body[1]).column == 2


def test_lines_that_do_not_exist_are_empty() -> None:
    source = source_text("a = 1\n")
    assert [source.line(row) for row in (0, 1, 2, 3, -1)] == ["", "a = 1", "", "", ""]


def test_a_place_without_an_end_has_no_segment() -> None:
    assert source_text("a = 1\n").segment(Place("a.py", 1, 1)) == ""


@given(st.text(alphabet="ab\n\r\x0c\u2028é", max_size=30))
def test_lines_are_split_where_python_splits_them(text: str) -> None:
    # `io` in universal newline mode splits at the same three ends.
    import io

    expected = [line.rstrip("\n") for line in io.StringIO(text, newline=None).readlines()]
    found = split_lines(text)
    assert found in (expected, [*expected, ""])


def edit(row: int, column: int, end_row: int, end_column: int, content: str) -> Edit:
    return Edit(Place("a.py", row, column, end_row, end_column), content)


def test_edits_are_counted_in_the_text_as_it_was() -> None:
    text = "a = b\nc = d\r\ne = f"
    edits = [edit(3, 5, 3, 6, "x"), edit(1, 5, 1, 6, "longer"), Edit(Place("a.py", 2, 6), ".y")]
    assert apply(text, edits) == "a = longer\nc = d.y\r\ne = x"


def test_an_edit_may_span_lines() -> None:
    assert apply("a = (1,\n  2)\nb\n", [edit(1, 5, 2, 5, "3")]) == "a = 3\nb\n"


def test_two_insertions_at_one_place_keep_their_order() -> None:
    at = Place("a.py", 1, 2)
    assert apply("ab", [Edit(at, "1"), Edit(at, "2")]) == "a12b"


@pytest.mark.parametrize(
    "edits",
    [
        [edit(1, 1, 1, 4, "x"), edit(1, 3, 1, 5, "y")],
        [edit(9, 1, 9, 2, "x")],
        [edit(1, 1, 1, 99, "x")],
    ],
)
def test_edits_that_overlap_or_lie_outside_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="edit"):
        apply("abcdef\n", edits)


@given(st.text(alphabet="ab\n\ré", max_size=20), st.data())
def test_a_point_is_where_an_insertion_lands(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    if 0 < offset < len(text) and text[offset - 1 : offset + 1] == "\r\n":
        return  # inside a line end there is no place
    assert apply(text, [Edit(point(text, "a.py", offset), "|")]) == text[:offset] + "|" + text[offset:]
