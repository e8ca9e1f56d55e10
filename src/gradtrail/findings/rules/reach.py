"""What a backward reaches, and what the optimizer holds: where the two differ, something is not trained."""

from __future__ import annotations

from collections.abc import Iterator

from gradtrail.findings.diagnostic import Diagnostic
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import diagnostic, name_of
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import text
from gradtrail.source.words import Word


class ParameterOutsideOptimizer(Rule):
    """A parameter gets a gradient in each round, and no optimizer moves it.

    ## Why it goes wrong

    `parameters()` is read once, when the optimizer is made. What is registered or unfrozen afterwards is not in it, and
    what a plain list or dict of a module holds is never registered: it computes, it gets gradients, and it stays as it
    was.

    ## What to do

    Keep layers in `nn.ModuleList` or `nn.ModuleDict`, parameters in `nn.ParameterList`. For what comes later call
    `optimizer.add_param_group({"params": new.parameters()})`, or make the optimizer afterwards.
    """

    name = "parameter-outside-optimizer"
    severity = "warning"
    words = (Word(rb"\.step\("),)
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
    )
    near_misses = (
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
                help=text("use nn.ModuleDict or nn.ParameterDict for `{attribute}`", attribute=attribute)
                if kind == "dict"
                else text("use nn.ModuleList or nn.ParameterList for `{attribute}`", attribute=attribute),
            )
            return
        yield diagnostic(
            self,
            event,
            text("`{name}` gets gradients, and {optimizer} does not hold it", name=name, optimizer=optimizer),
            text("it was not among the parameters when the optimizer was made"),
            why=text("an optimizer keeps the parameters that it is given when it is made"),
            help=text("hand it over with add_param_group, or make the optimizer afterwards"),
        )
