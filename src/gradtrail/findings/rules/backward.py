"""Starting a backward: from what, and how often."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.carrying import carried_over, detached_behind
from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import code_of, diagnostic, fix, name_of, step_at
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import text
from gradtrail.source.place import Edits, Place, together
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor

_CUTS = ("detached", "cut", "integers")
"""Kinds of steps after which nothing goes back."""


class BackwardWithoutGraph(Rule):
    """A backward starts at a tensor that has no graph behind it.

    ## Why torch refuses it

    The tensor does not require grad: nothing it was computed from requires grad, or grad mode was off, or the
    gradient was cut on the way (`detach`, `argmax`, a comparison, `.data`, a conversion to integers, a
    reentrant checkpoint without an input that requires grad). There is nothing to differentiate.

    ## What to do

    Look at the trail: make the parameters require grad, switch grad mode on again, or replace the operation that
    cuts the gradient by one that has one. `requires_grad_()` on the loss only silences the error.
    """

    name = "backward-without-graph"
    words = (
        Word(rb"\.backward\("),
        Word(rb"autograd\.(?:grad|backward)\("),
    )
    hears = ("backward-no-grad-fn",)
    examples = (
        Example(
            title="all parameters are frozen",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                for p in net.parameters():
                    p.requires_grad = False  # cause
                net(torch.ones(3, 2)).sum().backward()  # error
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                net.weight.requires_grad = False
                net(torch.ones(3, 2)).sum().backward()
            """,
            raises="does not require grad and does not have a grad_fn",
        ),
        Example(
            title="argmax has no gradient",
            bad="""
                import torch
                net = torch.nn.Linear(2, 3)
                picked = net(torch.ones(4, 2)).argmax(1)  # cause
                loss = picked.float().mean()
                loss.backward()  # error
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 3)
                picked = net(torch.ones(4, 2)).softmax(1)
                loss = picked.float().mean()
                loss.backward()
            """,
            raises="does not require grad and does not have a grad_fn",
        ),
        Example(
            title="grad mode left off",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                torch.set_grad_enabled(False)  # cause
                loss = net(torch.ones(3, 2)).sum()
                loss.backward()  # error
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                with torch.set_grad_enabled(False):
                    net(torch.ones(3, 2))
                loss = net(torch.ones(3, 2)).sum()
                loss.backward()
            """,
            raises="does not require grad and does not have a grad_fn",
        ),
    )
    near_misses = (
        NearMiss(
            "a factory whose keywords are not known",
            """
                import torch
                options = eval("{'requires_grad': True}")
                torch.zeros(3, **options).sum().backward()
            """,
            shown=False,
        ),
        NearMiss(
            "a layer added under a name that is not known",
            """
                import torch

                class Probe(torch.nn.Module):
                    def forward(self, x):
                        self.loss = x.mean()
                        return x * 2

                model = torch.nn.Sequential()
                for key in eval("[0]"):
                    probe = Probe()
                    model.add_module(str(key), probe)
                    model(torch.rand(1, 3))
                image = torch.rand(1, 3, requires_grad=True)
                model(image)
                probe.loss.backward()
            """,
            shown=False,
        ),
        NearMiss(
            "options read by a parser of a class of its own",
            """
                import argparse
                import torch

                class Parser(argparse.ArgumentParser):
                    def __init__(self):
                        super().__init__()
                        self.add_argument("--train", action="store_true", default=True)

                options = Parser().parse_args([])
                w = torch.ones(2, requires_grad=options.train)
                (w * 2).sum().backward()
            """,
        ),
        NearMiss(
            "computed with what is not a tensor for all we know",
            """
                import torch
                from collections import OrderedDict

                class Output(OrderedDict):
                    def __getattr__(self, name):
                        return self[name]

                class Net(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.layer = torch.nn.Linear(2, 1)

                    def forward(self, x, as_tuple=False):
                        y = self.layer(x)
                        if as_tuple:
                            return (y,)
                        return Output(sample=y)

                out = Net()(torch.ones(1, 2)).sample
                loss = (out - torch.randn_like(out)).mean()
                loss.backward()
            """,
        ),
        NearMiss(
            "one trainable parameter is enough",
            """
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 2).requires_grad_(False), torch.nn.Linear(2, 1))
                net(torch.ones(3, 2)).sum().backward()
            """,
        ),
        NearMiss(
            "no_grad around the target only",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                with torch.no_grad():
                    goal = net(torch.ones(3, 2))
                (net(torch.ones(3, 2)) - goal).pow(2).sum().backward()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        help = text("find the step of the trail that lost the gradient, and change that")
        trail = event.subject.trail if event.subject is not None else ()
        kinds = {step.kind for step in trail}
        if event.fields.get("mode_off"):
            help = text(
                "use `with torch.no_grad():` instead of a plain call, so that grad mode comes on again"
            )
        elif any(step.kind in _CUTS for step in trail):
            cut = next(step for step in reversed(trail) if step.kind in _CUTS)
            help = text(
                "the gradient ends on line {row}: what is to be trained must reach the loss by a way around that line",
                row=cut.place.row,
            )
        elif "plain-gradient" in kinds:
            grad = next(step for step in reversed(trail) if step.kind == "plain-gradient")
            help = text(
                "pass create_graph=True on line {row}: the gradient that comes back can then be differentiated",
                row=grad.place.row,
            )
        elif "frozen" in kinds:
            help = text("keep at least one parameter that the loss depends on trainable")
        elif "checkpointed" in kinds:
            help = text("pass use_reentrant=False to checkpoint")
        elif "created-no-grad" in kinds or "batch" in kinds:
            help = text("make the tensor you want the gradient of require grad before it is used")
        yield diagnostic(
            self,
            event,
            text("`{name}` does not require grad, so there is nothing for backward to follow", name=name),
            text("RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"),
            why=text(
                "a result requires grad only if grad mode is on and something it is computed from requires grad"
            ),
            help=help,
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        plain, cut = step_at(found, "plain-gradient"), step_at(found, "detached")
        outside = edit.yield_outside(step_at(found, "entered"))
        if outside:
            yield fix(text("end the `with` before each `yield`"), outside)
            return
        if event.fields.get("mode_off"):
            off = step_at(found, "grad-off")
            mode = edit.callee(off)
            path, imports = edit.name_for(off, "torch.no_grad")
            if mode.endswith("set_grad_enabled") and edit.is_top_of_function(off):
                decorated = together(edit.drop(off), edit.decorate(off, f"{path}()"))
                yield fix(
                    text("switch grad mode off for this function alone"),
                    (*decorated, *imports) if decorated else (),
                )
        elif plain is not None:
            yield fix(text("record this gradient"), edit.add_keyword(plain, "create_graph", "True"))
        elif step_at(found, "checkpointed") is not None:
            at = step_at(found, "checkpointed")
            yield fix(
                text("use the other kind of checkpoint"),
                edit.add_keyword(at, "use_reentrant", "False"),
                "safe",
            )
        elif edit.gradients_read(found.place):
            for name in edit.gradients_read(found.place):
                value = edit.binding(found.place, name)
                title = text("record what is computed from `{name}`", name=name)
                yield fix(title, edit.after(value, ".requires_grad_()"))
        elif cut is not None:
            yield fix(text("keep the graph here"), edit.take_off(cut, "detach"))


class BackwardFromNonScalar(Rule):
    """A backward starts at a tensor of several elements, with no gradient given.

    ## Why torch refuses it

    The gradient of one number is what backward computes. For several numbers it needs to know how much each
    counts; only for one element is that 1 by itself.

    ## What to do

    Reduce the loss with `.mean()` or `.sum()`, or pass `gradient=`. A criterion with reduction="none" gives one
    value for each sample.
    """

    name = "backward-from-non-scalar"
    words = (Word(rb"\.backward\("),)
    hears = ("backward-non-scalar",)
    examples = (
        Example(
            title="one loss for each sample",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                criterion = torch.nn.MSELoss(reduction="none")  # cause
                loss = criterion(net(torch.ones(3, 2)), torch.zeros(3, 1))
                loss.backward()  # error
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                criterion = torch.nn.MSELoss(reduction="none")
                loss = criterion(net(torch.ones(3, 2)), torch.zeros(3, 1))
                loss.mean().backward()
            """,
            raises="grad can be implicitly created only for scalar outputs",
        ),
    )
    near_misses = (
        NearMiss(
            "one element of any shape",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                net(torch.ones(1, 2)).backward()
            """,
        ),
        NearMiss(
            "the gradient is given",
            """
                import torch
                y = torch.nn.Linear(2, 1)(torch.ones(3, 2))
                y.backward(torch.ones(3, 1))
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, shape = name_of(event), event.fields.get("shape", "")
        yield diagnostic(
            self,
            event,
            text(
                "`{name}` has shape {shape}: backward needs one number, or the gradient of each",
                name=name,
                shape=shape,
            ),
            text("RuntimeError: grad can be implicitly created only for scalar outputs"),
            why=text("backward computes the gradient of one number; several need a weight for each"),
            help=text("reduce it first: `{code}.mean().backward()`", code=code_of(event)),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        one = edit.after(edit.receiver(found.place, "backward"), ".mean()")
        yield fix(text("go backward from the mean"), one)


class SecondBackward(Rule):
    """A backward goes through a part of the graph that an earlier one has freed.

    ## Why torch refuses it

    To save memory, backward and `autograd.grad` free what each node kept, as they pass. A node that kept
    nothing (an addition, a view) can be passed again; one that kept something cannot.

    This happens when two losses share a part of the forward, when a value is computed from parameters once and
    used in every step, and when a recurrent state is carried on without `detach()`.

    ## What to do

    - Add the losses and go backward once.
    - Compute again in every step what depends on parameters.
    - Detach what is carried from step to step: `state = state.detach()`.
    - If both backwards are needed, pass `retain_graph=True` to the first.
    """

    name = "second-backward"
    words = (
        Word(rb"\.backward\("),
        Word(rb"autograd\.(?:grad|backward)\("),
    )
    hears = ("backward-twice",)
    examples = (
        Example(
            title="two losses that share a layer",
            bad="""
                import torch
                h = torch.nn.Linear(2, 2)(torch.ones(1, 2)).tanh()
                one, two = h.sum(), h.pow(2).sum()
                one.backward()  # cause
                two.backward()  # error
            """,
            good="""
                import torch
                h = torch.nn.Linear(2, 2)(torch.ones(1, 2)).tanh()
                one, two = h.sum(), h.pow(2).sum()
                (one + two).backward()
            """,
            raises="Trying to backward through the graph a second time",
        ),
        Example(
            title="a state carried from step to step",
            bad="""
                import torch
                cell = torch.nn.GRU(2, 3)
                state = torch.zeros(1, 1, 3)
                for _ in range(4):
                    out, state = cell(torch.ones(5, 1, 2), state)  # cause
                    out.sum().backward()  # error
            """,
            good="""
                import torch
                cell = torch.nn.GRU(2, 3)
                state = torch.zeros(1, 1, 3)
                for _ in range(4):
                    out, state = cell(torch.ones(5, 1, 2), state.detach())
                    out.sum().backward()
            """,
            raises="Trying to backward through the graph a second time",
        ),
    )
    near_misses = (
        NearMiss(
            "keywords that are not known",
            """
                import torch
                options = eval("{'retain_graph': True}")
                w = torch.rand(3, requires_grad=True)
                y = w.exp().sum()
                y.backward(**options)
                y.backward()
            """,
            shown=False,
        ),
        NearMiss(
            "a branch that one round takes",
            """
                import torch
                x = torch.ones(2, requires_grad=True)
                y = x.exp().sum()
                k = 0
                while k < eval("4"):
                    if k == 2:
                        y.backward()
                    k += 1
            """,
            shown=False,
        ),
        NearMiss(
            "each of several modules keeps a result of its own",
            """
                import torch

                class Layer(torch.nn.Module):
                    def forward(self, x):
                        self.kept = x * 2
                        return self.kept

                layers = []
                for _ in range(eval("2")):
                    layers.append(Layer())
                x = torch.ones(1, requires_grad=True)
                for layer in [one for _, one in zip(range(9), layers)]:
                    layer(x.exp())
                for layer in [one for _, one in zip(range(9), layers)]:
                    layer.kept.sum().backward()
            """,
            shown=False,
        ),
        NearMiss(
            "the graph is retained",
            """
                import torch
                h = torch.nn.Linear(2, 2)(torch.ones(1, 2)).tanh()
                h.sum().backward(retain_graph=True)
                h.pow(2).sum().backward()
            """,
        ),
        NearMiss(
            "what is shared keeps nothing",
            """
                import torch
                w = torch.zeros(2, requires_grad=True)
                h = w + 1
                h.sum().backward()
                h.sum().backward()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, carried = name_of(event), str(event.fields.get("carried", ""))
        headline = text("backward from `{name}` meets a part of the graph that was freed before", name=name)
        row = event.fields.get("row", "")
        help = text(
            "both backwards go through line {row}: where one of the losses is not to train what lies before it, detach"
            " what that line gives on the way into that loss; else compute it again, or, where nothing is updated in"
            " between, go backward once from the sum, or give the first backward retain_graph=True",
            row=row,
        )
        if carried and not event.fields.get("carried_in_tuple"):
            help = text(
                "both backwards go through what made `{carried}` on line {row}: compute the loss that is not to train"
                " it from `{carried}.detach()`; where both train it, compute `{carried}` again, or, where nothing is updated"
                " in between, go backward once from the sum, or give the first backward retain_graph=True",
                carried=carried,
                row=row,
            )
        if event.fields.get("same_place"):
            headline = text(
                "backward from `{name}` meets a part of the graph that this same line freed before", name=name
            )
            help = text(
                "what an earlier round has computed is carried over with its graph: a hidden state, a sum of losses;"
                " detach it where it is carried over"
            )
            if carried:
                help = text(
                    "what is freed was kept for `{carried}`: detach it where it is carried over, or compute it again",
                    carried=carried,
                )
            if carried and event.fields.get("carried_in_tuple"):
                help = text(
                    "what is freed was kept for `{carried}`: detach what it holds where it is carried over,"
                    " `{carried} = tuple(one.detach() for one in {carried})`",
                    carried=carried,
                )
        yield diagnostic(
            self,
            event,
            headline,
            text("RuntimeError: Trying to backward through the graph a second time"),
            why=text("a backward frees what the nodes it passes have kept"),
            help=help,
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        carried = str(event.fields.get("carried", ""))
        if not event.fields.get("same_place"):
            once = _from_the_sum(step_at(found, "backward"), found.place, edit)
            yield fix(text("go backward once, from the sum"), once)
            return
        if not carried:
            name, cut = carried_over(found, edit)
            yield fix(text("carry `{name}` over without its graph", name=name), cut)
            return
        in_tuple = bool(event.fields.get("carried_in_tuple"))
        title = text("carry `{name}` over without its graph", name=carried)
        anew = text("compute `{name}` in every round", name=carried)
        made = _assigned(carried, found, edit)
        value = edit.binding(found.place, carried) if carried.isidentifier() else None
        loop = edit.loop(found.place)
        if carried.isidentifier() and loop is not None and carried in edit.bound_in(loop):
            yield fix(title, detached_behind(carried, in_tuple, found.place, edit))
        elif loop is not None and _summed(found, edit):
            yield fix(text("go backward once, from the sum"), _summed(found, edit))
        elif value is not None and loop is not None and not edit.names_in(value) & edit.bound_in(loop):
            yield fix(anew, edit.before(edit.first_in(loop), edit.code(edit.statement(value))))
        elif carried.startswith("self.") and made is not None and edit.name_of_function(made) != "__init__":
            yield fix(title, detached_behind(carried, in_tuple, made, edit))
        elif (
            carried.startswith("self.") and made is not None and edit.names_in(edit.value(made)) <= _ANYWHERE
        ):
            used = next((step.place for step in found.trail if edit.reads(step.place, carried)), None)
            yield fix(anew, edit.start_of(used, edit.code(edit.statement(made))))


def _from_the_sum(first: Place | None, second: Place, edit: Editor) -> Edits:
    """One backward from the sum of two losses, where nothing is updated between their two backwards."""
    one, other = edit.receiver(first, "backward"), edit.receiver(second, "backward")
    if not edit.same_block(first, second) or edit.value(first) != first or edit.arguments(first):
        return ()
    if any(word in edit.text_between(first, second) for word in (".step(", "zero_grad(", ".grad")):
        return ()
    total = f"({edit.code(one)} + {edit.code(other)})"
    return together(edit.drop(first), edit.replace(other, total))


def _summed(found: Diagnostic, edit: Editor) -> Edits:
    """One backward behind the loop, from the sum of what each round went backward from."""
    loop = edit.loop(found.place)
    body = edit.code(loop)
    if edit.value(found.place) != found.place or any(
        word in body for word in (".step(", "zero_grad(", ".grad")
    ):
        return ()
    total = "total" if not edit.says(found.place, "total") else "total_loss"
    term = edit.code(found.place).rpartition(".backward")[0]
    return together(
        edit.before(loop, f"{total} = 0.0"),
        edit.replace(found.place, f"{total} = {total} + {term}"),
        edit.behind(loop, f"{total}.backward()"),
    )


def _assigned(carried: str, found: Diagnostic, edit: Editor) -> Place | None:
    """The last step of the trail whose statement gives `carried` its value."""
    for step in reversed(found.trail[:-1]):
        if carried in edit.targets(step.place):
            return step.place
    return None


_ANYWHERE = frozenset(("self", "torch", "nn", "F"))
"""Names that mean the same in every method."""
