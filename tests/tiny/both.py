"""One program on torch and on tiny, statement by statement, and where the two differ."""

from __future__ import annotations

import copy
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import torch
import torch.utils.checkpoint

from gradtrail import tiny

from .programs import NAMES, Program, beginning

ALL_NAMES = tuple(name for names in NAMES.values() for name in names)

FUNCTIONS = """
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return -grad


net = nn.Linear(2, 2)
with torch.no_grad():
    net.weight.copy_(torch.tensor([[0.5, -0.25], [1.0, 0.75]]))
    net.bias.copy_(torch.tensor([0.1, -0.2]))
net = net.to(D)
"""

TOLERANCE = {"float64": 1e-6, "float32": 1e-5}


class Coverage:
    """What programs were made of, and how they were refused."""

    def __init__(self) -> None:
        self.programs = 0
        self.overlaps = 0
        self.statements: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()

    def lines(self) -> Iterator[str]:
        """What is told at the end of a run."""
        yield f"{self.programs} programs, {sum(self.statements.values())} statements"
        yield f"{self.overlaps} programs ended early: a write that reads the memory it writes, askew"
        yield "statements: " + ", ".join(f"{name} {count}" for name, count in sorted(self.statements.items()))
        yield "refusals:"
        for text, count in self.refusals.most_common():
            yield f"  {count:6} {text}"


class Run:
    """A program in the middle of its run on one of the two."""

    def __init__(self, library: ModuleType, program: Program) -> None:
        self.library = library
        self.space: dict[str, Any] = {
            "torch": library,
            "nn": library.nn,
            "F": library.nn.functional,
            "np": np,
            "copy": copy,
            "D": getattr(library, program.dtype),
            "checkpoint": library.utils.checkpoint.checkpoint,
        }
        library.set_grad_enabled(True)
        for line in (*beginning(program), FUNCTIONS):
            exec(line, self.space)

    def do(self, statement: str) -> str:
        """Run a statement; the error comes back as a line, "" for none."""
        try:
            exec(statement, self.space)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return ""

    def facts(self) -> dict[str, str]:
        """What is true of each tensor."""
        tensors = {name: self.space[name] for name in ALL_NAMES}
        net = self.space["net"]
        tensors.update({"net.weight": net.weight, "net.bias": net.bias})
        return {name: _told(each) for name, each in tensors.items()}

    def numbers(self) -> dict[str, np.ndarray[Any, Any]]:
        """The numbers of each tensor and of its gradient."""
        found = {}
        for name in (*ALL_NAMES, "net.weight", "net.bias"):
            each = eval(name, self.space)
            found[name] = np.array(each.detach().tolist())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                gradient = _gradient(each)
            if gradient is not None:
                found[f"{name}.grad"] = np.array(gradient.detach().tolist())
        return found


def _gradient(tensor: Any) -> Any:
    try:
        return tensor.grad
    except RuntimeError:
        return None


def _told(tensor: Any) -> str:
    try:
        leaf, edge = tensor.is_leaf, tensor.grad_fn
    except RuntimeError as error:
        return f"{tensor.requires_grad} {tensor._version} {error}"
    after = [node and node.name() for node, _ in edge.next_functions] if edge else []
    known = all(not str(each).startswith("_") for each in after)
    base = tensor._base is not None
    kind = type(tensor).__name__
    parts = (leaf, tensor.requires_grad, edge and edge.name(), after if known else "", tensor._version, base)
    return f"{parts} {tensor.dtype} {list(tensor.shape)} {kind} {tensor.retains_grad}"


def differences(program: Program, coverage: Coverage) -> list[str]:
    """Where tiny does something else than torch.

    To read a tensor's state may settle it: a view asks its base for its history. So a program runs twice, with the
    state read after each statement, and with the state read at the end alone.
    """
    coverage.programs += 1
    coverage.statements.update(program.used)
    return _differences(program, coverage, after_each=True) or _differences(
        program, coverage, after_each=False
    )


def _differences(program: Program, coverage: Coverage, after_each: bool) -> list[str]:
    runs = [Run(library, program) for library in (torch, tiny)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for number, statement in enumerate(program.statements):
                if _reads_what_it_writes(runs[1], statement):
                    coverage.overlaps += 1
                    break
                if (
                    "register_hook" in statement
                ):  # torch crashes where the view was not read since its base was written
                    runs[0].facts(), runs[1].facts()
                found = _ends(runs, statement, coverage)
                if after_each and not found:
                    found = _states(runs, TOLERANCE[program.dtype])
                if found:
                    return [f"statement {number}: {statement}", *found]
            if not after_each:
                found = _states(runs, TOLERANCE[program.dtype])
                return found and ["read at the end alone:", *found]
    finally:
        for library in (torch, tiny):
            library.set_grad_enabled(True)
    return []


def _reads_what_it_writes(run: Run, statement: str) -> bool:
    """Whether a write reads its own memory in another order: torch leaves open what comes of that."""
    target = re.match(r"(?:[vmpn]\d = )?(\w+)(\[.+\] \+?= |[\w.(), ]*_\()", statement)
    if not target or target[1] not in ALL_NAMES:
        return False
    written = run.space[target[1]]._array
    for name in re.findall(r"[vmpn]\d", statement[target.end() :]):
        read = run.space[name]._array
        if read is not written and np.shares_memory(written, read):
            return True
    return False


def _ends(runs: list[Run], statement: str, coverage: Coverage) -> list[str]:
    """How the statement ends, where that differs."""
    errors = [run.do(statement) for run in runs]
    if errors[0]:
        coverage.refusals[_kind(errors[0])] += 1
    if errors[0] != errors[1]:
        return [f"torch: {errors[0] or 'goes on'}", f"tiny:  {errors[1] or 'goes on'}"]
    return []


def _states(runs: list[Run], tolerance: float) -> list[str]:
    """What is true of the tensors, where that differs."""
    one, other = (run.facts() for run in runs)
    found = [
        f"{name}\n  torch: {one[name]}\n  tiny:  {other[name]}" for name in one if one[name] != other[name]
    ]
    first, second = (run.numbers() for run in runs)
    if first.keys() != second.keys():
        return [*found, f"gradients: torch {sorted(first)}, tiny {sorted(second)}"]
    for name, numbers in first.items():
        scale = max(1.0, float(np.max(np.abs(np.where(np.isfinite(numbers), numbers, 0)), initial=0)))
        if not np.allclose(numbers, second[name], tolerance, tolerance * scale, equal_nan=True):
            found.append(f"{name}\n  torch: {numbers.tolist()}\n  tiny:  {second[name].tolist()}")
    return found


def _kind(error: str) -> str:
    """An error without what varies in it."""
    return re.sub(r"\[[\d, ]*\]|\d+|which is output \w+ of [\w:]+,|(?<=of )[\w:]+(?= is a view)", "_", error)[
        :110
    ]


def told(program: Program, found: list[str]) -> str:
    """The program and what is wrong with it."""
    return "\n".join(["", f"dtype {program.dtype}", *beginning(program), *program.statements, "", *found])
