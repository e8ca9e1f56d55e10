"""What a backward reaches, and what the optimizer holds: where the two differ, something is not trained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.registering import registered
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import diagnostic, fix, name_of, step_at
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.distributions import REPARAMETERISED
from gradtrail.laws.text import Text, text
from gradtrail.source.place import Edits, together
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor
    from gradtrail.source.place import Place

_TWO = 2

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
        if kind == "unfrozen":
            yield diagnostic(
                self,
                event,
                text("`{name}` is unfrozen and gets gradients, and no optimizer holds it", name=name),
                text("gets gradients from here on, and is never moved"),
                why=text("an optimizer keeps the parameters that it is given when it is made"),
                help=text("hand it over with add_param_group, or make the optimizer afterwards"),
            )
            return
        if kind == "module":
            yield diagnostic(
                self,
                event,
                text(
                    "`{name}` gets gradients, and {optimizer} does not hold it",
                    name=name,
                    optimizer=optimizer,
                ),
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
            text("`{name}` gets gradients, and {optimizer} does not hold it", name=name, optimizer=optimizer),
            text("it was not among the parameters when the optimizer was made"),
            why=text("an optimizer keeps the parameters that it is given when it is made"),
            help=text("hand it over with add_param_group, or make the optimizer afterwards"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        kind, attribute = str(event.fields.get("container", "")), str(event.fields.get("attribute", ""))
        if kind == "module":
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


def _how_to_register(kind: str, attribute: str) -> Text:
    if kind == "dict":
        return text("use nn.ModuleDict or nn.ParameterDict for `{attribute}`", attribute=attribute)
    if kind == "tensor":
        return text("make `{attribute}` an nn.Parameter", attribute=attribute)
    return text("use nn.ModuleList or nn.ParameterList for `{attribute}`", attribute=attribute)


class ParameterNeverReached(Rule):
    """A parameter of the optimizer is used, and no backward ever reaches it.

    ## Why it goes wrong

    On the way from the parameter to the loss something carries no gradient: a detach, a number taken with `item()`,
    `argmax` or another choice of integers, `torch.tensor(...)` of tensors, `nn.Parameter(...)` of a computed tensor.
    The loss may fall all the same, by what the rest of the model learns.

    ## What to do

    Let the loss depend on the parameter by operations that have a gradient: the tensor instead of its `item()`,
    `torch.stack` instead of `torch.tensor`, a soft choice (`softmax`) instead of `argmax`, the product computed in
    `forward` instead of once in `__init__`. What is not to be trained belongs to no optimizer, or gets
    `requires_grad_(False)`.

    ## The fix

    For a rounding it lets the gradient pass as if nothing were rounded, which is an approximation.
    """

    name = "parameter-never-reached"
    severity = "warning"
    words = (STEP,)
    hears = ("never-reached",)
    examples = (
        Example(
            title="a choice by argmax",
            bad="""
                import torch
                scores, table = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
                optimizer = torch.optim.SGD([*scores.parameters(), *table.parameters()], lr=0.1)
                for _ in range(3):
                    choice = scores(torch.ones(1, 2)).argmax(-1)  # error
                    loss = table(torch.nn.functional.one_hot(choice, 3).float()).sum()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            """,
            good="""
                import torch
                scores, table = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
                optimizer = torch.optim.SGD([*scores.parameters(), *table.parameters()], lr=0.1)
                for _ in range(3):
                    choice = scores(torch.ones(1, 2)).softmax(-1)
                    loss = table(choice).sum()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            """,
            proof="scores.weight.grad is None",
        ),
        Example(
            title="rounded values: the gradient is zero",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
                for _ in range(3):
                    level = net(torch.ones(1, 2)).round()  # error
                    optimizer.zero_grad()
                    (level - 30).pow(2).sum().backward()
                    optimizer.step()
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
                for _ in range(3):
                    level = net(torch.ones(1, 2))
                    level = level + (level.round() - level).detach()
                    optimizer.zero_grad()
                    (level - 30).pow(2).sum().backward()
                    optimizer.step()
            """,
            proof="net.weight.grad.abs().sum() == 0",
        ),
        Example(
            title="values drawn with torch.normal: the gradient is zero",
            bad="""
                import torch
                mean = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(mean.parameters(), lr=0.1)
                for _ in range(3):
                    drawn = torch.normal(mean(torch.ones(4, 2)), torch.ones(4, 1))  # error
                    optimizer.zero_grad()
                    (drawn - 3).pow(2).mean().backward()
                    optimizer.step()
            """,
            good="""
                import torch
                mean = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(mean.parameters(), lr=0.1)
                for _ in range(3):
                    drawn = mean(torch.ones(4, 2)) + torch.randn(4, 1)
                    optimizer.zero_grad()
                    (drawn - 3).pow(2).mean().backward()
                    optimizer.step()
            """,
            proof="mean.weight.grad.abs().sum() == 0",
        ),
        Example(
            title="losses made into a new tensor",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    losses = [net(torch.ones(1, 2)).sum(), net(torch.zeros(1, 2)).sum()]
                    loss = torch.tensor(losses, requires_grad=True).mean()  # error
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    losses = [net(torch.ones(1, 2)).sum(), net(torch.zeros(1, 2)).sum()]
                    loss = torch.stack(losses).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            """,
            proof="net.weight.grad is None",
        ),
        Example(
            title="a number instead of the loss",
            bad="""
                import torch
                net, weight = torch.nn.Linear(2, 1), torch.ones(1, requires_grad=True)
                optimizer = torch.optim.SGD([*net.parameters(), weight], lr=0.1)
                for _ in range(3):
                    error = net(torch.ones(1, 2)).pow(2).sum()
                    loss = (weight * error.item()).sum()  # error
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            """,
            good="""
                import torch
                net, weight = torch.nn.Linear(2, 1), torch.ones(1, requires_grad=True)
                optimizer = torch.optim.SGD([*net.parameters(), weight], lr=0.1)
                for _ in range(3):
                    error = net(torch.ones(1, 2)).pow(2).sum()
                    loss = (weight * error).sum()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            """,
            proof="net.weight.grad is None",
        ),
        Example(
            title="a product that is taken once and made a Parameter",
            bad="""
                import torch

                class LowRank(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.up = torch.nn.Parameter(torch.ones(2, 1))
                        self.down = torch.nn.Parameter(torch.ones(1, 2))
                        self.weight = torch.nn.Parameter(self.up @ self.down)  # error

                    def forward(self, x):
                        return x @ self.weight

                net = LowRank()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                net(torch.ones(1, 2)).sum().backward()
                optimizer.step()
            """,
            good="""
                import torch

                class LowRank(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.up = torch.nn.Parameter(torch.ones(2, 1))
                        self.down = torch.nn.Parameter(torch.ones(1, 2))

                    def forward(self, x):
                        return x @ (self.up @ self.down)

                net = LowRank()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                net(torch.ones(1, 2)).sum().backward()
                optimizer.step()
            """,
            proof="net.up.grad is None",
        ),
    )
    near_misses = (
        NearMiss(
            "a fractional part: the gradient comes by the term that is not rounded",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    level = net(torch.ones(1, 2))
                    optimizer.zero_grad()
                    (level - level.floor()).sum().backward()
                    optimizer.step()
            """,
        ),
        NearMiss(
            "detached for one loss, trained by the other",
            """
                import torch
                generator, critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD([*generator.parameters(), *critic.parameters()], lr=0.1)
                for _ in range(3):
                    fake = generator(torch.ones(1, 2))
                    optimizer.zero_grad()
                    critic(fake.detach()).sum().backward()
                    critic(fake).sum().backward()
                    optimizer.step()
            """,
        ),
        NearMiss(
            "numbers for the log",
            """
                import torch
                net = torch.nn.Linear(2, 3)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    out = net(torch.ones(1, 2))
                    accuracy = (out.argmax(-1) == 0).float().mean().item()
                    optimizer.zero_grad()
                    out.sum().backward()
                    optimizer.step()
                    print(accuracy, out.sum().item())
            """,
        ),
        NearMiss(
            "a layer that this run does not use",
            """
                import torch
                used, spare = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD([*used.parameters(), *spare.parameters()], lr=0.1)
                used(torch.ones(1, 2)).sum().backward()
                optimizer.step()
            """,
        ),
        NearMiss(
            "reached in one of two branches",
            """
                import torch
                first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
                for epoch in range(4):
                    hidden = first(torch.ones(1, 2))
                    if epoch < 2:
                        hidden = hidden.detach()
                    optimizer.zero_grad()
                    second(hidden).sum().backward()
                    optimizer.step()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, optimizer = name_of(event), str(event.fields["optimizer"])
        number, cut = int(str(event.fields["number"])), str(event.fields["cut"])
        told = text("no gradient passes here, and no backward reaches `{name}` by another way", name=name)
        if number > 1:
            told = text(
                "no gradient passes here, and no backward reaches `{name}` and {more} more by another way",
                name=name,
                more=number - 1,
            )
        label, why = (
            text("the gradient ends here"),
            text("{optimizer} skips what has no gradient, without a word", optimizer=optimizer),
        )
        help = text("let the loss depend on `{name}` by operations that have a gradient", name=name)
        if cut == "zero":
            told = text("the gradient of `{name}` is always zero: this is the only way to it", name=name)
            if number > 1:
                told = text(
                    "the gradients of `{name}` and {more} more are always zero: this is the only way to them",
                    name=name,
                    more=number - 1,
                )
            label = text("what lies before this gets a gradient of zeros")
            why = text("step functions and draws have a derivative of zero, and torch says nothing")
        elif cut == "number":
            help = text("use the tensor itself, without `item()`")
        elif cut == "sampled":
            help = text("draw with `rsample()`, or train on the log-probability of the draw")
        elif cut == "wrapped":
            help = text("compute it in forward from its parts, and keep it a tensor")
        elif cut in ("created", "created-no-grad"):
            help = text(
                "use torch.stack, which keeps the graph, instead of making a new tensor of the values"
            )
        yield diagnostic(self, event, told, label, why=why, help=help)

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        cut, at = str(event.fields["cut"]), found.place
        callee = edit.callee(at)
        if cut == "number":
            inner = edit.argument(at, 0) if callee == "float" else None
            kept = edit.replace(at, edit.code(inner)) if inner else edit.take_off(at, "item")
            yield fix(text("use the tensor itself"), kept)
        elif cut in ("created", "created-no-grad") and callee.rpartition(".")[2] in ("tensor", "as_tensor"):
            values = edit.code(edit.argument(at, 0))
            path, imports = edit.name_for(at, "torch.stack")
            stacked = edit.replace(at, f"{path}({values})") if values else ()
            yield fix(
                text("stack the tensors, which keeps the graph"), (*stacked, *imports) if stacked else ()
            )
            yield fix(
                text("use the tensor itself"), edit.replace(at, values) if values.isidentifier() else ()
            )
        elif cut == "detached":
            yield fix(text("keep the graph here"), edit.take_off(at, "detach"))
        elif cut == "sampled" and event.fields["cls"] in REPARAMETERISED:
            yield fix(text("draw with `rsample()`"), edit.rename_call(at, "sample", "rsample"))
        elif cut == "zero" and callee.rpartition(".")[2] == "normal" and len(edit.arguments(at)) == _TWO:
            path, imports = edit.name_for(at, "torch.distributions.Normal")
            given = ", ".join(edit.code(edit.argument(at, number)) for number in range(_TWO))
            drawn = edit.replace(at, f"{path}({given}).rsample()")
            plain = edit.argument(at, _TWO - 1) is not None
            yield fix(text("draw with `rsample()`"), (*drawn, *imports) if plain else ())
        elif cut == "zero" and event.fields["op"] == "round":
            yield fix(text("pass the gradient on as it comes"), _straight_through(edit, at))


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
        yield diagnostic(
            self,
            event,
            text(
                "no backward reaches anything that {optimizer} holds; `{name}` gets gradients and is in no optimizer",
                name=name,
                optimizer=optimizer,
            ),
            text("made from parameters that the loss does not depend on"),
            why=text("an optimizer moves what it was handed, and nothing else"),
            help=text("make it from the parameters that are trained, once they exist"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        loaded = edit.drop_keyword(step_at(found, "wrapped"), "assign")
        yield fix(text("load the values into the parameters that are there"), loaded)


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


def _straight_through(edit: Editor, place: Place) -> Edits:
    """The value of the rounding at `place`, and the gradient of what is rounded."""
    given, owner = edit.arguments(place), edit.receiver(place, "round")
    inner = given[0] if given and edit.code(owner) == "torch" else owner
    if len(given) != (inner is not owner) or inner is None:
        return ()
    code, target = edit.code(inner), edit.code(edit.target(place))
    if "(" not in code:
        code = code if code.isidentifier() else f"({code})"
        return edit.replace(place, f"({code} + ({edit.code(place)} - {code}).detach())")
    if not edit.is_body(place) or not target.isidentifier():
        return ()
    rounded = f"{target} = {target} + ({target}.round() - {target}).detach()"
    return together(edit.replace(place, code), edit.behind(place, rounded))
