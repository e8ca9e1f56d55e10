"""Evaluation mode: what it does not switch off, and what leaves it on."""

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
    from gradtrail.source.place import Edits, Place


class EvaluationRecorded(Rule):
    """A module is evaluated with grad mode on, and no backward uses the result.

    ## Why it goes wrong

    `eval()` changes what dropout and batch norm do, not whether operations are recorded. Each call builds a graph, and
    what a backward would need is kept for as long as the result is kept.

    ## What to do

    Evaluate under `torch.no_grad()` or `torch.inference_mode()`.
    """

    name = "evaluation-recorded"
    severity = "warning"
    words = (Word(rb"\.eval\(\)", file=rb"\.backward\(", run=True),)
    hears = ("evaluation-recorded",)
    examples = (
        Example(
            title="outputs collected in evaluation",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                def evaluate():
                    net.eval()
                    found = []
                    for _ in range(3):
                        found.append(net(torch.ones(4, 2)))  # error
                    net.train()
                    return found
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
                    found = evaluate()
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                @torch.no_grad()
                def evaluate():
                    net.eval()
                    found = []
                    for _ in range(3):
                        found.append(net(torch.ones(4, 2)))
                    net.train()
                    return found
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
                    found = evaluate()
            """,
            proof="found[0].requires_grad",
        ),
    )
    near_misses = (
        NearMiss(
            "a saliency map: a backward in evaluation mode",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    net.train()
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
                    net.eval()
                    x = torch.ones(4, 2, requires_grad=True)
                    net(x).sum().backward()
            """,
        ),
        NearMiss(
            "features of a frozen network",
            """
                import torch
                backbone, head = torch.nn.Linear(2, 2).requires_grad_(False).eval(), torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    head(backbone(torch.ones(4, 2))).pow(2).mean().backward()
                    optimizer.step()
            """,
        ),
        NearMiss(
            "trained in evaluation mode, to keep the statistics of batch norm",
            """
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 1))
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                net.eval()
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        module = str(event.fields["module"])
        yield diagnostic(
            self,
            event,
            text(
                "`{module}` is evaluated with grad mode on: a graph is recorded that no backward uses",
                module=module,
            ),
            text("the result requires grad"),
            why=text("`eval()` does not switch grad mode off"),
            help=text("evaluate under `torch.no_grad()`"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        at, title = found.place, text("evaluate under `torch.no_grad()`")
        path, imports = edit.name_for(at, "torch.no_grad")
        if edit.function(at) is not None and not edit.says(at, ".eval("):
            return  # others may call this function to train
        begin = edit.body(edit.function(at))[:_FIRST]
        if any(".eval(" in edit.code(one) for one in begin) and not edit.says(at, *_TRAINS):
            decorated = edit.decorate(at, f"{path}()")
            yield fix(title, (*decorated, *imports) if decorated else ())
        loop = edit.loop(at)
        if loop is not None and not any(word in edit.code(loop) for word in (".eval(", *_TRAINS)):
            under = edit.under(loop, f"with {path}():")
            yield fix(title, (*under, *imports) if under else ())
        under = edit.under(at, f"with {path}():")
        yield fix(title, (*under, *imports) if under else ())


class EvaluationLeftOn(Rule):
    """After the first round a model is trained in evaluation mode.

    ## Why it goes wrong

    `eval()` holds until `train()` is called. Dropout lets everything through from then on, and batch norm neither
    uses the statistics of the batches that the model is trained on nor updates its own.

    ## What to do

    Call `model.train()` at the beginning of each round, before the batches.
    """

    name = "evaluation-left-on"
    severity = "warning"
    words = (Word(rb"\.eval\(\)", file=rb"\.backward\(", run=True),)
    hears = ("evaluation-left-on",)
    examples = (
        Example(
            title="train() is called once, before the loop",
            bad="""
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                net.train()
                modes = []
                for _ in range(3):
                    modes.append(net.training)
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
                    net.eval()  # error
                    with torch.no_grad():
                        print(net(torch.ones(4, 2)).mean())
            """,
            good="""
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                modes = []
                for _ in range(3):
                    net.train()
                    modes.append(net.training)
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
                    net.eval()
                    with torch.no_grad():
                        print(net(torch.ones(4, 2)).mean())
            """,
            proof="modes == [True, False, False]",
        ),
        Example(
            title="an evaluation every few rounds",
            bad="""
                import torch
                def train(net, every):
                    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                    modes = []
                    for epoch in range(4):
                        modes.append(net.training)
                        optimizer.zero_grad()
                        net(torch.ones(4, 2)).pow(2).mean().backward()
                        optimizer.step()
                        if epoch % every == 0:
                            net.eval()  # error
                            with torch.no_grad():
                                print(net(torch.ones(4, 2)).mean())
                    return modes
                modes = train(torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.5)), int("2"))
            """,
            good="""
                import torch
                def train(net, every):
                    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                    modes = []
                    for epoch in range(4):
                        net.train()
                        modes.append(net.training)
                        optimizer.zero_grad()
                        net(torch.ones(4, 2)).pow(2).mean().backward()
                        optimizer.step()
                        if epoch % every == 0:
                            net.eval()
                            with torch.no_grad():
                                print(net(torch.ones(4, 2)).mean())
                    return modes
                modes = train(torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.5)), int("2"))
            """,
            proof="modes == [True, False, False, False]",
        ),
    )
    near_misses = (
        NearMiss(
            "evaluated behind the last round",
            """
                import torch
                def train(net, last):
                    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                    for epoch in range(4):
                        optimizer.zero_grad()
                        net(torch.ones(4, 2)).pow(2).mean().backward()
                        optimizer.step()
                        if epoch == last:
                            net.eval()
                            with torch.no_grad():
                                print(net(torch.ones(4, 2)).mean())
                train(torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.5)), int("3"))
            """,
        ),
        NearMiss(
            "first trained, then tuned with the statistics kept",
            """
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 1))
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
                net.eval()
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
            """,
        ),
        NearMiss(
            "a model in which evaluation changes nothing",
            """
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
                    net.eval()
            """,
        ),
        NearMiss(
            "train() after each evaluation",
            """
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
                    net.eval()
                    with torch.no_grad():
                        print(net(torch.ones(4, 2)).mean())
                    net.train()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        yield diagnostic(
            self,
            event,
            text("evaluation mode stays on: the rounds that follow train in it"),
            text("no train() follows before the next backward"),
            why=text("`eval()` holds until `train()` is called"),
            help=text("call `train()` at the beginning of each round"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        model, trained = edit.receiver(found.place, "eval"), step_at(found, "trained")
        line, loop = f"{edit.code(model)}.train()", edit.loop(found.place)
        title = text("call `train()` at the beginning of each round")
        if model is None:
            return
        if edit.function(found.place) == edit.function(trained):
            yield fix(title, edit.before(edit.first_in(loop), line))
            return
        known, batches = str(event.fields["model"]), edit.loop(trained)
        if known:
            yield fix(title, edit.before(batches, f"{known}.train()"))
            yield fix(title, edit.before(edit.first_in(batches), f"{known}.train()"))
        if loop is None:
            ended = _at_the_end(edit, found.place, model, line)
            yield fix(text("call `train()` after the evaluation"), ended)


_TRAINS = (".backward(", ".step(", "autograd", "requires_grad", ".grad")
"""What a function or a loop says in which more is done than evaluation."""


def _at_the_end(edit: Editor, place: Place, model: Place, line: str) -> Edits:
    """`line` at the end of the function around `place`, unless what it returns calls the model."""
    return () if f"{edit.code(model)}(" in edit.returned(place) else edit.end_of(place, line)


_FIRST = 3
"""A function that evaluates says so in its first statements."""
