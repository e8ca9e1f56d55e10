"""Which comments hide findings, and for which rows they count."""

from __future__ import annotations

import pytest

from gradtrail.source import reading, snippet
from gradtrail.source.ignore_comments import MARK, ignore_comments


def comments(code: str) -> list[tuple[int, int, tuple[str, ...] | None, int, int]]:
    source = reading.from_data("a.py", code.encode())
    found = ignore_comments(source)
    assert not found or MARK in source.data
    return [(one.place.row, one.place.column, one.names, one.first, one.last) for one in found]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = 1  # gradtrail: ignore[a]", [(1, 8, ("a",), 1, 1)]),
        ("x = 1  # gradtrail: ignore", [(1, 8, None, 1, 1)]),
        ("größe = 1  # gradtrail: ignore[a, b ,a]  because", [(1, 12, ("a", "b"), 1, 1)]),
        ("x = 1  #gradtrail:ignore [ a ]", [(1, 8, ("a",), 1, 1)]),
        ("x = 1  # type: ignore # gradtrail: ignore[a]", [(1, 23, ("a",), 1, 1)]),
        ("x = 1  # gradtrail: ignore[a]  # gradtrail: ignore[b]", [(1, 8, ("a",), 1, 1), (1, 32, ("b",), 1, 1)]),
        ("x = 1  # gradtrail: ignore[]", [(1, 8, (), 1, 1)]),
        ("x = 1  # gradtrail: ignore[a", [(1, 8, (), 1, 1)]),
        ("# gradtrail: look here\n# see gradtrail: ignore\n# gradtrail: ignores that\n", []),
        ("x = 1  # gradtrail: ignored[a]\ny = 2  # gradtrail: noqa", [(1, 8, ("a",), 1, 0), (2, 8, None, 1, 0)]),
        ("x = f(  # gradtrail: ignore[a]\n  1,\n)\ny = 2", [(1, 9, ("a",), 1, 3)]),
        ("x = f(\n  # gradtrail: ignore[a]\n  1,\n)\ny = 2", [(2, 3, ("a",), 1, 4)]),
        ("x = f(\n  1,\n)  # gradtrail: ignore[a]\ny = 2", [(3, 4, ("a",), 1, 3)]),
        ("x = 1 + \\\n  2  # gradtrail: ignore[a]", [(2, 6, ("a",), 1, 2)]),
        ("x = '''\n'''  # gradtrail: ignore[a]", [(2, 6, ("a",), 1, 2)]),
        ("for x in y:  # gradtrail: ignore[a]\n    z = 1\n", [(1, 14, ("a",), 1, 1)]),
        ("# gradtrail: ignore[a]\nx = 1", [(1, 1, ("a",), 1, 0)]),
        ("s = '# gradtrail: ignore[a]'\nt = '''\n# gradtrail: ignore\n'''", []),
        ("# gradtrail: ignore-file\nx = 1", [(1, 1, None, 1, 2)]),
        ('#!/bin/sh\n"""Says\n\n# gradtrail: ignore"""\n# gradtrail: ignore-file[a]\n\nx = 1', [(5, 1, ("a",), 1, 7)]),
        ("x = 1\n# gradtrail: ignore-file[a]\n", [(2, 1, ("a",), 1, 0)]),
        ("x = 1  # gradtrail: ignore-file[a]\n", [(1, 8, ("a",), 1, 0)]),
        ("x = 1\r\ny = 2  # gradtrail: ignore\r\n", [(2, 8, None, 2, 2)]),
        ("x = 1\ry = 2  # gradtrail: ignore\r", [(2, 8, None, 2, 2)]),
        ("\x0cx = 1  # gradtrail: ignore", [(1, 9, None, 1, 1)]),
        ("x = (1,  # gradtrail: ignore\n", []),
        ("", []),
    ],
)  # fmt: skip
def test_comments(code: str, expected: list[tuple[int, int, tuple[str, ...] | None, int, int]]) -> None:
    assert comments(code) == expected


def test_a_paste_with_prompts_is_placed_as_it_was_pasted() -> None:
    (found,) = ignore_comments(snippet.read("a.py", b">>> x = 1  # gradtrail: ignore\n1\n"))
    assert (found.place.row, found.place.column) == (1, 12)
