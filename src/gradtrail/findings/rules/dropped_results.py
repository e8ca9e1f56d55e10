"""Calls whose only effect is their result, and whose result nobody takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import code_of, diagnostic, fix, is_target, name_of
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import text
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor


def _statement(methods: bytes) -> Word:
    """A row that is nothing but the call of one of `methods`."""
    return Word(rb"\.(?:%b)\(" % methods, row=rb"^[ \t]*[\w.\[\]]+\.(?:%b)\(.*\)[ \t\r]*(?:#.*)?$" % methods)


class DroppedResult(Rule):
    """The result of a method that changes nothing in place is dropped.

    ## Why it goes wrong

    `detach()`, `to()`, `cpu()`, `float()`, `reshape()` and their kin return another tensor and leave the one
    they are called on as it is. For a module it is different: `model.to(device)` moves its parameters in place.

    ## What to do

    Keep the result: `x = x.to(device)`. To cut history in place there is `detach_()`.
    """

    name = "dropped-result"
    severity = "warning"
    words = (
        _statement(rb"detach|to|cuda|cpu|float|double|half|long|int|type"),
        _statement(rb"reshape|view|squeeze|unsqueeze|permute|transpose|clone|contiguous"),
    )
    hears = ("result-dropped",)
    examples = (
        Example(
            title="detach as a statement",
            bad="""
                import torch
                w = torch.ones(2, requires_grad=True)
                y = w * 2
                y.detach()  # error
            """,
            good="""
                import torch
                w = torch.ones(2, requires_grad=True)
                y = w * 2
                y = y.detach()
            """,
            proof="y.requires_grad",
        ),
        Example(
            title="a conversion as a statement",
            bad="""
                import torch
                labels = torch.tensor([0, 1, 1])
                labels.float()  # error
            """,
            good="""
                import torch
                labels = torch.tensor([0, 1, 1])
                labels = labels.float()
            """,
            proof="labels.dtype == torch.int64",
        ),
        Example(
            title="of what a function of torch makes of its arguments",
            bad="""
                import torch


                def merge_heads(weights, values, heads, width):
                    out = torch.matmul(weights, values)
                    out.reshape(heads, width)  # error
                    return out
            """,
            good="""
                import torch


                def merge_heads(weights, values, heads, width):
                    out = torch.matmul(weights, values)
                    return out.reshape(heads, width)
            """,
            proof="merge_heads(torch.ones(6, 2), torch.ones(2), 2, 3).shape == (6,)",
        ),
    )
    near_misses = (
        NearMiss(
            "a module is moved and converted in place",
            """
                import torch
                net = torch.nn.Linear(2, 2)
                net.double()
                net.to("cpu")
            """,
        ),
        NearMiss(
            "a trailing underscore means in place",
            """
                import torch
                y = torch.ones(2, requires_grad=True) * 2
                y.detach_()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, operation, arguments = name_of(event), event.fields["op"], event.fields["arguments"]
        yield diagnostic(
            self,
            event,
            text("the result of `{op}` is dropped: `{name}` stays as it was", op=operation, name=name),
            text("returns another tensor, which nobody keeps"),
            why=text("a method of a tensor without a trailing underscore changes nothing in place"),
            help=text(
                "keep the result: `{name} = {name}.{op}({arguments})`",
                name=name,
                op=operation,
                arguments=arguments,
            )
            if is_target(event)
            else text(
                "keep the result of `{code}.{op}({arguments})`",
                code=code_of(event),
                op=operation,
                arguments=arguments,
            ),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        if is_target(event):
            kept = edit.assign_to(found.place, name_of(event))
            yield fix(text("keep the result"), kept)
