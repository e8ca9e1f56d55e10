"""Losses made of values that were drawn: a draw that carries no gradient, a score with an attached factor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.carrying import constant
from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import diagnostic, fix, name_of
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import text
from gradtrail.source.place import together
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor

SAMPLE = Word(rb"\.sample\(", file=rb"distributions", run=True)


class SampleForRsample(Rule):
    """A loss is made of values drawn with `sample()`, which carry no gradient.

    ## Why it goes wrong

    `sample()` draws under `no_grad`: the values carry no gradient to the parameters of the distribution. These may
    still learn from another term of the loss, an entropy say, so nothing looks broken.

    ## What to do

    Draw with `rsample()`, which computes the values from the parameters. Where a distribution has none, multiply the
    log-probability of what was drawn by what it led to, detached.
    """

    name = "sample-for-rsample"
    severity = "warning"
    words = (SAMPLE,)
    hears = ("draw-without-gradient",)
    examples = (
        Example(
            title="the latent values of an autoencoder",
            bad="""
                import torch
                from torch.distributions import Normal
                encoder, decoder = torch.nn.Linear(4, 2), torch.nn.Linear(2, 4)
                x = torch.randn(8, 4)
                posterior = Normal(encoder(x), 1.0)
                z = posterior.sample()  # error
                loss = (decoder(z) - x).pow(2).mean() + 0.1 * posterior.log_prob(torch.zeros(8, 2)).mean()
                loss.backward()
            """,
            good="""
                import torch
                from torch.distributions import Normal
                encoder, decoder = torch.nn.Linear(4, 2), torch.nn.Linear(2, 4)
                x = torch.randn(8, 4)
                posterior = Normal(encoder(x), 1.0)
                z = posterior.rsample()
                loss = (decoder(z) - x).pow(2).mean() + 0.1 * posterior.log_prob(torch.zeros(8, 2)).mean()
                loss.backward()
            """,
            proof="not z.requires_grad",
        ),
        Example(
            title="an actor that is to follow its critic",
            bad="""
                import torch
                from torch.distributions import Normal
                actor, critic = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1)
                state = torch.randn(16, 3)
                policy = Normal(actor(state), 0.5)
                action = policy.sample()  # error
                value = critic(torch.cat([state, action], dim=1))
                (0.2 * policy.log_prob(action) - value).mean().backward()
            """,
            good="""
                import torch
                from torch.distributions import Normal
                actor, critic = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1)
                state = torch.randn(16, 3)
                policy = Normal(actor(state), 0.5)
                action = policy.rsample()
                value = critic(torch.cat([state, action], dim=1))
                (0.2 * policy.log_prob(action) - value).mean().backward()
            """,
            proof="not action.requires_grad",
        ),
        Example(
            title="a distribution around another one",
            bad="""
                import torch
                from torch.distributions import Independent, Normal, kl_divergence
                encoder, decoder = torch.nn.Linear(2, 4), torch.nn.Linear(2, 2)
                optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)
                x = torch.ones(3, 2)
                for _ in range(3):
                    mean, spread = encoder(x).chunk(2, -1)
                    posterior = Independent(Normal(mean, spread.exp()), 1)
                    prior = Independent(Normal(torch.zeros(2), torch.ones(2)), 1)
                    z = posterior.sample()  # error
                    loss = (decoder(z) - x).pow(2).mean() + kl_divergence(posterior, prior).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            """,
            good="""
                import torch
                from torch.distributions import Independent, Normal, kl_divergence
                encoder, decoder = torch.nn.Linear(2, 4), torch.nn.Linear(2, 2)
                optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)
                x = torch.ones(3, 2)
                for _ in range(3):
                    mean, spread = encoder(x).chunk(2, -1)
                    posterior = Independent(Normal(mean, spread.exp()), 1)
                    prior = Independent(Normal(torch.zeros(2), torch.ones(2)), 1)
                    z = posterior.rsample()
                    loss = (decoder(z) - x).pow(2).mean() + kl_divergence(posterior, prior).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            """,
            proof="not z.requires_grad",
        ),
    )
    near_misses = (
        NearMiss(
            "an evolution strategy: how good each draw is, in relation to the others",
            """
                import torch

                mean = torch.zeros(3, requires_grad=True)
                optimizer = torch.optim.Adam([mean], lr=0.05)
                for _ in range(3):
                    dist = torch.distributions.Normal(mean, 1.0)
                    drawn = dist.sample((10,))
                    fitness = -(drawn - 1).pow(2).sum(-1)
                    fitness = fitness - fitness.mean()
                    loss = -(dist.log_prob(drawn).sum(-1) * fitness).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            """,
        ),
        NearMiss(
            "the log-probability times the reward: no gradient of the draw is needed",
            """
                import torch
                from torch.distributions import Normal
                actor, reward = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1)
                state = torch.randn(16, 3)
                policy = Normal(actor(state), 0.5)
                action = policy.sample()
                gain = reward(torch.cat([state, action], dim=1)).detach()
                (-policy.log_prob(action) * gain).mean().backward()
            """,
        ),
        NearMiss(
            "an actor's loss and its critic's in one backward",
            """
                import torch
                from torch.distributions import Normal
                actor, critic = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1)
                state, gain = torch.randn(16, 3), torch.randn(16, 1)
                policy = Normal(actor(state), 0.5)
                action = policy.sample()
                value = critic(torch.cat([state, action], dim=1))
                loss = -(policy.log_prob(action) * (gain - value.detach())).mean() + (value - gain).pow(2).mean()
                loss.backward()
            """,
        ),
        NearMiss(
            "what a generator draws is data for the discriminator",
            """
                import torch
                from torch.distributions import Normal
                generator, critic = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)
                fake = Normal(generator(torch.randn(8, 3)), 1.0).sample()
                critic(fake).mean().backward()
            """,
        ),
        NearMiss(
            "a change of variables after the draw",
            """
                import torch
                from torch.distributions import Normal
                actor = torch.nn.Linear(3, 1)
                policy = Normal(actor(torch.randn(16, 3)), 0.5)
                raw = policy.sample()
                score = policy.log_prob(raw) - torch.log(1.001 - raw.tanh() ** 2)
                (-score * torch.randn(16, 1)).mean().backward()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        yield diagnostic(
            self,
            event,
            text(
                "the loss is computed from a draw that carries no gradient to `{name}`", name=name_of(event)
            ),
            text("`sample()` draws under no_grad"),
            why=text(
                "values drawn with `sample()` are constants; `rsample()` computes them from the parameters"
            ),
            help=text("draw with `rsample()`"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        yield fix(text("draw with `rsample()`"), edit.rename_call(found.place, "sample", "rsample"))


class AttachedAdvantage(Rule):
    """A log-probability is weighted by a factor that requires grad.

    ## Why it goes wrong

    The gradient of a product has two parts. Where the log-probability of what was drawn is weighted by what it led to,
    only the part through the log-probability is wanted. Through the other part the loss also moves whatever the factor
    was computed from, a value network say, towards any values that make the loss small.

    ## What to do

    Detach the factor: `log_prob * advantage.detach()`. What it was computed from learns from a loss of its own.
    """

    name = "attached-advantage"
    severity = "warning"
    words = (Word(rb"\.log_prob\(", file=rb"distributions", run=True),)
    hears = ("score-times-attached",)
    examples = (
        Example(
            title="returns minus the values of a network",
            bad="""
                import torch
                from torch.distributions import Categorical
                actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
                state, returns = torch.randn(8, 4), torch.randn(8)
                policy = Categorical(logits=actor(state))
                action = policy.sample()
                values = critic(state).squeeze(1)
                advantage = returns - values  # cause
                loss = -(policy.log_prob(action) * advantage).mean()  # error
                loss.backward()
            """,
            good="""
                import torch
                from torch.distributions import Categorical
                actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
                state, returns = torch.randn(8, 4), torch.randn(8)
                policy = Categorical(logits=actor(state))
                action = policy.sample()
                values = critic(state).squeeze(1)
                advantage = returns - values.detach()
                loss = -(policy.log_prob(action) * advantage).mean()
                loss.backward()
            """,
            proof="critic.weight.grad is not None",
        ),
    )
    near_misses = (
        NearMiss(
            "a learned temperature, which this loss is to train",
            """
                import torch
                from torch.distributions import Normal
                actor, log_alpha = torch.nn.Linear(3, 1), torch.zeros(1, requires_grad=True)
                policy = Normal(actor(torch.randn(16, 3)), 0.5)
                action = policy.sample()
                (log_alpha.exp() * policy.log_prob(action)).mean().backward()
            """,
        ),
        NearMiss(
            "the likelihood of data, weighted by what is learned",
            """
                import torch
                from torch.distributions import Normal
                net, gate = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
                x, y = torch.randn(16, 3), torch.randn(16, 1)
                weights = gate(x).softmax(1)
                loss = -(Normal(net(x), 1.0).log_prob(y) * weights).sum(1).mean()
                loss.backward()
            """,
        ),
        NearMiss(
            "the values learn from a loss of their own",
            """
                import torch
                from torch.distributions import Categorical
                actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
                state, returns = torch.randn(8, 4), torch.randn(8)
                policy = Categorical(logits=actor(state))
                action = policy.sample()
                values = critic(state).squeeze(1)
                loss = -(policy.log_prob(action) * (returns - values).detach()).mean() + (returns - values).pow(2).mean()
                loss.backward()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        yield diagnostic(
            self,
            event,
            text("`{name}` is multiplied by a log-probability and requires grad", name=name),
            text("the loss also trains what `{name}` was computed from", name=name),
            why=text("the factor is to be a constant: only the log-probability is to be differentiated"),
            help=text("use `{name}.detach()` here", name=name),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        right = event.fields["right"] is True
        factor = edit.operand(found.place, right)
        if factor is None:
            own = edit.receiver(found.place)
            given = [one for one in edit.arguments(found.place) if edit.code(one) != ""]
            pair = given[:2] if len(given) > 1 else [own, *given]
            factor = pair[right] if len(pair) > 1 else None
        title = text("stop the gradient at `{name}`", name=edit.code(factor))
        yield fix(title, constant(edit, factor))
        yield fix(title, edit.after(factor, ".detach()"))


class StraightThroughReversed(Rule):
    """A straight-through estimator that detaches the wrong term.

    ## Why it goes wrong

    `a + (f(a) - a).detach()` has the value of `f(a)` and the gradient of `a`. In `a.detach() + (f(a) - a)` the value
    is the same, but what is left of the gradient is that of `f(a)` minus that of `a`; where `f` rounds, it is the
    negative of what it should be.

    ## What to do

    Detach the difference, and let `a` itself stand: `a + (f(a) - a).detach()`.
    """

    name = "straight-through-reversed"
    severity = "warning"
    words = (Word(rb"\.detach\(\)", run=True),)
    hears = ("straight-through-reversed",)
    examples = (
        Example(
            title="rounding",
            bad="""
                import torch
                w = torch.full((2,), 0.6, requires_grad=True)
                rounded = (w.round() - w) + w.detach()  # error
                rounded.sum().backward()
            """,
            good="""
                import torch
                w = torch.full((2,), 0.6, requires_grad=True)
                rounded = (w.round() - w).detach() + w
                rounded.sum().backward()
            """,
            proof="w.grad.tolist() == [-1, -1]",
        ),
    )
    near_misses = (
        NearMiss(
            "a gradient that is reversed on purpose",
            """
                import torch
                w = torch.ones(2, requires_grad=True)
                (-w + 2 * w.detach()).sum().backward()
            """,
        ),
        NearMiss(
            "a difference from a constant",
            """
                import torch
                w, v = torch.ones(2, requires_grad=True), torch.ones(2)
                (w.detach() + (w - v)).sum().backward()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        yield diagnostic(
            self,
            event,
            text(
                "the value of `{name}` cancels here, and its gradient comes back with a minus sign", name=name
            ),
            text("`{name}` is subtracted with its gradient and added without", name=name),
            why=text("a detached tensor adds to the value, and nothing to the gradient"),
            help=text("detach the difference instead: `{name} + (... - {name}).detach()`", name=name),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        for copy, rest in ((False, True), (True, False)):
            copied, difference = edit.operand(found.place, copy), edit.operand(found.place, rest)
            plain = edit.take_off(copied, "detach")
            if not plain and copied is not None and edit.receiver(copied, "data") is not None:
                plain = edit.replace(copied, edit.code(edit.receiver(copied, "data")))
            made = edit.binding(found.place, edit.code(copied)) if not plain else None
            if made is not None and edit.code(edit.receiver(made, "detach")) == name_of(event):
                plain = edit.replace(copied, name_of(event))
            cut = edit.after(difference, ".detach()")
            if plain and cut:
                yield fix(text("detach the difference instead"), together(plain, cut))
                return


class TargetTrained(Rule):
    """The target of a temporal difference passes a gradient to the network itself.

    ## Why it goes wrong

    In `loss(net(state), reward + factor * net(next_state).max())` the gradient flows through both sides. The network is
    then also moved so that its target comes nearer to its present estimate, which is not Q-learning.

    ## What to do

    Compute the target under `torch.no_grad()`, or detach it.
    """

    name = "target-trained"
    severity = "warning"
    words = (
        Word(rb"\.max\(", file=rb"(?:mse|smooth_l1|huber)_loss|MSELoss|SmoothL1Loss|HuberLoss", run=True),
    )
    hears = ("target-trained",)
    examples = (
        Example(
            title="Q-learning",
            bad="""
                import torch
                net, factor = torch.nn.Linear(4, 2), 0.9
                state, after, reward = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8)
                value = net(state)[:, 0]
                target = reward + factor * net(after).max(1).values  # cause
                loss = torch.nn.functional.mse_loss(value, target)  # error
                loss.backward()
            """,
            good="""
                import torch
                net, factor = torch.nn.Linear(4, 2), 0.9
                state, after, reward = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8)
                value = net(state)[:, 0]
                target = reward + factor * net(after).max(1).values.detach()
                loss = torch.nn.functional.mse_loss(value, target)
                loss.backward()
            """,
            proof="target.requires_grad",
        ),
    )
    near_misses = (
        NearMiss(
            "two versions of one input that are to agree",
            """
                import torch
                net, x = torch.nn.Linear(4, 2), torch.randn(8, 4)
                torch.nn.functional.mse_loss(net(x), net(x + 0.1)).backward()
            """,
        ),
        NearMiss(
            "a separate target network",
            """
                import torch
                net, slow = torch.nn.Linear(4, 2), torch.nn.Linear(4, 2)
                state, after, reward = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8)
                target = reward + 0.9 * slow(after).max(1).values
                torch.nn.functional.mse_loss(net(state)[:, 0], target).backward()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        yield diagnostic(
            self,
            event,
            text("`{name}` is the target, and the loss trains the network through it as well", name=name),
            text("the gradient flows into both sides"),
            why=text(
                "the target of a temporal difference is to be a constant: only the estimate is to be moved"
            ),
            help=text("use `{name}.detach()` here, or compute it under `torch.no_grad()`", name=name),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        target = edit.argument(found.place, "target") or edit.argument(found.place, 1)
        title = text("stop the gradient at `{name}`", name=edit.code(target))
        yield fix(title, constant(edit, target))
        yield fix(title, edit.after(target, ".detach()"))
