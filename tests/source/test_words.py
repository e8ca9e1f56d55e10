"""Where a word stands in code: what is not looked at must be free of them."""

from __future__ import annotations

from gradtrail.source.words import Word, Words, any_within


def test_a_file_must_say_torch_and_one_of_the_words() -> None:
    words = Words([Word(b"backward"), Word(rb"\.numpy\(")])
    assert words.rows_in(b"import torch\nloss.backward()") == [2]
    assert words.rows_in(b"import torch\n\nx.numpy(); x.numpy()\n") == [3]
    assert words.rows_in(b"import torch\nx.numpy") == []
    assert words.rows_in(b"loss.backward()") == []


def test_without_words_every_row_of_a_file_that_says_torch_matters() -> None:
    words = Words([])
    assert words.rows_in(b"import torch\n") == [1, 2]
    assert words.rows_in(b"import numpy\n") == []


def test_comments_and_long_strings_are_not_code() -> None:
    words = Words([Word(b"backward"), Word(b"step", row=rb"^[ \t]*step")])
    data = b"""
import torch
def f():
    '''Call backward.

    step first
    '''
    # backward
    step()
    g("#", backward)
"""
    assert words.rows_in(data) == [9, 10]


def test_a_quote_that_is_not_what_it_looks_like_hides_nothing() -> None:
    assert Words([Word(b"backward")]).rows_in(b'import torch\nx = \'"""\'\nbackward\n') == [3]


def test_rows_within_two_others() -> None:
    rows = [3, 7, 8]
    assert any_within(rows, 3, 3)
    assert any_within(rows, 4, 7)
    assert not any_within(rows, 4, 6)
    assert not any_within(rows, 9, 20)
    assert not any_within([], 1, 20)


def test_a_word_may_ask_for_more_in_its_row_or_in_its_file() -> None:
    words = Words([Word(b"expand", row=b"self", file=b"add_")])
    assert words.rows_in(b"import torch\nself.expand()\nexpand()\nx.add_(1)\n") == [2]
    assert words.rows_in(b"import torch\nself.expand()\n") == []


def test_a_word_may_ask_for_what_follows_the_name_that_its_row_assigns_to() -> None:
    words = Words([Word(rb"\.expand\(", then=rb" \+=")])
    for row in (b"y = x.expand(2)", b"self.y = x.expand(2)", b"a, y: T = x.expand(2)"):
        assert words.rows_in(b"import torch\n" + row + b"\ny += 1\n") == [2]
        assert words.rows_in(b"import torch\n" + row + b"\nz += 1\ny\n") == []
    assert words.rows_in(b"import torch\nf(x.expand(2) == 1)\nx += 1\n") == []


def test_rows_that_no_person_wrote_are_looked_through_once() -> None:
    words = Words([Word(rb"\.expand\(", row=rb"^x.*y$"), Word(rb"\.view\(", then=rb" \+=")])
    row = b"x = y" + b".expand(.view(" * 100_000
    assert words.rows_in(b"import torch\n" + row + b"\nx += 1\n") == [2]
