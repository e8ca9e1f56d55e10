"""The order of a training loop: clear, backward, step."""

from __future__ import annotations

from collections.abc import Iterator

from gradtrail.findings.diagnostic import Diagnostic
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import diagnostic, name_of
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import text
from gradtrail.source.words import Word

STEP = Word(rb"\.step\(")


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
