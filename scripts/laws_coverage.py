"""Write docs/laws_coverage.md: how much of torch the laws cover, and how much of that torch agrees with.

python scripts/laws_coverage.py            judge every row and write the page (about two minutes)
python scripts/laws_coverage.py --check    exit 1 if the page is not what would be written
python scripts/laws_coverage.py --flip     make every row wrong, field by field, and count what is noticed
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, folder) for folder in ("tests", "src")]
warnings.simplefilter("ignore")

import torch  # noqa: E402

from gradtrail.laws import factories, messages, modules, operations, optimizers, parametrize  # noqa: E402
from laws import cases, mutations, samples, test_operations  # noqa: E402

PAGE = os.path.join(ROOT, "docs", "laws_coverage.md")


class Table(NamedTuple):
    """One line of the page: what exists in torch, what has a row, what was judged and agrees."""

    title: str
    existing: list[str]
    with_row: list[str]
    judged: list[str]
    agreeing: list[str]
    why: str  # how it is judged

    @property
    def unknown(self) -> list[str]:
        """What exists and has no row."""
        return [name for name in self.existing if name not in self.with_row]

    @property
    def unjudged(self) -> list[str]:
        """What has a row that no call speaks of."""
        return [name for name in self.with_row if name not in self.judged]


def public(owner: object) -> list[str]:
    """The public callables of a module that are no classes."""
    found = []
    for name in dir(owner):
        value = getattr(owner, name)
        if not name.startswith("_") and callable(value) and not isinstance(value, type):
            found.append(name)
    return found


def operation_table(title: str, existing: Iterable[str], find: Callable[[str], object], why: str) -> Table:
    """A table of operations, judged now."""
    names = sorted(existing)
    with_row, judged, agreeing = [], [], []
    for name in names:
        if find(name) is None:
            continue
        with_row.append(name)
        if operations.operation(name) is None:  # a factory: judged by its own test
            judged.append(name)
            agreeing.append(name)
            continue
        verdict = cases.judged(name)
        if verdict.calls or name in cases.owners().values():
            judged.append(name)
            if not verdict.problems:
                agreeing.append(name)
    return Table(title, names, with_row, judged, agreeing, why)


def functions_of(module: str) -> list[str]:
    """The public functions of one of torch's modules that work on tensors."""
    owner: object = torch
    for part in module.split(".")[1:]:
        owner = getattr(owner, part)
    skipped = (
        "has_torch_function",
        "handle_torch_function",
        "boolean_dispatch",
        "assert_int_or_pair",
        "Optional",
    )
    names = [name for name in public(owner) if not name.startswith(skipped)]
    return names if module != "torch" else [name for name in names if _makes_tensors(name)]


NO_TENSORS = (
    "set_ get_ is_ autocast_ are_ use_ parse_ import_ sym_ init_ cudnn_ miopen_ mkldnn_ fbgemm_ quantized_"
    " initial_ manual_ thread_ compile vmap cond while_loop fork wait save load seed typename unify_ merge_"
    " prepare_ profiler_ clear_ compiled_ classproperty choose_ fake_ fused_ batch_norm_ promote_types"
    " result_type can_cast broadcast_shapes"
).split()
"""Beginnings of names in torch that are no operations on tensors, or internal to a backend."""


def _makes_tensors(name: str) -> bool:
    return not name.startswith(tuple(NO_TENSORS)) or hasattr(torch.Tensor, name)


def function_table(module: str) -> Table:
    """The functions of one of torch's modules; an alias is judged as what it stands for."""
    prefix = module[len("torch.") :] + "." if module != "torch" else ""
    names = sorted(functions_of(module))
    with_row = [name for name in names if operations.function(f"{module}.{name}") is not None]
    with_row += [name for name in names if factories.factory(f"{module}.{name}") is not None]
    judged, agreeing = [], []
    for name in with_row:
        own = prefix + name if operations.operation(prefix + name) is not None else name
        if factories.factory(f"{module}.{name}") is not None:
            judged.append(name)
            agreeing.append(name)
            continue
        verdict = cases.judged(own)
        if verdict.calls:
            judged.append(name)
            if not verdict.problems:
                agreeing.append(name)
    return Table(f"`{module}`", names, with_row, judged, agreeing, "`tests/laws/test_operations.py`")


def by_tests(title: str, existing: list[str], with_row: list[str], test: str) -> Table:
    """A table whose rows are judged one by one by a test file."""
    return Table(title, sorted(existing), with_row, with_row, with_row, f"`tests/laws/{test}`")


