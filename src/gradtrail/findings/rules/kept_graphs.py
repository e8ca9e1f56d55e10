"""Graphs that are kept longer than anyone uses them: in lists, in sums, by `retain_graph`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.carrying import carried_over, kept_without_graph
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

STEP = Word(rb"\.step\(\)", file=rb"\.backward\(", run=True)


class GraphKeptInList(Rule):
    """A loop collects tensors with their graphs, and no backward uses the collection.

    ## Why it goes wrong

    A tensor that requires grad holds the graph it was computed by, and through it the tensors that the graph has kept.
    Each round adds another one, and memory grows from round to round.

    ## What to do

    Collect numbers, with `loss.item()`, or tensors without history, with `out.detach()`. Where nothing is trained run
    the loop under `torch.no_grad()`.
    """

    name = "graph-kept-in-list"
    severity = "warning"
    words = (STEP,)
    hears = ("graph-kept",)
    examples = (
        Example(
            title="a history of losses",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                history = []
                for _ in range(3):
                    loss = net(torch.ones(1, 2)).pow(2).sum()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    history.append(loss)  # error
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                history = []
                for _ in range(3):
                    loss = net(torch.ones(1, 2)).pow(2).sum()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    history.append(loss.detach())
            """,
            proof="history[0].grad_fn is not None",
        ),
        Example(
            title="a dict of lists that are made when they are first needed",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                history = {}
                for _ in range(20):
                    loss = net(torch.ones(4, 2)).pow(2).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    history.setdefault("loss", []).append(loss)  # error
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                history = {}
                for _ in range(20):
                    loss = net(torch.ones(4, 2)).pow(2).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    history.setdefault("loss", []).append(loss.item())
            """,
            proof="getattr(history['loss'][0], 'grad_fn', None) is not None",
        ),
    )
    near_misses = (
        NearMiss(
            "a deque that forgets all but the last few",
            """
                from collections import deque

                import torch

                model = torch.nn.Linear(3, 1)
                optimizer = torch.optim.Adam(model.parameters())
                last = deque(maxlen=3)
                for _ in range(9):
                    optimizer.zero_grad()
                    loss = model(torch.randn(4, 3)).pow(2).mean()
                    loss.backward()
                    optimizer.step()
                    last.append(loss)
            """,
            shown=False,
        ),
        NearMiss(
            "a list inside of a layer, and one call of it for a prediction",
            """
                import torch
                from torch import nn


                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])

                    def forward(self, x):
                        outs = []
                        for layer in self.layers:
                            outs.append(layer(x))
                        return torch.cat(outs, 1)


                model = Net()
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                x, y = torch.randn(4, 2), torch.randn(4, 6)
                for _ in range(4):
                    optimizer.zero_grad()
                    nn.functional.mse_loss(model(x), y).backward()
                    optimizer.step()
                print(model(x).data.max(1)[1])
            """,
        ),
        NearMiss(
            "losses of a loader, added up for one backward",
            """
                import torch
                from torch.utils.data import DataLoader, TensorDataset
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                losses = []
                for (x,) in DataLoader(TensorDataset(torch.ones(8, 2)), batch_size=2):
                    losses.append(net(x).pow(2).sum())
                total = 0
                for loss in losses:
                    total = total + loss
                optimizer.zero_grad()
                total.backward()
                optimizer.step()
            """,
            shown=False,
        ),
        NearMiss(
            "losses that are added up for one backward",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                losses = []
                for _ in range(3):
                    losses.append(net(torch.ones(1, 2)).pow(2).sum())
                optimizer.zero_grad()
                torch.stack(losses).sum().backward()
                optimizer.step()
            """,
        ),
        NearMiss(
            "the outputs of each step of a sequence",
            """
                import torch
                cell = torch.nn.RNNCell(2, 2)
                optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
                for _ in range(3):
                    h, outputs = torch.zeros(1, 2), []
                    for _ in range(4):
                        h = cell(torch.ones(1, 2), h)
                        outputs.append(h)
                    optimizer.zero_grad()
                    sum(out.sum() for out in outputs).backward()
                    optimizer.step()
            """,
        ),
        NearMiss(
            "numbers are collected",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                history = []
                for _ in range(3):
                    loss = net(torch.ones(1, 2)).pow(2).sum()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    history.append(loss.item())
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        yield diagnostic(
            self,
            event,
            text("`{name}` is collected with its graph, and no backward uses what is collected", name=name),
            text("each round keeps another graph"),
            why=text("a tensor that requires grad holds the graph that it was computed by"),
            help=text("collect `{name}.detach()`, or the number `{name}.item()`", name=name),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name = name_of(event)
        kept = kept_without_graph(edit, found.place, name)
        yield fix(text("collect `{name}` without its graph", name=name), kept)


class GraphGrowsWithRounds(Rule):
    """A value carries its graph from round to round, and no backward uses it.

    ## Why it goes wrong

    After `total += loss`, where the loss requires grad, the graph of the sum holds the graphs of all rounds so far.
    Memory grows with every round until the sum is dropped.

    ## What to do

    Sum up numbers, `total += loss.item()`, or tensors without history, `total += loss.detach()`.
    """

    name = "graph-grows-with-rounds"
    severity = "warning"
    words = (STEP,)
    hears = ("graph-grows",)
    examples = (
        Example(
            title="a sum of losses",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                total = 0
                for _ in range(10):
                    loss = net(torch.ones(4, 2)).pow(2).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    total += loss  # error
                print(total.item() / 10)
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                total = 0
                for _ in range(10):
                    loss = net(torch.ones(4, 2)).pow(2).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    total += loss.detach()
                print(total.item() / 10)
            """,
            proof="total.requires_grad",
        ),
        Example(
            title="a moving average in an object",
            bad="""
                import torch
                class Meter:
                    value = None
                    def update(self, loss):
                        if self.value is None:
                            self.value = loss
                        else:
                            self.value = 0.9 * self.value + 0.1 * loss  # error
                net, meter = torch.nn.Linear(2, 1), Meter()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(10):
                    loss = net(torch.ones(4, 2)).pow(2).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    meter.update(loss)
            """,
            good="""
                import torch
                class Meter:
                    value = None
                    def update(self, loss):
                        if self.value is None:
                            self.value = loss
                        else:
                            self.value = 0.9 * self.value + 0.1 * loss
                net, meter = torch.nn.Linear(2, 1), Meter()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(10):
                    loss = net(torch.ones(4, 2)).pow(2).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    meter.update(loss.detach())
            """,
            proof="meter.value.requires_grad",
        ),
    )
    near_misses = (
        NearMiss(
            "rounds that are layers of one computation",
            """
                import torch
                layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(6))
                optimizer = torch.optim.SGD(layers.parameters(), lr=0.1)
                def apply(x):
                    for layer in layers:
                        x = layer(x)
                    return x
                for _ in range(3):
                    optimizer.zero_grad()
                    apply(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
                print(apply(torch.ones(4, 2)).argmax(1))
            """,
        ),
        NearMiss(
            "the sum is what is trained on",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    total = 0
                    for _ in range(10):
                        total += net(torch.ones(4, 2)).pow(2).mean()
                    optimizer.zero_grad()
                    total.backward()
                    optimizer.step()
            """,
        ),
        NearMiss(
            "a hidden state that the next loss goes back through",
            """
                import torch
                cell = torch.nn.GRUCell(2, 2)
                optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
                for _ in range(3):
                    hidden = torch.zeros(1, 2)
                    for _ in range(5):
                        hidden = cell(torch.ones(1, 2), hidden)
                    optimizer.zero_grad()
                    hidden.sum().backward()
                    optimizer.step()
            """,
        ),
        NearMiss(
            "under no_grad",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                total = 0
                for _ in range(10):
                    loss = net(torch.ones(4, 2)).pow(2).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    with torch.no_grad():
                        total += loss
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        yield diagnostic(
            self,
            event,
            text("the graph of `{name}` grows with every round, and no backward uses it", name=name),
            text("what earlier rounds have recorded stays in memory"),
            why=text("a tensor that requires grad holds the graph that it was computed by"),
            help=text("add a number, with `item()`, or a tensor without history, with `detach()`"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        value, targets = edit.value(found.place), edit.targets(found.place)
        if len(targets) > 1:
            items, name = edit.elements(value), name_of(event)
            same = len(items) == len(targets) and name in targets
            value = items[targets.index(name)] if same else None
        yield fix(text("add it without its graph"), edit.after(value, ".detach()"))


class GraphWalkedAgain(Rule):
    """Every backward walks the graphs of all earlier rounds again.

    ## Why it goes wrong

    What one round computes goes into the next, and `retain_graph=True` keeps the graphs of all of them. Each backward
    walks the whole past again and adds its gradients again: memory grows with the number of rounds, time with its
    square.

    ## What to do

    Detach what is carried from one round to the next, and leave `retain_graph` out. To learn through all rounds, add up
    their losses and call backward once.

    ## The fix

    It detaches what is carried: each backward then learns from its own round alone.
    """

    name = "graph-walked-again"
    severity = "warning"
    words = (Word(rb"retain_graph ?= ?True", run=True),)
    hears = ("graph-walked-again",)
    examples = (
        Example(
            title="a hidden state that is carried",
            bad="""
                import torch
                cell = torch.nn.Linear(2, 2)
                hidden = torch.zeros(1, 2)
                for _ in range(4):
                    hidden = cell(hidden).tanh()  # cause
                    hidden.sum().backward(retain_graph=True)  # error
            """,
            good="""
                import torch
                cell = torch.nn.Linear(2, 2)
                hidden = torch.zeros(1, 2)
                for _ in range(4):
                    hidden = cell(hidden.detach()).tanh()
                    hidden.sum().backward()
            """,
            proof="hidden.grad_fn is not None and hidden.grad_fn.next_functions[0][0].next_functions[1][0] is not None",
        ),
    )
    near_misses = (
        NearMiss(
            "one graph, walked once for each row of a Jacobian",
            """
                import torch
                net = torch.nn.Linear(2, 3)
                out = net(torch.ones(2))
                for row in range(3):
                    net.zero_grad()
                    out[row].backward(retain_graph=True)
            """,
        ),
        NearMiss(
            "two losses of one forward",
            """
                import torch
                net, critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                for _ in range(4):
                    out = net(torch.ones(1, 2))
                    critic(out).sum().backward(retain_graph=True)
                    out.sum().backward()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        yield diagnostic(
            self,
            event,
            text(
                "each backward from `{name}` walks the graphs of all earlier rounds again",
                name=name_of(event),
            ),
            text("retain_graph=True keeps them"),
            why=text("a backward goes as far back as the graph goes"),
            help=text("detach what is carried from round to round, and leave retain_graph out"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name, cut = carried_over(found, edit, event.fields["tuples"])
        freed = edit.drop_keyword(found.place, "retain_graph")
        yield fix(text("carry `{name}` over without its graph", name=name), together(cut, freed))


class LossUnused(Rule):
    """A loss of a module that is trained is computed, and no backward uses it.

    ## Why it goes wrong

    The module is called and its result compared, with a graph, as for training; but the loss is only printed, or
    forgotten when the terms are added up. What it was to teach is not learnt.

    ## What to do

    Add it to the loss that `backward` is called on. What is only measured belongs under `torch.no_grad()`.
    """

    name = "loss-unused"
    severity = "warning"
    words = (STEP,)
    hears = ("loss-unused",)
    examples = (
        Example(
            title="only the penalty is backpropagated",
            bad="""
                import torch
                critic, compare = torch.nn.Linear(2, 1), torch.nn.MSELoss()
                optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    loss = compare(critic(torch.ones(4, 2)), torch.ones(4, 1))  # error
                    penalty = critic(torch.zeros(4, 2)).pow(2).mean()
                    penalty.backward()
                    optimizer.step()
                    print(loss.item())
            """,
            good="""
                import torch
                critic, compare = torch.nn.Linear(2, 1), torch.nn.MSELoss()
                optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    loss = compare(critic(torch.ones(4, 2)), torch.ones(4, 1))
                    penalty = critic(torch.zeros(4, 2)).pow(2).mean()
                    (loss + penalty).backward()
                    optimizer.step()
                    print(loss.item())
            """,
            proof="critic.weight.grad.abs().sum() == 0",
        ),
    )
    near_misses = (
        NearMiss(
            "a loss that is measured in a loop of its own",
            """
                import torch
                net, compare = torch.nn.Linear(2, 1), torch.nn.MSELoss()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    for _ in range(2):
                        optimizer.zero_grad()
                        compare(net(torch.ones(4, 2)), torch.ones(4, 1)).backward()
                        optimizer.step()
                    whole = 0
                    for _ in range(2):
                        whole += compare(net(torch.zeros(4, 2)), torch.zeros(4, 1)).item()
                    print(whole)
            """,
        ),
        NearMiss(
            "a loss that later rounds add",
            """
                import torch
                from torch import nn

                net, aside = nn.Linear(3, 2), nn.Linear(2, 1)
                optimizer = torch.optim.Adam([*net.parameters(), *aside.parameters()])
                for epoch in range(6):
                    for _ in range(2):
                        h = net(torch.ones(4, 3))
                        loss = nn.functional.mse_loss(h, torch.zeros(4, 2))
                        extra = nn.functional.mse_loss(aside(h), torch.ones(4, 1))
                        total = loss + 0.3 * extra if epoch >= 3 else loss
                        optimizer.zero_grad()
                        total.backward()
                        optimizer.step()
            """,
        ),
        NearMiss(
            "another measure of an output that is trained",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    out = net(torch.ones(4, 2))
                    loss = torch.nn.functional.mse_loss(out, torch.ones(4, 1))
                    error = torch.nn.functional.l1_loss(out, torch.ones(4, 1))
                    loss.backward()
                    optimizer.step()
                    print(error.item())
            """,
        ),
        NearMiss(
            "added up and used at the end of the round",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    total = 0
                    for _ in range(2):
                        total += torch.nn.functional.mse_loss(net(torch.ones(4, 2)), torch.ones(4, 1))
                    total.backward()
                    optimizer.step()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, module = name_of(event), str(event.fields["module"])
        yield diagnostic(
            self,
            event,
            text(
                "no backward uses `{name}`: what `{module}` gave for it trains nothing",
                name=name,
                module=module,
            ),
            text("computed with its graph, and not used for training"),
            why=text("a loss trains only where `backward` is called on it, or on a sum that holds it"),
            help=text("add it to the loss that is backpropagated, or measure it under `torch.no_grad()`"),
        )
