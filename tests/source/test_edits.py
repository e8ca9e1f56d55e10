"""Edits by themselves: each is made in a text and compared to the character."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from gradtrail.source.edits import Editor
from gradtrail.source.place import Edits, Place
from gradtrail.source.text import SourceText, apply, point

NAME = "program.py"


def edited(text: str, mark: str, change: Callable[[Editor, Place], Edits]) -> str:
    """`text` after `change` at the first place that reads `mark`; as it was when there are no edits."""
    source = SourceText(NAME, text.encode(), text)
    start = text.index(mark)
    first, last = point(text, NAME, start), point(text, NAME, start + len(mark))
    place = first._replace(end_row=last.row, end_column=last.column)
    edits = change(Editor(lambda name: source if name == NAME else None), place)
    after = apply(text, edits)
    ast.parse(after)
    return after


def detach(edit: Editor, place: Place) -> Edits:
    return edit.after(place, ".detach()")


@pytest.mark.parametrize(
    ("text", "mark", "after"),
    [
        ("f(x)", "x", "f(x.detach())"),
        ("f(x + y)", "x + y", "f((x + y).detach())"),
        ("f((x + y))", "x + y", "f((x + y).detach())"),
        ("z = (x + y) * 2", "x + y", "z = (x + y).detach() * 2"),
        ("z = ( x + y ) * 2", "x + y", "z = ( x + y ).detach() * 2"),
        ("z = -x", "-x", "z = (-x).detach()"),
        ("z = -x", "x", "z = -x.detach()"),
        ("z = a if b else c", "a if b else c", "z = (a if b else c).detach()"),
        ("(z := x + 1)", "x + 1", "(z := (x + 1).detach())"),
        ("f((z := x))", "z := x", "f((z := x).detach())"),
        ("z = a,  b", "b", "z = a,  b.detach()"),
        ("f(*xs)", "xs", "f(*xs.detach())"),
        ("z = {'ä': x}; w = 'ö', x + 1", "x + 1", "z = {'ä': x}; w = 'ö', (x + 1).detach()"),
        ("z = x[\n    1\n]", "x[\n    1\n]", "z = x[\n    1\n].detach()"),
        ("z = (\n    x  # one\n    + y  # two\n)", "x  # one\n    + y", "z = (\n    (x  # one\n    + y).detach()  # two\n)"),
        ("z = [x * y for x in xs]", "x * y", "z = [(x * y).detach() for x in xs]"),
        ("z = lambda x: x * 2", "x * 2", "z = lambda x: (x * 2).detach()"),
        ("print(f'{x}')", "x", "print(f'{x.detach()}')"),
        ("@f(x)\ndef g(): pass", "x", "@f(x.detach())\ndef g(): pass"),
        ("async def f(): y = await g()", "g()", "async def f(): y = await (g()).detach()"),
    ],
)  # fmt: skip
def test_a_method_behind_an_expression(text: str, mark: str, after: str) -> None:
    assert edited(text, mark, detach) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("f(a, b=1)", "f(a)"),
        ("f(b=1, a=2)", "f(a=2)"),
        ("f(b=1)", "f()"),
        ("f(b=1,)", "f()"),
        ("f(a, b=1, c=2)", "f(a, c=2)"),
        ("f(\n    a,\n    b=1,\n)", "f(\n    a,\n)"),
        ("f(\n    a,  # first\n    b=1,\n)", "f(\n    a,  # first\n)"),
        ("f(a, b=(1, 2), **c)", "f(a, **c)"),
    ],
)
def test_an_argument_taken_out(text: str, after: str) -> None:
    assert edited(text, text, lambda edit, place: edit.drop_keyword(place, "b")) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("f()", "f(b=1)"),
        ("f(a)", "f(a, b=1)"),
        ("f(a,)", "f(a, b=1,)"),
        ("f(b=2)", "f(b=1)"),
        ("f((a))", "f((a), b=1)"),
        ("f(\n    a,\n    c,\n)", "f(\n    a,\n    c, b=1,\n)"),
        ("f(x for x in y)", "f(x for x in y)"),
        ("f(**k)", "f(**k)"),
    ],
)
def test_an_argument_added(text: str, after: str) -> None:
    assert edited(text, text, lambda edit, place: edit.add_keyword(place, "b", "1")) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a\nX", "a\nnew\nX"),
        ("a\r\nX\r\n", "a\r\nnew\r\nX\r\n"),
        ("if a:\n\tX", "if a:\n\tnew\n\tX"),
        ("a; X", "a; new; X"),
        ("if a: X", "if a: new; X"),
        ("a\n\x0c\nX", "a\n\x0c\nnew\nX"),
        ("X(\n  1,\n)", "new\nX(\n  1,\n)"),
    ],
)
def test_a_statement_before(text: str, after: str) -> None:
    assert edited(text, "X", lambda edit, place: edit.before(place, "new")) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("X", "X\nnew"),
        ("X  # why\nb", "X  # why\nnew\nb"),
        ("X; b", "X; new; b"),
        ("a; X\nb", "a; X\nnew\nb"),
        ("if a: X\nb", "if a: X; new\nb"),
        ("if a:\n    X\nb", "if a:\n    X\n    new\nb"),
        ("X(\n  1,\n)\nb", "X(\n  1,\n)\nnew\nb"),
        ("def f():\n    return X", "def f():\n    return X"),
    ],
)
def test_a_statement_behind(text: str, after: str) -> None:
    assert edited(text, "X", lambda edit, place: edit.behind(place, "new")) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("X", "with w:\n    X"),
        ("if a:\n  X  # why\nb", "if a:\n  with w:\n    X  # why\nb"),
        ("if a:\n\tX", "if a:\n\twith w:\n\t\tX"),
        ("if a: X\nb", "if a:\n    with w:\n        X\nb"),
        ("a; X; b", "a\nwith w:\n    X\nb"),
        ("a; X", "a\nwith w:\n    X"),
        ("X; b", "with w:\n    X\nb"),
        ("X(\n  1,\n)\n", "with w:\n    X(\n      1,\n    )\n"),
        ("X('''\none\n''',\n  2)", "with w:\n    X('''\none\n''',\n      2)"),
        ("a\r\nX\r\n", "a\r\nwith w:\r\n    X\r\n"),
        ("for X in y:\n    z\n\n    w\n", "with w:\n    for X in y:\n        z\n\n        w\n"),
    ],
)
def test_a_statement_in_a_block(text: str, after: str) -> None:
    assert edited(text, "X", lambda edit, place: edit.under(place, "with w:")) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a\nX\nb", "a\nb"),
        ("a\nX  # why\nb", "a\n# why\nb"),
        ("if a:\n    X\nb", "if a:\n    pass\nb"),
        ("a; X; b", "a; b"),
        ("a; X", "a"),
        ("a\nX", "a\n"),
    ],
)
def test_a_statement_taken_out(text: str, after: str) -> None:
    assert edited(text, "X", lambda edit, place: edit.drop(place)) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("X -= 1", "X = X - 1"),
        ("X *= a + b", "X = X * (a + b)"),
        ("X *= (a + b)", "X = X * (a + b)"),
        ("X.y **= -a", "X.y = X.y ** (-a)"),
        ("X //= f(a)  # why", "X = X // f(a)  # why"),
    ],
)
def test_a_write_in_place_made_anew(text: str, after: str) -> None:
    assert edited(text, "X", lambda edit, place: edit.unfold(place)) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("z = P(x).m()", "z = P(x.m())"),
        ("z = P(x) * 2", "z = P(x * 2)"),
        ("z = P(a + b, k=1).m()", "z = P((a + b).m(), k=1)"),
        ("z = 2 * P(x)", "z = P(2 * x)"),
        ("z = f(P(x))", "z = P(f(x))"),
    ],
)
def test_a_call_made_the_outermost(text: str, after: str) -> None:
    assert edited(text, text[4:], lambda edit, place: edit.hoist(place, "P")) == after


@pytest.mark.parametrize(
    ("text", "name", "lacks"),
    [
        ("import torch\nX", "torch.nn.ModuleList", ""),
        ("import torch.nn as nn\nX", "nn.ModuleList", ""),
        ("from torch import nn\nX", "nn.ModuleList", ""),
        ("from torch import nn as layers\nX", "layers.ModuleList", ""),
        ("from torch.nn import ModuleList, Linear\nX", "ModuleList", ""),
        ("import torch as t\nX", "t.nn.ModuleList", ""),
        ("def f():\n    from torch import nn\n    X", "nn.ModuleList", ""),
        ("def f():\n    from torch import nn\nX", "torch.nn.ModuleList", "import torch"),
        (
            '"""Doc."""\nfrom __future__ import annotations\nimport os\nX',
            "torch.nn.ModuleList",
            "import torch",
        ),
        ("X", "torch.nn.ModuleList", "import torch"),
    ],
)
def test_the_name_that_the_file_uses(text: str, name: str, lacks: str) -> None:
    names: list[str] = []

    def change(edit: Editor, place: Place) -> Edits:
        path, edits = edit.name_for(place, "torch.nn.ModuleList")
        names.append(path)
        return edits

    after = edited(text, "X", change)
    assert names == [name]
    assert [line for line in after.splitlines() if line not in text.splitlines()] == (
        [lacks] if lacks else []
    )


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("x = [p for p in xs if p.f]", "x = xs"),
        ("x = filter(lambda p: p.f, xs())", "x = xs()"),
        ("x = [p for p in xs if p.g]", "x = [p for p in xs if p.g]"),
        ("x = [p.data for p in xs if p.f]", "x = [p.data for p in xs if p.f]"),
        ("x = [p for p in xs if p.f and p.g]", "x = [p for p in xs if p.f and p.g]"),
    ],
)
def test_a_filter_taken_away(text: str, after: str) -> None:
    assert edited(text, text[4:], lambda edit, place: edit.unfiltered(place, "f")) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("X = X - a * b", "X -= a * b"),
        ("X = X * (a + b)", "X = X * (a + b)"),
        ("X = y - a", "X = y - a"),
        ("for k, y in X.items():\n    X[k] = y - 1", "for k, y in X.items():\n    y -= 1"),
        ("for k, y in z.items():\n    X[k] = y - 1", "for k, y in z.items():\n    X[k] = y - 1"),
    ],
)
def test_a_new_value_written_in_place(text: str, after: str) -> None:
    mark = "X[k]" if "X[k]" in text else "X"
    assert edited(text, mark, lambda edit, place: edit.fold(place)) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("X", "X, None"),
        ("X, y", "X, y, None"),
        ("(X, y)", "(X, y, None)"),
        ("(X)", "(X), None"),
        ("X + (y)", "X + (y), None"),
    ],
)
def test_one_more_in_a_tuple(text: str, after: str) -> None:
    text, after = f"def f(): return {text}", f"def f(): return {after}"

    def change(edit: Editor, place: Place) -> Edits:
        return edit.append(edit.value(place), ", None")

    assert edited(text, "X", change) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("p.x = y", "p.x.copy_(y)"),
        ("p.x = (y +\n  z)", "p.x.copy_(y +\n  z)"),
        ("p.x = y  # why", "p.x.copy_(y)  # why"),
        ("p.x: T = y", "p.x.copy_(y)"),
        ("p.x = q = y", "p.x = q = y"),
    ],
)
def test_an_assignment_made_a_call(text: str, after: str) -> None:
    assert edited(text, "p.x", lambda edit, place: edit.as_call(place, ".copy_")) == after


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("def f(a):\n    X", True),
        ("def f():\n    a = 1\n    X", True),
        ("def f():\n    for a in b:\n        X", True),
        ("def f():\n    X\n    a = 1", False),
        ("a = 1\ndef f():\n    X", False),
        ("a = 1\nX", True),
        ("X\na = 1", False),
    ],
)
def test_a_name_that_has_a_value(text: str, bound: bool) -> None:
    edited(text, "X", lambda edit, place: told.append(edit.is_bound(place, "a.device")) or ())  # type: ignore[func-returns-value]
    assert told.pop() is bound


told: list[bool] = []


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a\nX\nb", "X\na\nb"),
        ("a\nX  # why\nb", "X  # why\na\nb"),
        ("a\nif c:\n    X\n    b", "X\na\nif c:\n    b"),
        ("a\nif c:\n    X", "a\nif c:\n    X"),
        ("a\nb; X", "a\nb; X"),
        ("a\r\nX(\r\n  1)\r\nb", "X(\r\n  1)\r\na\r\nb"),
    ],
)
def test_a_statement_moved_up(text: str, after: str) -> None:
    first = Place(NAME, 1, 1, 1, 2)
    assert edited(text, "X", lambda edit, place: edit.move(place, before=first)) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("X\na\nb", "a\nX\nb"),
        ("X\na  # why\nb", "a  # why\nX\nb"),
        ("X\na", "a\nX"),
    ],
)
def test_a_statement_moved_down(text: str, after: str) -> None:
    second = Place(NAME, 2, 1, 2, 2)
    assert edited(text, "X", lambda edit, place: edit.move(place, behind=second)) == after


def test_a_call_over_several_rows_is_found_by_its_method() -> None:
    """A finding there is told of where the method's name stands."""
    text = "y = (x\n     .one()\n     .two(a))\n"
    assert edited(
        text, "two(a)", lambda edit, place: edit.after(edit.receiver(place), ".three()")
    ) == text.replace(".one()", ".one().three()")


