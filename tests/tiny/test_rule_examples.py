"""The loud examples of the rules on tiny: the same refusal in the same row, and the right programs run."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pytest

from gradtrail import tiny
from gradtrail.findings.registry import all_rules
from gradtrail.laws.messages import keys, message

EXAMPLES = [
    pytest.param(rule, example, id=f"{rule.name}/{example.title}")
    for rule in all_rules()
    for example in rule.examples
    if example.raises
]

MARK = re.compile(r"[ ]*# (error|cause)$", re.MULTILINE)


def ran(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Exception | None, int]:
    """How a program ends on tiny, and in which of its rows."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    for name, module in tiny.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    tiny.set_grad_enabled(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(MARK.sub("", dedent(text).strip()), "program.py", "exec"), {"__name__": "program"})
    except Exception as error:
        row, trace = 0, error.__traceback__
        while trace is not None:
            row = trace.tb_lineno if trace.tb_frame.f_code.co_filename == "program.py" else row
            trace = trace.tb_next
        return error, row
    finally:
        tiny.set_grad_enabled(True)
    return None, 0


LACKING = (
    "inference_mode", "once_differentiable", "distributed", "multiprocessing", "fft", "GRU", "LBFGS", "utils.data",
)  # fmt: skip
"""What tiny is known to lack; an example that stops at anything else is a fault of tiny."""


def skip_if_lacking(error: Exception | None, tell: Callable[[str, object], None]) -> None:
    """An example that needs what tiny has not is no test of it; the summary says so."""
    if isinstance(error, (tiny.NotInTiny, ImportError)):
        assert any(name in str(error) for name in LACKING), error
    if isinstance(error, tiny.NotInTiny):
        tell("tiny", str(error))
        pytest.skip(str(error))
    if isinstance(error, ImportError):
        lacking = re.sub(
            r"cannot import name '(\w+)' from '([\w.]+)'.*", r"gradtrail.tiny has no `\2.\1`", str(error)
        )
        lacking = re.sub(r"No module named '([\w.]+)'", r"gradtrail.tiny has no `\1`", lacking)
        tell("tiny", lacking)
        pytest.skip(str(error))


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_the_bad_program_is_refused_as_by_torch(
    rule: Any,
    example: Any,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    error, row = ran(example.bad, monkeypatch)
    skip_if_lacking(error, record_property)
    assert error is not None
    assert example.raises in str(error)
    pieces = {message(key).piece: message(key).error for key in keys()}
    # A short piece may stand in the text of an example that knows more of it.
    heard = [piece for piece in pieces if piece and piece in str(error) and piece not in example.raises]
    if example.raises in pieces:
        heard.append(example.raises)
    types = {pieces[max(heard, key=len)]} if heard else set()
    assert not types or type(error).__name__ in types
    lines = dedent(example.bad).strip().splitlines()
    assert row in [number for number, line in enumerate(lines, 1) if line.endswith("# error")]
    record_property("tiny", "runs")


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_the_good_program_runs(rule: Any, example: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    error, _ = ran(example.good, monkeypatch)
    skip_if_lacking(error, lambda name, value: None)
    assert error is None
