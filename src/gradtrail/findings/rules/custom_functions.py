"""Custom Functions: what `backward` must be and must return."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import diagnostic, fix, step_at
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import text
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor


class FunctionWithoutBackward(Rule):
    """A backward comes to a custom Function that defines no `backward`.

    ## Why torch refuses it

    `forward` of a `torch.autograd.Function` runs without recording, so its derivative is known only from the
    static method `backward` (or `vjp`). A method of another name is never called.

    ## What to do

    Write `backward(ctx, *gradients)` as a static method; it returns one gradient for each argument of `forward`. Or
    compute with ordinary operations, whose derivatives are known.
    """

    name = "function-without-backward"
    words = (Word(rb"autograd\.Function"), Word(rb"import (?:\w+, *)*Function\b"))
    hears = ("function-no-backward",)
    examples = (
        Example(
            title="a forward alone",
            bad="""
                import torch

                class Sign(torch.autograd.Function):  # cause
                    @staticmethod
                    def forward(ctx, x):
                        return x.sign()

                w = torch.ones(3, requires_grad=True)
                Sign.apply(w).sum().backward()  # error
            """,
            good="""
                import torch

                class Sign(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        return x.sign()

                    @staticmethod
                    def backward(ctx, grad):
                        return grad

                w = torch.ones(3, requires_grad=True)
                Sign.apply(w).sum().backward()
            """,
            raises="You must implement either the backward or vjp",
        ),
    )
    near_misses = (
        NearMiss(
            "nothing is differentiated",
            """
                import torch

                class Sign(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        return x.sign()

                w = torch.ones(3, requires_grad=True)
                print(Sign.apply(w).sum().item())
            """,
        ),
        NearMiss(
            "the backward comes from a base class",
            """
                import torch

                class Straight(torch.autograd.Function):
                    @staticmethod
                    def backward(ctx, grad):
                        return grad

                class Sign(Straight):
                    @staticmethod
                    def forward(ctx, x):
                        return x.sign()

                w = torch.ones(3, requires_grad=True)
                Sign.apply(w).sum().backward()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        yield diagnostic(
            self,
            event,
            text("`{function}` has no backward, and this backward comes to it", function=_class_name(event)),
            text("NotImplementedError: You must implement either the backward or vjp method"),
            why=text("the forward of a Function is not recorded: only its own backward knows the derivative"),
            help=text(
                "give `{function}` a static method backward(ctx, *gradients)", function=_class_name(event)
            ),
        )


class TooFewGradientsFromFunction(Rule):
    """A Function's `backward` returns too few gradients for its `forward`.

    ## Why torch refuses it

    Gradients are matched with the arguments of `forward` by position. Arguments that have none (numbers, flags,
    tensors of integers) need a None in their place.

    ## What to do

    Return one value for each argument of `forward` after `ctx`, None where there is no gradient.
    """

    name = "too-few-gradients-from-function"
    words = (Word(rb"autograd\.Function"), Word(rb"import (?:\w+, *)*Function\b"))
    hears = ("function-gradient-count",)
    examples = (
        Example(
            title="no place for a number",
            bad="""
                import torch

                class Scale(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x, factor):
                        ctx.factor = factor
                        return x * factor

                    @staticmethod
                    def backward(ctx, grad):
                        return grad * ctx.factor  # cause

                w = torch.ones(3, requires_grad=True)
                Scale.apply(w, 2.0).sum().backward()  # error
            """,
            good="""
                import torch

                class Scale(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x, factor):
                        ctx.factor = factor
                        return x * factor

                    @staticmethod
                    def backward(ctx, grad):
                        return grad * ctx.factor, None

                w = torch.ones(3, requires_grad=True)
                Scale.apply(w, 2.0).sum().backward()
            """,
            raises="returned an incorrect number of gradients",
        ),
    )
    near_misses = (
        NearMiss(
            "gradients put together from tuples",
            """
                import torch

                class Scale(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, factor, *tensors):
                        ctx.count, ctx.factor = len(tensors), factor
                        return sum(tensors) * factor

                    @staticmethod
                    def backward(ctx, grad):
                        return (None,) + (grad * ctx.factor,) * ctx.count

                w = torch.rand(3, requires_grad=True)
                Scale.apply(2.0, w, w.exp()).sum().backward()
            """,
        ),
        NearMiss(
            "more than enough, the rest None",
            """
                import torch

                class Copy(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        return x.clone()

                    @staticmethod
                    def backward(ctx, grad):
                        return grad, None, None

                w = torch.ones(3, requires_grad=True)
                Copy.apply(w).sum().backward()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        yield diagnostic(
            self,
            event,
            text(
                "the backward of `{function}` returns fewer gradients than its forward takes arguments",
                function=_class_name(event),
            ),
            text("RuntimeError: returned an incorrect number of gradients"),
            why=text("each argument of forward needs a gradient in its place, None where it has none"),
            help=text("return one value for each argument of forward after ctx, None for numbers and flags"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        returned = edit.value(step_at(found, "returned"))
        missing = len(edit.parameters_of(returned, "forward")) - 1 - len(edit.elements(returned))
        told = edit.append(returned, ", None" * missing) if missing > 0 else ()
        yield fix(text("return None for what has no gradient"), told, "safe")


class FunctionPassesNoGradient(Rule):
    """The backward of a Function returns None for each of its inputs.

    ## Why it goes wrong

    None says that an input has no gradient. Nothing is raised: everything before the Function just never learns.

    ## What to do

    Return the gradient of each input that is to learn. For a rounding or another step without a derivative, pass the
    gradient on as it comes: `return grad, None`.
    """

    name = "function-passes-no-gradient"
    severity = "warning"
    words = (Word(rb"autograd\.Function"), Word(rb"import (?:\w+, *)*Function\b"))
    hears = ("function-passes-nothing",)
    examples = (
        Example(
            title="a rounding",
            bad="""
                import torch

                class Round(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        return x.round()

                    @staticmethod
                    def backward(ctx, grad):
                        return None  # error

                w = torch.ones(3, requires_grad=True)
                (Round.apply(w).sum() + torch.ones(1, requires_grad=True)).backward()
            """,
            good="""
                import torch

                class Round(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        return x.round()

                    @staticmethod
                    def backward(ctx, grad):
                        return grad

                w = torch.ones(3, requires_grad=True)
                (Round.apply(w).sum() + torch.ones(1, requires_grad=True)).backward()
            """,
            proof="w.grad is None",
        ),
    )
    near_misses = (
        NearMiss(
            "None only for a number",
            """
                import torch

                class Scale(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x, factor):
                        ctx.factor = factor
                        return x * factor

                    @staticmethod
                    def backward(ctx, grad):
                        return grad * ctx.factor, None

                Scale.apply(torch.ones(3, requires_grad=True), 2).sum().backward()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        function = _class_name(event)
        yield diagnostic(
            self,
            event,
            text("`{function}` passes no gradient on, so nothing before it learns", function=function),
            text("None for each input"),
            why=text("None in the place of a gradient says that there is none"),
            help=text("return the gradient of what is to learn; a rounding may pass it on as it comes"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        given = edit.elements(edit.value(found.place))
        came = edit.parameters(found.place)
        if len(came) == 2 and given and all(edit.code(one) == "None" for one in given):
            yield fix(text("pass the gradient on as it comes"), edit.replace(given[0], came[1]))


def _class_name(event: Event) -> str:
    return str(event.fields.get("function", "")).removesuffix("Backward")