def test_nothing_is_edited_in_what_was_pasted() -> None:
    from gradtrail.source import snippet

    source = snippet.read(NAME, b">>> x = y\n")
    edit = Editor(lambda name: source)
    assert edit.after(Place(NAME, 1, 9, 1, 10), ".detach()") == ()


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (
            "def f():\n  with g():  # why\n    for x in y:  # all\n      h = x\n      yield h, x  # two\n",
            "def f():\n  for x in y:  # all\n    with g():  # why\n      h = x\n      item = h, x  # two\n    yield item\n",
        ),
        (
            "def f():\n\twith g():\n\t\tfor x in y:\n\t\t\tyield x\n",
            "def f():\n\tfor x in y:\n\t\twith g():\n\t\t\titem = x\n\t\tyield item\n",
        ),
        *(
            (same, same)
            for same in (
                "def f():\n  with g():\n    for x in y:\n      yield x\n      h(x)\n",
                "def f():\n  with g():\n    for x in y: yield x\n",
                "def f():\n  with g(), h():\n    for x in y:\n      yield x\n",
                "def f():\n  with g():\n    z = 1\n    for x in y:\n      yield x\n",
                "def f():\n  with g():\n    for x in y:\n      a = yield x\n",
                "def f():\n  with g():\n    for x in y:\n      yield (x)\n",
            )
        ),
    ],
)
def test_a_block_ends_before_what_is_yielded(text: str, after: str) -> None:
    assert edited(text, "g()", lambda edit, place: edit.yield_outside(place)) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("def f(x):\n    x()\n", "def f(x):\n    x()\n    end()\n"),
        ("def f(x):\n    x()\n    return x\n", "def f(x):\n    x()\n    end()\n    return x\n"),
        *(
            (same, same)
            for same in (
                "def f(x):\n    if x():\n        return 1\n    return x\n",
                "def f(x):\n    x()\n    yield x\n",
                "x()\n",
            )
        ),
    ],
)
def test_a_statement_at_the_end_of_a_function(text: str, after: str) -> None:
    assert edited(text, "x()", lambda edit, place: edit.end_of(place, "end()")) == after


@pytest.mark.parametrize(
    ("text", "once"),
    [
        ("x()", True),
        ("def f():\n    x()", True),
        ("for i in a:\n    if i == 3:\n        x()", True),
        ("for i in a:\n    x()", False),
        ("for i in a:\n    if i > 3:\n        x()", False),
        ("for i in a:\n    if i % 3 == 0:\n        x()", False),
        ("while a:\n    if i == 3:\n        for p in q:\n            x()", False),
    ],
)
def test_what_comes_once(text: str, once: bool) -> None:
    found: list[bool] = []

    def ask(edit: Editor, place: Place) -> Edits:
        found.append(edit.comes_once(place))
        return ()

    edited(text, "x()", ask)
    assert found == [once]


def test_no_import_where_the_name_is_taken() -> None:
    text = "import torch\ncopy = 1\nx\n"
    assert edited(text, "x\n", lambda edit, place: edit.name_for(place, "copy.deepcopy")[1]) == text


def test_several_targets_make_no_call() -> None:
    text = "a.x, b.x = c, d\n"
    assert edited(text, "a.x", lambda edit, place: edit.as_call(place, ".copy_")) == text
