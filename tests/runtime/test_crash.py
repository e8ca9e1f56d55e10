"""What is told of an error that torch raised, for every mistake that the rules know."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from gradtrail.findings.registry import all_rules
from rules.test_rule_examples import marked, program
from support.observed import observed

RAISING = [
    pytest.param(rule, example, id=f"{rule.name}/{example.title}")
    for rule in sorted(all_rules(), key=lambda rule: rule.name)
    for example in rule.examples
    if example.raises and not example.off_cpu
]

STARTS_PROCESSES = ("torch.distributed", "multiprocessing", "num_workers")

ELSEWHERE = {"grad-of-non-leaf", "optimizer-duplicate", "reentrant-checkpoint-without-grad"}
"""Torch warns of these, it does not raise."""


@pytest.mark.parametrize(("rule", "example"), RAISING)
def test_the_error_is_explained_as_check_does(rule: Any, example: Any, tmp_path: Path) -> None:
    seen = observed(program(example.bad), tmp_path)
    assert seen.failed == []
    if not seen.raised:
        assert any(word in example.bad for word in STARTS_PROCESSES) or rule.name in ELSEWHERE
        return
    (found,) = seen.findings
    assert (found.rule, found.row) == (rule.name, marked(example.bad, "error")[0])
    assert set(marked(example.bad, "cause")) <= set(found.trail)
    assert seen.differs == []


@pytest.mark.parametrize(("rule", "example"), RAISING)
def test_without_the_source_the_rule_and_the_place_are_the_same(
    rule: Any, example: Any, tmp_path: Path
) -> None:
    seen = observed(program(example.bad), tmp_path, live_only=True)
    assert seen.failed == []
    if seen.raised and rule.name not in ONLY_BY_ITS_PLACE:
        (found,) = seen.findings
        assert (found.rule, found.row) == (rule.name, marked(example.bad, "error")[0])


ONLY_BY_ITS_PLACE = ("array-operator-tensor", "unsupported-dtype")
"""Rules some of whose errors numpy and torch word in ways that no law has: the source tells what they are about."""


@pytest.mark.parametrize(("rule", "example"), RAISING)
def test_what_the_live_facts_say_is_what_the_source_says(rule: Any, example: Any, tmp_path: Path) -> None:
    live = observed(program(example.bad), tmp_path, live_only=True)
    if any(one.by == "live" for one in live.findings):
        by_source = observed(program(example.bad), tmp_path)
        (told,), (wanted,) = ([one.message for one in each.findings] for each in (live, by_source))
        assert "``" not in told
        assert without_names(told) == without_names(wanted)


def without_names(message: str) -> str:
    """A sentence without what it calls things: the same tensor may have several names."""
    return re.sub(r"`[^`]*`", "`...`", message)


NEEDS = "numpy-of-tensor-that-requires-grad"
"""The rule of an array that is made of a tensor which requires grad."""

THROUGH_LIBRARIES = {
    "scipy.optimize hands a number to a function that gives a tensor": """
        import numpy, scipy.optimize, torch
        w = torch.ones(2, requires_grad=True)
        def loss(x):
            return (w * torch.from_numpy(x)).sum()
        scipy.optimize.minimize(loss, numpy.zeros(2))  # here
        """,
    "scipy.stats": """
        import scipy.stats, torch
        w = torch.arange(4.0, requires_grad=True)
        y = w * 2
        scipy.stats.zscore(y)  # here
        """,
    "sklearn fits": """
        import torch
        from sklearn.linear_model import LinearRegression
        w = torch.ones(4, 2, requires_grad=True)
        LinearRegression().fit(w * 2, [1.0, 2.0, 3.0, 4.0])  # here
        """,
    "sklearn scores": """
        import torch
        from sklearn.metrics import mean_squared_error
        net = torch.nn.Linear(2, 1)
        out = net(torch.ones(4, 2))
        mean_squared_error(torch.ones(4, 1), out)  # here
        """,
    "matplotlib plots": """
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
        import torch
        losses = torch.ones(4, requires_grad=True) * 2
        plt.plot(losses)  # here
        """,
    "pandas": """
        import pandas, torch
        out = torch.nn.Linear(2, 1)(torch.ones(4, 2))
        pandas.DataFrame(out)  # here
        """,
    "numpy": """
        import numpy, torch
        out = torch.nn.Linear(2, 1)(torch.ones(4, 2))
        numpy.percentile(out, 50)  # here
        """,
    "a thread of an executor": """
        from concurrent.futures import ThreadPoolExecutor
        import torch
        w = torch.ones(4, requires_grad=True)
        def work(scale):
            return (w * scale).numpy()  # here
        with ThreadPoolExecutor(1) as pool:
            list(pool.map(work, [1, 2]))
        """,
    "raised from another": """
        import torch
        w = torch.ones(4, requires_grad=True)
        def lines():
            try:
                return w.numpy()  # here
            except RuntimeError as error:
                raise ValueError("no lines") from error
        lines()
        """,
    "raised while another is handled": """
        import torch
        w = torch.ones(4, requires_grad=True)
        try:
            w.numpy()  # here
        except RuntimeError:
            {}["missing"]
        """,
    "a worker of a DataLoader": """
        import torch
        from torch.utils.data import DataLoader, Dataset
        w = torch.ones(3, requires_grad=True)
        class Rows(Dataset):
            def __len__(self):
                return 4
            def __getitem__(self, index):
                return (w * index).numpy()  # here
        list(DataLoader(Rows(), num_workers=1))
        """,
}


@pytest.mark.parametrize("live_only", [False, True], ids=["with the source", "live"])
@pytest.mark.parametrize("title", THROUGH_LIBRARIES)
def test_an_error_behind_a_library_is_explained(title: str, live_only: bool, tmp_path: Path) -> None:
    source = dedent(THROUGH_LIBRARIES[title]).lstrip()
    row = next(number for number, line in enumerate(source.splitlines(), 1) if line.endswith("# here"))
    seen = observed(source, tmp_path, live_only=live_only)
    assert seen.failed == []
    assert [(one.rule, one.row) for one in seen.findings] == [(NEEDS, row)]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there are no groups of exceptions")
def test_of_a_group_the_one_that_is_autograds_is_explained(tmp_path: Path) -> None:
    source = """
        import torch
        w = torch.ones(4, requires_grad=True)
        found = []
        for work in (lambda: {}["missing"], w.numpy):
            try:
                work()
            except Exception as error:
                found.append(error)
        raise ExceptionGroup("two", found)
        """
    seen = observed(source, tmp_path)
    assert (seen.raised, seen.failed) == ("ExceptionGroup", [])
    assert [(one.rule, one.row) for one in seen.findings] == [(NEEDS, 6)]


UNTOUCHED = {
    "an array of no numbers": "import numpy, torch\nnumpy.linalg.inv(torch.zeros(2, 2))",
    "suppressed": """
        import torch
        try:
            torch.ones(4, requires_grad=True).numpy()
        except RuntimeError:
            raise ValueError("other words") from None
        """,
    "a key of a dictionary": "import torch\n{}[torch.ones(1)]",
    "sizes that do not fit": "import torch\ntorch.ones(2) + torch.ones(3)",
    "a sentence of the program's own": "raise RuntimeError('element 0 is wrong')",
}


@pytest.mark.parametrize("title", UNTOUCHED)
def test_what_is_none_of_autograds_is_left_alone(title: str, tmp_path: Path) -> None:
    seen = observed(UNTOUCHED[title], tmp_path, live_only=True)
    assert seen.raised and seen.failed == []
    assert seen.findings == []


def test_an_error_that_python_ignores_is_ignored(tmp_path: Path) -> None:
    source = """
        import atexit, torch
        w = torch.ones(4, requires_grad=True)
        class Meter:
            def __del__(self):
                w.numpy()
        meter = Meter()
        del meter
        atexit.register(w.numpy)
        """
    seen = observed(source, tmp_path, live_only=True)
    assert (seen.raised, seen.failed, seen.findings) == ("", [], [])
