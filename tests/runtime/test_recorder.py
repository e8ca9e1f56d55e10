"""The recorder: which line was being run when the counter moved. No torch: a counter of the test's own stands for it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradtrail.runtime import user_code
from gradtrail.runtime.recorder import recorder

BY_TRACING = sys.version_info < (3, 12)


COUNTER = """
import threading

class Counter:
    def __init__(self):
        self.local = threading.local()

    def __call__(self):
        return getattr(self.local, "number", 0)

    def make(self, nodes=1):
        self.local.number = self() + nodes
        return self.local.number - 1
"""
"""Counts per thread, as torch does, and makes nodes; the number of the last one comes back. It is no code of the user's."""


def new_counter() -> Any:
    """A counter at 0."""
    space: dict[str, Any] = {}
    exec(compile(COUNTER, "relative/counter.py", "exec"), space)
    return space["Counter"]()


@pytest.fixture(autouse=True)
def without_another_tracer() -> Iterator[None]:
    """Where the tests themselves are traced, the recorder would step aside."""
    before = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(before)


def recorded(source: str, folder: Path, full: bool = False, **names: Any) -> tuple[dict[str, Any], Any]:
    """The names of a program that has run under the recorder, and the recorder."""
    counter = new_counter()
    mine = recorder(counter, full)
    path = folder / "program.py"
    path.write_text(source, encoding="utf-8")
    space: dict[str, Any] = {"make": counter.make, "made": {}, "recorder": mine, **names}
    code = compile(source, str(path), "exec")
    mine.start()
    try:
        exec(code, space)
    finally:
        mine.stop()
    return space, mine


def rows_of(source: str, folder: Path, **names: Any) -> dict[str, int | None]:
    """The row that each node of `made` was made on, by the recorder."""
    space, mine = recorded(source, folder, **names)
    lines = {name: mine.line_of(number) for name, number in space["made"].items()}
    return {name: line[1] if line else None for name, line in lines.items()}


def test_each_line_made_its_nodes(tmp_path: Path) -> None:
    source = "made['a'] = make()\nmade['b'] = make(3)\nx = 1\nmade['c'] = make()\n"
    assert rows_of(source, tmp_path) == {"a": 1, "b": 2, "c": 4}


def test_the_callers_line_is_its_own_again_after_a_call(tmp_path: Path) -> None:
    source = """\
def inner():
    made['inner'] = make()
    return 1

def outer():
    y = inner() + make()
    made['after'] = make()
    return y

made['first'] = (outer(), make())[1]
"""
    assert rows_of(source, tmp_path) == {"inner": 2, "after": 7, "first": 10}


def test_a_node_on_the_line_of_a_call_after_the_call(tmp_path: Path) -> None:
    source = "def f():\n    return 1\n\nmade['x'] = [f(), make()][1]\n"
    assert rows_of(source, tmp_path) == {"x": 4}


def test_a_generator_gives_the_line_back_when_it_yields(tmp_path: Path) -> None:
    source = """\
def rows():
    made['one'] = make()
    yield 1
    made['two'] = make()
    yield 2

it = rows()
made['a'] = [next(it), make()][1]
made['b'] = [next(it), make()][1]
"""
    assert rows_of(source, tmp_path) == {"one": 2, "a": 8, "two": 4, "b": 9}


def test_the_line_after_an_exception(tmp_path: Path) -> None:
    source = """\
def fails():
    made['before'] = make()
    raise KeyError

try:
    fails()
except KeyError:
    made['after'] = make()
"""
    assert rows_of(source, tmp_path) == {"before": 2, "after": 8}


def test_a_loop_makes_nodes_on_the_same_line_again(tmp_path: Path) -> None:
    source = "for i in range(50):\n    made[i] = make()\n"
    assert set(rows_of(source, tmp_path).values()) == {2}


def test_code_of_libraries_counts_for_the_line_that_called_it(tmp_path: Path) -> None:
    space: dict[str, Any] = {}
    exec(compile("def library(make):\n    make()\n    return make()\n", "relative/name.py", "exec"), space)
    source = "made['x'] = library(make)\n"
    assert rows_of(source, tmp_path, library=space["library"]) == {"x": 1}


def test_threads_have_counters_and_logs_of_their_own(tmp_path: Path) -> None:
    source = """\
import threading

def work():
    number = make(5)
    line = recorder.line_of(number)
    made['thread'] = line and line[1]

thread = threading.Thread(target=work)
thread.start()
thread.join()
made['main'] = make()
"""
    space, mine = recorded(source, tmp_path)
    assert space["made"]["thread"] == 4
    line = mine.line_of(space["made"]["main"])
    assert line is not None and line[1] == 11


