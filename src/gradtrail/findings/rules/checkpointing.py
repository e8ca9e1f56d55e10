"""Activation checkpoints: where a reentrant one cuts the graph, and where it cannot be used."""

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


class ReentrantCheckpointWithoutGrad(Rule):
    """A reentrant checkpoint has no input that requires grad: it never trains.

    ## Why it goes wrong

    With `use_reentrant=True`, which is the default of torch 2.13, the block runs under no_grad, and its output is tied
    to the graph through its inputs. If none of them requires grad, neither does the output: the parameters of the
    block get no gradient. There is only a warning.

    ## What to do

    Pass `use_reentrant=False`.
    """

    name = "reentrant-checkpoint-without-grad"
    severity = "warning"
    words = (Word(rb"checkpoint\(", row=rb"\bcheckpoint\("),)
    hears = ("checkpoint-cut",)
    examples = (
        Example(
            title="the first block of a network",
            bad="""
                import torch
                from torch.utils.checkpoint import checkpoint
                stem, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                h = checkpoint(stem, torch.ones(1, 2), use_reentrant=True)  # error
                head(h).sum().backward()
            """,
            good="""
                import torch
                from torch.utils.checkpoint import checkpoint
                stem, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                h = checkpoint(stem, torch.ones(1, 2), use_reentrant=False)
                head(h).sum().backward()
            """,
            proof="stem.weight.grad is None",
        ),
    )
    near_misses = (
        NearMiss(
            "an input requires grad",
            """
                import torch
                from torch.utils.checkpoint import checkpoint
                first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                checkpoint(second, first(torch.ones(1, 2)), use_reentrant=True).sum().backward()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        yield diagnostic(
            self,
            event,
            text("no input of this reentrant checkpoint requires grad, so what it runs never trains"),
            text("its output does not require grad"),
            why=text("a reentrant checkpoint runs under no_grad and is tied to the graph only by its inputs"),
            help=text("pass use_reentrant=False"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        yield fix(
            text("use the other kind of checkpoint"),
            edit.add_keyword(found.place, "use_reentrant", "False"),
            "safe",
        )


class GradThroughReentrantCheckpoint(Rule):
    """`autograd.grad`, or a backward to chosen inputs, passes a reentrant checkpoint.

    ## Why torch refuses it

    With `use_reentrant=True`, which is the default of torch 2.13, the checkpoint runs a whole backward of its own
    inside. That adds gradients to the leaves, so it cannot be part of a backward that leaves some of them out.

    ## What to do

    Pass `use_reentrant=False`, or call `backward()` without `inputs=`.
    """

    name = "grad-through-reentrant-checkpoint"
    words = (Word(rb"checkpoint\(", row=rb"\bcheckpoint\("),)
    hears = ("checkpoint-reentrant-grad",)
    examples = (
        Example(
            title="autograd.grad through a checkpoint",
            bad="""
                import torch
                from torch.utils.checkpoint import checkpoint
                x = torch.ones(2, requires_grad=True)
                y = checkpoint(torch.sin, x, use_reentrant=True).sum()  # cause
                torch.autograd.grad(y, x)  # error
            """,
            good="""
                import torch
                from torch.utils.checkpoint import checkpoint
                x = torch.ones(2, requires_grad=True)
                y = checkpoint(torch.sin, x, use_reentrant=False).sum()
                torch.autograd.grad(y, x)
            """,
            raises="torch.utils.checkpoint is incompatible with",
        ),
        Example(
            title="a backward to chosen inputs",
            bad="""
                import torch
                from torch.utils.checkpoint import checkpoint
                first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                y = checkpoint(second, first(torch.ones(1, 2)), use_reentrant=True).sum()  # cause
                y.backward(inputs=list(first.parameters()))  # error
            """,
            good="""
                import torch
                from torch.utils.checkpoint import checkpoint
                first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                y = checkpoint(second, first(torch.ones(1, 2)), use_reentrant=False).sum()
                y.backward(inputs=list(first.parameters()))
            """,
            raises="torch.utils.checkpoint is incompatible with",
        ),
    )
    near_misses = (
        NearMiss(
            "the way to the inputs does not pass the checkpoint",
            """
                import torch
                from torch.utils.checkpoint import checkpoint
                first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                y = checkpoint(first, torch.ones(1, 2, requires_grad=True), use_reentrant=True)
                z = torch.ones(1, 2, requires_grad=True)
                torch.autograd.grad(second(y + z).sum(), z)
            """,
        ),
        NearMiss(
            "a whole backward",
            """
                import torch
                from torch.utils.checkpoint import checkpoint
                x = torch.ones(2, requires_grad=True)
                checkpoint(torch.sin, x, use_reentrant=True).sum().backward()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        yield diagnostic(
            self,
            event,
            text("this backward goes only to some tensors, and passes a reentrant checkpoint on the way"),
            text("RuntimeError: torch.utils.checkpoint is incompatible with .grad()"),
            why=text("a reentrant checkpoint runs a whole backward of its own inside"),
            help=text("pass use_reentrant=False to checkpoint"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        at = step_at(found, "checkpointed")
        yield fix(
            text("use the other kind of checkpoint"), edit.add_keyword(at, "use_reentrant", "False"), "safe"
        )
