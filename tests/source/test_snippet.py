"""Code as it is pasted."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradtrail.source import snippet
from gradtrail.source.reading import Unreadable
from gradtrail.source.text import SourceText


def pasted(text: str) -> SourceText:
    return snippet.read("snippet.py", text.encode("utf-8"))


def rows_of_code(source: SourceText) -> dict[int, str]:
    """The statements at the top, by the row of the paste."""
    return {node.lineno: ast.unparse(node) for node in source.parse().body}


def segments(source: SourceText) -> list[str]:
    """What the paste says at the places of all calls."""
    return [
        source.segment(source.place(node)) for node in ast.walk(source.parse()) if isinstance(node, ast.Call)
    ]


def test_what_parses_is_not_touched() -> None:
    text = "x = '>>> “a”'\n...\n"
    source = pasted(text)
    assert source.code is source.text
    assert source.shifts == ()


def test_doctest_prompts_and_output() -> None:
    source = pasted(
        ">>> x = torch.ones(3)\n"
        ">>> for i in x:\n"
        "...     print(i)\n"
        "...\n"
        "tensor(1.)\n"
        "tensor(1.)\n"
        ">>> y = g(x)\n"
    )
    assert list(rows_of_code(source)) == [1, 2, 7]
    assert segments(source) == ["torch.ones(3)", "g(x)", "print(i)"]
    assert source.line(1) == ">>> x = torch.ones(3)"


def test_indented_doctest_prompts() -> None:
    source = pasted("    >>> x = f(1)\n    >>> y = g(x)\n    2\n")
    assert segments(source) == ["f(1)", "g(x)"]


def test_ipython_prompts_and_output() -> None:
    source = pasted(
        "In [1]: import torch\n"
        "\n"
        "In [2]: def f(x):\n"
        "   ...:     return g(x)\n"
        "   ...: \n"
        "\n"
        "In [13]: f(1)\n"
        "Out[13]: tensor([1., 2.],\n"
        "       grad_fn=<MulBackward0>)\n"
    )
    assert list(rows_of_code(source)) == [1, 3, 7]
    assert sorted(segments(source)) == ["f(1)", "g(x)"]


def test_notebook_cells_as_a_page_shows_them() -> None:
    source = pasted("In [1]:\nimport torch\nx = f(1)\nOut[1]:\n<tensor, 3>\nIn [ ]:\ny = g(x)\n")
    assert list(rows_of_code(source)) == [2, 3, 7]


def test_common_indentation() -> None:
    source = pasted("    x = f(1)\n# a remark\n    if x:\n        y = g(x)\n")
    assert list(rows_of_code(source)) == [1, 3]
    assert segments(source) == ["f(1)", "g(x)"]


def test_a_first_row_that_lost_its_indentation() -> None:
    source = pasted("x = f(1)\n    y = g(x)\n    if y:\n        z = h(y)\n")
    assert list(rows_of_code(source)) == [1, 2, 3]
    assert sorted(segments(source)) == ["f(1)", "g(x)", "h(y)"]


def test_what_was_left_out_by_the_writer() -> None:
    source = pasted(
        "class Net(nn.Module):\n"
        "    def __init__(self, ...):\n"
        "        ... some layers ...\n"
        "        self.w = f(1)\n"
        "    ....\n"
        "…\n"
        "net = g(1)\n"
    )
    assert segments(source) == ["g(1)", "f(1)"]


def test_typographic_signs() -> None:
    source = pasted("x\u00a0= f(“a”, ‘b’)\ny = g(x) \u2212 1\n")
    assert segments(source) == ["f(“a”, ‘b’)", "g(x)"]


def test_quotes_inside_of_a_string_stay() -> None:
    source = pasted("x\u00a0= f('don’t')\n")
    assert ast.unparse(source.parse()) == "x = f('don’t')"


def test_a_cut_end_is_dropped_and_told() -> None:
    source = pasted("x = f(1)\ny = g(x\n")
    assert list(rows_of_code(source)) == [1]
    assert source.left_out == (2,)


def test_a_block_without_a_body_at_the_end_is_kept() -> None:
    source = pasted("x = f(1)\nfor i in g(x):\n")
    assert segments(source) == ["f(1)", "g(x)"]
    assert source.left_out == ()


def test_magics_and_a_traceback() -> None:
    source = pasted(
        "%matplotlib inline\n"
        "!pip install torch\n"
        "x = f(1)\n"
        "Traceback (most recent call last):\n"
        '  File "a.py", line 1, in <module>\n'
        "RuntimeError: no\n"
    )
    assert segments(source) == ["f(1)"]
    assert source.left_out == (4, 5, 6)


def test_sentences_around_the_code() -> None:
    source = pasted(
        "Hi all, I have this code:\n\nw = f(1)\n\nNow I want to plot it\nplot(w)\n\nWhy does it fail?\n"
    )
    assert rows_of_code(source) == {3: "w = f(1)", 6: "plot(w)"}
    assert segments(source) == ["f(1)", "plot(w)"]


def test_short_sentences_and_those_in_other_scripts() -> None:
    source = pasted("It fails:\n\nw = f(1)\n\n报错了，代码如下：\nplot(w)\n\nなぜ動かないのでしょうか\n")
    assert rows_of_code(source) == {3: "w = f(1)", 6: "plot(w)"}


def test_code_between_fences_is_the_code() -> None:
    source = pasted(
        "My code:\n```python\n>>> w = f(1)\n```\nand then\n```\n>>> g(w)\nValueError: no leaf\n```\nThanks!\n"
    )
    assert rows_of_code(source) == {3: "w = f(1)", 7: "g(w)"}


@pytest.mark.parametrize(
    "row",
    [
        "x is not None",
        "for a in b:",
        "not a in b",
        "print a b",
        "match a b:",
        "a, b = c d",
        "# Hi all of you",
        "a b",
        "变量 = f(1)",
        "計算(x)",
        "模型.eval()",
    ],
)
def test_code_is_no_sentence(row: str) -> None:
    assert not snippet._is_prose(row)


def test_what_is_cut_off_is_the_smaller_part() -> None:
    text = "import torch\n" + "type A[T] = list[T]] = 3\n" + "x = 1\n" * 6
    with pytest.raises(Unreadable, match="does not parse: line 2: "):
        pasted(text)


@pytest.mark.parametrize(
    "text",
    [
        "print 'python 2'\nx = 1\n",
        "x = 1\nfor in y:\n" + "z = 2\n" * 30,
        "this is no Python at all\n",
        "(",
        ">>> (\n",
    ],
)
def test_what_no_repair_helps_keeps_its_first_reason(text: str) -> None:
    try:
        ast.parse(text)
    except SyntaxError as error:
        row = error.lineno
    with pytest.raises(Unreadable, match=f"does not parse: line {row}: "):
        pasted(text)


PIECES = [
    *(">>> ", "... ", "...", "In [1]: ", "   ...: ", "Out[1]: ", "    ", "\t", "\u00a0", "“", "”"),
    *("%time", "!ls"),
    *("x = f(1)", "def f(a, ...):", "class A:", "if x:", "return x", "(", ")", "'''", "\\", "#", "…", "\x0c"),
    *("Traceback (most recent call last):", "\n", "\n", "\n", "\r\n", "\0", "é", "\ufeff"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_whatever_is_pasted_is_read_or_refused(pieces: list[str]) -> None:
    text = "".join(pieces)
    try:
        source = pasted(text)
    except Unreadable as unreadable:
        assert str(unreadable.reason)
        return
    for node in ast.walk(source.parse()):
        if isinstance(node, ast.expr):
            place = source.place(node)
            assert 1 <= place.row <= len(source.lines)
            assert 1 <= place.column <= len(source.line(place.row)) + 1


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        snippet.read("a.py", data).parse()
    except Unreadable as unreadable:
        assert str(unreadable.reason)
