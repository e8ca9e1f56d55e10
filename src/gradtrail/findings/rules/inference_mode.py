"""Tensors made in inference mode, outside of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import diagnostic, fix, name_of, step_at
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import text
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor


class InferenceTensorInBackward(Rule):
    """A tensor made in inference mode is used where a backward has to keep it.

    ## Why torch refuses it

    Inference mode leaves out what autograd needs, the version counter first of all. So such a tensor cannot be kept
    for backward: a layer keeps its input for the gradient of its weight.

    ## What to do

    Make it under `torch.no_grad()` instead, or `clone()` it outside of inference mode.
    """

    name = "inference-tensor-in-backward"
    words = (Word(rb"inference_mode"),)
    hears = ("inference-saved", "inference-in-place")
    examples = (
        Example(
            title="cached features train a probe",
            bad="""
                import torch
                body, probe = torch.nn.Linear(2, 4), torch.nn.Linear(4, 1)
                with torch.inference_mode():  # cause
                    features = body(torch.ones(3, 2))
                probe(features).sum().backward()  # error
            """,
            good="""
                import torch
                body, probe = torch.nn.Linear(2, 4), torch.nn.Linear(4, 1)
                with torch.no_grad():
                    features = body(torch.ones(3, 2))
                probe(features).sum().backward()
            """,
            raises="Inference tensors cannot be saved for backward",
        ),
    )
    near_misses = (
        NearMiss(
            "cloned outside",
            """
                import torch
                body, probe = torch.nn.Linear(2, 4), torch.nn.Linear(4, 1)
                with torch.inference_mode():
                    features = body(torch.ones(3, 2))
                probe(features.clone()).sum().backward()
            """,
        ),
        NearMiss(
            "an addition keeps nothing",
            """
                import torch
                w = torch.ones(2, requires_grad=True)
                with torch.inference_mode():
                    shift = torch.ones(2) * 2
                (w + shift).sum().backward()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        saved = event.kind == "inference-saved"
        yield diagnostic(
            self,
            event,
            text("`{name}` was made in inference mode and cannot be kept for backward", name=name)
            if saved
            else text("`{name}` was made in inference mode and cannot be written outside of it", name=name),
            text("RuntimeError: Inference tensors cannot be saved for backward")
            if saved
            else text(
                "RuntimeError: Inplace update to inference tensor outside InferenceMode is not allowed"
            ),
            why=text("inference mode leaves out what autograd needs, the version counter first of all"),
            help=text(
                "use torch.no_grad() instead of inference_mode, or clone `{name}` outside of it", name=name
            ),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        yield _no_grad_instead(found, edit)


class RequiresGradOnInferenceTensor(Rule):
    """A tensor made in inference mode is asked to require grad outside of it.

    ## Why torch refuses it

    An inference tensor has no version counter and takes part in no graph.

    ## What to do

    Make it under `torch.no_grad()`, or `clone()` it outside of inference mode and ask the clone.
    """

    name = "requires-grad-on-inference-tensor"
    words = (Word(rb"inference_mode"),)
    hears = ("inference-requires-grad",)
    examples = (
        Example(
            title="features become an input",
            bad="""
                import torch
                with torch.inference_mode():  # cause
                    z = torch.ones(2) * 2
                z.requires_grad_()  # error
            """,
            good="""
                import torch
                with torch.no_grad():
                    z = torch.ones(2) * 2
                z.requires_grad_()
            """,
            raises="Setting requires_grad=True on inference tensor outside InferenceMode",
        ),
    )
    near_misses = (
        NearMiss(
            "a clone outside",
            """
                import torch
                with torch.inference_mode():
                    z = torch.ones(2) * 2
                z = z.clone().requires_grad_()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        yield diagnostic(
            self,
            event,
            text("`{name}` was made in inference mode and cannot require grad outside of it", name=name),
            text(
                "RuntimeError: Setting requires_grad=True on inference tensor outside InferenceMode is not allowed"
            ),
            why=text("an inference tensor takes part in no graph"),
            help=text(
                "use torch.no_grad() instead of inference_mode, or clone `{name}` outside of it", name=name
            ),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        yield _no_grad_instead(found, edit)


def _no_grad_instead(found: Diagnostic, edit: Editor) -> Fix:
    """No-grad mode where inference mode begins."""
    return fix(
        text("use no_grad instead"),
        edit.rename_call(step_at(found, "entered"), "inference_mode", "no_grad"),
        "safe",
    )
