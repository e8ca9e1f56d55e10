"""Small programs on which tiny once did something else than torch, and programs that need what tiny has not.

`small_programs.txt` has the first: each must print, warn and raise as on torch. `lacking_programs.txt` has the others,
with the name that tiny says it has not. Programs are separated by empty lines.
"""

from __future__ import annotations

import copy
import inspect
import math
import re
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
import torch.utils.checkpoint

from gradtrail import tiny
from gradtrail.tiny import words

HERE = Path(__file__).parent

TOLD_ONCE = (words.CYCLE, words.SCALAR_OF_GRAPH, words.LIST_OF_ARRAYS, words.NO_SUCH_T, words.T_OF_NUMBER)
"""What torch warns of once in a process: which program comes first differs."""


def blocks(name: str) -> list[str]:
    """The programs of a file."""
    return [block.strip("\n") for block in re.split(r"\n{2,}", (HERE / name).read_text(encoding="utf-8"))]


PROGRAMS = [block for block in blocks("small_programs.txt") if not block.startswith("# ")]
LACKING = [block.partition("\n")[::2] for block in blocks("lacking_programs.txt")]


def outcome(library: ModuleType, program: str) -> list[str]:
    """What a program prints, warns of and raises."""
    told: list[str] = []
    space: dict[str, Any] = {
        "__name__": "__main__",
        "torch": library,
        "nn": library.nn,
        "F": library.nn.functional,
        "checkpoint": library.utils.checkpoint.checkpoint,
        "np": np,
        "copy": copy,
        "math": math,
        "re": re,
        "w": library.ones(2, requires_grad=True),
        "print": lambda *parts: told.append(" ".join(map(str, parts))),
    }
    library.manual_seed(0)
    library.set_grad_enabled(True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(program, space)
        except Exception as error:
            told.append(f"{type(error).__name__}: {error}")
        finally:
            library.set_grad_enabled(True)
        texts = [
            re.sub(r" \(Triggered internally.*", "", str(each.message), flags=re.DOTALL)
            for each in caught
            if issubclass(each.category, UserWarning)
        ]
    return told + [text for text in texts if text not in TOLD_ONCE]


def title(program: str) -> str:
    """The beginning of a program."""
    return re.sub(r"\s+", " ", program)[:60]


@pytest.mark.parametrize("program", PROGRAMS, ids=title)
def test_tiny_does_what_torch_does(program: str) -> None:
    assert outcome(tiny, program) == outcome(torch, program)


@pytest.mark.parametrize(("name", "program"), LACKING, ids=[name for name, _ in LACKING])
def test_what_tiny_has_not_is_said_so(name: str, program: str) -> None:
    assert outcome(tiny, program)[-1] == f"NotInTiny: gradtrail.tiny has no `{name.removeprefix('# ')}`"


@pytest.mark.parametrize(
    "made",
    [
        "nn.Module()",
        "nn.Linear(1, 1)",
        "nn.Sequential()",
        "nn.ModuleList()",
        "torch.optim.SGD([torch.ones(1, requires_grad=True)])",
        "(torch.ones(1, requires_grad=True) * 2).grad_fn",
        "torch.float32",
        "torch.device('cpu')",
    ],
)
def test_what_torch_has_is_there_or_said_to_be_missing(made: str) -> None:
    theirs, ours = (eval(made, {"torch": library, "nn": library.nn}) for library in (torch, tiny))
    for name in (name for name in dir(theirs) if not name.startswith("_")):
        try:
            getattr(ours, name)
        except tiny.NotInTiny:
            continue
    with pytest.raises(AttributeError, match="has no attribute 'nothing'") as error:
        ours.nothing
    assert not isinstance(error.value, tiny.NotInTiny)


SIGNATURES = """
nn.Linear nn.Embedding nn.ReLU nn.Softmax nn.Dropout nn.Flatten nn.MSELoss
nn.CrossEntropyLoss optim.SGD optim.Adam autograd.grad autograd.backward
nn.functional.dropout nn.functional.embedding nn.functional.cross_entropy nn.functional.nll_loss
nn.functional.mse_loss nn.functional.softmax nn.functional.log_softmax nn.functional.relu
nn.Module.named_parameters nn.Module.parameters nn.Module.named_buffers nn.Module.buffers nn.Module.named_modules
nn.Module.register_buffer nn.Module.register_parameter nn.Module.add_module nn.Module.load_state_dict nn.Module.train
nn.Module.zero_grad nn.Module.requires_grad_ nn.Module.cuda nn.Module.apply
""".split()


@pytest.mark.parametrize("path", SIGNATURES)
def test_options_are_those_of_torch(path: str) -> None:
    """Every option stands in the signature, in torch's order: so none is passed over."""
    theirs, ours = (list(inspect.signature(_found(library, path)).parameters) for library in (torch, tiny))
    assert [name for name in ours if name not in ("args", "kwargs", "_")] == [
        name for name in theirs if name not in ("args", "kwargs", "_")
    ]


def _found(library: ModuleType, path: str) -> Any:
    found: Any = library
    for name in path.split("."):
        found = getattr(found, name)
    return found
