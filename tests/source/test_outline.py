"""A tree without the bodies nobody wants, and with them again, is the tree that `ast` makes."""

from __future__ import annotations

import argparse
import ast
import json.decoder
import textwrap
import typing
import unittest.mock

import pytest

from gradtrail.interp.project import Space
from gradtrail.source.outline import outline, parse_body
from gradtrail.source.text import SourceText

MODULES = (argparse, json.decoder, textwrap, typing, unittest.mock)
LONG = "    " + "x = 1; " * 40 + "x\n"


def opened(code: str) -> tuple[ast.Module, int]:
    """The tree of `code`, every body parsed on its own, and how many there were."""
    shown = outline(code, lambda first, last: False)
    tree = ast.parse(shown.code)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno in shown.bodies:
            node.body = parse_body(code, shown.bodies[node.lineno])
            node.end_lineno, node.end_col_offset = node.body[-1].end_lineno, node.body[-1].end_col_offset
    return tree, len(shown.bodies)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_with_its_bodies_it_is_the_whole_tree(module: typing.Any) -> None:
    with open(module.__file__, encoding="utf-8") as file:
        code = file.read()
    tree, bodies = opened(code)
    assert bodies > 5
    assert ast.dump(tree) == ast.dump(ast.parse(code))
    places = [(node.lineno, node.col_offset) for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    whole = [
        (node.lineno, node.col_offset) for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt)
    ]
    assert places == whole


@pytest.mark.parametrize(
    "code",
    [
        'TEXT = """\ndef f():\n' + LONG + '"""\n',  # no definition but a string
        "def f(a=\"(\", b=')'):  # a comment (\n" + LONG + "x = f\n",
        "def f(\n    a,  # one\n    b: dict[str, int] = {},\n) -> None:\n" + LONG,
        'def f():\n    """A text\nat the margin."""\n' + LONG + "y = 2\n",
        "async def f():\n    await g()\n" + LONG,
        "class A:\n    def f(self):\n    # a comment\n    "
        + LONG.strip().replace("x", "    x", 1)
        + "\n    z = 3\n",
    ],
)
def test_what_looks_like_a_body_and_what_hardly_does(code: str) -> None:
    assert ast.dump(opened(code)[0]) == ast.dump(ast.parse(code))


def test_what_is_wanted_is_parsed_at_once() -> None:
    code = "def f():\n" + LONG + "def g():\n" + LONG
    assert list(outline(code, lambda first, last: first == 1).bodies) == [3]
    assert outline(code.replace("\n", "\r\n"), lambda first, last: False).bodies == {}


def test_a_text_knows_which_bodies_it_lacks() -> None:
    source = SourceText("a.py", b"", "def f():\n" + LONG)
    tree = source.parse_outline(lambda first, last: False)
    assert ast.unparse(tree) == "def f():\n    ..."
    assert list(source.bodies) == [1]
    assert source.parse() is tree
    source.let_go_of_tree()
    assert source.bodies == {}
    assert len(ast.dump(source.parse())) > len(ast.dump(tree))


def test_a_body_ends_before_the_next_definition() -> None:
    body = "".join(f"        self.part_{number} = given_{number}\n" for number in range(20))
    code = f"class Net:\n    def __init__(self):\n{body}    def inference_mode(self):\n{body}"
    asked: list[tuple[int, int]] = []
    found = outline(code, lambda first, last: bool(asked.append((first, last))))
    assert asked == [(2, 22), (23, 43)]
    assert [each.last_row for each in found.bodies.values()] == [22, 43]


def test_what_is_known_of_a_file_does_not_depend_on_how_much_of_it_was_parsed() -> None:
    body = "".join(f"        self.part_{number} = given_{number}\n" for number in range(20))
    code = f"class Net:\n    def __init__(self):\n{body}    def later(self):\n        self.other = 1\n"
    whole, part = (SourceText("net.py", code.encode(), code) for _ in range(2))
    spaces = [
        Space("net.py", source, tree, "net", True)
        for source, tree in ((whole, whole.parse()), (part, part.parse_outline(lambda first, last: False)))
    ]
    assert part.bodies and not whole.bodies
    assert [space.written_later for space in spaces] == [frozenset({"other"})] * 2
