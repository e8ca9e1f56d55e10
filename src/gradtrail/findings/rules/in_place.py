"""Writing tensors in place where autograd does not allow it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.common_words import IN_PLACE, IN_PLACE_FUNCTION, WRITTEN
from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import code_of, diagnostic, fix, is_target, name_of, step_at
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import text
from gradtrail.source.place import Edits, Place, together
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor


class InPlaceOnLeaf(Rule):
    """A leaf that requires grad, or a view of one, is written in place.

    ## Why torch refuses it

    A leaf is where gradients end up. Were it overwritten by a recorded operation, it would be the result of
    that operation and no leaf any more. Under `torch.no_grad()` nothing is recorded, so writing is allowed:
    that is how optimizers and `nn.init` do it.

    ## What to do

    - To change the values, write under `torch.no_grad()`.
    - To compute with them, work on a result: `y = x + 1` instead of `x += 1`; start a sum from a plain `0`.
    """

    name = "in-place-on-leaf"
    words = (
        Word(rb"requires_grad(?:_\(| *=[^=])", file=IN_PLACE),
        IN_PLACE_FUNCTION,
        Word(rb"\.(?:weight|bias)\b[^\n]{0,300}(?:[-+*/]=|\] *=|_\()"),
    )
    hears = ("leaf-in-place", "leaf-view-in-place")
    examples = (
        Example(
            title="a parameter",
            bad="""
                import torch
                w = torch.zeros(3, requires_grad=True)  # cause
                w += 1  # error
            """,
            good="""
                import torch
                w = torch.zeros(3, requires_grad=True)
                with torch.no_grad():
                    w += 1
            """,
            raises="a leaf Variable that requires grad is being used in an in-place operation",
        ),
        Example(
            title="a slice of a bias",
            bad="""
                import torch
                head = torch.nn.Linear(4, 6)
                b = head.bias.view(2, 3)
                b[:, 0] += 1.0  # error
            """,
            good="""
                import torch
                head = torch.nn.Linear(4, 6)
                with torch.no_grad():
                    b = head.bias.view(2, 3)
                    b[:, 0] += 1.0
            """,
            raises="a view of a leaf Variable that requires grad is being used in an in-place operation",
        ),
    )
    near_misses = (
        NearMiss(
            "an activation is no leaf",
            """
                import torch
                x = torch.nn.Linear(2, 2)(torch.ones(1, 2))
                x += 1
                x.sum().backward()
            """,
        ),
        NearMiss(
            "a leaf that does not require grad",
            """
                import torch
                x = torch.zeros(3)
                x[0] = 1.0
                x += 1
            """,
        ),
        NearMiss(
            "initialisation writes under no_grad by itself",
            """
                import torch
                layer = torch.nn.Linear(2, 2)
                torch.nn.init.zeros_(layer.weight)
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        view = event.kind == "leaf-view-in-place"
        trained = event.subject is not None and event.subject.facts.get("trained") is True
        yield diagnostic(
            self,
            event,
            text(
                "`{name}` is a view of a leaf that requires grad and must not be written in place", name=name
            )
            if view
            else text("`{name}` is a leaf that requires grad and must not be written in place", name=name),
            text(
                "RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation"
            )
            if view
            else text(
                "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation"
            ),
            why=text(
                "a recorded write would make a leaf the result of an operation, and its gradient would be lost"
            ),
            help=text("write it under torch.no_grad()")
            if trained
            else text(
                "to change its values, write it under torch.no_grad(); to compute with them, make a new tensor instead"
            ),
            others=event.others,
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name = name_of(event)
        trained = event.subject is not None and event.subject.facts.get("trained") is True
        layer = _not_in_place(found, edit)
        if layer:
            yield fix(text("do not work in place"), layer)
            return
        flag = edit.drop_keyword(step_at(found, "created"), "requires_grad")
        unflagged = fix(
            text("start `{name}` as a plain tensor: what is added brings its own graph", name=name), flag
        )
        if flag and not trained and ".grad" not in edit.code(edit.statement(found.place)):
            yield unflagged
        yield fix(text("write `{name}` without recording it", name=name), _without_grad(found, edit))


class InPlaceOnView(Rule):
    """A view is written in place of which autograd cannot tell what the write means.

    ## Why torch refuses it

    Four kinds of views may not be written where grad mode is on: one of several that `split`, `chunk`, `unbind`
    or iterating over a tensor gives; one that was made under `torch.no_grad()`; one that a custom Function
    returns; and the output of a module with a full backward hook, which is handed on by such a Function.

    ## What to do

    - Compute a new tensor: `y = y * 2` instead of `y.mul_(2)`, `nn.ReLU()` instead of `nn.ReLU(inplace=True)`.
    - In a custom Function, return `x.clone()` or `x.view_as(x).clone()`.
    - For a view made under no_grad, write it under no_grad too.
    """

    name = "in-place-on-view"
    words = (
        IN_PLACE_FUNCTION,
        Word(rb"autograd\.Function"),
        Word(rb"\.backward\("),
    )
    hears = ("multi-view-in-place", "no-grad-view-in-place", "function-view-in-place")
    examples = (
        Example(
            title="one of several views",
            bad="""
                import torch
                h = torch.nn.Linear(2, 4)(torch.ones(3, 2))
                a, b = h.chunk(2, dim=1)  # cause
                a.mul_(2)  # error
            """,
            good="""
                import torch
                h = torch.nn.Linear(2, 4)(torch.ones(3, 2))
                a, b = h.chunk(2, dim=1)
                a = a * 2
            """,
            raises="This view is the output of a function that returns multiple views",
        ),
        Example(
            title="a view made under no_grad",
            bad="""
                import torch
                w = torch.zeros(4, 2, requires_grad=True)
                with torch.no_grad():
                    rows = w[:2]  # cause
                rows.fill_(1.0)  # error
            """,
            good="""
                import torch
                w = torch.zeros(4, 2, requires_grad=True)
                with torch.no_grad():
                    rows = w[:2]
                    rows.fill_(1.0)
            """,
            raises="is being modified inplace with grad mode enabled",
        ),
        Example(
            title="gradient reversal, then an in-place activation",
            bad="""
                import torch

                class Reverse(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        return x.view_as(x)  # cause

                    @staticmethod
                    def backward(ctx, grad):
                        return -grad

                h = torch.nn.Linear(2, 2)(torch.ones(1, 2))
                out = torch.nn.functional.relu(Reverse.apply(h), inplace=True)  # error
            """,
            good="""
                import torch

                class Reverse(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        return x.view_as(x)

                    @staticmethod
                    def backward(ctx, grad):
                        return -grad

                h = torch.nn.Linear(2, 2)(torch.ones(1, 2))
                out = torch.nn.functional.relu(Reverse.apply(h))
            """,
            raises="was created inside a custom Function",
        ),
    )
    near_misses = (
        NearMiss(
            "an ordinary view of an activation may be written",
            """
                import torch
                h = torch.nn.Linear(2, 4)(torch.ones(3, 2))
                h[:, :2] *= 2
                h.sum().backward()
            """,
        ),
        NearMiss(
            "views of a tensor without grad may be written",
            """
                import torch
                a, b = torch.zeros(4).chunk(2)
                a.add_(1)
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        templates = {
            "multi-view-in-place": "`{name}` is one of several views and must not be written in place",
            "no-grad-view-in-place": "`{name}` is a view made under no_grad and must not be written with grad mode on",
            "function-view-in-place": "`{name}` is a view from a custom Function and must not be written in place",
        }
        helps = {
            "multi-view-in-place": "compute a new tensor instead of writing this one",
            "no-grad-view-in-place": "write it under torch.no_grad(), like the view was made",
            "function-view-in-place": "do not write it in place (inplace=False), or return a clone from the Function",
        }
        yield diagnostic(
            self,
            event,
            text(templates[event.kind], name=name),
            text("RuntimeError: A view was created in no_grad mode and is being modified inplace")
            if event.kind == "no-grad-view-in-place"
            else text("RuntimeError: Output ... is a view and is being modified inplace"),
            why=text("autograd cannot tell what a write through such a view does to the tensor behind it"),
            help=text(helps[event.kind]),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name = name_of(event)
        if event.kind == "no-grad-view-in-place":
            yield fix(text("write `{name}` without recording it", name=name), _without_grad(found, edit))
            return
        layer = _not_in_place(found, edit)
        if layer:
            yield fix(text("do not work in place"), layer)
        if event.kind == "function-view-in-place":
            copied = edit.after(step_at(found, "computed"), ".clone()")
            yield fix(text("return a clone from the Function"), copied)
        yield fix(text("compute a new tensor instead"), _written_anew(found.place, edit))


class InPlaceOnSavedTensor(Rule):
    """A tensor that a backward needs is written in place before that backward.

    ## Why torch refuses it

    Many operations keep tensors for their gradient: `sigmoid` and `exp` their result, `pow` and `mul` their
    inputs, a matrix product its factors. Each tensor's memory has a version that goes up with every in-place
    write, also of another part of it, and backward raises when a kept tensor is not at the version it was kept
    at. `optimizer.step()` and `load_state_dict` are in-place writes of all parameters.

    ## What to do

    - Compute a new tensor instead of writing: `x = x / s` instead of `x /= s`.
    - Step an optimizer after all backwards that need the old parameters, or run the forward again.
    - Put a `clone()` before the write.
    """

    name = "in-place-on-saved-tensor"
    words = (Word(rb"\.backward\("),)
    hears = ("saved-modified",)
    examples = (
        Example(
            title="the result of sigmoid is written",
            bad="""
                import torch
                x = torch.zeros(3, requires_grad=True)
                y = torch.sigmoid(x)
                y.mul_(2)  # cause
                y.sum().backward()  # error
            """,
            good="""
                import torch
                x = torch.zeros(3, requires_grad=True)
                y = torch.sigmoid(x)
                y = y * 2
                y.sum().backward()
            """,
            raises="modified by an inplace operation",
        ),
        Example(
            title="a step between forward and backward",
            bad="""
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
                opt = torch.optim.SGD(net.parameters(), lr=0.1)
                out = net(torch.ones(3, 2))
                one, two = out.mean(), out.pow(2).mean()
                one.backward(retain_graph=True)
                opt.step()  # cause
                two.backward()  # error
            """,
            good="""
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
                opt = torch.optim.SGD(net.parameters(), lr=0.1)
                out = net(torch.ones(3, 2))
                one, two = out.mean(), out.pow(2).mean()
                one.backward(retain_graph=True)
                two.backward()
                opt.step()
            """,
            raises="modified by an inplace operation",
        ),
    )
    near_misses = (
        NearMiss(
            "a fused step, which is not counted",
            """
                import torch
                net = torch.nn.Linear(2, 2)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1, fused=True)
                hidden = net(torch.ones(1, 2))
                loss = net(hidden).sum()
                loss.backward(retain_graph=True)
                optimizer.step()
                loss.backward()
            """,
        ),
        NearMiss(
            "dropout in place that drops nothing",
            """
                import torch
                from torch import nn
                net = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Dropout(0.5, inplace=True)).eval()
                net(torch.ones(1, 2)).sum().backward()
            """,
        ),
        NearMiss(
            "what a number divided by a tensor gives",
            """
                import torch
                x = torch.ones(3, requires_grad=True)
                y = 1 / x
                y += 1
                y.sum().backward()
            """,
        ),
        NearMiss(
            "pooled to one value each, which is a mean",
            """
                import torch
                x = torch.rand(1, 1, 5, 5, requires_grad=True)
                features = x * 2
                pooled = torch.nn.AdaptiveAvgPool2d((1, 1))(features)
                features += 1
                (features.sum() + pooled.sum()).backward()
            """,
        ),
        NearMiss(
            "an addition keeps nothing",
            """
                import torch
                x = torch.zeros(3, requires_grad=True)
                y = x + 1
                y.mul_(2)
                y.sum().backward()
            """,
        ),
        NearMiss(
            "ReLU in place behind a linear layer",
            """
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(inplace=True), torch.nn.Linear(2, 1))
                net(torch.ones(1, 2)).sum().backward()
            """,
        ),
        NearMiss(
            "a buffer that is only written",
            """
                import torch
                w = torch.ones(2, requires_grad=True)
                out = torch.zeros(3, 2)
                for t in range(3):
                    out[t] = w * t
                out.sum().backward()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        yield diagnostic(
            self,
            event,
            text(
                "`{name}` was written in place after `{op}` had kept it for backward",
                name=name,
                op=event.fields.get("op", ""),
            ),
            text(
                "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation"
            ),
            why=text(
                "every in-place write raises a tensor's version, and backward needs the version that was kept"
            ),
            help=text(
                "step the optimizer after every backward that needs the old parameters, or run the forward again"
            )
            if event.fields.get("written_by") == "step"
            else text("compute a new tensor instead of writing in place, or write a clone"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        layer = _not_in_place(found, edit)
        if layer:
            yield fix(text("do not work in place"), layer)
            return
        written = step_at(found, "written", "rebased")
        if event.fields.get("written_by") == "step":
            name = edit.code(edit.receiver(found.place, "backward"))
            loss = edit.binding(found.place, name)
            if edit.same_block(written, found.place) and edit.same_block(loss, found.place):
                again = edit.move(loss, behind=written)
                yield fix(text("compute `{name}` after the step", name=name), again)
            later = edit.move(written, behind=found.place) if edit.same_block(written, found.place) else ()
            yield fix(text("step after both backwards"), later)
            return
        yield fix(text("compute a new tensor instead"), _written_anew(written, edit))
        kept = step_at(found, "keeps")
        for operand in (
            step_at(found, "computed"),
            edit.operand(kept, right=True),
            edit.operand(kept),
            *edit.arguments(kept),
        ):
            if edit.code(operand) == name_of(event):
                yield fix(text("let a clone be kept for backward"), edit.after(operand, ".clone()"))
                return


class DetachOfViewInPlace(Rule):
    """`detach_()` is called on a view.

    ## Why torch refuses it

    A view shares its history with the tensor it views, so it cannot be cut off in place.

    ## What to do

    Use `detach()` and keep its result.
    """

    name = "detach-of-view-in-place"
    words = (Word(rb"detach_\("),)
    hears = ("detach-view-in-place",)
    examples = (
        Example(
            title="a row",
            bad="""
                import torch
                h = torch.ones(2, 3, requires_grad=True) * 2
                row = h[0]  # cause
                row.detach_()  # error
            """,
            good="""
                import torch
                h = torch.ones(2, 3, requires_grad=True) * 2
                row = h[0]
                row = row.detach()
            """,
            raises="Can't detach views in-place",
        ),
    )
    near_misses = (
        NearMiss("no view", "import torch\nh = torch.ones(2, requires_grad=True) * 2\nh.detach_()"),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        yield diagnostic(
            self,
            event,
            text("`{name}` is a view and cannot be detached in place", name=name),
            text("RuntimeError: Can't detach views in-place"),
            why=text("a view shares its history with the tensor it views"),
            help=text("keep the result of detach(): `{name} = {name}.detach()`", name=name)
            if is_target(event)
            else text("keep the result of `{code}.detach()`", code=code_of(event)),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name = name_of(event)
        call = edit.value(found.place)
        kept = together(edit.rename_call(call, "detach_", "detach"), edit.assign_to(found.place, name))
        if is_target(event):
            yield fix(text("keep the result of detach()"), kept)


class ExpandedInPlace(Rule):
    """A tensor that was expanded is written in place.

    ## Why torch refuses it

    `expand` makes no copies: several elements of the result are one place in memory. A write would change that place
    several times.

    ## What to do

    Write into a copy (`x.expand(3, 4).clone()`), use `repeat`, or compute a new tensor.
    """

    name = "expanded-in-place"
    words = (
        Word(rb"\.expand(?:_as)?\(", then=WRITTEN),
        Word(rb"\.expand(?:_as)?\([^\n]{0,300}\)\.\w+_\("),
        Word(rb"broadcast_to\(", then=WRITTEN),
    )
    hears = ("expanded-in-place",)
    examples = (
        Example(
            title="added to an expanded row",
            bad="""
                import torch
                mean = torch.zeros(1, 3).expand(4, 3)  # cause
                mean += torch.ones(4, 3)  # error
            """,
            good="""
                import torch
                mean = torch.zeros(1, 3).expand(4, 3)
                mean = mean + torch.ones(4, 3)
            """,
            raises="more than one element of the written-to tensor refers to a single memory location",
        ),
    )
    near_misses = (
        NearMiss(
            "one of the rows that share their memory",
            """
                import torch
                rows = torch.zeros(1, 3).expand(4, 3)
                rows[0] = 1
            """,
        ),
        NearMiss(
            "a copy of what was expanded",
            "import torch\nmean = torch.zeros(1, 3).expand(4, 3).clone()\nmean += torch.ones(4, 3)",
        ),
        NearMiss(
            "nothing is repeated",
            "import torch\nmean = torch.zeros(4, 3).expand(4, 3)\nmean += torch.ones(4, 3)",
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        yield diagnostic(
            self,
            event,
            text("`{name}` was expanded: several of its elements are one place in memory", name=name),
            text(
                "RuntimeError: more than one element of the written-to tensor refers to a single memory location"
            ),
            why=text("expand makes no copies, so a write would change one place several times"),
            help=text("clone what was expanded before it is written, or compute a new tensor"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        yield fix(text("clone what was expanded"), edit.after(step_at(found, "computed"), ".clone()"))


class OutArgumentInGraph(Rule):
    """A result is written to `out=` while an argument requires grad.

    ## Why torch refuses it

    With `out=` nothing is recorded, so the gradient would be lost without a word.

    ## What to do

    Take the result that the function returns, or run under `torch.no_grad()` if no gradient is wanted.
    """

    name = "out-argument-in-graph"
    words = (Word(rb", *out="),)
    hears = ("out-requires-grad",)
    examples = (
        Example(
            title="a product written into a buffer",
            bad="""
                import torch
                w = torch.ones(2, 2, requires_grad=True)
                buffer = torch.empty(3, 2)
                torch.mm(torch.ones(3, 2), w, out=buffer)  # error
            """,
            good="""
                import torch
                w = torch.ones(2, 2, requires_grad=True)
                buffer = torch.mm(torch.ones(3, 2), w)
            """,
            raises="functions with out=... arguments don't support automatic differentiation",
        ),
    )
    near_misses = (
        NearMiss(
            "nothing is recorded",
            """
                import torch
                w = torch.ones(2, 2, requires_grad=True)
                buffer = torch.empty(3, 2)
                with torch.no_grad():
                    torch.mm(torch.ones(3, 2), w, out=buffer)
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        yield diagnostic(
            self,
            event,
            text("`{op}` with out= while an argument requires grad", op=event.fields["op"]),
            text("RuntimeError: functions with out=... arguments don't support automatic differentiation"),
            why=text("with out= nothing is recorded, and the gradient would be lost"),
            help=text("take the result that `{op}` returns", op=event.fields["op"]),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        target = edit.code(edit.argument(found.place, "out"))
        taken = together(edit.drop_keyword(found.place, "out"), edit.assign_to(found.place, target))
        yield fix(text("take the result that `{op}` returns", op=event.fields["op"]), taken if target else ())


def _not_in_place(found: Diagnostic, edit: Editor) -> Edits:
    """Edits of the layer, or of the call, that is told to work in place."""
    for kind in ("layer", "made", "rebased", "written"):
        edits = edit.drop_keyword(step_at(found, kind), "inplace")
        if edits:
            return edits
    return edit.drop_keyword(found.place, "inplace")


def _without_grad(found: Diagnostic, edit: Editor) -> Edits:
    """Edits that put the write under `torch.no_grad()`."""
    path, imports = edit.name_for(found.place, "torch.no_grad")
    under = edit.under(found.place, f"with {path}():")
    return (*under, *imports) if under else ()


def _written_anew(at: Place | None, edit: Editor) -> Edits:
    """Edits by which a write in place at `at` makes a new tensor instead, or writes a clone."""
    method = edit.callee(at).rpartition(".")[2]
    if method in _OUT_OF_PLACE and edit.value(at) is not None and edit.statement(at) != at:
        return edit.rename_call(at, method, method[:-1])
    target, statement = edit.written(at), edit.statement(at)
    name = edit.code(target)
    if not name:
        return ()
    plain = "[" not in name
    if plain and edit.unfold(at):
        return edit.unfold(at)
    call = edit.value(at)
    method = edit.callee(call).rpartition(".")[2]
    if plain and call == statement and method in _OUT_OF_PLACE:
        return together(edit.rename_call(call, method, method[:-1]), edit.assign_to(at, name))
    base = name.partition("[")[0]
    return edit.before(at, f"{base} = {base}.clone()")


_OUT_OF_PLACE = (
    *(
        "add_",
        "sub_",
        "mul_",
        "div_",
        "pow_",
        "neg_",
        "exp_",
        "log_",
        "sqrt_",
        "abs_",
        "clamp_",
        "clip_",
        "relu_",
    ),
    *(
        "sigmoid_",
        "tanh_",
        "clamp_min_",
        "clamp_max_",
        "addcmul_",
        "addcdiv_",
        "lerp_",
        "masked_fill_",
        "index_add_",
    ),
    *(
        "scatter_",
        "scatter_add_",
        "index_fill_",
        "unsqueeze_",
        "squeeze_",
        "transpose_",
        "t_",
        "round_",
        "floor_",
    ),
)
"""Methods that write in place and do the same, without the underscore, in a new tensor."""
