"""Copies that are none: shared memory, a state loaded into itself, a follower that is trained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

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
    from gradtrail.source.place import Edits, Place


class DataShared(Rule):
    """`.data` of another parameter is assigned: both share one memory from then on.

    ## Why it goes wrong

    `target.data = source.data` copies nothing: the parameter is given the other's memory. Each step of the optimizer
    then moves both, and a target that was to stay behind never does.

    ## What to do

    Copy the values: `target.data.copy_(source.data)`, or `target.load_state_dict(source.state_dict())` for a module.
    """

    name = "data-shared"
    severity = "warning"
    words = (Word(rb"\.data = [^=]", file=rb"\.step\(", run=True),)
    hears = ("data-shared",)
    examples = (
        Example(
            title="a target network",
            bad="""
                import torch
                online, target = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
                for slow, fast in zip(target.parameters(), online.parameters()):
                    slow.data = fast.data  # error
                optimizer = torch.optim.SGD(online.parameters(), lr=0.1)
                for _ in range(3):
                    x = torch.ones(4, 2)
                    with torch.no_grad():
                        aim = 1 + 0.9 * target(x)
                    loss = (online(x) - aim).pow(2).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            """,
            good="""
                import torch
                online, target = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
                for slow, fast in zip(target.parameters(), online.parameters()):
                    slow.data.copy_(fast.data)
                optimizer = torch.optim.SGD(online.parameters(), lr=0.1)
                for _ in range(3):
                    x = torch.ones(4, 2)
                    with torch.no_grad():
                        aim = 1 + 0.9 * target(x)
                    loss = (online(x) - aim).pow(2).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            """,
            proof="online.weight.data_ptr() == target.weight.data_ptr()",
        ),
    )
    near_misses = (
        NearMiss(
            "weights that are shared on purpose, and trained together",
            """
                import torch
                first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
                second.weight.data = first.weight.data
                optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    second(first(torch.ones(4, 2))).sum().backward()
                    optimizer.step()
            """,
        ),
        NearMiss(
            "an old layer's memory is taken over, and the old layer is used no more",
            """
                import torch
                old, new = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
                new.weight.data = old.weight.data
                optimizer = torch.optim.SGD(new.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    new(torch.ones(4, 2)).sum().backward()
                    optimizer.step()
            """,
        ),
        NearMiss(
            "a copy of the values",
            """
                import torch
                online, target = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
                target.weight.data = online.weight.data.clone()
                optimizer = torch.optim.SGD(online.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    (online(torch.ones(4, 2)) - target(torch.ones(4, 2)).detach()).pow(2).sum().backward()
                    optimizer.step()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, source = name_of(event), str(event.fields["source"])
        yield diagnostic(
            self,
            event,
            text(
                "`{name}` gets the memory of `{source}`, not a copy: a step moves both",
                name=name,
                source=source,
            ),
            text("nothing is copied here"),
            why=text("assigning `.data` makes a tensor use the other's memory"),
            help=text("copy the values: `{name}.data.copy_(...)`", name=name),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        copied = edit.as_call(edit.statement(found.place), ".copy_")
        yield fix(text("copy the values"), copied)


class StateLoadedIntoItself(Rule):
    """A module's own `state_dict()`, kept without a copy, is loaded into it again.

    ## Why it goes wrong

    The tensors of a `state_dict()` share the parameters' memory. What was kept as the best state follows each step
    of the optimizer, and loading it copies every parameter onto itself.

    ## What to do

    Keep a copy: `copy.deepcopy(model.state_dict())`.

    ## The fix

    The copy takes the memory of one more model.
    """

    name = "state-loaded-into-itself"
    severity = "warning"
    words = (Word(rb"\.load_state_dict\(", file=rb"\.state_dict\(\)"),)
    hears = ("state-loaded-into-itself",)
    examples = (
        Example(
            title="back to the best state",
            bad="""
                import torch
                model = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                best = model.state_dict()
                first = model.weight.detach().clone()
                for _ in range(3):
                    optimizer.zero_grad()
                    model(torch.ones(4, 2)).sum().backward()
                    optimizer.step()
                model.load_state_dict(best)  # error
            """,
            good="""
                import copy
                import torch
                model = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                best = copy.deepcopy(model.state_dict())
                first = model.weight.detach().clone()
                for _ in range(3):
                    optimizer.zero_grad()
                    model(torch.ones(4, 2)).sum().backward()
                    optimizer.step()
                model.load_state_dict(best)
            """,
            proof="not torch.equal(model.weight, first)",
        ),
        Example(
            title="a target network that is the network itself",
            bad="""
                import torch
                online = torch.nn.Linear(2, 1)
                target = online
                target.load_state_dict(online.state_dict())  # error
            """,
            good="""
                import copy
                import torch
                online = torch.nn.Linear(2, 1)
                target = copy.deepcopy(online)
                target.load_state_dict(online.state_dict())
            """,
            proof="target.weight is online.weight",
        ),
    )
    near_misses = (
        NearMiss(
            "from one module into another",
            """
                import torch
                online, target = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
                state = online.state_dict()
                optimizer = torch.optim.SGD(online.parameters(), lr=0.1)
                online(torch.ones(4, 2)).sum().backward()
                optimizer.step()
                target.load_state_dict(state)
            """,
        ),
        NearMiss(
            "each tensor is copied",
            """
                import torch
                model = torch.nn.Linear(2, 1)
                best = {name: value.clone() for name, value in model.state_dict().items()}
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                model(torch.ones(4, 2)).sum().backward()
                optimizer.step()
                model.load_state_dict(best)
            """,
        ),
        NearMiss(
            "some entries are replaced before loading",
            """
                import torch
                model = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                model(torch.ones(4, 2)).sum().backward()
                optimizer.step()
                state = model.state_dict()
                state["bias"] = torch.zeros(1)
                model.load_state_dict(state)
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        module, other = str(event.fields["module"]), str(event.fields["other"])
        if other:
            yield diagnostic(
                self,
                event,
                text(
                    "`{module}` and `{other}` are one module: nothing is copied", module=module, other=other
                ),
                text("every parameter is copied onto itself"),
                why=text("an assignment gives a module another name, and makes no copy of it"),
                help=text("make the other one with `copy.deepcopy({other})`", other=other),
            )
            return
        yield diagnostic(
            self,
            event,
            text("`{module}` is loaded with its own memory: nothing is restored", module=module),
            text("every parameter is copied onto itself"),
            why=text(
                "`state_dict()` gives tensors that share the parameters' memory, and each step writes to it"
            ),
            help=text("keep a copy: `copy.deepcopy({module}.state_dict())`", module=module),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        module, other = str(event.fields["module"]), str(event.fields["other"])
        places: tuple[Place | None, ...] = event.fields["taken"]
        if other:
            places = tuple(
                value
                for name, same in ((module, other), (other, module))
                if edit.code(value := edit.binding(found.place, name)) == same
            )[:1]
        copies = [_copied(edit, one) for one in places]
        yield fix(text("make a copy"), together(*copies) if copies else ())


class FollowerTrained(Rule):
    """A network that follows another one by a moving average is trained as well.

    ## Why it goes wrong

    The average is written into the parameters without a gradient. Where a loss reaches them all the same and an
    optimizer holds them, each step also moves them by their gradient, away from what they are to follow.

    ## What to do

    Compute what the follower gives under `torch.no_grad()`, leave its parameters out of the optimizer, and freeze them
    with `requires_grad_(False)`.
    """

    name = "follower-trained"
    severity = "warning"
    words = (Word(rb"\.parameters\(\)", file=rb"\.step\(", run=True),)
    hears = ("follower-trained",)
    examples = (
        Example(
            title="the keys of a momentum encoder",
            bad="""
                import copy
                import torch
                query = torch.nn.Linear(2, 2)
                key = copy.deepcopy(query)
                optimizer = torch.optim.SGD([*query.parameters(), *key.parameters()], lr=0.1)
                for _ in range(3):
                    x = torch.ones(4, 2)
                    loss = (query(x) - key(x)).pow(2).mean() + query(x).mean()  # error
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    with torch.no_grad():
                        for slow, fast in zip(key.parameters(), query.parameters()):
                            slow.mul_(0.9).add_(fast, alpha=0.1)  # cause
            """,
            good="""
                import copy
                import torch
                query = torch.nn.Linear(2, 2)
                key = copy.deepcopy(query).requires_grad_(False)
                optimizer = torch.optim.SGD(query.parameters(), lr=0.1)
                for _ in range(3):
                    x = torch.ones(4, 2)
                    loss = (query(x) - key(x)).pow(2).mean() + query(x).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    with torch.no_grad():
                        for slow, fast in zip(key.parameters(), query.parameters()):
                            slow.mul_(0.9).add_(fast, alpha=0.1)
            """,
            proof="key.weight.grad is not None",
        ),
    )
    near_misses = (
        NearMiss(
            "in the optimizer, but the loss does not reach it",
            """
                import copy
                import torch
                query = torch.nn.Linear(2, 2)
                key = copy.deepcopy(query)
                optimizer = torch.optim.SGD([*query.parameters(), *key.parameters()], lr=0.1)
                for _ in range(3):
                    with torch.no_grad():
                        aim = key(torch.ones(4, 2))
                    optimizer.zero_grad()
                    (query(torch.ones(4, 2)) - aim).pow(2).mean().backward()
                    optimizer.step()
                    for slow, fast in zip(key.parameters(), query.parameters()):
                        slow.data = 0.9 * slow.data + 0.1 * fast.data
            """,
        ),
        NearMiss(
            "two networks that follow each other",
            """
                import copy
                import torch
                fast = torch.nn.Linear(2, 1)
                slow = copy.deepcopy(fast)
                optimizer = torch.optim.SGD(fast.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad()
                    fast(torch.ones(4, 2)).sum().backward()
                    optimizer.step()
                    with torch.no_grad():
                        for behind, ahead in zip(slow.parameters(), fast.parameters()):
                            behind.lerp_(ahead, 0.5)
                            ahead.copy_(behind)
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, optimizer = name_of(event), str(event.fields["optimizer"])
        yield diagnostic(
            self,
            event,
            text(
                "`{name}` follows by a moving average, and {optimizer} trains it too",
                name=name,
                optimizer=optimizer,
            ),
            text("the loss reaches it here"),
            why=text("a follower's values come from what it follows, not from a gradient"),
            help=text("compute this under `torch.no_grad()`"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        call: Place | None = event.fields["call"]
        path, imports = edit.name_for(call, "torch.no_grad")
        if edit.is_body(call):
            under = edit.under(call, f"with {path}():")
            yield fix(text("compute it without recording"), (*under, *imports) if under else ())
        yield fix(text("stop the gradient at `{name}`", name=edit.code(call)), edit.after(call, ".detach()"))


def _copied(edit: Editor, place: Place | None) -> Edits:
    """A deep copy of what stands at `place`."""
    path, imports = edit.name_for(place, "copy.deepcopy")
    made = edit.around(place, f"{path}(") if path else ()
    return (*made, *imports) if made else ()
