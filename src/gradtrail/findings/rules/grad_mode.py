"""Grad modes: how they are entered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import diagnostic, fix
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import text
from gradtrail.source.place import together
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor


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

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        yield fix(
            text("call it"), edit.after(edit.inside(found.place, str(event.fields["name"])), "()"), "safe"
        )


class GradModeNotEntered(Rule):
    """`torch.no_grad()` stands as a statement of its own.

    ## Why it goes wrong

    The call makes a context manager and changes nothing: grad mode is switched when a `with` block enters it. What
    follows is recorded as before.

    ## What to do

    Write `with torch.no_grad():` around the code, or `@torch.no_grad()` above the function. To switch without a block
    there is `torch.set_grad_enabled(False)`.
    """

    name = "grad-mode-not-entered"
    severity = "warning"
    words = tuple(
        Word(rb"%b\(" % mode, row=rb"^[ \t]*[\w.]*\b%b\(" % mode)
        for mode in (b"no_grad", b"enable_grad", b"inference_mode")
    )
    hears = ("mode-dropped",)
    examples = (
        Example(
            title="no_grad as a statement",
            bad="""
                import torch
                model = torch.nn.Linear(2, 1)

                def predict(x):
                    torch.no_grad()  # error
                    return model(x)

                out = predict(torch.ones(1, 2))
            """,
            good="""
                import torch
                model = torch.nn.Linear(2, 1)

                @torch.no_grad()
                def predict(x):
                    return model(x)

                out = predict(torch.ones(1, 2))
            """,
            proof="out.requires_grad",
        ),
    )
    near_misses = (
        NearMiss(
            "set_grad_enabled, which acts when it is called",
            """
                import torch
                torch.set_grad_enabled(False)
                torch.set_grad_enabled(True)
            """,
        ),
        NearMiss(
            "entered by hand",
            """
                import torch
                mode = torch.no_grad()
                mode.__enter__()
                mode.__exit__(None, None, None)
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        mode = str(event.fields["mode"])
        yield diagnostic(
            self,
            event,
            text("`{mode}()` is made here and never entered", mode=mode),
            text("grad mode stays as it was"),
            why=text("a grad mode acts as a `with` block or as a decorator"),
            help=text("write `with {mode}():` around the code, or `@{mode}()` above the function", mode=mode),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        mode = edit.code(edit.value(found.place))
        title = text("enter it")
        if edit.is_top_of_function(found.place) and not edit.says(found.place, "backward(", "yield"):
            yield fix(title, together(edit.drop(found.place), edit.decorate(found.place, mode)))
            return
        rest = edit.rest_of_block(found.place)
        if rest is not None:
            yield fix(title, together(edit.drop(found.place), edit.under(rest[0], f"with {mode}:", rest[1])))
