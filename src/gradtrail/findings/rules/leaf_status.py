"""Leaf status: which tensors an optimizer accepts, which keep a gradient, which flags may be changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.common_words import OPTIMIZER
from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import code_of, diagnostic, fix, is_target, name_of, step_at
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import Text, text
from gradtrail.source.place import Edits, together
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor


class NonLeafInOptimizer(Rule):
    """An optimizer was given a tensor that is not a leaf.

    ## Why torch refuses it

    An optimizer changes tensors in place, by what `backward` left in their `.grad`. Only a leaf keeps a
    `.grad`: a tensor that was created, not computed. The result of an operation on a tensor that requires
    grad is a new tensor with a `grad_fn`; its gradient flows on to the leaf and is not kept.

    A move to another device or dtype is such an operation, unless nothing has to be converted: then the very
    same tensor comes back. So `w.to(device)` is a leaf where the device is the CPU, and none elsewhere.

    ## What to do

    - Train this value: detach what was computed, `x = (...).detach().requires_grad_()`, or wrap it in
      `nn.Parameter`. Its numbers stay, its history goes.
    - Train what it was computed from: hand the source to the optimizer, and compute from it anew in every step.
    """

    name = "non-leaf-in-optimizer"
    words = OPTIMIZER
    hears = ("non-leaf-optimizer",)
    examples = (
        Example(
            title="scaled after requires_grad",
            bad="""
                import torch
                w = torch.randn(3, requires_grad=True) * 0.1  # cause
                opt = torch.optim.SGD([w], lr=0.1)  # error
            """,
            good="""
                import torch
                w = (torch.randn(3) * 0.1).requires_grad_()
                opt = torch.optim.SGD([w], lr=0.1)
            """,
            raises="can't optimize a non-leaf Tensor",
        ),
        Example(
            title="computed in a helper",
            bad="""
                import torch

                def start():
                    raw = torch.zeros(4, requires_grad=True)
                    return raw.clamp(0, 1)  # cause

                opt = torch.optim.Adam([start()])  # error
            """,
            good="""
                import torch

                def start():
                    raw = torch.zeros(4)
                    return raw.clamp(0, 1).requires_grad_()

                opt = torch.optim.Adam([start()])
            """,
            raises="can't optimize a non-leaf Tensor",
        ),
        Example(
            title="a slice of a parameter",
            bad="""
                import torch
                table = torch.zeros(5, 3, requires_grad=True)
                free = table[1:]  # cause
                opt = torch.optim.Adam([{"params": [free]}])  # error
            """,
            good="""
                import torch
                free = torch.zeros(4, 3, requires_grad=True)
                table = torch.cat([torch.zeros(1, 3), free])
                opt = torch.optim.Adam([{"params": [free]}])
            """,
            raises="can't optimize a non-leaf Tensor",
        ),
        Example(
            title="iteration over a tensor gives rows",
            bad="""
                import itertools
                import torch
                net = torch.nn.Linear(2, 2)
                bias = torch.zeros(3, requires_grad=True)
                opt = torch.optim.SGD(itertools.chain(net.parameters(), bias), lr=0.1)  # error
            """,
            good="""
                import itertools
                import torch
                net = torch.nn.Linear(2, 2)
                bias = torch.zeros(3, requires_grad=True)
                opt = torch.optim.SGD(itertools.chain(net.parameters(), [bias]), lr=0.1)
            """,
            raises="can't optimize a non-leaf Tensor",
        ),
        Example(
            title="moved to the device after it was made",
            bad="""
                import torch
                device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
                w = torch.zeros(3, requires_grad=True).to(device)  # cause
                opt = torch.optim.SGD([w], lr=0.1)  # error
            """,
            good="""
                import torch
                device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
                w = torch.zeros(3, requires_grad=True, device=device)
                opt = torch.optim.SGD([w], lr=0.1)
            """,
            raises="can't optimize a non-leaf Tensor",
            off_cpu=True,
        ),
    )
    near_misses = (
        NearMiss(
            "arithmetic before requires_grad_",
            """
                import torch
                w = torch.randn(3) * 0.1
                w = w.requires_grad_()
                opt = torch.optim.SGD([w], lr=0.1)
            """,
        ),
        NearMiss(
            "a conversion that converts nothing gives the same tensor",
            """
                import torch
                w = torch.zeros(3, requires_grad=True).float().to("cpu").contiguous()
                opt = torch.optim.SGD([w], lr=0.1)
            """,
        ),
        NearMiss(
            "a non-leaf that retains its gradient is accepted",
            """
                import torch
                w = torch.zeros(3, requires_grad=True).clone()
                w.retain_grad()
                opt = torch.optim.SGD([w], lr=0.1)
            """,
        ),
        NearMiss(
            "nn.Parameter cuts the history",
            """
                import torch
                w = torch.nn.Parameter(torch.zeros(3, requires_grad=True) * 2)
                opt = torch.optim.SGD([w], lr=0.1)
            """,
        ),
        NearMiss(
            "differentiable=True switches the test off",
            """
                import torch
                w = torch.zeros(3, requires_grad=True) * 2
                opt = torch.optim.SGD([w], lr=0.1, differentiable=True)
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, optimizer = name_of(event), event.fields["optimizer"]
        away = event.certainty == "raises-off-cpu"
        template = (
            "{optimizer} will refuse `{name}` wherever the device is not the CPU"
            if away
            else "`{name}` is not a leaf, so {optimizer} cannot optimize it"
        )
        yield diagnostic(
            self,
            event,
            text(template, name=name, optimizer=optimizer),
            text("ValueError: can't optimize a non-leaf Tensor"),
            why=text("an optimizer updates leaves, the tensors you created; gradients are kept only there"),
            help=_repair(event, name),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name = name_of(event)
        operation = event.subject.facts.get("made-by") if event.subject is not None else ""
        if operation == "unbind":
            tensor = edit.code(edit.target(step_at(found, "created", "computed", "parameter")))
            listed = edit.around(edit.inside(found.place, tensor), "[", "]")
            yield fix(text("put `{name}` in a list", name=tensor), listed, "safe")
            return
        made = step_at(found, "computed")
        if operation == "indexing" and "[" in edit.code(made):
            source = edit.code(made).partition("[")[0]
            whole = edit.replace(made, source)
            yield fix(text("hand over `{source}`, all of it", source=source), whole)
        leaf = _fresh_leaf(event, found, edit)
        yield fix(text("make `{name}` a leaf, with the numbers that it has", name=name), leaf)


def _repair(event: Event, name: str) -> Text:
    """What to do, by the last thing that made the tensor a computed one."""
    kind = event.subject.facts.get("made-kind") if event.subject is not None else ""
    operation = event.subject.facts.get("made-by") if event.subject is not None else ""
    if kind in ("moved", "cast"):
        return text(
            "move and convert first, then call requires_grad_(): `{name}` is then a leaf where it will live",
            name=name,
        )
    if kind == "recomputed":
        return text("hand over `module.parameters()`: they hold what `{name}` is computed from", name=name)
    if operation == "unbind":
        return text("put the tensor in a list: iterating over a tensor gives its rows")
    if operation in ("indexing", "cat", "stack", "view", "reshape", "unsqueeze"):
        return text(
            "hand over the tensor that `{name}` was made from, and compute `{name}` from it in every step",
            name=name,
        )
    return text(
        "to train this value, make it a leaf: `{name} = (...).detach().requires_grad_()`; to train what it was"
        " computed from, hand that over and compute `{name}` in every step",
        name=name,
    )


class GradOfNonLeaf(Rule):
    """The `.grad` of a tensor that is not a leaf was read.

    ## Why it goes wrong

    `backward` keeps gradients at leaves only. For a computed tensor `.grad` stays None, with a warning.

    ## What to do

    Call `retain_grad()` on the tensor before `backward()`, or read the gradient of the leaf.
    """

    name = "grad-of-non-leaf"
    severity = "warning"
    words = (Word(rb"\.grad\b(?!\()"),)
    hears = ("grad-of-non-leaf",)
    examples = (
        Example(
            title="the gradient of an intermediate result",
            bad="""
                import torch
                x = torch.ones(2, requires_grad=True)
                y = x * 2  # cause
                y.sum().backward()
                g = y.grad  # error
            """,
            good="""
                import torch
                x = torch.ones(2, requires_grad=True)
                y = x * 2
                y.sum().backward()
                g = x.grad
            """,
            proof="g is None",
        ),
    )
    near_misses = (
        NearMiss(
            "retained through a list of unknown length",
            """
                import torch
                x = torch.ones(1, requires_grad=True)
                parts = []
                for _ in range(eval("2")):
                    y = x * 2
                    parts.append({"y": y})
                for y in [part["y"] for part in parts]:
                    y.retain_grad()
                (parts[0]["y"] * 2).sum().backward()
                grad = parts[0]["y"].grad
            """,
            shown=False,
        ),
        NearMiss(
            "the gradient is retained",
            """
                import torch
                x = torch.ones(2, requires_grad=True)
                y = x * 2
                y.retain_grad()
                y.sum().backward()
                g = y.grad
            """,
        ),
        NearMiss("a leaf", "import torch\nx = torch.ones(2, requires_grad=True)\ng = x.grad"),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        if event.fields.get("rebound"):
            help = text(
                "`{name}` was a leaf before it was computed anew: write to it in place under `torch.no_grad()` instead",
                name=name,
            )
        else:
            help = text(
                "call `{code}.retain_grad()` before backward, or read the gradient of the leaf",
                code=code_of(event),
            )
        yield diagnostic(
            self,
            event,
            text("`{name}` is not a leaf: its .grad stays None", name=name),
            text("no gradient is kept here"),
            why=text("backward keeps gradients at leaves only"),
            help=help,
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name = name_of(event)
        if event.fields.get("rebound"):
            yield fix(text("write `{name}` without recording it", name=name), _updated(found, edit))
        elif name.isidentifier():
            kept = edit.behind(edit.binding(found.place, name), f"{name}.retain_grad()")
            yield fix(text("keep the gradient of `{name}`", name=name), kept, "safe")


class RequiresGradOnNonLeaf(Rule):
    """The `requires_grad` flag of a computed tensor was set.

    ## Why torch refuses it

    Whether a computed tensor requires grad follows from what it was computed from. Assigning the flag is
    refused, and so is switching it off; `requires_grad_()` alone, without False, does nothing.

    ## What to do

    - To stop the gradient here, use `detach()`.
    - To start a new graph here, write `x = x.detach().requires_grad_()`: a new leaf.
    """

    name = "requires-grad-on-non-leaf"
    words = (Word(rb"\.requires_grad *=[^=]"), Word(rb"requires_grad_\("))
    hears = ("flag-of-non-leaf",)
    examples = (
        Example(
            title="the flag of a computed tensor",
            bad="""
                import torch
                x = torch.ones(2, requires_grad=True)
                y = x * 2  # cause
                y.requires_grad = False  # error
            """,
            good="""
                import torch
                x = torch.ones(2, requires_grad=True)
                y = x * 2
                y = y.detach()
            """,
            raises="you can only change requires_grad flags of leaf variables",
        ),
        Example(
            title="the second round of a loop",
            bad="""
                import torch
                x = torch.ones(2)
                for _ in range(3):
                    x.requires_grad = True  # error
                    x = x + 0.1 * torch.autograd.grad(x.pow(2).sum(), x)[0]  # cause
            """,
            good="""
                import torch
                x = torch.ones(2)
                for _ in range(3):
                    x = x.detach().requires_grad_()
                    x = x + 0.1 * torch.autograd.grad(x.pow(2).sum(), x)[0]
            """,
            raises="you can only change requires_grad flags of leaf variables",
        ),
    )
    near_misses = (
        NearMiss(
            "requires_grad_() on a computed tensor does nothing",
            """
                import torch
                y = torch.ones(2, requires_grad=True) * 2
                y.requires_grad_()
            """,
        ),
        NearMiss(
            "computed from tensors without grad: a leaf",
            """
                import torch
                y = torch.ones(2) * 2
                y.requires_grad = True
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        yield diagnostic(
            self,
            event,
            text("`{name}` is not a leaf, so its requires_grad flag cannot be changed", name=name),
            text("RuntimeError: you can only change requires_grad flags of leaf variables"),
            why=text("a computed tensor requires grad because of what it was computed from"),
            help=_instead_of_the_flag(event, name),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name = edit.code(edit.receiver(found.place))
        cut = edit.before(found.place, f"{name} = {name}.detach()") if edit.may_be_assigned(name) else ()
        if event.fields.get("value") is False:
            yield fix(text("stop the gradient at `{name}`", name=name), cut)
        else:
            yield fix(text("make a new leaf of `{name}`", name=name), cut)


def _instead_of_the_flag(event: Event, name: str) -> Text:
    if event.fields.get("value") is False:
        if is_target(event):
            return text("write `{name} = {name}.detach()` to stop the gradient here", name=name)
        return text("use `{code}.detach()` to stop the gradient here", code=code_of(event))
    if is_target(event):
        return text("make it a new leaf first: `{name} = {name}.detach().requires_grad_()`", name=name)
    return text("make a new leaf of it first: `{code}.detach().requires_grad_()`", code=code_of(event))


class RequiresGradOnIntegers(Rule):
    """A tensor of integers or bools was asked to require grad.

    ## Why torch refuses it

    A gradient is a real number: only tensors of floating point or complex dtype can carry one.

    ## What to do

    Make the tensor floating point where it is created (`dtype=torch.float32`, `1.0` instead of `1`) or
    convert it first (`x.float()`).
    """

    name = "requires-grad-on-integers"
    words = (
        Word(rb"\.requires_grad *=[^=]"),
        Word(rb"requires_grad_\("),
        Word(
            rb"requires_grad *= *True",
            row=rb"(?:arange|randint|randperm|tensor|full|long|int\d*|bool)\b.*requires_grad|^[^(]*requires_grad",
        ),
        Word(rb"Parameter\(torch\.(?:arange|randint|tensor)"),
    )
    hears = ("requires-grad-integer",)
    examples = (
        Example(
            title="a Parameter of integers",
            bad="""
                import torch
                knots = torch.arange(0, 8)  # cause
                p = torch.nn.Parameter(knots)  # error
            """,
            good="""
                import torch
                knots = torch.arange(0, 8)
                p = torch.nn.Parameter(knots.float())
            """,
            raises="can require gradients",
        ),
        Example(
            title="requires_grad_() on integers",
            bad="""
                import torch
                steps = torch.tensor([1, 2, 3])  # cause
                steps.requires_grad_()  # error
            """,
            good="""
                import torch
                steps = torch.tensor([1.0, 2.0, 3.0])
                steps.requires_grad_()
            """,
            raises="can require gradients",
        ),
    )
    near_misses = (
        NearMiss("a float among the arguments", "import torch\np = torch.nn.Parameter(torch.arange(0, 8.0))"),
        NearMiss(
            "a Parameter that does not require grad may hold integers",
            "import torch\np = torch.nn.Parameter(torch.arange(8), requires_grad=False)",
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, dtype = name_of(event), event.fields.get("dtype")
        yield diagnostic(
            self,
            event,
            text("`{name}` has dtype {dtype} and cannot require grad", name=name, dtype=dtype),
            text("RuntimeError: ... Tensors of floating point ... dtype can require gradients"),
            why=text("a gradient is a real number, so only floating point and complex tensors carry one"),
            help=text("make it floating point where it is created, or convert it with .float() first"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        made = step_at(found, "created-no-grad", "created", "integers")
        wrapped = edit.argument(found.place, 0) if edit.callee(found.place).endswith("Parameter") else None
        converted = edit.after(wrapped, ".float()")
        if not converted:
            at = made or found.place
            path, imports = edit.name_for(at, "torch.float32")
            typed = edit.add_keyword(at, "dtype", path)
            converted = (*typed, *imports) if typed else ()
        yield fix(text("make it floating point"), converted)


class HookOnUntracked(Rule):
    """A hook, or `retain_grad()`, was put on a tensor that requires no grad.

    ## Why torch refuses it

    A hook is called with the tensor's gradient, and `retain_grad()` keeps it. A tensor that does not require grad
    has none: it was computed from data alone, under `no_grad`, or after a `detach`.

    ## What to do

    Find where the history was lost, or call `requires_grad_()` on the tensor first if it is an input of its own.
    """

    name = "hook-on-untracked"
    words = (Word(rb"\.register_hook\("), Word(rb"\.retain_grad\("))
    hears = ("retain-grad-of-untracked", "hook-of-untracked")
    examples = (
        Example(
            title="features made under no_grad",
            bad="""
                import torch
                net, head = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
                with torch.no_grad():
                    features = net(torch.ones(4, 2))  # cause
                features.retain_grad()  # error
                head(features).sum().backward()
            """,
            good="""
                import torch
                net, head = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
                features = net(torch.ones(4, 2))
                features.retain_grad()
                head(features).sum().backward()
            """,
            raises="can't retain_grad on Tensor that has requires_grad=False",
        ),
        Example(
            title="a hook on data",
            bad="""
                import torch
                image = torch.rand(3, 4, 4)  # cause
                image.register_hook(print)  # error
            """,
            good="""
                import torch
                image = torch.rand(3, 4, 4).requires_grad_()
                image.register_hook(print)
            """,
            raises="cannot register a hook on a tensor that doesn't require gradient",
        ),
    )
    near_misses = (
        NearMiss(
            "retain_grad() on a leaf does nothing, and is allowed",
            "import torch\nw = torch.ones(2, requires_grad=True)\nw.retain_grad()",
        ),
        NearMiss(
            "a hook on a computed tensor",
            "import torch\ny = torch.ones(2, requires_grad=True) * 2\ny.register_hook(print)",
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, retains = name_of(event), event.kind == "retain-grad-of-untracked"
        yield diagnostic(
            self,
            event,
            text("`{name}` requires no grad: there is no gradient to keep", name=name)
            if retains
            else text("`{name}` requires no grad: a hook on it would never be called", name=name),
            text("RuntimeError: can't retain_grad on Tensor that has requires_grad=False")
            if retains
            else text("RuntimeError: cannot register a hook on a tensor that doesn't require gradient"),
            why=text("only a tensor that requires grad gets a gradient"),
            help=text(
                "call `{code}.requires_grad_()` first, or keep the history that was lost on the way",
                code=code_of(event),
            ),
        )


def _fresh_leaf(event: Event, found: Diagnostic, edit: Editor) -> Edits:
    """Edits that make a leaf of the value that is to be trained, where the program gives it its name."""
    name = name_of(event)
    made = step_at(found, "computed", "cast", "moved")
    value = edit.binding(found.place, name) or edit.binding(made, name) or made
    if edit.code(value).startswith("nn.Parameter(") or "Parameter(" in edit.code(value):
        return edit.hoist(value, "Parameter") or edit.after(value, ".detach().requires_grad_()")
    created = step_at(found, "created")
    flag = edit.drop_keyword(created, "requires_grad")
    if flag and _is_converted(edit.code(created), edit.code(value)):
        return together(flag, edit.after(value, ".requires_grad_()"))
    leaf = edit.after(value, ".detach().requires_grad_()")
    inside = flag and edit.code(created) in edit.code(value)
    return together(flag, leaf) if inside else leaf


def _is_converted(created: str, value: str) -> bool:
    """Whether `value` is what was created, with nothing beside it but methods and numbers."""
    rest = value.removeprefix(created)
    return (
        bool(created)
        and rest != value
        and re.fullmatch(r"[\s\w.()*/+-]*", rest) is not None
        and not _NAME.search(rest)
    )


_NAME = re.compile(r"(?<![.\w])[A-Za-z_]")
"""A name that is not an attribute."""


def _updated(found: Diagnostic, edit: Editor) -> Edits:
    """The update that made a computed tensor of a leaf, in place and under `torch.no_grad()`; the gradient is cleared."""
    made = step_at(found, "computed")
    value = edit.value(made)
    name = edit.code(edit.operand(value))
    if not edit.reads(edit.operand(value, right=True), f"{name}.grad"):
        return ()
    path, imports = edit.name_for(made, "torch.no_grad")
    cleared = edit.behind(made, f"{name}.grad = None")
    return (*together(edit.fold(made), edit.under(made, f"with {path}():"), cleared), *imports)
