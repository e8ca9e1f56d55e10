"""Grad modes: how they are entered."""

from __future__ import annotations

from collections.abc import Iterator

from gradtrail.findings.diagnostic import Diagnostic
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import diagnostic
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import text
from gradtrail.source.words import Word


class UncalledGradMode(Rule):
    """A grad mode stands in a `with` statement without parentheses.

    ## Why torch refuses it

    `torch.no_grad` is a class; only an object of it can be entered. As a decorator it works with and without
    parentheses, as a context it does not.

    ## What to do

    Write `with torch.no_grad():`.
    """

    name = "uncalled-grad-mode"
    words = (Word(rb"with torch\.(?:no_grad|enable_grad|inference_mode)\b(?!\()"),)
    hears = ("no-grad-not-called",)
    examples = (
        Example(
            title="no parentheses",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                with torch.no_grad:  # error
                    y = net(torch.ones(3, 2))
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                with torch.no_grad():
                    y = net(torch.ones(3, 2))
            """,
            raises="object does not support the context manager protocol",
        ),
    )
    near_misses = (
        NearMiss(
            "a decorator needs no parentheses",
            """
                import torch

                @torch.no_grad
                def predict(net, x):
                    return net(x)

                y = predict(torch.nn.Linear(2, 1), torch.ones(3, 2))
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = event.fields["name"]
        yield diagnostic(
            self,
            event,
            text("`{name}` is not called, and a class cannot be entered", name=name),
            text("TypeError: 'type' object does not support the context manager protocol"),
            why=text("as a decorator a grad mode needs no parentheses, as a context it does"),
            help=text("write `with {name}():`", name=name),
        )
