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
from gradtrail.laws.text import text
from gradtrail.source.place import Edits
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor

STEP = Word(rb"\.step\(\)", file=rb"\.backward\(")


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

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        kind, attribute = str(event.fields.get("container", "")), str(event.fields.get("attribute", ""))
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
        help = text("let the loss depend on `{name}` by operations that have a gradient", name=name)
        if cut == "number":
            help = text("use the tensor itself, without `item()`")
        elif cut == "wrapped":
            help = text("compute it in forward from its parts, and keep it a tensor")
        elif cut in ("created", "created-no-grad"):
            help = text(
                "use torch.stack, which keeps the graph, instead of making a new tensor of the values"
            )
        yield diagnostic(
            self,
            event,
            told,
            text("the gradient ends here"),
            why=text("{optimizer} skips what has no gradient, without a word", optimizer=optimizer),
            help=help,
        )

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
    )
    near_misses = (
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
        value = edit.argument(found.place, 0) or edit.inside(found.place, name)
        yield fix(text("collect `{name}` without its graph", name=name), edit.after(value, ".detach()"))


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
