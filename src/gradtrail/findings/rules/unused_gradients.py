"""Gradients that no step uses as they are: never stepped, cleared too early, summed where a mean was meant."""

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

BACKWARD = Word(rb"\.backward\(", file=rb"optim", run=True)


class OptimizerNeverStepped(Rule):
    """Gradients are computed in each round, and their optimizer never makes a step.

    ## Why it goes wrong

    `backward` only computes gradients; `optimizer.step()` moves the parameters. Without it, or under a condition that
    is never true, the loop runs and nothing learns.

    ## What to do

    Call `optimizer.step()` after the backward. Where gradients of several batches are added up, step at the last batch
    as well.

    ## The fix

    Where the condition of the step is never true, it makes one step behind the loop, with all the gradients that were
    added up.
    """

    name = "optimizer-never-stepped"
    severity = "warning"
    words = (BACKWARD,)
    hears = ("never-stepped",)
    examples = (
        Example(
            title="a step after more batches than there are",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                first = net.weight.detach().clone()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for number, x in enumerate(torch.ones(6, 4, 2)):
                    (net(x).pow(2).mean() / 8).backward()  # cause
                    if (number + 1) % 8 == 0:  # error
                        optimizer.step()
                        optimizer.zero_grad()
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                first = net.weight.detach().clone()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for number, x in enumerate(torch.ones(6, 4, 2)):
                    (net(x).pow(2).mean() / 3).backward()
                    if (number + 1) % 3 == 0:
                        optimizer.step()
                        optimizer.zero_grad()
            """,
            proof="torch.equal(net.weight, first)",
        ),
        Example(
            title="step is left out",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                first = net.weight.detach().clone()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)  # error
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()  # cause
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                first = net.weight.detach().clone()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
            """,
            proof="torch.equal(net.weight, first)",
        ),
    )
    near_misses = (
        NearMiss(
            "steps that the program makes itself",
            """
                import torch

                model = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    model(torch.ones(4, 2)).mean().backward()
                    with torch.no_grad():
                        for parameter in model.parameters():
                            parameter.add_(parameter.grad, alpha=-0.1)
            """,
        ),
        NearMiss(
            "one backward outside of any loop, to look at gradients",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                net(torch.ones(4, 2)).pow(2).mean().backward()
                print(net.weight.grad)
            """,
        ),
        NearMiss(
            "another optimizer moves the same parameters",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                warm = torch.optim.SGD(net.parameters(), lr=0.1)
                optimizer = torch.optim.Adam(net.parameters())
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
            """,
        ),
        NearMiss(
            "the step is made where it cannot be seen",
            """
                import operator
                import torch
                advance = operator.methodcaller("step")
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    advance(optimizer)
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        optimizer = str(event.fields["optimizer"])
        skipped = event.fields["skipped"] is True
        yield diagnostic(
            self,
            event,
            text("{optimizer} never makes a step: the gradients move nothing", optimizer=optimizer),
            text("this is never true here, and the step depends on it")
            if skipped
            else text("made here, and no step of it follows"),
            why=text("`backward` computes gradients; only `step` moves parameters"),
            help=text("step at the last round too, or after fewer rounds")
            if skipped
            else text("call `step()` after the backward"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        if event.fields["skipped"] is True:
            yield fix(text("step with what is left, behind the loop"), _rest(edit, found.place))
            return
        name, backward = edit.code(edit.target(found.place)), step_at(found, "backward-adds")
        here = edit.function(found.place) == edit.function(backward) or name.startswith("self.")
        yield fix(
            text("call `step()` after the backward"),
            edit.behind(backward, f"{name}.step()") if name and here else (),
        )


class GradientClearedBeforeStep(Rule):
    """Gradients are cleared between the backward and the step.

    ## Why it goes wrong

    `zero_grad()` sets every `.grad` to None, and a step skips parameters that have none. Where a step is made only every few
    rounds, to add up their gradients, and each round clears, the step uses those of the last round alone.

    ## What to do

    Clear before the backward, or after the step. Where gradients are added up, clear where the step is made.
    """

    name = "gradient-cleared-before-step"
    severity = "warning"
    words = (BACKWARD,)
    hears = ("cleared-before-step",)
    examples = (
        Example(
            title="zero_grad in the wrong place",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                first = net.weight.detach().clone()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    net(torch.ones(4, 2)).pow(2).mean().backward()  # cause
                    optimizer.zero_grad()  # error
                    optimizer.step()  # cause
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                first = net.weight.detach().clone()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
            """,
            proof="torch.equal(net.weight, first)",
        ),
        Example(
            title="gradients that are to be added up, cleared in each round",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                every, added = 4, []
                for i in range(8):
                    optimizer.zero_grad()  # error
                    (net(torch.ones(1, 2)).sum() / every).backward()
                    if i % every == every - 1:
                        added.append(net.weight.grad.clone())
                        optimizer.step()
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                every, added = 4, []
                for i in range(8):
                    (net(torch.ones(1, 2)).sum() / every).backward()
                    if i % every == every - 1:
                        added.append(net.weight.grad.clone())
                        optimizer.step()
                        optimizer.zero_grad()
            """,
            proof="added[0][0, 0] == 0.25",
        ),
    )
    near_misses = (
        NearMiss(
            "cleared for the first network in each round, as the second one's backward adds to it",
            """
                import torch
                generator, critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                of_generator = torch.optim.SGD(generator.parameters(), lr=0.1)
                of_critic = torch.optim.SGD(critic.parameters(), lr=0.1)
                for i in range(8):
                    of_generator.zero_grad()
                    of_critic.zero_grad()
                    critic(generator(torch.ones(1, 2))).sum().backward()
                    of_critic.step()
                    if i % 4 == 3:
                        of_generator.zero_grad()
                        (-critic(generator(torch.ones(1, 2)))).sum().backward()
                        of_generator.step()
            """,
        ),
        NearMiss(
            "what is left over at the end of an epoch is cleared",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for epoch in range(3):
                    optimizer.zero_grad()
                    for i in range(10):
                        (net(torch.ones(4, 2)).pow(2).mean() / 4).backward()
                        if i % 4 == 3:
                            optimizer.step()
                            optimizer.zero_grad()
            """,
        ),
        NearMiss(
            "cleared after the step",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
                    optimizer.zero_grad()
            """,
        ),
        NearMiss(
            "one network's gradients are cleared, the other's step follows",
            """
                import torch
                generator, critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                of_generator = torch.optim.SGD(generator.parameters(), lr=0.1)
                of_critic = torch.optim.SGD(critic.parameters(), lr=0.1)
                for _ in range(3):
                    critic(generator(torch.ones(1, 2))).sum().backward()
                    of_critic.zero_grad()
                    of_generator.step()
                    of_generator.zero_grad()
                    critic(torch.ones(1, 2)).sum().backward()
                    of_critic.step()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        optimizer = str(event.fields["optimizer"])
        if "step" in event.fields:
            yield diagnostic(
                self,
                event,
                text(
                    "each round clears the gradients, and {optimizer} makes a step only every few rounds",
                    optimizer=optimizer,
                ),
                text("what the rounds before this one have added is gone"),
                why=text("a step uses what has been added since the gradients were cleared"),
                help=text("clear the gradients where the step is made, behind it"),
            )
            return
        yield diagnostic(
            self,
            event,
            text("gradients are cleared before {optimizer} has used them", optimizer=optimizer),
            text("the step after this finds none"),
            why=text("a step skips parameters whose `.grad` is None"),
            help=text("clear before the backward, or after the step"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        if "step" in event.fields:
            behind = edit.move(found.place, behind=event.fields["step"])
            yield fix(text("clear the gradients after the step"), behind)
            return
        backward, step = step_at(found, "backward-adds"), step_at(found, "no-gradient")
        title = text("clear the gradients before each backward")
        if edit.same_block(found.place, backward):
            yield fix(title, edit.move(found.place, before=backward))
        elif edit.same_block(found.place, step):
            yield fix(text("clear the gradients after the step"), edit.move(found.place, behind=step))


class AccumulationNotScaled(Rule):
    """The means over parts of a batch are added up for one step, not averaged.

    ## Why it goes wrong

    The gradients of each backward are added. The sum of the means over `n` equal parts is `n` times the mean over
    all of them, and the step of plain gradient descent is `n` times as long.

    ## What to do

    Divide each loss by the number of parts before its backward.

    ## The fix

    It makes the steps shorter. A learning rate that was chosen for the sum may be too small for the mean.
    """

    name = "accumulation-not-scaled"
    severity = "warning"
    words = (BACKWARD,)
    hears = ("sum-of-means",)
    examples = (
        Example(
            title="the parts of one batch",
            bad="""
                import torch
                net, x, y = torch.nn.Linear(2, 1), torch.randn(8, 2), torch.randn(8, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                optimizer.zero_grad()
                for part, aim in zip(x.chunk(4), y.chunk(4)):
                    loss = torch.nn.functional.mse_loss(net(part), aim)  # cause
                    loss.backward()  # error
                whole = torch.autograd.grad(torch.nn.functional.mse_loss(net(x), y), net.weight)[0]
                ratio = (net.weight.grad / whole).mean()
                optimizer.step()
            """,
            good="""
                import torch
                net, x, y = torch.nn.Linear(2, 1), torch.randn(8, 2), torch.randn(8, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                optimizer.zero_grad()
                for part, aim in zip(x.chunk(4), y.chunk(4)):
                    loss = torch.nn.functional.mse_loss(net(part), aim) / 4
                    loss.backward()
                whole = torch.autograd.grad(torch.nn.functional.mse_loss(net(x), y), net.weight)[0]
                ratio = (net.weight.grad / whole).mean()
                optimizer.step()
            """,
            proof="abs(ratio - 4) < 0.01",
        ),
    )
    near_misses = (
        NearMiss(
            "sums instead of means",
            """
                import torch
                net, x, y = torch.nn.Linear(2, 1), torch.randn(8, 2), torch.randn(8, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                optimizer.zero_grad()
                for part, aim in zip(x.chunk(4), y.chunk(4)):
                    torch.nn.functional.mse_loss(net(part), aim, reduction="sum").backward()
                optimizer.step()
            """,
        ),
        NearMiss(
            "an optimizer to which the scale makes no difference",
            """
                import torch
                net, x, y = torch.nn.Linear(2, 1), torch.randn(8, 2), torch.randn(8, 1)
                optimizer = torch.optim.Adam(net.parameters())
                optimizer.zero_grad()
                for part, aim in zip(x.chunk(4), y.chunk(4)):
                    torch.nn.functional.mse_loss(net(part), aim).backward()
                optimizer.step()
            """,
        ),
        NearMiss(
            "a step for each part",
            """
                import torch
                net, x, y = torch.nn.Linear(2, 1), torch.randn(8, 2), torch.randn(8, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for part, aim in zip(x.chunk(4), y.chunk(4)):
                    optimizer.zero_grad()
                    torch.nn.functional.mse_loss(net(part), aim).backward()
                    optimizer.step()
            """,
        ),
        NearMiss(
            "the losses of two tasks on one batch",
            """
                import torch
                net, x, y = torch.nn.Linear(2, 1), torch.randn(8, 2), torch.randn(8, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for part, aim in zip(x.chunk(4), y.chunk(4)):
                    optimizer.zero_grad()
                    for task in range(2):
                        torch.nn.functional.mse_loss(net(part), aim + task).backward()
                    optimizer.step()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        yield diagnostic(
            self,
            event,
            text("means over the parts of a batch are added up for one step, not averaged")
            if event.fields["of_one"] is True
            else text("means over several batches are added up for one step, not averaged"),
            text("each backward adds the gradient of this mean"),
            why=text(
                "a sum of `n` means is `n` times their mean, and so is the step of plain gradient descent"
            ),
            help=text("divide this loss by the number of backward passes per step"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        number, loss = str(event.fields["parts"]), edit.receiver(found.place, "backward")
        rebound = edit.bound_in(edit.loop(found.place)) & edit.names_of(number)
        if loss is None or not number or rebound or not edit.is_known(found.place, number):
            return
        yield fix(
            text("divide this loss by the number of backward passes to one step"),
            edit.around(loss, "(", f" / {number})"),
        )


class StepWithoutBackward(Rule):
    """An optimizer makes its steps, and no backward is ever called.

    ## Why it goes wrong

    `step` moves each parameter by its `.grad`. Without a backward there is none, and a step skips what has none.

    ## What to do

    Call `loss.backward()` before the step.
    """

    name = "step-without-backward"
    severity = "warning"
    words = (Word(rb"\.step\(", file=rb"optim", run=True),)
    hears = ("step-without-backward",)
    examples = (
        Example(
            title="backward is left out",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                first = net.weight.detach().clone()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    loss = net(torch.ones(4, 2)).pow(2).mean()
                    optimizer.step()  # error
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                first = net.weight.detach().clone()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    loss = net(torch.ones(4, 2)).pow(2).mean()
                    loss.backward()
                    optimizer.step()
            """,
            proof="torch.equal(net.weight, first)",
        ),
    )
    near_misses = (
        NearMiss(
            "gradients that the program writes itself",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    loss = net(torch.ones(4, 2)).pow(2).mean()
                    gradients = torch.autograd.grad(loss, list(net.parameters()))
                    for parameter, gradient in zip(net.parameters(), gradients):
                        parameter.grad = gradient
                    optimizer.step()
            """,
        ),
        NearMiss(
            "a closure that calls backward",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.LBFGS(net.parameters(), lr=0.1)
                def closure():
                    optimizer.zero_grad()
                    loss = net(torch.ones(4, 2)).pow(2).mean()
                    loss.backward()
                    return loss
                for _ in range(3):
                    optimizer.step(closure)
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        yield diagnostic(
            self,
            event,
            text(
                "no backward is ever called: this step of {optimizer} moves nothing",
                optimizer=str(event.fields["optimizer"]),
            ),
            text("no parameter has a gradient"),
            why=text("a step skips parameters whose `.grad` is None"),
            help=text("call `backward()` on the loss before the step"),
        )


def _rest(edit: Editor, condition: Place) -> Edits:
    """What stands under the condition done once more behind the loop, where it is the step and no more."""
    done = [edit.code(one) for one in edit.body(condition)]
    loop = edit.loop(condition)
    known = all(one.endswith(("step()", "zero_grad()")) or "clip_grad_" in one for one in done)
    if loop is None or len(done) > _SHORT or not known or any("\n" in one for one in done):
        return ()
    edits: Edits = ()
    for line in done:
        edits = (*edits, *edit.behind(loop, line))
    return edits if len(edits) == len(done) else ()


_SHORT = 4
"""Statements of a step: clip, step, clear."""
