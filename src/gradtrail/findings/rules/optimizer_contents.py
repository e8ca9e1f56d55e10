"""What an optimizer holds: parameters that are trained and in none, and ones that nothing trains."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.registering import registered
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import diagnostic, fix, name_of, step_at
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import Text, text
from gradtrail.source.place import Edits
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor
    from gradtrail.source.place import Place

STEP = Word(rb"\.step\(\)", file=rb"\.backward\(", run=True)


class ParameterOutsideOptimizer(Rule):
    """A parameter gets a gradient in each round, and no optimizer moves it.

    ## Why it goes wrong

    `parameters()` is read once, when the optimizer is made. What is registered or unfrozen afterwards is not in it, and
    what a plain list or dict of a module holds is never registered: it computes, it gets gradients, and it stays as it
    was.

    ## What to do

    Keep layers in `nn.ModuleList` or `nn.ModuleDict`, parameters in `nn.ParameterList`. For what comes later call
    `optimizer.add_param_group({"params": new.parameters()})`, or make the optimizer afterwards.

    ## The fix

    What is handed over with `add_param_group` gets the settings that the optimizer was made with, its learning rate
    among them.
    """

    name = "parameter-outside-optimizer"
    severity = "warning"
    words = (STEP,)
    hears = ("parameter-outside-optimizer",)
    examples = (
        Example(
            title="layers in a list",
            bad="""
                import torch

                class Net(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.layers = [torch.nn.Linear(2, 2)]  # error
                        self.out = torch.nn.Linear(2, 1)

                    def forward(self, x):
                        return self.out(self.layers[0](x))

                net = Net()
                before = net.layers[0].weight.detach().clone()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                net(torch.ones(1, 2)).sum().backward()
                optimizer.step()
            """,
            good="""
                import torch

                class Net(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.layers = torch.nn.ModuleList([torch.nn.Linear(2, 2)])
                        self.out = torch.nn.Linear(2, 1)

                    def forward(self, x):
                        return self.out(self.layers[0](x))

                net = Net()
                before = net.layers[0].weight.detach().clone()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                net(torch.ones(1, 2)).sum().backward()
                optimizer.step()
            """,
            proof="torch.equal(before, net.layers[0].weight)",
        ),
        Example(
            title="a layer that is added after the optimizer was made",
            bad="""
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 2))
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)  # error
                net.append(torch.nn.Linear(2, 1))
                before = net[1].weight.detach().clone()
                net(torch.ones(1, 2)).sum().backward()
                optimizer.step()
            """,
            good="""
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 2))
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                net.append(torch.nn.Linear(2, 1))
                optimizer.add_param_group({"params": net[1].parameters()})
                before = net[1].weight.detach().clone()
                net(torch.ones(1, 2)).sum().backward()
                optimizer.step()
            """,
            proof="torch.equal(before, net[1].weight)",
        ),
        Example(
            title="a part that was frozen when the optimizer was made",
            bad="""
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
                net[0].requires_grad_(False)
                optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)  # error
                net[0].requires_grad_(True)
                before = net[0].weight.detach().clone()
                net(torch.ones(1, 2)).sum().backward()
                optimizer.step()
            """,
            good="""
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
                net[0].requires_grad_(False)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                net[0].requires_grad_(True)
                before = net[0].weight.detach().clone()
                net(torch.ones(1, 2)).sum().backward()
                optimizer.step()
            """,
            proof="torch.equal(before, net[0].weight)",
        ),
        Example(
            title="a plain tensor as an attribute",
            bad="""
                import torch
                class Scaled(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.linear = torch.nn.Linear(2, 1)
                        self.gain = torch.ones(1, requires_grad=True)  # error
                    def forward(self, x):
                        return self.linear(x) * self.gain
                net = Scaled()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
            """,
            good="""
                import torch
                class Scaled(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.linear = torch.nn.Linear(2, 1)
                        self.gain = torch.nn.Parameter(torch.ones(1))
                    def forward(self, x):
                        return self.linear(x) * self.gain
                net = Scaled()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
            """,
            proof="net.gain.item() == 1",
        ),
        Example(
            title="unfrozen later, and the optimizer does not know",
            bad="""
                import torch
                body, head = torch.nn.Linear(2, 2).requires_grad_(False), torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
                first = body.weight.detach().clone()
                for epoch in range(10):
                    if epoch == 5:
                        for p in body.parameters():
                            p.requires_grad = True  # error
                    optimizer.zero_grad()
                    head(body(torch.ones(4, 2))).pow(2).mean().backward()
                    optimizer.step()
            """,
            good="""
                import torch
                body, head = torch.nn.Linear(2, 2).requires_grad_(False), torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
                first = body.weight.detach().clone()
                for epoch in range(10):
                    if epoch == 5:
                        for p in body.parameters():
                            p.requires_grad = True
                        optimizer.add_param_group({"params": body.parameters()})
                    optimizer.zero_grad()
                    head(body(torch.ones(4, 2))).pow(2).mean().backward()
                    optimizer.step()
            """,
            proof="torch.equal(body.weight, first)",
        ),
        Example(
            title="a copy takes the place of the model",
            bad="""
                import copy
                import torch
                model = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                best = copy.deepcopy(model)
                for epoch in range(10):
                    optimizer.zero_grad()
                    loss = model(torch.ones(4, 2)).pow(2).mean()
                    loss.backward()
                    optimizer.step()
                    if epoch == 5:
                        model = copy.deepcopy(best)  # error
            """,
            good="""
                import copy
                import torch
                model = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                best = copy.deepcopy(model)
                for epoch in range(10):
                    optimizer.zero_grad()
                    loss = model(torch.ones(4, 2)).pow(2).mean()
                    loss.backward()
                    optimizer.step()
                    if epoch == 5:
                        model.load_state_dict(best.state_dict())
            """,
            proof="model.weight is not optimizer.param_groups[0]['params'][0]",
        ),
        Example(
            title="the model is replaced by its copy before the training",
            bad="""
                import copy
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                net = copy.deepcopy(net)  # error
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
            """,
            good="""
                import copy
                import torch
                net = torch.nn.Linear(2, 1)
                net = copy.deepcopy(net)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
            """,
            proof="net.weight is not optimizer.param_groups[0]['params'][0]",
        ),
        Example(
            title="a function gives the model a new head afterwards",
            bad="""
                import torch
                def with_head(net, classes):
                    net[1] = torch.nn.Linear(2, classes)
                    return net
                net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)  # error
                net = with_head(net, 3)
                first = net[1].weight.detach().clone()
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
            """,
            good="""
                import torch
                def with_head(net, classes):
                    net[1] = torch.nn.Linear(2, classes)
                    return net
                net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
                net = with_head(net, 3)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                first = net[1].weight.detach().clone()
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
            """,
            proof="torch.equal(net[1].weight, first)",
        ),
    )
    near_misses = (
        NearMiss(
            "a copy takes the place of the model, and gets an optimizer",
            """
                import copy
                import torch
                model = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                best = copy.deepcopy(model)
                for epoch in range(10):
                    optimizer.zero_grad()
                    model(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
                    if epoch == 5:
                        model = copy.deepcopy(best)
                        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
            """,
        ),
        NearMiss(
            "frozen while another network learns, and unfrozen for its own turn",
            """
                import torch
                generator, critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                of_generator = torch.optim.SGD(generator.parameters(), lr=0.1)
                of_critic = torch.optim.SGD(critic.parameters(), lr=0.1)
                for _ in range(10):
                    critic.requires_grad_(False)
                    of_generator.zero_grad()
                    critic(generator(torch.ones(1, 2))).sum().backward()
                    of_generator.step()
                    critic.requires_grad_(True)
                    of_critic.zero_grad()
                    critic(generator(torch.ones(1, 2)).detach()).sum().backward()
                    of_critic.step()
            """,
        ),
        NearMiss(
            "only the head is trained, on purpose",
            """
                import torch

                class Net(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.body, self.head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)

                    def forward(self, x):
                        return self.head(self.body(x))

                net = Net()
                optimizer = torch.optim.SGD(net.head.parameters(), lr=0.1)
                net(torch.ones(1, 2)).sum().backward()
                optimizer.step()
            """,
        ),
        NearMiss(
            "a list that only names layers which are registered",
            """
                import torch

                class Net(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.first = torch.nn.Linear(2, 2)
                        self.order = [self.first]

                    def forward(self, x):
                        return self.order[0](x)

                net = Net()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                net(torch.ones(1, 2)).sum().backward()
                optimizer.step()
            """,
        ),
        NearMiss(
            "a network for the loss, hidden in a list and frozen",
            """
                import torch

                class Net(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.body = torch.nn.Linear(2, 2)
                        self.judge = [torch.nn.Linear(2, 1).requires_grad_(False)]

                    def forward(self, x):
                        return self.judge[0](self.body(x))

                net = Net()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                net(torch.ones(1, 2)).sum().backward()
                optimizer.step()
            """,
        ),
        NearMiss(
            "two optimizers share the parameters of a model",
            """
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
                slow = torch.optim.SGD([p for name, p in net.named_parameters() if name.startswith("0")], lr=0.1)
                fast = torch.optim.SGD([p for name, p in net.named_parameters() if name.startswith("1")], lr=0.1)
                net(torch.ones(1, 2)).sum().backward()
                slow.step()
                fast.step()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, kind = name_of(event), str(event.fields.get("container", ""))
        attribute, optimizer = str(event.fields.get("attribute", "")), str(event.fields["optimizer"])
        number = int(str(event.fields["number"]))
        told = text(
            "`{name}` gets gradients, and {optimizer} does not hold it", name=name, optimizer=optimizer
        )
        if number > 1:
            told = text(
                "`{name}` and {more} more get gradients, and {optimizer} does not hold them",
                name=name,
                more=number - 1,
                optimizer=optimizer,
            )
        if kind == "unfrozen":
            yield diagnostic(
                self,
                event,
                text(
                    "`{name}` and {more} more are unfrozen and get gradients, and no optimizer holds them",
                    name=name,
                    more=number - 1,
                )
                if number > 1
                else text("`{name}` is unfrozen and gets gradients, and no optimizer holds it", name=name),
                text("gets gradients from here on, and is never moved"),
                why=text("an optimizer keeps the parameters that it is given when it is made"),
                help=text("hand it over with add_param_group, or make the optimizer afterwards"),
            )
            return
        if kind == "module":
            yield diagnostic(
                self,
                event,
                told,
                text("another module from here on; the optimizer holds the parameters of the old one"),
                why=text("an optimizer keeps the parameters that it is given when it is made"),
                help=text("load the values with load_state_dict, which keeps the parameters"),
            )
            return
        if kind:
            yield diagnostic(
                self,
                event,
                text(
                    "what `{attribute}` holds gets gradients, and {optimizer} does not move it",
                    attribute=attribute,
                    optimizer=optimizer,
                ),
                text("a plain {kind} registers nothing", kind=kind),
                why=text("parameters() lists what is registered: attributes that are modules or Parameters"),
                help=_how_to_register(kind, attribute),
            )
            return
        yield diagnostic(
            self,
            event,
            told,
            text("it was not among the parameters when the optimizer was made"),
            why=text("an optimizer keeps the parameters that it is given when it is made"),
            help=text("hand it over with add_param_group, or make the optimizer afterwards"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        kind, attribute = str(event.fields.get("container", "")), str(event.fields.get("attribute", ""))
        if kind == "module":
            yield fix(_AFTERWARDS, _afterwards(edit, step_at(found, "optimizer"), found.place))
            title = text("load the values into the parameters that are there")
            yield fix(title, _loaded(edit, found.place))
            return
        if kind == "unfrozen":
            yield fix(text("hand over what is added"), _unfrozen(event, edit, found.place))
            return
        if kind == "tensor":
            yield fix(text("wrap it in nn.Parameter"), _as_parameter(edit, found.place))
            return
        if kind:
            yield fix(
                text("register what `{name}` holds", name=attribute),
                registered(edit, found.place, kind, _of(event)),
            )
            return
        every = edit.unfiltered(found.place, "requires_grad")
        yield fix(text("hand over the frozen parameters too: a step passes them by"), every)
        loaded = edit.drop_keyword(step_at(found, "wrapped"), "assign")
        yield fix(text("load the values into the parameters that are there"), loaded)
        yield fix(text("hand over what is added"), _added(event, found, edit))


class OptimizersShareParameters(Rule):
    """Two optimizers hold the same parameters, and another network has no optimizer.

    ## Why it goes wrong

    The second one was meant for the other network. The first network is moved twice in each round, and the other one
    never.

    ## What to do

    Hand each optimizer the parameters of its own network.
    """

    name = "optimizers-share-parameters"
    severity = "warning"
    words = (STEP,)
    hears = ("optimizers-share",)
    examples = (
        Example(
            title="the other network's parameters",
            bad="""
                import torch
                generator, critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                of_generator = torch.optim.SGD(generator.parameters(), lr=0.1)
                of_critic = torch.optim.SGD(generator.parameters(), lr=0.1)  # error
                first = critic.weight.detach().clone()
                for _ in range(3):
                    of_critic.zero_grad()
                    critic(generator(torch.ones(1, 2)).detach()).sum().backward()
                    of_critic.step()
                    of_generator.zero_grad()
                    (-critic(generator(torch.ones(1, 2)))).sum().backward()
                    of_generator.step()
            """,
            good="""
                import torch
                generator, critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                of_generator = torch.optim.SGD(generator.parameters(), lr=0.1)
                of_critic = torch.optim.SGD(critic.parameters(), lr=0.1)
                first = critic.weight.detach().clone()
                for _ in range(3):
                    of_critic.zero_grad()
                    critic(generator(torch.ones(1, 2)).detach()).sum().backward()
                    of_critic.step()
                    of_generator.zero_grad()
                    (-critic(generator(torch.ones(1, 2)))).sum().backward()
                    of_generator.step()
            """,
            proof="torch.equal(critic.weight, first)",
        ),
    )
    near_misses = (
        NearMiss(
            "made anew by one line, for gradients of a copy",
            """
                import copy
                import torch
                shared = torch.nn.Linear(2, 1)
                local = copy.deepcopy(shared)
                for _ in range(2):
                    optimizer = torch.optim.SGD(shared.parameters(), lr=0.1)
                    for _ in range(3):
                        optimizer.zero_grad()
                        local(torch.ones(4, 2)).pow(2).mean().backward()
                        for one, other in zip(shared.parameters(), local.parameters()):
                            one.grad = other.grad
                        optimizer.step()
            """,
        ),
        NearMiss(
            "first one optimizer, then another, for the same network",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                for kind in (torch.optim.Adam, torch.optim.SGD):
                    optimizer = kind(net.parameters(), lr=0.1)
                    for _ in range(3):
                        optimizer.zero_grad()
                        net(torch.ones(4, 2)).pow(2).mean().backward()
                        optimizer.step()
            """,
        ),
        NearMiss(
            "a part that is not to be trained",
            """
                import torch
                body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    head(body(torch.ones(4, 2))).pow(2).mean().backward()
                    optimizer.step()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, optimizer = name_of(event), str(event.fields["optimizer"])
        yield diagnostic(
            self,
            event,
            text(
                "this {optimizer} holds what another optimizer holds, and `{name}` gets gradients and is in none",
                name=name,
                optimizer=optimizer,
            ),
            text("the same parameters as those of an earlier optimizer"),
            why=text("an optimizer moves what it was handed, and nothing else"),
            help=text("hand it the parameters of the network that it is for"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        module = str(event.fields["module"])
        owner = edit.receiver(found.place, "parameters") if module else None
        yield fix(text("hand over the parameters"), edit.replace(owner, module))


class OptimizerWithoutGradients(Rule):
    """An optimizer makes steps, and no backward reaches anything that it holds.

    ## Why it goes wrong

    It was made for parameters that the loss does not depend on: those of a module that was copied or replaced before
    the training, say. The ones that get gradients are in no optimizer.

    ## What to do

    Make the optimizer from the parameters of the module that is trained.
    """

    name = "optimizer-without-gradients"
    severity = "warning"
    words = (STEP,)
    hears = ("optimizer-idle",)
    examples = (
        Example(
            title="a copy is trained",
            bad="""
                import copy
                import torch
                base = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(base.parameters(), lr=0.1)  # error
                net = copy.deepcopy(base)
                first = net.weight.detach().clone()
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()  # cause
                    optimizer.step()
            """,
            good="""
                import copy
                import torch
                base = torch.nn.Linear(2, 1)
                net = copy.deepcopy(base)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                first = net.weight.detach().clone()
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
            """,
            proof="torch.equal(net.weight, first)",
        ),
        Example(
            title="the head is replaced after the optimizer was made for it",
            bad="""
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
                net.requires_grad_(False)
                optimizer = torch.optim.SGD(net[1].parameters(), lr=0.1)  # error
                net[1] = torch.nn.Linear(2, 3)
                first = net[1].weight.detach().clone()
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
            """,
            good="""
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
                net.requires_grad_(False)
                net[1] = torch.nn.Linear(2, 3)
                optimizer = torch.optim.SGD(net[1].parameters(), lr=0.1)
                first = net[1].weight.detach().clone()
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
            """,
            proof="torch.equal(net[1].weight, first)",
        ),
    )
    near_misses = (
        NearMiss(
            "gradients of a copy, handed to what is shared",
            """
                import torch

                shared, local = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
                optimizer = torch.optim.RMSprop(shared.parameters())
                for _ in range(3):
                    local.load_state_dict(shared.state_dict())
                    local.zero_grad()
                    local(torch.ones(5, 3)).pow(2).mean().backward()
                    for ours, theirs in zip(local.parameters(), shared.parameters()):
                        theirs._grad = ours.grad
                    optimizer.step()
            """,
        ),
        NearMiss(
            "gradients that the program writes itself",
            """
                import copy
                import torch
                base = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(base.parameters(), lr=0.1)
                for _ in range(3):
                    net = copy.deepcopy(base)
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    for p, q in zip(base.parameters(), net.parameters()):
                        p.grad = q.grad
                    optimizer.step()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, optimizer = name_of(event), str(event.fields["optimizer"])
        number = int(str(event.fields["number"]))
        told = text(
            "no backward reaches anything that {optimizer} holds; `{name}` gets gradients and is in no optimizer",
            name=name,
            optimizer=optimizer,
        )
        if number > 1:
            told = text(
                "no backward reaches anything that {optimizer} holds; `{name}` and {more} more get gradients and are in"
                " no optimizer",
                name=name,
                more=number - 1,
                optimizer=optimizer,
            )
        yield diagnostic(
            self,
            event,
            told,
            text("made from parameters that the loss does not depend on"),
            why=text("an optimizer moves what it was handed, and nothing else"),
            help=text("make it from the parameters that are trained, once they exist"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        loaded = edit.drop_keyword(step_at(found, "wrapped"), "assign")
        yield fix(text("load the values into the parameters that are there"), loaded)
        for step in reversed(found.trail[:-1]):
            yield fix(_AFTERWARDS, _afterwards(edit, found.place, step.place))


_AFTERWARDS = text("make the optimizer afterwards")


def _afterwards(edit: Editor, made: Place | None, replaced: Place) -> Edits:
    """The optimizer that is made at `made`, behind the statement that replaces what it is made from."""
    optimizer, new = edit.code(edit.target(made)), edit.code(edit.target(replaced))
    between = edit.text_between(edit.statement(made), edit.statement(replaced))
    named = re.compile(rf"\b{re.escape(optimizer)}\b")
    whole = re.compile(rf"\b{re.escape(_root(new))}\b")
    if not optimizer or not new or not edit.same_block(made, replaced) or not edit.follows(made, replaced):
        return ()
    if named.search(between) or not whole.search(edit.code(made)):
        return ()
    return edit.move(made, behind=replaced)


def _root(code: str) -> str:
    """The object that `code` starts from: `net` of `net.fc`, `self.net` of `self.net.fc`."""
    return re.match(r"(?:self\.)?\w*", code).group()  # type: ignore[union-attr]


def _how_to_register(kind: str, attribute: str) -> Text:
    if kind == "dict":
        return text("use nn.ModuleDict or nn.ParameterDict for `{attribute}`", attribute=attribute)
    if kind == "tensor":
        return text("make `{attribute}` an nn.Parameter", attribute=attribute)
    return text("use nn.ModuleList or nn.ParameterList for `{attribute}`", attribute=attribute)


def _added(event: Event, found: Diagnostic, edit: Editor) -> Edits:
    """The optimizer gets what was added after it was made, where it is added."""
    optimizer = edit.code(edit.target(found.place))
    added = next(
        (
            step.place
            for step in reversed(found.trail[:-1])
            if step.kind in ("call", "further-call", "module-parameter")
            and edit.function(step.place) == edit.function(found.place)
            and edit.follows(found.place, step.place)
        ),
        None,
    )
    owner = edit.code(edit.target(added)) or name_of(event).rpartition(".")[0]
    if added is None or not optimizer or not owner:
        return ()
    if owner == edit.code(edit.receiver(found.place, "parameters")):  # torch refuses what it holds already
        return _afterwards(edit, found.place, added)
    return edit.behind(added, f'{optimizer}.add_param_group({{"params": {owner}.parameters()}})')


def _of(event: Event) -> str:
    """What a container holds: Parameters themselves, or the modules that they belong to."""
    made = event.subject.facts.get("made-kind") if event.subject is not None else ""
    return {"parameter": "Parameter", "module-parameter": "Module"}.get(str(made), "")


def _loaded(edit: Editor, place: Place) -> Edits:
    """`model.load_state_dict(best.state_dict())` for `model = copy.deepcopy(best)`."""
    model, value = edit.target(place), edit.value(place)
    source = edit.argument(value, 0) if edit.callee(value).endswith("deepcopy") else value
    code = edit.code(source)
    if model is None or not edit.may_be_assigned(code):
        return ()
    return edit.replace(edit.statement(place), f"{edit.code(model)}.load_state_dict({code}.state_dict())")


def _as_parameter(edit: Editor, place: Place) -> Edits:
    """The plain tensor that the assignment around `place` keeps, as a Parameter."""
    value = edit.value(place)
    path, imports = edit.name_for(place, "torch.nn.Parameter")
    plain = edit.receiver(value, "requires_grad_")
    if plain is not None:
        return (*edit.replace(value, f"{path}({edit.code(plain)})"), *imports)
    wrapped = edit.around(value, f"{path}(")
    return (*edit.drop_keyword(value, "requires_grad"), *wrapped, *imports) if wrapped else ()


def _unfrozen(event: Event, edit: Editor, place: Place) -> Edits:
    """The optimizer gets what is unfrozen at `place`, if it has a name there and that happens once."""
    made: Place | None = event.fields["made"]
    optimizer, name = edit.code(edit.target(made)), name_of(event)
    if not optimizer or not (edit.function(made) == edit.function(place) or optimizer.startswith("self.")):
        return ()
    add = f'{optimizer}.add_param_group({{"params": '
    loop = edit.loop(place)
    walked = edit.walked(loop)
    if edit.receiver(walked, "parameters") is not None and edit.is_alone_in(loop, place):
        return edit.behind(loop, f"{add}{edit.code(walked)}}})") if edit.comes_once(loop) else ()
    if (
        edit.receiver(walked, "parameters") is not None
        or edit.receiver(walked, "named_parameters") is not None
    ):
        return (
            edit.behind(place, f"{add}[{name}]}})") if edit.comes_once(loop) and name.isidentifier() else ()
        )
    owner = edit.code(edit.receiver(place, "requires_grad_"))
    if not owner or not edit.comes_once(place):
        return ()
    given = f"[{owner}]" if owner == name else f"{owner}.parameters()"
    return edit.behind(place, f"{add}{given}}})")
