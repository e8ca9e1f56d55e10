"""Modules that DistributedDataParallel wraps, used past the wrapper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import diagnostic, fix
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import text
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor

_BEGIN = """
                import os, tempfile
                import torch
                import torch.distributed as dist
                from torch.nn.parallel import DistributedDataParallel
                dist.init_process_group("gloo", init_method="file://" + tempfile.mktemp(), rank=0, world_size=1)
"""


class DdpBypassed(Rule):
    """A loss is computed with the module inside a DDP wrapper, past the wrapper.

    ## Why it goes wrong

    A call of the wrapper prepares it to average the gradients of the next backward over all ranks. A call of
    `wrapper.module`, or of a method of it, does not: each rank keeps its own gradients, and the copies of the model
    drift apart without a word.

    ## What to do

    Call the wrapper itself. What another method computes, the loss say, belongs in `forward`.
    """

    name = "ddp-bypassed"
    severity = "error"
    words = (Word(rb"\.module\b", file=rb"DistributedDataParallel", run=True),)
    hears = ("ddp-bypassed",)
    examples = (
        Example(
            title="the module inside is called",
            bad=_BEGIN
            + """
                wrapper = DistributedDataParallel(torch.nn.Linear(2, 1))
                optimizer = torch.optim.SGD(wrapper.parameters(), lr=0.1)
                calls = []
                wrapper.register_forward_hook(lambda *_: calls.append(1))
                for _ in range(2):
                    loss = wrapper.module(torch.ones(4, 2)).sum()  # error
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                dist.destroy_process_group()
            """,
            good=_BEGIN
            + """
                wrapper = DistributedDataParallel(torch.nn.Linear(2, 1))
                optimizer = torch.optim.SGD(wrapper.parameters(), lr=0.1)
                calls = []
                wrapper.register_forward_hook(lambda *_: calls.append(1))
                for _ in range(2):
                    loss = wrapper(torch.ones(4, 2)).sum()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                dist.destroy_process_group()
            """,
            proof="calls == []",
        ),
    )
    near_misses = (
        NearMiss(
            "evaluated past the wrapper",
            _BEGIN
            + """
                wrapper = DistributedDataParallel(torch.nn.Linear(2, 1))
                optimizer = torch.optim.SGD(wrapper.parameters(), lr=0.1)
                for _ in range(2):
                    optimizer.zero_grad()
                    wrapper(torch.ones(4, 2)).sum().backward()
                    optimizer.step()
                    with torch.no_grad():
                        wrapper.module(torch.ones(4, 2))
                torch.save(wrapper.module.state_dict(), os.devnull)
                dist.destroy_process_group()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        wrapper = str(event.fields["wrapper"])
        yield diagnostic(
            self,
            event,
            text(
                "the loss is computed past `{wrapper}`: its gradients are not averaged over the ranks",
                wrapper=wrapper,
            ),
            text("the wrapper's forward is not called"),
            why=text("only a call of the wrapper prepares the averaging of the gradients that follow"),
            help=text("call `{wrapper}` itself, and let forward compute the loss", wrapper=wrapper),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        wrapper, called = str(event.fields["wrapper"]), edit.called(found.place)
        code = edit.code(called)
        if code.removesuffix(".forward") == f"{wrapper}.module" or edit.code(
            edit.binding(found.place, code) if code.isidentifier() else None
        ) == (f"{wrapper}.module"):
            yield fix(text("call `{wrapper}` itself", wrapper=wrapper), edit.replace(called, wrapper))
