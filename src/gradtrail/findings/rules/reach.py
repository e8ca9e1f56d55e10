"""Parameters that no backward reaches, and where the way to them is cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import diagnostic, fix, name_of
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.distributions import REPARAMETERISED
from gradtrail.laws.text import text
from gradtrail.source.place import Edits, together
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor
    from gradtrail.source.place import Place

_TWO = 2

STEP = Word(rb"\.step\(\)", file=rb"\.backward\(", run=True)


class ParameterNeverReached(Rule):
    """A parameter of the optimizer is used, and no backward ever reaches it.

    ## Why it goes wrong

    On the way from the parameter to the loss something carries no gradient: a detach, numbers taken with `item()`,
    `float()` or `tolist()`, `argmax` or another choice of integers, `torch.tensor(...)` of tensors, `nn.Parameter(...)`
    of a computed tensor, a `no_grad` block. The loss may fall all the same, by what the rest of the model learns.

    Of a part that runs under `no_grad` it is told where the optimizer was made for that part by name. In an optimizer of
    the whole model it may be frozen on purpose.

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
            title="a list of numbers on the way",
            bad="""
                import torch
                first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
                for _ in range(3):
                    hidden = first(torch.ones(4, 2))
                    hidden = torch.tensor(hidden.tolist())  # error
                    optimizer.zero_grad()
                    second(hidden).pow(2).mean().backward()
                    optimizer.step()
            """,
            good="""
                import torch
                first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
                for _ in range(3):
                    hidden = first(torch.ones(4, 2))
                    optimizer.zero_grad()
                    second(hidden).pow(2).mean().backward()
                    optimizer.step()
            """,
            proof="first.weight.grad is None",
        ),
        Example(
            title="a part that is to be trained runs under no_grad",
            bad="""
                import torch
                first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
                for _ in range(3):
                    with torch.no_grad():
                        hidden = first(torch.ones(4, 2))  # error
                    optimizer.zero_grad()
                    second(hidden).pow(2).mean().backward()
                    optimizer.step()
            """,
            good="""
                import torch
                first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
                for _ in range(3):
                    hidden = first(torch.ones(4, 2))
                    optimizer.zero_grad()
                    second(hidden).pow(2).mean().backward()
                    optimizer.step()
            """,
            proof="first.weight.grad is None",
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
            "the body is frozen by no_grad, and the optimizer holds the whole model",
            """
                import torch
                class Net(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.body, self.head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                    def forward(self, x):
                        with torch.no_grad():
                            hidden = self.body(x)
                        return self.head(hidden)
                net = Net()
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    net(torch.ones(4, 2)).pow(2).mean().backward()
                    optimizer.step()
            """,
        ),
        NearMiss(
            "without grad for one network, with grad for the other",
            """
                import torch
                actor, critic = torch.nn.Linear(2, 1), torch.nn.Linear(1, 1)
                of_actor = torch.optim.SGD(actor.parameters(), lr=0.1)
                of_critic = torch.optim.SGD(critic.parameters(), lr=0.1)
                for step in range(6):
                    with torch.no_grad():
                        action = actor(torch.ones(4, 2))
                    of_critic.zero_grad()
                    critic(action).pow(2).mean().backward()
                    of_critic.step()
                    if step % 3 == 0:
                        of_actor.zero_grad()
                        (-critic(actor(torch.ones(4, 2)))).mean().backward()
                        of_actor.step()
            """,
        ),
        NearMiss(
            "gradients that the program estimates without autograd",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                scale = torch.ones(1, requires_grad=True)
                of_net = torch.optim.SGD(net.parameters(), lr=0.1)
                of_scale = torch.optim.SGD([scale], lr=0.1)
                for _ in range(3):
                    with torch.no_grad():
                        out = net(torch.ones(4, 2))
                        for p in net.parameters():
                            p.grad = torch.randn_like(p) * out.mean()
                    of_net.step()
                    of_scale.zero_grad()
                    (scale * out).mean().backward()
                    of_scale.step()
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
            "sums of numbers for the log",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                total, rows = 0.0, []
                for _ in range(3):
                    out = net(torch.ones(4, 2))
                    error = out.pow(2).mean()
                    optimizer.zero_grad()
                    error.backward()
                    optimizer.step()
                    total += float(error)
                    rows.append(out.tolist())
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
            help = text("use the tensor itself, without `{op}`", op=event.fields["op"])
        elif cut == "no-grad":
            label = text("the gradient ends here: grad mode is off")
            help = text("let it run with grad mode on; what is not to be trained belongs to no optimizer")
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
            whole, op = edit.value(at), event.fields["op"]
            code = edit.code(edit.argument(at, 0) if callee in ("float", "int") else edit.receiver(at))
            made_anew = edit.callee(whole).rpartition(".")[2] in ("tensor", "as_tensor")
            if made_anew and edit.argument(whole, 0) == at:
                yield fix(text("use the tensor itself"), edit.replace(whole, code) if code else ())
            elif op in ("item()", "float()"):
                yield fix(text("use the tensor itself"), edit.replace(at, code) if code else ())
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
