"""Notebooks: how their cells are read, and the way back into the file."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from gradtrail.source import notebook, reading
from gradtrail.source.place import Edit, Place
from gradtrail.source.reading import Unreadable
from gradtrail.source.text import SourceText


def data(*cells: str, **metadata: Any) -> bytes:
    made = new_notebook(cells=[new_code_cell(cell) for cell in cells], metadata=metadata)
    return str(nbformat.writes(made)).encode()


def read(*cells: str) -> SourceText:
    return reading.parsed(notebook.from_data("a.ipynb", data(*cells)))


def code(*cells: str) -> list[str]:
    return read(*cells).code.split("\n")


def test_cells_are_joined_and_every_place_is_in_its_cell() -> None:
    made = new_notebook(
        cells=[new_markdown_cell("# x = 1"), new_code_cell("x = 1\ny = 2\n"), new_code_cell("größe = x")]
    )
    source = notebook.from_data("a.ipynb", nbformat.writes(made).encode())
    assert source.text == "x = 1\ny = 2\n\ngröße = x"
    assert source.cells is not None
    assert [source.cells.in_cell(row) for row in (1, 2, 3, 4)] == [(2, 1), (2, 2), (2, 3), (3, 1)]
    place = source.place(source.parse().body[-1])
    assert source.cells.place(place) == Place("a.ipynb", 1, 1, 1, 10, 3)
    assert source.cells.whole(source.cells.place(place)) == place
    assert source.line(1, 3) == "größe = x"
    assert source.cells.row(1, 1) == 0


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("if x:\n    %cd /tmp\ny = 1", "if x:\n    pass\ny = 1"),
        ("!pip install a \\\n   b\nx = 1", "pass\n\nx = 1"),
        ("!!ls", "pass"),
        ("?torch\ntorch.ones?\ntorch??\n%time?\nx?;  # what", "pass\npass\npass\npass\npass"),
        ("x = !ls\na, b = %system x\nc.d['e'] = !ls", "x = get_ipython()()\na, b = get_ipython()()\nc.d['e'] = get_ipython()()"),
        ("%time x = 1\nfor i in y:\n    %time f(i)", "x = 1\nfor i in y:\n    f(i)"),
        ("%%time\nx = 1", "\nx = 1"),
        ("\n%%capture out\n%%time\nx = 1", "\n\n\nx = 1"),
        ("%%bash\nls | grep x", "\n"),
        ("%%html\n<b>", "\n"),
        ("%%timeit\nloss.backward()", "\n"),
        ("%timeit loss.backward()", "pass"),
        ("s = '''\n%d\n!x\n?'''\n!ls", "s = '''\n%d\n!x\n?'''\npass"),
        ("x = (a\n  % b)\n%who", "x = (a\n  % b)\npass"),
        ("x = a \\\n  % b\n%who", "x = a \\\n  % b\npass"),
        ("x = 'it''s'  # \"\n%who", "x = 'it''s'  # \"\npass"),
        ("/print x\n;f a\n,f b", "pass\npass\npass"),
        ("  x = 1\n  y = 2", "x = 1\ny = 2"),
        (">>> x = 1\n>>> y = 2", "x = 1\ny = 2"),
        ("x = 1;", "x = 1;"),
        ("await f()", "await f()"),
        ("x = 7 % 2\nx != 3", "x = 7 % 2\nx != 3"),
    ],
)  # fmt: skip
def test_what_ipython_adds_is_taken_out(cell: str, python: str) -> None:
    source = read(cell, "z = 1")
    assert source.code == python + "\nz = 1"
    assert source.text == cell + "\nz = 1"
    assert source.cells is not None
    assert not source.cells.left_out


def test_columns_behind_a_magic_are_those_of_the_cell() -> None:
    source = read("if x:\n    %time größe = f(1)")
    statement: Any = source.parse().body[0]
    assert source.segment(source.place(statement.body[0])) == "größe = f(1)"


def test_a_cell_that_does_not_parse_is_left_out_and_what_it_binds_is_not_known() -> None:
    source = read("w = 1", "w = 2\nprint w, x.y\nfor i in z: pass", "v = w")
    assert source.code.split("\n") == ["w = 1", "w = i = get_ipython()(w, print, x, i, z)", "", "", "v = w"]
    assert source.cells is not None
    (told,) = source.cells.left_out
    assert str(told).startswith("cell 2 was left out, since it does not parse: line 2: ")


def test_format_3() -> None:
    cells = [
        {"cell_type": "heading", "source": "x", "level": 1},
        {"cell_type": "code", "input": ["x = 1\n", "y = 2"], "language": "python", "outputs": []},
        {"cell_type": "code", "input": "ls", "language": "bash", "outputs": []},
    ]
    old = json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}, {"cells": cells[1:2]}]}).encode()
    source = notebook.from_data("a.ipynb", old)
    assert source.text == "x = 1\ny = 2\nx = 1\ny = 2"
    assert source.cells is not None
    assert source.cells.numbers == (2, 4)
    new = json.loads(notebook.with_sources(old, {2: "x = 3"}))
    assert new["worksheets"][0]["cells"][1]["input"] == ["x = 3"]


def test_cells_in_other_languages_are_left_out() -> None:
    made = new_notebook(cells=[new_code_cell("ls", metadata={"vscode": {"languageId": "shellscript"}})])
    assert notebook.from_data("a.ipynb", nbformat.writes(made).encode()).text == ""
    source = notebook.from_data("a.ipynb", data("x <- 1", language_info={"name": "R"}))
    assert source.cells is not None
    assert (source.cells.language, source.text) == ("R", "")


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (b"", "is not a notebook: the file is empty"),
        (b" \n", "is not a notebook: the file is empty"),
        (b"x = 1\n", "is not a notebook: line 1 is not JSON: Expecting value"),
        (b'{"cells": [\n', "is not a notebook: line 2 is not JSON: Expecting value"),
        (b"[]", "is not a notebook: it has no list of cells"),
        (b'{"nbformat": 4}', "is not a notebook: it has no list of cells"),
        (b'{"cells": {}, "nbformat": 4}', "is not a notebook: it has no list of cells"),
        (b'{"worksheets": 3, "nbformat": 3}', "is not a notebook: it has no list of cells"),
        (b'{"cells": []}\xff', "is not UTF-8: byte 14 (0xff, line 1) cannot be decoded"),
        (b"\xff\xfe{\0", "is not UTF-8: byte 1 (0xff, line 1) cannot be decoded"),
        (b"[" * 100_000, "is not a notebook: its JSON cannot be read"),
        (b'{"cells": [], "x": ' + b"9" * 5000 + b"}", None),
    ],
)  # fmt: skip
def test_what_is_no_notebook(broken: bytes, reason: str | None) -> None:
    try:
        notebook.from_data("a.ipynb", broken)
    except Unreadable as unreadable:
        assert reason is None or str(unreadable.reason) == reason
    else:
        assert reason is None


def test_broken_cells_are_named() -> None:
    cells = [
        3,
        {"cell_type": "code"},
        {"cell_type": "code", "source": [1]},
        {"cell_type": "code", "source": "x = 1"},
        {},
    ]
    source = notebook.from_data("a.ipynb", json.dumps({"cells": cells, "metadata": 3}).encode())
    assert source.text == "x = 1"
    assert source.cells is not None
    assert [str(one)[:16] for one in source.cells.left_out] == [
        f"cell {number} is broken"[:16] for number in (1, 2, 3)
    ]


# The way back

SOURCES = st.text(alphabet=st.sampled_from("ab=1 \n\r\t'\"\\é最😀\u2028\x7f/"), max_size=30)
FORMS = st.tuples(st.sampled_from([None, 0, 1, 2, 4, "\t"]), st.booleans())


@given(st.lists(SOURCES, min_size=1, max_size=4), st.booleans(), st.booleans(), FORMS, SOURCES)
def test_only_the_source_that_changes_is_written(
    cells: list[str], as_lists: bool, ascii_only: bool, form: tuple[Any, bool], new: str
) -> None:
    indent, line_end = form
    listed = [
        {
            "cell_type": "code",
            "z": 1.50,
            "source": cell.splitlines(True) if as_lists else cell,
            "outputs": [{"text": ["é\n"], "source": "x"}],
            "metadata": {"source": "no"},
        }
        for cell in cells
    ]
    whole = {"metadata": {"cells": []}, "cells": listed, "nbformat": 4, "nbformat_minor": 5}
    before = (json.dumps(whole, indent=indent, ensure_ascii=ascii_only) + "\n" * line_end).encode()
    assert notebook.with_sources(before, {}) == before
    assert notebook.with_sources(before, dict(enumerate(cells, 1))) == before
    after = notebook.with_sources(before, {1: new})
    assert notebook.sources(after) == {**dict(enumerate(cells, 1)), 1: new}
    # What else stands there is the same: put back, it is the same file, but for how a list is divided.
    back = notebook.with_sources(after, {1: cells[0]})
    assert json.loads(back)["cells"][1:] == listed[1:]
    if not as_lists and (not ascii_only or before.isascii()) and cells[0].isascii():
        assert back == before
    assert after.isascii() or not ascii_only


def test_what_jupyter_writes_stays_as_jupyter_writes_it() -> None:
    cells = [
        new_markdown_cell("# größe\nx"),
        new_code_cell(
            "a = 1\nb = 2\nc = 3", outputs=[new_output("stream", text="é\n" * 3)], execution_count=7
        ),
        new_code_cell(""),
        new_code_cell("d = 'é'"),
    ]
    made = new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "x", "language": "python"}}
    )
    before = nbformat.writes(made) + "\n"
    new = {2: "a = 1\nbb = 'ö'\nc = 3\nd = 4\n", 3: "e = 5\nf = 6", 4: "d = 'è'"}
    after = notebook.with_sources(before.encode(), new).decode()
    for number, said in new.items():
        cells[number - 1]["source"] = said
    assert after == nbformat.writes(made) + "\n"
    nbformat.validate(nbformat.reads(after, as_version=4))


def test_edits_in_cells() -> None:
    before = data("x = 1\r\ny = 2", "z = 3")
    edits = [
        Edit(Place("a.ipynb", 2, 5, 2, 6, 1), "5"),
        Edit(Place("a.ipynb", 1, 6, cell=2), "!"),
        Edit(Place("a.ipynb", 1, 1, 1, 2, 1), "w"),
    ]
    assert notebook.sources(notebook.edited(before, edits)) == {1: "w = 1\r\ny = 5", 2: "z = 3!"}
    for bad in (Place("a.ipynb", 1, 1), Place("a.ipynb", 1, 1, cell=9), Place("a.ipynb", 7, 1, cell=1)):
        with pytest.raises(ValueError, match="edit"):
            notebook.edited(before, [Edit(bad, "")])
    with pytest.raises(ValueError, match="no such code cell"):
        notebook.with_sources(before, {3: "x"})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{"cells":[{"cell_type":"code","source":[]}]}', b'{"cells":[{"cell_type":"code","source":["a\\n","b"]}]}'),
        (b'{"cells": [{"cell_type": "code", "source": []}]}', b'{"cells": [{"cell_type": "code", "source": ["a\\n", "b"]}]}'),
        (b'\xef\xbb\xbf{"cells": [{"source": "", "cell_type": "code"}]}',
         b'\xef\xbb\xbf{"cells": [{"source": "a\\nb", "cell_type": "code"}]}'),
        (b'{\r\n "cells": [\r\n  {\r\n   "cell_type": "code",\r\n   "source": []\r\n  }\r\n ]\r\n}',
         b'{\r\n "cells": [\r\n  {\r\n   "cell_type": "code",\r\n   "source": [\r\n    "a\\n",\r\n    "b"\r\n   ]\r\n  }\r\n ]\r\n}'),
        (b'{"cells": [{"cell_type": "code", "source": "x", "source": "y"}]}',
         b'{"cells": [{"cell_type": "code", "source": "x", "source": "a\\nb"}]}'),
    ],
)  # fmt: skip
def test_the_form_of_the_file_is_kept(before: bytes, after: bytes) -> None:
    assert notebook.with_sources(before, {1: "a\nb"}) == after


def test_lines_that_stay_are_spelt_as_they_were() -> None:
    before = b'{"cells": [{"cell_type": "code", "source": ["x = \\"\\u003c\\"\\n", "y"]}]}'
    assert notebook.with_sources(before, {1: 'x = "<"\nz'}) == before.replace(b'"y"', b'"z"')
