"""The plain reader of options and argparse agree."""

from __future__ import annotations

import contextlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradtrail.integrations.check import OPTIONS, Options, _parser, read_plainly

WORDS = [option.name for option in OPTIONS]
VALUES = [
    "a.py",
    "b c.py",
    "-",
    "json",
    "concise",
    "never",
    "2.13.0",
    "non-leaf,other",
    ".",
    "",
    "--",
    "-x",
    "--help",
]
ARGUMENTS = st.lists(
    st.sampled_from([*WORDS, *VALUES, *(f"{word}={value}" for word in WORDS for value in VALUES)]), max_size=6
)


@given(ARGUMENTS)
def test_what_is_read_plainly_is_read_the_same_by_argparse(arguments: list[str]) -> None:
    plain = read_plainly(arguments)
    if plain is None:
        return
    with contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            thorough = _parser().parse_intermixed_args(arguments, namespace=Options())
        except SystemExit:
            pytest.fail(f"argparse refuses: {said.getvalue()}")
    assert vars(plain) == vars(thorough)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a.py", "b/"],
        ["--output-format", "json", "."],
        ["--output-format=concise", "a.py", "--exit-zero"],
        ["-", "--stdin-filename", "a.py"],
        ["--select", "one,two"],
    ],
)
def test_the_usual_is_read_plainly(arguments: list[str]) -> None:
    assert read_plainly(arguments) is not None


@pytest.mark.parametrize(
    "arguments", [["--help"], ["-h"], ["--select"], ["--statistics=1"], ["--color", "red"], ["--"]]
)
def test_the_rest_is_left_to_argparse(arguments: list[str]) -> None:
    assert read_plainly(arguments) is None