CALLS = """\
def inner():
    made['deep'] = make()

def outer():
    inner()
    made['after'] = make()

outer()
made['top'] = make()
"""


@pytest.mark.parametrize("full", [True, False])
def test_the_calls_that_lead_to_a_line_are_kept_when_asked_for(full: bool, tmp_path: Path) -> None:
    space, mine = recorded(CALLS, tmp_path, full)
    found = {
        name: [row for code, row in mine.callers_of(number) if code.co_filename.endswith("program.py")]
        for name, number in space["made"].items()
    }
    assert found == (
        {"deep": [8, 5], "after": [8], "top": []} if full else {"deep": [], "after": [], "top": []}
    )


def test_what_came_before_or_after_is_not_known(tmp_path: Path) -> None:
    counter = new_counter()
    before = counter.make()
    mine = recorder(counter)
    mine.start()
    mine.stop()
    after = counter.make()
    assert mine.line_of(before) is None
    assert mine.line_of(after) is None


def test_the_functions_that_ran_are_known(tmp_path: Path) -> None:
    source = "def used():\n    return 1\n\ndef unused():\n    return 2\n\nused()\n"
    _, mine = recorded(source, tmp_path)
    assert {"used", "<module>"} <= {code.co_name for code in mine.visited}
    assert "unused" not in {code.co_name for code in mine.visited}


@pytest.mark.skipif(not BY_TRACING, reason="sys.monitoring shares lines with other tools")
def test_a_tracer_that_is_there_keeps_its_place(tmp_path: Path) -> None:
    seen: list[str] = []

    def tracer(frame: Any, event: str, argument: Any) -> Any:
        seen.append(event)
        return tracer

    sys.settrace(tracer)
    try:
        mine = recorder(new_counter())
        mine.start()
        assert sys.gettrace() is tracer
        assert mine.aside is not None
        mine.stop()
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(None)


@pytest.mark.skipif(not BY_TRACING, reason="sys.monitoring shares lines with other tools")
def test_a_tracer_that_comes_later_is_left_alone(tmp_path: Path) -> None:
    def tracer(frame: Any, event: str, argument: Any) -> Any:
        return None

    mine = recorder(new_counter())
    mine.start()
    sys.settrace(tracer)
    try:
        mine.stop()
        assert sys.gettrace() is tracer
        assert mine.aside is not None
    finally:
        sys.settrace(None)


@pytest.mark.skipif(BY_TRACING, reason="before Python 3.12 there is no sys.monitoring")
def test_the_tool_is_given_back(tmp_path: Path) -> None:
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
    before = [monitoring.get_tool(one) for one in range(6)]
    recorded("made['x'] = make()\n", tmp_path)
    assert [monitoring.get_tool(one) for one in range(6)] == before


@pytest.mark.skipif(BY_TRACING, reason="before Python 3.12 there is no sys.monitoring")
def test_it_steps_aside_when_every_place_is_taken(tmp_path: Path) -> None:
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
    taken = [one for one in (3, 4) if monitoring.get_tool(one) is None]
    for one in taken:
        monitoring.use_tool_id(one, "a test")
    try:
        mine = recorder(new_counter())
        mine.start()
        assert mine.aside is not None and not mine.is_on
    finally:
        for one in taken:
            monitoring.free_tool_id(one)


def test_it_starts_and_stops_again(tmp_path: Path) -> None:
    counter = new_counter()
    mine = recorder(counter)
    for _ in range(3):
        mine.start()
        mine.stop()
    assert sys.gettrace() is None


@pytest.mark.parametrize(
    ("filename", "answer"),
    [
        (str(Path(threading.__file__)), False),
        (str(Path(pytest.__file__)), False),
        (str(Path(user_code.__file__)), False),
        ("torch/csrc/relative.py", False),
        ("<frozen importlib._bootstrap>", False),
        ("<string>", False),
        ("<stdin>", True),
        ("<ipython-input-3-abc>", True),
        (__file__, True),
        ("/home/me/project/train.py", True),
        ("/home/me/.venv/lib/python3.11/site-packages/torch/nn/functional.py", False),
    ],
)
def test_which_code_is_the_users(filename: str, answer: bool) -> None:
    assert user_code.is_users(filename) is answer
