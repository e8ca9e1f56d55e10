"""The order of a training loop: clear, backward, step."""

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

STEP = Word(rb"\.step\(\)", file=rb"\.backward\(")


class GradientNotCleared(Rule):
    """A step uses gradients that the step before has used already.

    ## Why it goes wrong

    `backward` adds to `.grad`. What is not cleared is used again by each later step, and the sum grows with every round.

    ## What to do

    Call `optimizer.zero_grad()` in each round, before the backward. `model.zero_grad()` clears the parameters of that
    model alone, and not what else the optimizer holds.
    """

    name = "gradient-not-cleared"
    severity = "warning"
    words = (STEP,)
    hears = ("gradient-mixed",)
    examples = (
        Example(
            title="no zero_grad in the loop",
            bad="""
                import torch
                w = torch.ones(2, requires_grad=True)
                optimizer = torch.optim.SGD([w], lr=0.1)
                for _ in range(3):
                    loss = w.sum()
                    loss.backward()  # error
                    optimizer.step()  # cause
            """,
            good="""
                import torch
                w = torch.ones(2, requires_grad=True)
                optimizer = torch.optim.SGD([w], lr=0.1)
                for _ in range(3):
                    loss = w.sum()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            """,
            proof="w.grad.tolist() == [3, 3]",
        ),
        Example(
            title="zero_grad of the model, where the optimizer holds more",
            bad="""
                import torch
                model, scale = torch.nn.Linear(2, 1), torch.ones(1, requires_grad=True)
                optimizer = torch.optim.SGD([*model.parameters(), scale], lr=0.1)
                for _ in range(3):
                    loss = (model(torch.ones(1, 2)).detach() * 0 + scale).sum() + model(torch.ones(1, 2)).sum()
                    model.zero_grad()  # error
                    loss.backward()
                    optimizer.step()  # cause
            """,
            good="""
                import torch
                model, scale = torch.nn.Linear(2, 1), torch.ones(1, requires_grad=True)
                optimizer = torch.optim.SGD([*model.parameters(), scale], lr=0.1)
                for _ in range(3):
                    loss = (model(torch.ones(1, 2)).detach() * 0 + scale).sum() + model(torch.ones(1, 2)).sum()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            """,
            proof="scale.grad.item() == 3",
        ),
    )
    near_misses = (
        NearMiss(
            "two networks: the loss of one leaves gradients in the other, which clears them first",
            """
                import torch
                generator, critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                of_generator = torch.optim.SGD(generator.parameters(), lr=0.1)
                of_critic = torch.optim.SGD(critic.parameters(), lr=0.1)
                for _ in range(3):
                    fake = generator(torch.ones(1, 2))
                    of_critic.zero_grad()
                    critic(fake.detach()).sum().backward()
                    of_critic.step()
                    of_generator.zero_grad()
                    critic(fake).sum().backward()
                    of_generator.step()
            """,
        ),
        NearMiss(
            "gradients of several batches for one step",
            """
                import torch
                w = torch.ones(2, requires_grad=True)
                optimizer = torch.optim.SGD([w], lr=0.1)
                for number in range(8):
                    (w.sum() / 4).backward()
                    if (number + 1) % 4 == 0:
                        optimizer.step()
                        optimizer.zero_grad()
            """,
        ),
        NearMiss(
            "cleared by hand",
            """
                import torch
                w = torch.ones(2, requires_grad=True)
                optimizer = torch.optim.SGD([w], lr=0.1)
                for number in range(3):
                    w.sum().backward()
                    optimizer.step()
                    w.grad.zero_()
            """,
        ),
        NearMiss(
            "two backward passes for one step",
            """
                import torch
                w = torch.ones(2, requires_grad=True)
                optimizer = torch.optim.SGD([w], lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad(set_to_none=False)
                    w.sum().backward()
                    (w * 2).sum().backward()
                    optimizer.step()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        if event.fields.get("left_out"):
            yield diagnostic(
                self,
                event,
                text(
                    "this clears other gradients, and not that of `{name}`, which the optimizer moves too",
                    name=name,
                ),
                text("the gradient of `{name}` stays, and the next backward adds to it", name=name),
                why=text("backward adds to the gradients that are there"),
                help=text("call zero_grad() of the optimizer, which clears all that it holds"),
            )
            return
        yield diagnostic(
            self,
            event,
            text("this backward adds to gradients that a step has used already", name=name),
            text("the next step uses the sum"),
            why=text("backward adds to the gradients that are there"),
            help=text("call zero_grad() of the optimizer before the backward of each round"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        optimizer = _optimizer(found, edit)
        title = text("clear the gradients before each backward")
        if not optimizer:
            return
        if event.fields.get("left_out"):
            owner = edit.receiver(found.place, "zero_grad")
            yield fix(text("clear all that the optimizer holds"), edit.replace(owner, optimizer))
            return
        yield fix(title, edit.before(found.place, f"{optimizer}.zero_grad()"))


class ClipAfterStep(Rule):
    """Gradients are clipped after the step that uses them.

    ## Why it goes wrong

    The step has moved the parameters by the gradients as they were. What is clipped afterwards is dropped by the next
    `zero_grad`.

    ## What to do

    Clip between `backward()` and `step()`.
    """

    name = "clip-after-step"
    severity = "warning"
    words = (Word(rb"clip_grad_\w+\("),)
    hears = ("clip-after-step",)
    examples = (
        Example(
            title="clipped too late",
            bad="""
                import torch
                w = torch.zeros(2, requires_grad=True)
                optimizer = torch.optim.SGD([w], lr=1.0)
                optimizer.zero_grad()
                (w * 100).sum().backward()
                optimizer.step()  # cause
                torch.nn.utils.clip_grad_norm_([w], 1.0)  # error
            """,
            good="""
                import torch
                w = torch.zeros(2, requires_grad=True)
                optimizer = torch.optim.SGD([w], lr=1.0)
                optimizer.zero_grad()
                (w * 100).sum().backward()
                torch.nn.utils.clip_grad_norm_([w], 1.0)
                optimizer.step()
            """,
            proof="w.norm().item() > 100",
        ),
    )
    near_misses = (
        NearMiss(
            "clipped before each step",
            """
                import torch
                w = torch.zeros(2, requires_grad=True)
                optimizer = torch.optim.SGD([w], lr=1.0)
                for _ in range(3):
                    optimizer.zero_grad()
                    (w * 100).sum().backward()
                    torch.nn.utils.clip_grad_norm_([w], 1.0)
                    optimizer.step()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        yield diagnostic(
            self,
            event,
            text("these gradients are clipped after the step that has used them"),
            text("the step has been taken"),
            why=text("a step moves the parameters by the gradients as they are then"),
            help=text("clip between backward and step"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        yield fix(text("clip before the step"), edit.move(found.place, before=step_at(found, "step-taken")))


class ClipOfNothing(Rule):
    """Gradients are clipped where there are none.

    ## Why it goes wrong

    `parameters()` gives a generator, which can be walked once. When the optimizer has taken it, clipping finds nothing,
    with no more than a warning. Nor does it find anything between `zero_grad()` and the backward.

    ## What to do

    Keep a list, `params = list(model.parameters())`, or call `parameters()` again. Clip between the backward and the
    step. It is the parameters that are handed over, not the loss: what is computed keeps no gradient of its own.
    """

    name = "clip-of-nothing"
    severity = "warning"
    words = (Word(rb"clip_grad_\w+\("),)
    hears = ("clip-of-nothing",)
    examples = (
        Example(
            title="one generator for two",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                params = net.parameters()  # cause
                optimizer = torch.optim.SGD(params, lr=1.0)
                (net(torch.ones(1, 2)) * 100).sum().backward()
                torch.nn.utils.clip_grad_norm_(params, 1.0)  # error
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                params = list(net.parameters())
                optimizer = torch.optim.SGD(params, lr=1.0)
                (net(torch.ones(1, 2)) * 100).sum().backward()
                torch.nn.utils.clip_grad_norm_(params, 1.0)
            """,
            proof="net.weight.grad.norm().item() > 2",
        ),
        Example(
            title="before the backward",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                norms = []
                for _ in range(3):
                    optimizer.zero_grad()
                    norms.append(torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0))  # error
                    net(torch.ones(4, 2)).pow(2).mean().backward()  # cause
                    optimizer.step()
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                norms = []
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    norms.append(torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0))
                    optimizer.step()
            """,
            proof="all(norm == 0 for norm in norms)",
        ),
        Example(
            title="the loss instead of the parameters",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
                norms = []
                for _ in range(3):
                    loss = net(torch.ones(4, 2)).pow(2).sum()
                    optimizer.zero_grad()
                    loss.backward()
                    norms.append(torch.nn.utils.clip_grad_norm_(loss, 1.0))  # error
                    optimizer.step()
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
                norms = []
                for _ in range(3):
                    loss = net(torch.ones(4, 2)).pow(2).sum()
                    optimizer.zero_grad()
                    loss.backward()
                    norms.append(torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0))
                    optimizer.step()
            """,
            proof="all(norm == 0 for norm in norms)",
        ),
    )
    near_misses = (
        NearMiss(
            "a computed tensor that retains its gradient",
            """
                import torch
                net = torch.nn.Linear(2, 2)
                hidden = net(torch.ones(4, 2))
                hidden.retain_grad()
                hidden.pow(2).sum().backward()
                torch.nn.utils.clip_grad_norm_(hidden, 1.0)
            """,
        ),
        NearMiss(
            "parameters() called again",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
                net(torch.ones(1, 2)).sum().backward()
                torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        if not event.fields["of"]:
            yield diagnostic(
                self,
                event,
                text("nothing is clipped here: there are no gradients"),
                text("the gradients were cleared, and the backward comes later"),
                why=text("clipping changes the gradients that are there, once"),
                help=text("clip between the backward and the step"),
            )
            return
        if event.fields["of"] == "computed":
            yield diagnostic(
                self,
                event,
                text("nothing is clipped here: `{name}` is computed and has no `.grad`", name=name_of(event)),
                text("torch keeps the gradients of leaves only"),
                why=text("clipping changes the gradients that are there, once"),
                help=text("hand over the parameters, such as `net.parameters()`"),
            )
            return
        yield diagnostic(
            self,
            event,
            text("nothing is clipped here: the generator has been walked before"),
            text("it has nothing left to give"),
            why=text("a generator can be walked once"),
            help=text("keep a list of the parameters, or call parameters() again"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        yield fix(text("make a list of it"), edit.around(step_at(found, "generator"), "list("), "safe")


class OptimizerMadeAnew(Rule):
    """An optimizer is made anew for each step.

    ## Why it goes wrong

    Adam and its kin, and SGD with momentum, keep running means from step to step. A new optimizer begins with none, so
    each step is a first one.

    ## What to do

    Make the optimizer once, before the loop, and hand it to what takes the step.
    """

    name = "optimizer-made-anew"
    severity = "warning"
    words = (STEP,)
    hears = ("optimizer-remade",)
    examples = (
        Example(
            title="in the function of one step",
            bad="""
                import torch
                w = torch.ones(2, requires_grad=True)

                def train_step():
                    optimizer = torch.optim.Adam([w], lr=0.1)  # error
                    optimizer.zero_grad()
                    w.sum().backward()
                    optimizer.step()
                    return optimizer

                for _ in range(3):
                    optimizer = train_step()
            """,
            good="""
                import torch
                w = torch.ones(2, requires_grad=True)
                optimizer = torch.optim.Adam([w], lr=0.1)

                def train_step():
                    optimizer.zero_grad()
                    w.sum().backward()
                    optimizer.step()

                for _ in range(3):
                    train_step()
            """,
            proof="optimizer.state[w]['step'].item() == 1",
        ),
    )
    near_misses = (
        NearMiss(
            "one for each network",
            """
                import torch
                for fold in range(3):
                    net = torch.nn.Linear(2, 1)
                    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
                    optimizer.zero_grad()
                    net(torch.ones(1, 2)).sum().backward()
                    optimizer.step()
            """,
        ),
        NearMiss(
            "one for each phase",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                for lr in (0.1, 0.01):
                    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
                    for _ in range(3):
                        optimizer.zero_grad()
                        net(torch.ones(1, 2)).sum().backward()
                        optimizer.step()
            """,
        ),
        NearMiss(
            "nothing is kept from step to step",
            """
                import torch
                w = torch.ones(2, requires_grad=True)
                for _ in range(3):
                    optimizer = torch.optim.SGD([w], lr=0.1)
                    optimizer.zero_grad()
                    w.sum().backward()
                    optimizer.step()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        optimizer = str(event.fields["optimizer"])
        yield diagnostic(
            self,
            event,
            text(
                "{optimizer} is made anew for each step, and forgets what it keeps from step to step",
                optimizer=optimizer,
            ),
            text("each step is its first"),
            why=text("the running means of an optimizer live in it"),
            help=text("make the optimizer once, before the loop"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        loop = edit.loop(found.place)
        made = edit.statement(found.place)
        if loop is not None and not edit.names_in(edit.value(found.place)) & edit.bound_in(loop):
            yield fix(text("make the optimizer before the loop"), edit.move(made, before=loop))


def _optimizer(found: Diagnostic, edit: Editor) -> str:
    """How the function around the place calls the optimizer that took the step; empty where it may not."""
    step = step_at(found, "step-taken")
    name = edit.code(edit.receiver(step, "step"))
    here = edit.function(step) == edit.function(found.place) and edit.is_bound(found.place, name)
    if here or name.startswith("self."):
        return name
    return ""