def tables() -> list[Table]:
    """All lines of the page."""
    database = samples.entries()
    differentiable = [
        name for name, entries in database.items() if any(entry.supports_autograd for entry in entries)
    ]
    rest = [name for name in database if name not in differentiable]
    methods = [name for name in dir(torch.Tensor) if not name.startswith("_")]

    def found(name: str) -> object:
        return operations.operation(name) or factories.factory("torch." + name)

    result = [
        operation_table(
            "`op_db`, operators with autograd", differentiable, found, "`tests/laws/test_operations.py`"
        ),
        operation_table("`op_db`, the others", rest, found, "`tests/laws/test_operations.py`"),
        operation_table(
            "Tensor methods and attributes", methods, operations.method, "`tests/laws/test_operations.py`"
        ),
    ]
    for module in ("torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special"):
        result.append(function_table(module))
    classes = [name for name in dir(torch.nn) if _is_module(name)]
    result.append(by_tests("`torch.nn` classes", classes, list(modules.names()), "test_modules.py"))
    optims = [name for name in dir(torch.optim) if isinstance(getattr(torch.optim, name), type)]
    result.append(by_tests("`torch.optim` classes", optims, list(optimizers.names()), "test_optimizers.py"))
    made = list(factories.names())
    result.append(by_tests("Factories", made, made, "test_factories.py"))
    paths = list(parametrize.paths())
    result.append(by_tests("Parametrizations", paths, paths, "test_parametrize.py"))
    keys = list(messages.keys())
    tested = [key for key in keys if messages.message(key).provenance.startswith("tested")]
    result.append(Table("Messages", keys, keys, tested, tested, "`tests/laws/test_messages.py`"))
    return result


def _is_module(name: str) -> bool:
    value = getattr(torch.nn, name)
    return isinstance(value, type) and issubclass(value, torch.nn.Module)


def page(lines: list[Table]) -> str:
    """The page in Markdown."""
    parts = [
        "# What the laws cover\n",
        "Written by `python scripts/laws_coverage.py`; do not edit.",
        f"Judged on torch {torch.__version__.partition('+')[0]}. A row is judged by calls: torch's own",
        "samples, and those in `tests/laws/samples.py`. It agrees when every fact it states held in every",
        "call: the kind of result, `requires_grad`, leaf, `grad_fn`, storage, dtype, shape, what is written,",
        "what is saved (every input and output is written in place before backward), and whether a second",
        "backward raises.\n",
        "| table | in torch | with a row | judged | agreeing | unknown | judged by |",
        "|---|--:|--:|--:|--:|--:|---|",
    ]
    for line in lines:
        counts = (line.existing, line.with_row, line.judged, line.agreeing, line.unknown)
        parts.append(
            f"| {line.title} | " + " | ".join(str(len(each)) for each in counts) + f" | {line.why} |"
        )
    parts.append("")
    for line in lines:
        disagreeing = [name for name in line.judged if name not in line.agreeing]
        for title, names in (
            ("unknown (no row)", line.unknown),
            ("with a row, not judged", line.unjudged),
            ("disagreeing", disagreeing),
        ):
            if names:
                parts.append(f"## {line.title}: {title}\n")
                parts.append(_wrapped(names) + "\n")
    parts.append("## Calls that rows do not speak of\n")
    parts.append(_wrapped(sorted(samples.IGNORED)) + "\n")
    parts.append("`tests/laws/samples.py` says which calls and why.")
    return "\n".join(parts) + "\n"


def _wrapped(names: list[str]) -> str:
    import textwrap

    return textwrap.fill(
        ", ".join(f"`{name}`" for name in names), 110, break_on_hyphens=False, break_long_words=False
    )


def flip_all() -> int:
    """Flip every field of every row; print what the judge misses."""
    flips = missed = 0
    for name in test_operations.NAMES:
        if name in test_operations.UNJUDGED:
            continue
        fields, count = mutations.noticed_flips(name)
        flips, missed = flips + count, missed + len(fields)
        if fields:
            print(f"{name}: {', '.join(fields)}", flush=True)
    print(f"{flips} fields flipped, {missed} not noticed")
    return 1 if missed else 0


def main(arguments: list[str]) -> int:
    """Run; the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--flip", action="store_true")
    options = parser.parse_args(arguments)
    if options.flip:
        return flip_all()
    text = page(tables())
    if options.check:
        with open(PAGE, encoding="utf-8") as file:
            return 0 if file.read() == text else 1
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)
    print(text.split("\n## ")[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
