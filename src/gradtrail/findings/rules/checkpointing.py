"""Activation checkpoints that cut the graph."""

from __future__ import annotations

from collections.abc import Iterator

from gradtrail.findings.diagnostic import Diagnostic
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import diagnostic
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import text
from gradtrail.source.words import Word


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
