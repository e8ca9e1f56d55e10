"""`torch.autograd.grad`: inputs that the outputs do not depend on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import code_of, diagnostic, fix, name_of, step_at
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import text
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor


class UnusedGradInput(Rule):
    """A gradient is asked for by a tensor that the output was not computed from.

    ## Why torch refuses it

    The output's graph does not pass the tensor. A slice or a copy made after the forward is a new tensor that never
    entered it, though it holds the same numbers.

    ## What to do

    Take the slices first and compute from them (`net(torch.cat([x, t], 1))`), or differentiate with respect to the
    tensor that did go in and slice the gradient. Where an input may be unused, pass `allow_unused=True`: its gradient
    is then None, which an update has to leave out.
    """

    name = "unused-grad-input"
    words = (Word(rb"autograd\.grad\("),)
    hears = ("grad-unused",)
    examples = (
        Example(
            title="columns taken after the forward",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                points = torch.rand(5, 2, requires_grad=True)
                u = net(points)
                t = points[:, 1:]  # cause
                torch.autograd.grad(u.sum(), t)  # error
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                points = torch.rand(5, 2, requires_grad=True)
                x, t = points[:, :1], points[:, 1:]
                u = net(torch.cat([x, t], dim=1))
                torch.autograd.grad(u.sum(), t)
            """,
            raises="appears to not have been used in the graph",
        ),
    )
    near_misses = (
        NearMiss(
            "on the way lies what is not known",
            """
                import torch
                from torch import nn
                hidden = eval("nn.Linear(2, 2)")
                x = torch.ones(1, 2).requires_grad_(True)
                y = nn.Linear(2, 1)(hidden(x))
                grad, = torch.autograd.grad(y, x)
            """,
            shown=False,
        ),
        NearMiss(
            "unused inputs are allowed",
            """
                import torch
                x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
                torch.autograd.grad(x.sum(), [x, y], allow_unused=True)
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        output = event.others[0].name if event.others else ""
        why = text("a slice or copy made after the forward is a new tensor that the graph does not pass")
        help = text(
            "compute `{output}` from `{name}`, or differentiate with respect to what did go in",
            output=output,
            name=name,
        )
        if event.subject is not None and event.subject.facts.get("leaf") == "yes":
            why = text("autograd.grad gives a gradient only for what the output was computed from")
            help = text(
                "use `{name}` in the computation of `{output}`, or leave it out here; with allow_unused=True its"
                " gradient is None",
                output=output,
                name=name,
            )
        yield diagnostic(
            self,
            event,
            text(
                "`{output}` was not computed from `{name}`, so it has no gradient with respect to it",
                output=output,
                name=name,
            ),
            text("RuntimeError: ... appears to not have been used in the graph"),
            why=why,
            help=help,
        )


class UntrackedGradInput(Rule):
    """A gradient is asked for with respect to a tensor that does not require grad.

    ## Why torch refuses it

    Nothing was recorded about a tensor that does not require grad.

    ## What to do

    Call `requires_grad_()` on it before it is used.
    """

    name = "untracked-grad-input"
    words = (Word(rb"autograd\.grad\("),)
    hears = ("grad-input-not-tracked",)
    examples = (
        Example(
            title="points of a sampler",
            bad="""
                import torch
                net = torch.nn.Linear(1, 1)
                t = torch.rand(5, 1)  # cause
                u = net(t)
                torch.autograd.grad(u.sum(), t)  # error
            """,
            good="""
                import torch
                net = torch.nn.Linear(1, 1)
                t = torch.rand(5, 1, requires_grad=True)
                u = net(t)
                torch.autograd.grad(u.sum(), t)
            """,
            raises="One of the differentiated Tensors does not require grad",
        ),
    )
    near_misses = (
        NearMiss(
            "the parameters require grad by themselves",
            """
                import torch
                net = torch.nn.Linear(1, 1)
                torch.autograd.grad(net(torch.rand(5, 1)).sum(), list(net.parameters()))
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        yield diagnostic(
            self,
            event,
            text(
                "`{name}` does not require grad, so nothing can be differentiated with respect to it",
                name=name,
            ),
            text("RuntimeError: One of the differentiated Tensors does not require grad"),
            why=text("autograd records only what depends on tensors that require grad"),
            help=text("call `{code}.requires_grad_()` before it is used", code=code_of(event)),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name = name_of(event)
        value = edit.binding(found.place, name) or step_at(found, "computed", "created-no-grad", "array")
        yield fix(
            text("record what is computed from `{name}`", name=name), edit.after(value, ".requires_grad_()")
        )


class OnceDifferentiableTwice(Rule):
    """A gradient is differentiated whose backward is declared `@once_differentiable`.

    ## Why torch refuses it

    The decorator says that the backward of a custom Function is not recorded, so its result cannot be differentiated
    again. A gradient penalty does just that.

    ## What to do

    Take the decorator away if the backward is made of differentiable operations.
    """

    name = "once-differentiable-twice"
    words = (Word(rb"once_differentiable"),)
    hears = ("once-differentiable",)
    examples = (
        Example(
            title="a gradient penalty",
            bad="""
                import torch
                from torch.autograd.function import once_differentiable

                class Square(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        ctx.save_for_backward(x)
                        return x * x

                    @staticmethod
                    @once_differentiable  # cause
                    def backward(ctx, grad):
                        (x,) = ctx.saved_tensors
                        return 2 * x * grad

                head = torch.nn.Linear(2, 1)
                x = torch.ones(3, 2, requires_grad=True)
                out = head(Square.apply(x)).sum()
                (g,) = torch.autograd.grad(out, x, create_graph=True)
                g.pow(2).sum().backward()  # error
            """,
            good="""
                import torch

                class Square(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        ctx.save_for_backward(x)
                        return x * x

                    @staticmethod
                    def backward(ctx, grad):
                        (x,) = ctx.saved_tensors
                        return 2 * x * grad

                head = torch.nn.Linear(2, 1)
                x = torch.ones(3, 2, requires_grad=True)
                out = head(Square.apply(x)).sum()
                (g,) = torch.autograd.grad(out, x, create_graph=True)
                g.pow(2).sum().backward()
            """,
            raises="trying to differentiate twice a function that was marked with @once_differentiable",
        ),
    )
    near_misses = (
        NearMiss(
            "differentiated once",
            """
                import torch
                from torch.autograd.function import once_differentiable

                class Twice(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        return x * 2

                    @staticmethod
                    @once_differentiable
                    def backward(ctx, grad):
                        return grad * 2

                Twice.apply(torch.nn.Linear(2, 1)(torch.ones(3, 2))).sum().backward()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        yield diagnostic(
            self,
            event,
            text(
                "`{name}` needs the derivative of a backward that is declared not differentiable", name=name
            ),
            text(
                "RuntimeError: trying to differentiate twice a function that was marked with @once_differentiable"
            ),
            why=text("a backward marked @once_differentiable is not recorded"),
            help=text("take @once_differentiable away, if the backward is made of differentiable operations"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        yield fix(text("take @once_differentiable away"), edit.undecorate(step_at(found, "once")))
