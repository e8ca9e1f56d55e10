"""Operations whose tensors do not go together: different devices, different dtypes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.common_words import PRODUCT
from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import diagnostic, fix, name_of, step_at
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import text
from gradtrail.source.place import Edits
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor


class MixedDevices(Rule):
    """Tensors on different devices meet in one operation.

    ## Why torch refuses it

    An operation runs on one device. Only a tensor without dimensions may come from the CPU, and an index.

    What is often left behind: a tensor made without `device=` in a forward; a plain tensor attribute of a module
    (only Parameters, buffers and registered modules move with it); modules in a plain list; the labels of a batch; a
    tensor on which `.to(device)` was called as a statement.

    ## What to do

    Make the tensor on the device (`device=x.device`), register it (`register_buffer`, `nn.ModuleList`), or move it and
    keep the result.
    """

    name = "mixed-devices"
    words = (Word(rb"\.backward\("), Word(rb"inference_mode"))
    hears = ("device-mismatch",)
    examples = (
        Example(
            title="positions made on the CPU",
            bad="""
                import torch
                device = "cuda" if torch.cuda.is_available() else "cpu"
                table = torch.nn.Embedding(8, 2).to(device)
                positions = torch.arange(4)  # cause
                out = table(positions)  # error
            """,
            good="""
                import torch
                device = "cuda" if torch.cuda.is_available() else "cpu"
                table = torch.nn.Embedding(8, 2).to(device)
                positions = torch.arange(4, device=device)
                out = table(positions)
            """,
            raises="device",
            off_cpu=True,
        ),
    )
    near_misses = (
        NearMiss(
            "layers in either branch, and of unknown number, move with the module",
            """
                import torch
                from torch import nn

                class Net(nn.Module):
                    def __init__(self, sizes):
                        super().__init__()
                        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in sizes])
                        self.last = nn.Linear(2, 2) if sizes else nn.Identity()

                    def forward(self, x):
                        for layer in self.layers:
                            x = layer(x)
                        return self.last(x)

                net = Net(eval("[(2, 2), (2, 2)]")).to("meta")
                y = net(torch.ones(1, 2, device="meta"))
            """,
            shown=False,
        ),
        NearMiss(
            "positions on the device of what another layer gave",
            """
                import torch
                from torch import nn

                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.tokens = nn.Embedding(8, 2)
                        self.positions = nn.Embedding(8, 2)

                    def forward(self, tokens):
                        x = eval("self.tokens")(tokens)
                        where = torch.arange(x.shape[1], device=x.device)
                        return x + self.positions(where)

                y = Net()(torch.zeros(1, 3, dtype=torch.long))
            """,
            shown=False,
        ),
        NearMiss(
            "the device of what an object of a library has worked out",
            """
                import torch
                normal = torch.distributions.Normal(torch.zeros(2), torch.ones(2))
                where = normal.mode[0].device
                y = torch.zeros(2, device=where) + torch.ones(2)
            """,
            shown=False,
        ),
        NearMiss(
            "a module that nobody makes here: it may be moved elsewhere",
            """
                import torch
                from torch import nn

                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.positions = nn.Embedding(8, 2)

                    def forward(self, tokens):
                        where = torch.arange(tokens.shape[1], device=tokens.device)
                        return self.positions(where)
            """,
        ),
        NearMiss(
            "a number may stay on the CPU",
            """
                import torch
                device = "cuda" if torch.cuda.is_available() else "cpu"
                x = torch.ones(3, device=device) / torch.tensor(2.0)
            """,
        ),
        NearMiss(
            "a buffer moves with its module",
            """
                import torch
                from torch import nn

                class Shift(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.register_buffer("by", torch.ones(3))

                    def forward(self, x):
                        return x + self.by

                device = "cuda" if torch.cuda.is_available() else "cpu"
                Shift().to(device)(torch.ones(3, device=device))
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, device = name_of(event), event.fields.get("device", "")
        other = event.others[0].name if event.others else ""
        away = event.certainty == "raises-off-cpu"
        yield diagnostic(
            self,
            event,
            text(
                "`{name}` is on the CPU and meets `{other}` on `{device}`: refused wherever that is not the CPU",
                name=name,
                other=other,
                device=device,
            )
            if away
            else text(
                "`{name}` is on the CPU and meets `{other}` on `{device}`",
                name=name,
                other=other,
                device=device,
            ),
            text("RuntimeError: Expected all tensors to be on the same device"),
            why=text(
                "an operation runs on one device; only tensors without dimensions may come from the CPU"
            ),
            help=text(
                "make or move `{name}` there too: what a module holds moves with it once it is a buffer or a Parameter",
                name=name,
            )
            if name.startswith("self.")
            else text("make or move `{name}` there too, and keep what the move returns", name=name),
            others=event.others,
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name = name_of(event)
        yield fix(text("bring `{name}` to the other device", name=name), _to_device(event, found, edit))


class MixedDtypes(Rule):
    """Different floating point dtypes meet in an operation that does not convert.

    ## Why torch refuses it

    Arithmetic promotes its operands; matrix products, linear layers and convolutions do not. numpy computes in
    float64, and `torch.from_numpy` keeps that, while parameters are float32.

    ## What to do

    Convert where the data comes in: `torch.from_numpy(x).float()`.
    """

    name = "mixed-dtypes"
    words = (
        Word(rb"from_numpy\([^\n]{0,300}\)(?!\.(?:float|to|long|int|type)\b)", file=PRODUCT),
        Word(rb"\.double\("),
    )
    hears = ("dtype-mismatch", "dtype-mismatch-matmul")
    examples = (
        Example(
            title="numpy's float64 into a layer",
            bad="""
                import numpy as np
                import torch
                net = torch.nn.Linear(4, 1)
                x = torch.from_numpy(np.zeros((2, 4)))  # cause
                y = net(x)  # error
            """,
            good="""
                import numpy as np
                import torch
                net = torch.nn.Linear(4, 1)
                x = torch.from_numpy(np.zeros((2, 4))).float()
                y = net(x)
            """,
            raises="must have the same dtype",
        ),
    )
    near_misses = (
        NearMiss(
            "a dtype among keywords that are not known",
            """
                import torch
                options = eval("{'dtype': torch.float64}")
                y = torch.nn.Linear(2, 2).double()(torch.ones(1, 2, **options))
            """,
            shown=False,
        ),
        NearMiss(
            "told apart by their dtype first",
            """
                import torch

                class Table(torch.nn.Embedding):
                    def forward(self, tokens):
                        if tokens.dtype in [torch.int32, torch.long]:
                            return super().forward(tokens)
                        return torch.matmul(tokens, self.weight)

                table = Table(4, 3)
                y = table(torch.arange(3)), table(torch.ones(2, 4))
            """,
        ),
        NearMiss(
            "joined to what is not known",
            """
                import torch
                x = torch.cat([eval("torch.ones(2, 1, dtype=torch.double)"), torch.zeros(2, 1)], -1)
                y = torch.matmul(x, torch.arange(2, dtype=torch.double))
            """,
            shown=False,
        ),
        NearMiss(
            "arithmetic and most losses promote",
            """
                import torch
                x, y = torch.zeros(3), torch.zeros(3, dtype=torch.float64)
                loss = torch.nn.functional.mse_loss(x + y, x)
            """,
        ),
        NearMiss(
            "the module is converted as well",
            """
                import torch
                net = torch.nn.Linear(4, 1).double()
                net(torch.zeros(2, 4, dtype=torch.float64))
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        dtype = event.subject.facts.get("dtype") if event.subject is not None else ""
        other = event.others[0].facts.get("dtype") if event.others else event.fields.get("wanted", "")
        yield diagnostic(
            self,
            event,
            text(
                "`{name}` is {dtype} and meets {other}: this operation does not convert",
                name=name,
                dtype=dtype,
                other=other,
            ),
            text("torch refuses to mix these dtypes here"),
            why=text("arithmetic promotes its operands; matrix products, layers and some losses do not"),
            help=text("convert `{name}` where it comes in, and keep the result", name=name),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name = name_of(event)
        wanted = str(event.others[0].facts.get("dtype") if event.others else event.fields.get("wanted", ""))
        method = _conversion(wanted)
        source = step_at(found, "array") or edit.inside(found.place, name)
        yield fix(text("convert `{name}`", name=name), edit.after(source, method) if method else ())


class InPlaceCast(Rule):
    """A result does not fit back into the tensor that it is written to.

    ## Why torch refuses it

    `a += b` keeps the dtype of `a`. A sum of integers and floats is a float, which cannot be written into an integer
    tensor. `torch.tensor(0)` is an integer.

    ## What to do

    Start from a floating point value (`0.0`), or write `a = a + b`.
    """

    name = "in-place-cast"
    words = (Word(rb"\.backward\("),)
    hears = ("result-type-cast",)
    examples = (
        Example(
            title="a loss added to an integer",
            bad="""
                import torch
                total = torch.tensor(0)  # cause
                total += torch.ones(2).mean()  # error
            """,
            good="""
                import torch
                total = torch.tensor(0.0)
                total += torch.ones(2).mean()
            """,
            raises="can't be cast to the desired output type Long",
        ),
    )
    near_misses = (
        NearMiss(
            "a new tensor is promoted",
            "import torch\ntotal = torch.tensor(0)\ntotal = total + torch.ones(2).mean()",
        ),
        NearMiss(
            "integers into floats fit", "import torch\ntotal = torch.tensor(0.0)\ntotal += torch.tensor(3)"
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, result, target = name_of(event), event.fields["result"], event.fields["target"]
        yield diagnostic(
            self,
            event,
            text(
                "`{name}` is {target} and cannot take a result of {result}",
                name=name,
                target=target,
                result=result,
            ),
            text("RuntimeError: result type ... can't be cast to the desired output type"),
            why=text("what is written in place keeps the dtype of the tensor it is written to"),
            help=text("make `{name}` floating point", name=name),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name, made = name_of(event), step_at(found, "created-no-grad", "created", "integers")
        path, imports = edit.name_for(made, "torch." + str(event.fields["result"]))
        typed = edit.add_keyword(made, "dtype", path)
        yield fix(text("make `{name}` floating point", name=name), (*typed, *imports) if typed else ())


class UnsupportedDtype(Rule):
    """An argument has a dtype that the operation does not take.

    ## Why torch refuses it

    Indices and class numbers are integers, masks are bools, and means, norms and deviations are computed of floating
    point numbers. Torch does not convert them on its own.

    ## What to do

    Convert the argument where it comes in: `.long()` for indices and class numbers, `.bool()` for masks, `.float()`
    for what is averaged.
    """

    name = "unsupported-dtype"
    words = (Word(rb"cross_entropy"), Word(rb"CrossEntropyLoss"), Word(rb"nll_loss"))
    hears = ("dtype-refused", "index-dtype")
    examples = (
        Example(
            title="a floating point index",
            bad="""
                import torch
                table = torch.ones(4, 2, requires_grad=True)
                rows = torch.tensor([0.0, 2.0])  # cause
                picked = table[rows]  # error
            """,
            good="""
                import torch
                table = torch.ones(4, 2, requires_grad=True)
                rows = torch.tensor([0, 2])
                picked = table[rows]
            """,
            raises="tensors used as indices must be long",
        ),
    )
    near_misses = (
        NearMiss(
            "where it is expected to raise",
            """
                import torch
                import unittest

                def rows(table, index):
                    return table[:, index]

                class Test(unittest.TestCase):
                    def test_wrong_dtype(self):
                        with self.assertRaises(IndexError):
                            rows(torch.zeros(2, 4), torch.ones(3))

                Test("test_wrong_dtype").debug()
            """,
        ),
        NearMiss(
            "where as a method takes the condition first",
            """
                import torch
                ids = torch.tensor([1, -1], dtype=torch.int32)
                ids = ids.where(ids >= 0, torch.tensor(3, dtype=torch.int32))
            """,
        ),
        NearMiss(
            "the integers that unique returns",
            """
                import torch
                x = torch.tensor([1.0, 1.0, 2.0])
                _, inverse, counts = torch.unique_consecutive(x, return_inverse=True, return_counts=True)
                y = counts[inverse]
                _, sizes = torch.unique(x, return_counts=True)
                z = x[sizes]
            """,
        ),
        NearMiss(
            "each broadcast tensor keeps its dtype",
            """
                import torch
                x = torch.ones(3)
                x, good = torch.broadcast_tensors(x, x.isfinite())
                y = x[good]
            """,
        ),
        NearMiss(
            "a mask of bools is an index",
            "import torch\nx = torch.ones(3)\ny = x[x > 0]",
        ),
        NearMiss(
            "probabilities as targets",
            """
                import torch
                logits, target = torch.zeros(2, 3, requires_grad=True), torch.ones(2, 3) / 3
                torch.nn.functional.cross_entropy(logits, target).backward()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        dtype = event.fields.get("dtype") or (
            event.subject.facts.get("dtype") if event.subject is not None else ""
        )
        wanted = event.fields.get("wanted") or "int64"
        index = event.kind == "index-dtype"
        operation = str(event.fields.get("op", "")).removeprefix("nn.functional.")
        help = text("convert `{name}` where it comes in, and keep the result", name=name)
        why = text("indices are integers, masks are bools, and means and norms are of floating point numbers")
        if operation == "cross_entropy":
            if wanted == "int64":
                help = text("make the class numbers integers: `{name}.long()`", name=name)
                why = text("a target with fewer dimensions than the scores is read as the numbers of classes")
            else:
                help = text("pass scores of shape (N, classes) and class numbers (int64) of shape (N,)")
                why = text(
                    "a target with as many dimensions as the scores is read as the probabilities of classes"
                )
        yield diagnostic(
            self,
            event,
            text("`{name}` is {dtype}, and an index must be integers or bools", name=name, dtype=dtype)
            if index
            else text(
                "`{name}` is {dtype}, and `{operation}` takes {wanted} here",
                name=name,
                dtype=dtype,
                operation=operation,
                wanted=wanted,
            ),
            text("IndexError: tensors used as indices must be long, int, byte or bool tensors")
            if index
            else text("torch refuses this dtype here"),
            why=why,
            help=help,
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name = name_of(event)
        method = _conversion(
            "int64" if event.kind == "index-dtype" else str(event.fields.get("wanted") or "int64")
        )
        value = edit.inside(found.place, name)
        yield fix(text("convert `{name}`", name=name), edit.after(value, method) if method else ())


def _conversion(wanted: str) -> str:
    """The method that converts to one of the dtypes that are `wanted`."""
    for dtype, method in _METHODS:
        if dtype in wanted:
            return f".{method}()"
    return ""


_METHODS = (
    *(
        ("float32", "float"),
        ("float64", "double"),
        ("bfloat16", "bfloat16"),
        ("float16", "half"),
        ("int64", "long"),
    ),
    *(("bool", "bool"), ("int32", "int")),
)


def _to_device(event: Event, found: Diagnostic, edit: Editor) -> Edits:
    """Edits that make or move the tensor where the other one is."""
    name, other = name_of(event), event.others[0].name if event.others else ""
    made = step_at(found, "created-on-cpu")
    owner, _, attribute = name.rpartition(".")
    if owner == "self":
        value = edit.binding(made, name) if made is not None else None
        return edit.as_buffer(value, attribute)
    if (
        _is_path(other)
        and edit.callee(made)
        and edit.function(made) == edit.function(found.place)
        and edit.is_bound(made, other)
    ):
        return edit.add_keyword(made, "device", f"{other}.device")
    root = other.partition(".")[0]
    known = _is_path(other) and (root == "self" or edit.reads(edit.statement(found.place), root))
    move = f".to({other}.device)" if known else _same_move(found, edit)
    return edit.after(edit.inside(found.place, name), move) if move else ()


def _same_move(found: Diagnostic, edit: Editor) -> str:
    """The call by which the other tensor was moved, where it means the same at the place: `.to(device)`."""
    moved = step_at(found, "moved", "placed")
    receiver = edit.code(edit.receiver(moved))
    call = edit.code(moved).removeprefix(receiver).strip()
    same = edit.function(moved) in (None, edit.function(found.place))
    return call if same and re.fullmatch(r"\.(?:to|cuda)\([\w.:\"']*\)", call) else ""


def _is_path(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))
