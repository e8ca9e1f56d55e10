"""What a start of `gradtrail check` imports: the shorter the list, the sooner the first result.

A module that joins the lists costs every run its import, so it should be worth it; one that is needed only
sometimes belongs inside of the function that needs it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "gradtrail"

PROGRAM = """\
import torch

w = torch.randn(3, requires_grad=True) * 0.01
optimizer = torch.optim.SGD([w], lr=0.1)
"""

OURS = """
gradtrail
gradtrail.findings
gradtrail.findings.common_words
gradtrail.findings.diagnostic
gradtrail.findings.engine
gradtrail.findings.index
gradtrail.findings.registry
gradtrail.findings.repairs
gradtrail.findings.rule
gradtrail.findings.rules
gradtrail.findings.rules.leaf_status
gradtrail.findings.telling
gradtrail.integrations
gradtrail.integrations.check
gradtrail.integrations.command
gradtrail.integrations.configuration
gradtrail.integrations.language
gradtrail.integrations.output
gradtrail.integrations.remembered
gradtrail.integrations.torch_version
gradtrail.interp
gradtrail.interp.budget
gradtrail.interp.calls
gradtrail.interp.copies
gradtrail.interp.core
gradtrail.interp.custom_functions
gradtrail.interp.estimators
gradtrail.interp.events
gradtrail.interp.expressions
gradtrail.interp.frames
gradtrail.interp.grad_modes
gradtrail.interp.gradients
gradtrail.interp.graph
gradtrail.interp.heap
gradtrail.interp.joins
gradtrail.interp.journal
gradtrail.interp.keeping
gradtrail.interp.libraries
gradtrail.interp.loops
gradtrail.interp.machine
gradtrail.interp.models
gradtrail.interp.models.data
gradtrail.interp.models.numpy
gradtrail.interp.models.optim
gradtrail.interp.models.python
gradtrail.interp.models.registry
gradtrail.interp.models.tensor
gradtrail.interp.models.torch_functions
gradtrail.interp.module_methods
gradtrail.interp.modules
gradtrail.interp.moves
gradtrail.interp.operands
gradtrail.interp.project
gradtrail.interp.reaching
gradtrail.interp.replicas
gradtrail.interp.results
gradtrail.interp.statements
gradtrail.interp.stepping
gradtrail.interp.tensors
gradtrail.interp.trails
gradtrail.interp.values
gradtrail.interp.writes
gradtrail.laws
gradtrail.laws.devices
gradtrail.laws.distributions
gradtrail.laws.dtype_demands
gradtrail.laws.dtypes
gradtrail.laws.factories
gradtrail.laws.kept
gradtrail.laws.messages
gradtrail.laws.modules
gradtrail.laws.node_names
gradtrail.laws.numpy_bridge
gradtrail.laws.operations
gradtrail.laws.optimizers
gradtrail.laws.shapes
gradtrail.laws.tables
gradtrail.laws.tables.indexing
gradtrail.laws.tables.linear_algebra
gradtrail.laws.tables.losses
gradtrail.laws.tables.methods
gradtrail.laws.tables.neural
gradtrail.laws.tables.pointwise
gradtrail.laws.tables.reductions
gradtrail.laws.tables.views
gradtrail.laws.text
gradtrail.reports
gradtrail.reports.cells
gradtrail.reports.left_out
gradtrail.reports.names
gradtrail.reports.terminal
gradtrail.source
gradtrail.source.edits
gradtrail.source.files
gradtrail.source.layout
gradtrail.source.outline
gradtrail.source.place
gradtrail.source.reading
gradtrail.source.text
gradtrail.source.words
""".split()
"""The modules of gradtrail that are imported."""

STANDARD = frozenset(
    """
    __future__ _ast _bisect _collections _functools _locale _operator _sre _typing
    ast bisect collections contextlib copyreg enum functools gc itertools keyword operator re reprlib
    sre_compile sre_constants sre_parse types typing warnings
    """.split()
)
"""The modules of the standard library that may be imported; it depends on the release of Python."""

SLOW = (
    "torch",
    "numpy",
    "dataclasses",
    "inspect",
    "importlib.metadata",
    "pathlib",
    "argparse",
    "json",
    "logging",
)
"""Modules that must never be there."""

LISTING = """\
import os, sys
before = set(sys.modules)
from gradtrail.integrations.command import main
with open(os.devnull, "w") as sys.stdout:
    status = main(["check", "small.py"])
after = set(sys.modules)
sys.stdout = sys.__stdout__
import json
print(json.dumps([status, sorted(after - before)]))
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The modules that a check of a small file with one mistake imports, where gradtrail is installed."""
    folder = tmp_path_factory.mktemp("installed")
    # A copy without its checkout around it: there the generated index is always trusted.
    shutil.copytree(PACKAGE, folder / "gradtrail", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "small.py").write_text(PROGRAM)
    told = subprocess.run(
        [sys.executable, "-S", "-c", LISTING],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    status, modules = json.loads(told.stdout)
    assert status == 1, "the mistake is found"
    return [str(module) for module in modules]


def test_the_modules_of_gradtrail(imported: list[str]) -> None:
    assert [module for module in imported if module.partition(".")[0] == "gradtrail"] == OURS


def test_the_modules_of_the_standard_library(imported: list[str]) -> None:
    others = {module for module in imported if module.partition(".")[0] != "gradtrail"}
    assert {module for module in others if module.partition(".")[0] not in STANDARD} == set()


def test_nothing_slow(imported: list[str]) -> None:
    assert not set(SLOW) & set(imported)
