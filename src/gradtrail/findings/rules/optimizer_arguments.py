"""What an optimizer refuses besides non-leaves, and what it takes without a word and never trains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.common_words import OPTIMIZER
from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.registering import registered
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import diagnostic, fix, name_of, step_at
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import text
from gradtrail.source.place import Edits, Place
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor


class EmptyParameterList(Rule):
    """An optimizer was given no parameter at all.

    ## Why torch refuses it

    `parameters()` lists what nn.Module has registered: Parameters and modules assigned as attributes. Modules
    in a plain list or dict are not registered. And an iterator is empty once it has been used up.

    ## What to do

    Keep modules in `nn.ModuleList` or `nn.ModuleDict`; make a list of an iterator that is used twice.
    """

    name = "empty-parameter-list"
    words = OPTIMIZER
    hears = ("optimizer-empty",)
    examples = (
        Example(
            title="layers in a plain list",
            bad="""
                import torch
                from torch import nn

                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.layers = [nn.Linear(2, 2), nn.Linear(2, 1)]  # cause

                opt = torch.optim.SGD(Net().parameters(), lr=0.1)  # error
            """,
            good="""
                import torch
                from torch import nn

                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 1)])

                opt = torch.optim.SGD(Net().parameters(), lr=0.1)
            """,
            raises="optimizer got an empty parameter list",
        ),
        Example(
            title="a generator that was used up",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                params = net.parameters()
                print(sum(p.numel() for p in params))  # cause
                opt = torch.optim.SGD(params, lr=0.1)  # error
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                params = list(net.parameters())
                print(sum(p.numel() for p in params))
                opt = torch.optim.SGD(params, lr=0.1)
            """,
            raises="optimizer got an empty parameter list",
        ),
    )
    near_misses = (
        NearMiss(
            "each parameter once",
            """
                import torch
                seen = {}
                for parameter in torch.nn.Linear(2, 2).parameters():
                    seen.setdefault(id(parameter), parameter)
                opt = torch.optim.SGD(list(seen.values()), lr=0.1)
            """,
        ),
        NearMiss(
            "a layer of a list that a loop has filled",
            """
                import torch
                layers = []
                for _ in range(eval("2")):
                    layers.append(torch.nn.Linear(2, 2))
                opt = torch.optim.SGD(layers[0].parameters(), lr=0.1)
            """,
            shown=False,
        ),
        NearMiss(
            "a layer that is not known",
            """
                import torch
                from torch import nn

                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.layer = eval("nn.Linear(2, 2)")

                opt = torch.optim.Adam(Net().parameters())
            """,
            shown=False,
        ),
        NearMiss(
            "a layer that derives from a class that is not known",
            """
                import torch
                from torch import nn
                Base = eval("nn.Linear")

                class Layer(Base):
                    def reset(self):
                        self.reset_parameters()

                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.layer = Layer(2, 2)

                opt = torch.optim.Adam(Net().parameters())
            """,
            shown=False,
        ),
        NearMiss(
            "layers that another method makes, in a class that nobody uses",
            """
                import torch
                from torch import nn

                class Net(nn.Module):
                    def configure_model(self):
                        self.layer = nn.Linear(2, 2)

                    def configure_optimizers(self):
                        return torch.optim.Adam(self.parameters())
            """,
        ),
        NearMiss(
            "a list that becomes a ModuleList",
            """
                import torch
                from torch import nn

                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        layers = []
                        for _ in range(2):
                            layers.append(nn.Linear(2, 2))
                        self.layers = nn.Sequential(*layers)

                opt = torch.optim.SGD(Net().parameters(), lr=0.1)
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        optimizer, attribute = event.fields["optimizer"], event.fields.get("attribute")
        if attribute:
            parameters = event.fields.get("holds") == "Parameter"
            kind = "Dict" if event.fields.get("container") == "dict" else "List"
            container = f"nn.{'Parameter' if parameters else 'Module'}{kind}"
            template = (
                "keep the Parameters of `self.{attribute}` in {container}"
                if parameters
                else "keep the modules of `self.{attribute}` in {container}"
            )
            help = text(template, attribute=attribute, container=container)
        elif any(step.kind == "used" for step in event.trail):
            help = text("make a list of it first, so that it can be used twice: list(...)")
        elif event.subject is not None and not event.subject.facts.get("of", "").startswith("Module"):
            help = text(
                "see that something is in it: an iterator gives its items once, and a filter may let none pass"
            )
        else:
            help = text("assign the modules and Parameters as attributes, so that nn.Module registers them")
        yield diagnostic(
            self,
            event,
            text("{optimizer} gets no parameter", optimizer=optimizer),
            text("ValueError: optimizer got an empty parameter list"),
            why=text(
                "parameters() lists what nn.Module has registered, and an iterator gives its items once"
            ),
            help=help,
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        if event.fields.get("attribute"):
            kind = "dict" if event.fields.get("container") == "dict" else "list"
            name = "self." + str(event.fields["attribute"])
            kept = registered(edit, step_at(found, "stored"), kind, str(event.fields.get("holds", "")))
            yield fix(text("register what `{name}` holds", name=name), kept)
        elif step_at(found, "used") is not None:
            yield _listed(step_at(found, "generator"), edit)


class NonTensorInOptimizer(Rule):
    """An optimizer was given something that is no iterable of tensors.

    ## Why torch refuses it

    It takes an iterable of tensors, of dicts with a "params" entry, or of (name, tensor) pairs. It does not look
    into modules or into nested lists and generators.

    ## What to do

    Hand over `model.parameters()`, with the parentheses; join several with `[*a.parameters(), *b.parameters()]`;
    put a single tensor into a list.
    """

    name = "non-tensor-in-optimizer"
    words = OPTIMIZER
    hears = (
        "optimizer-not-tensor",
        "optimizer-not-iterable",
        "optimizer-bare-tensor",
        "optimizer-group-not-dict",
        "optimizer-group-without-params",
        "optimizer-set-in-group",
        "optimizer-names-missing",
        "optimizer-groups-names",
    )
    examples = (
        Example(
            title="the module itself",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                opt = torch.optim.SGD(net, lr=0.1)  # error
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                opt = torch.optim.SGD(net.parameters(), lr=0.1)
            """,
            raises="object is not iterable",
        ),
        Example(
            title="generators in a list",
            bad="""
                import torch
                one, two = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
                opt = torch.optim.SGD([one.parameters(), two.parameters()], lr=0.1)  # error
            """,
            good="""
                import torch
                one, two = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
                opt = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.1)
            """,
            raises="optimizer can only optimize Tensors",
        ),
        Example(
            title="a single tensor",
            bad="""
                import torch
                w = torch.zeros(3, requires_grad=True)
                opt = torch.optim.Adam(w)  # error
            """,
            good="""
                import torch
                w = torch.zeros(3, requires_grad=True)
                opt = torch.optim.Adam([w])
            """,
            raises="params argument given to the optimizer should be an iterable of Tensors or dicts",
        ),
        Example(
            title="a group without params",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                opt = torch.optim.SGD([{"parameters": net.parameters(), "lr": 0.1}])  # error
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                opt = torch.optim.SGD([{"params": net.parameters(), "lr": 0.1}])
            """,
            raises="params",
        ),
        Example(
            title="a tensor among groups",
            bad="""
                import torch
                net, scale = torch.nn.Linear(2, 1), torch.ones(1, requires_grad=True)
                opt = torch.optim.SGD([{"params": net.parameters()}, scale], lr=0.1)  # error
            """,
            good="""
                import torch
                net, scale = torch.nn.Linear(2, 1), torch.ones(1, requires_grad=True)
                opt = torch.optim.SGD([{"params": net.parameters()}, {"params": [scale]}], lr=0.1)
            """,
            raises="param_group must be a dict",
        ),
        Example(
            title="a set of parameters in a group",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                opt = torch.optim.SGD([{"params": set(net.parameters())}], lr=0.1)  # error
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                opt = torch.optim.SGD([{"params": list(dict.fromkeys(net.parameters()))}], lr=0.1)
            """,
            raises="organized in ordered collections",
        ),
        Example(
            title="named parameters beside unnamed ones",
            bad="""
                import torch
                net, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                opt = torch.optim.SGD([*net.named_parameters(), *head.parameters()], lr=0.1)  # error
            """,
            good="""
                import torch
                net, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
            """,
            raises="all optimizer params should be with/without names",
        ),
        Example(
            title="a group of named parameters beside an unnamed one",
            bad="""
                import torch
                net, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                opt = torch.optim.SGD([{"params": net.named_parameters()}, {"params": head.parameters()}], lr=0.1)  # error
            """,
            good="""
                import torch
                net, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                opt = torch.optim.SGD([{"params": net.parameters()}, {"params": head.parameters()}], lr=0.1)
            """,
            raises="all optimizer param groups should be with/without names",
        ),
    )
    near_misses = (
        NearMiss(
            "a single tensor as the params of a group",
            """
                import torch
                w = torch.zeros(3, requires_grad=True)
                opt = torch.optim.Adam([{"params": w}])
            """,
        ),
        NearMiss(
            "named parameters",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                opt = torch.optim.Adam(net.named_parameters())
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        optimizer, name, kind = event.fields["optimizer"], name_of(event), event.fields.get("type", "")
        if event.kind == "optimizer-bare-tensor":
            message = text(
                "{optimizer} takes an iterable of tensors, and `{name}` is one tensor",
                optimizer=optimizer,
                name=name,
            )
            label, help = (
                "TypeError: params argument given to the optimizer should be an iterable of Tensors or dicts",
                text("put it into a list: `[{name}]`", name=name),
            )
        elif event.kind == "optimizer-not-iterable":
            message = text(
                "{optimizer} takes an iterable of tensors, and `{name}` is none",
                optimizer=optimizer,
                name=name,
            )
            label, help = (
                "TypeError: object is not iterable",
                text("hand over `model.parameters()`, with the parentheses"),
            )
        elif event.kind == "optimizer-not-tensor":
            message = text(
                "{optimizer} can only optimize tensors, and one of its params is a {type}",
                optimizer=optimizer,
                type=kind,
            )
            label = "TypeError: optimizer can only optimize Tensors"
            help = text("join parameters into one flat list: `[*a.parameters(), *b.parameters()]`")
        else:
            message = text("{optimizer} cannot take these parameter groups", optimizer=optimizer)
            label = _GROUP_ERRORS[event.kind]
            help = text(
                'hand over a list of dicts, each with an ordered "params" entry, all with or all without names'
            )
        yield diagnostic(
            self,
            event,
            message,
            text(label),
            why=text(
                'an optimizer takes tensors, dicts with "params", or (name, tensor) pairs, and looks into nothing else'
            ),
            help=help,
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        if event.kind == "optimizer-bare-tensor":
            yield fix(
                text("put `{name}` in a list", name=name_of(event)),
                edit.around(found.place, "[", "]"),
                "safe",
            )
        elif event.kind == "optimizer-not-iterable":
            if step_at(found, "made") is not None:
                whole = edit.after(found.place, ".parameters()")
                yield fix(text("hand over the parameters"), whole, "safe")
            elif edit.code(found.place).endswith("parameters"):
                yield fix(text("call it"), edit.after(found.place, "()"), "safe")
        elif event.kind == "optimizer-not-tensor":
            yield fix(
                text("hand over the parameters one by one"),
                _flat(step_at(found, "generator") or found.place, edit),
                "safe",
            )


_GROUP_ERRORS = {
    "optimizer-group-not-dict": "TypeError: param_group must be a dict",
    "optimizer-group-without-params": "KeyError: 'params'",
    "optimizer-set-in-group": "TypeError: optimizer parameters need to be organized in ordered collections",
    "optimizer-names-missing": "ValueError: all optimizer params should be with/without names",
    "optimizer-groups-names": "ValueError: all optimizer param groups should be with/without names",
}


class ParameterInTwoGroups(Rule):
    """One parameter stands in two groups of an optimizer.

    ## Why torch refuses it

    It would be updated twice in a step, with two sets of options. Tied weights are one Parameter under two
    names, so groups built module by module list it twice.

    ## What to do

    Leave it out of one of the groups, for instance by remembering in a set what has been taken.
    """

    name = "parameter-in-two-groups"
    words = OPTIMIZER
    hears = ("optimizer-two-groups",)
    examples = (
        Example(
            title="tied weights",
            bad="""
                import torch
                embed, head = torch.nn.Embedding(5, 3), torch.nn.Linear(3, 5, bias=False)
                head.weight = embed.weight  # cause
                groups = [{"params": head.parameters()}, {"params": embed.parameters()}]
                opt = torch.optim.SGD(groups, lr=0.1)  # error
            """,
            good="""
                import torch
                embed, head = torch.nn.Embedding(5, 3), torch.nn.Linear(3, 5, bias=False)
                head.weight = embed.weight
                groups = [{"params": embed.parameters()}]
                opt = torch.optim.SGD(groups, lr=0.1)
            """,
            raises="some parameters appear in more than one parameter group",
        ),
        Example(
            title="all of a model once more, with add_param_group",
            bad="""
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 2))
                opt = torch.optim.SGD(net.parameters(), lr=0.1)
                net.append(torch.nn.Linear(2, 1))
                opt.add_param_group({"params": net.parameters()})  # error
            """,
            good="""
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 2))
                opt = torch.optim.SGD(net.parameters(), lr=0.1)
                net.append(torch.nn.Linear(2, 1))
                opt.add_param_group({"params": net[1].parameters()})
            """,
            raises="some parameters appear in more than one parameter group",
        ),
    )
    near_misses = (
        NearMiss(
            "parameters() lists a tied weight once",
            """
                import torch
                net = torch.nn.Sequential(torch.nn.Embedding(5, 3), torch.nn.Linear(3, 5, bias=False))
                net[1].weight = net[0].weight
                opt = torch.optim.SGD(net.parameters(), lr=0.1)
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        optimizer, name = event.fields["optimizer"], name_of(event)
        yield diagnostic(
            self,
            event,
            text("`{name}` stands in two parameter groups of {optimizer}", name=name, optimizer=optimizer),
            text("ValueError: some parameters appear in more than one parameter group"),
            why=text("a step would update it twice"),
            help=text("leave it out of one of the groups"),
        )


class UntrainedTensorInOptimizer(Rule):
    """An optimizer holds a tensor that does not require grad and never will.

    ## Why it goes wrong

    An optimizer accepts every leaf, also one that does not require grad: a tensor computed from tensors without
    grad, or what `state_dict()` holds. No gradient ever arrives, so every step passes it over, without a word.

    ## What to do

    Call `requires_grad_()` on the value that is to be trained; hand over `model.parameters()` and not
    `model.state_dict().values()`.
    """

    name = "untrained-tensor-in-optimizer"
    severity = "warning"
    words = OPTIMIZER
    hears = ("optimizer-skips",)
    examples = (
        Example(
            title="computed from a tensor without grad",
            bad="""
                import torch
                start = torch.ones(3)
                gain = start * 1.05  # error
                bias = torch.zeros(3, requires_grad=True)
                opt = torch.optim.SGD([gain, bias], lr=0.1)
                (gain * 2 + bias).sum().backward()
                opt.step()
            """,
            good="""
                import torch
                start = torch.ones(3)
                gain = (start * 1.05).requires_grad_()
                bias = torch.zeros(3, requires_grad=True)
                opt = torch.optim.SGD([gain, bias], lr=0.1)
                (gain * 2 + bias).sum().backward()
                opt.step()
            """,
            proof="gain.grad is None",
        ),
    )
    near_misses = (
        NearMiss(
            "frozen parameters may stay in an optimizer",
            """
                import torch
                net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
                net[0].requires_grad_(False)
                opt = torch.optim.SGD(net.parameters(), lr=0.1)
                net(torch.ones(1, 2)).sum().backward()
                opt.step()
            """,
        ),
        NearMiss(
            "it comes to require grad before the first step",
            """
                import torch
                x = torch.ones(3)
                opt = torch.optim.SGD([x], lr=0.1)
                x.requires_grad_()
                x.sum().backward()
                opt.step()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, optimizer = name_of(event), event.fields["optimizer"]
        from_state = event.fields.get("op") == "state_dict"
        yield diagnostic(
            self,
            event,
            text("{optimizer} takes tensors of a state_dict, which never get a gradient", optimizer=optimizer)
            if from_state
            else text(
                "`{name}` does not require grad: {optimizer} takes it and never moves it",
                name=name,
                optimizer=optimizer,
            ),
            text("does not require grad"),
            why=text("an optimizer accepts any leaf and passes over those without a gradient"),
            help=text("hand over model.parameters()")
            if from_state
            else text("call requires_grad_() on `{name}` when it is computed", name=name),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name, optimizer = name_of(event), step_at(found, "optimizer") or found.place
        if event.fields.get("op") == "state_dict":
            module = edit.code(edit.receiver(step_at(found, "detached"), "state_dict"))
            given = edit.argument(found.place, 0)
            handed = edit.replace(given, f"{module}.parameters()") if module else ()
            yield fix(text("hand over the parameters"), handed)
            return
        value = edit.binding(optimizer, name)
        yield fix(text("let `{name}` be trained", name=name), edit.after(value, ".requires_grad_()"))


class EmptyParameterGroup(Rule):
    """A parameter group of an optimizer is empty, because its iterator was used up.

    ## Why it goes wrong

    `parameters()` returns a generator, which gives its items once. Only an empty list of all params is refused; an
    empty group among others is accepted, and what should be in it never trains.

    ## What to do

    Make a list of it first: `params = list(model.parameters())`.
    """

    name = "empty-parameter-group"
    severity = "warning"
    words = OPTIMIZER
    hears = ("optimizer-empty-group",)
    examples = (
        Example(
            title="counted before it is handed over",
            bad="""
                import torch
                body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                slow = body.parameters()  # error
                print(sum(p.numel() for p in slow))  # cause
                opt = torch.optim.SGD([{"params": slow}, {"params": head.parameters()}], lr=0.1)
                head(body(torch.ones(1, 2))).sum().backward()
                opt.step()
            """,
            good="""
                import torch
                body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                slow = list(body.parameters())
                print(sum(p.numel() for p in slow))
                opt = torch.optim.SGD([{"params": slow}, {"params": head.parameters()}], lr=0.1)
                head(body(torch.ones(1, 2))).sum().backward()
                opt.step()
            """,
            proof="len(opt.param_groups[0]['params']) == 0",
        ),
    )
    near_misses = (
        NearMiss(
            "a fresh generator each time",
            """
                import torch
                net = torch.nn.Linear(2, 2)
                print(sum(p.numel() for p in net.parameters()))
                opt = torch.optim.SGD([{"params": net.parameters()}], lr=0.1)
                net(torch.ones(1, 2)).sum().backward()
                opt.step()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        optimizer = event.fields["optimizer"]
        yield diagnostic(
            self,
            event,
            text(
                "this generator is used up before {optimizer} gets it: the group stays empty",
                optimizer=optimizer,
            ),
            text("a generator: it gives its items once"),
            why=text("an empty group among others is accepted, and nothing in it trains"),
            help=text("make a list of it: list(...)"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        yield _listed(found.place, edit)


class TensorReadAsName(Rule):
    """A tensor stands in a tuple where an optimizer reads the name of a parameter.

    ## Why it goes wrong

    Optimizers take `named_parameters()`, so a tuple means (name, parameter). In `Adam([(w, b)])` the tensor `w` is
    read as the name of `b`, and only `b` is trained.

    ## What to do

    Hand over a flat list: `Adam([w, b])`.
    """

    name = "tensor-read-as-name"
    severity = "warning"
    words = OPTIMIZER
    hears = ("optimizer-reads-name",)
    examples = (
        Example(
            title="a tuple of two tensors",
            bad="""
                import torch
                w, b = torch.zeros(2, requires_grad=True), torch.zeros(1, requires_grad=True)
                opt = torch.optim.Adam([(w, b)])  # error
            """,
            good="""
                import torch
                w, b = torch.zeros(2, requires_grad=True), torch.zeros(1, requires_grad=True)
                opt = torch.optim.Adam([w, b])
            """,
            proof="len(opt.param_groups[0]['params']) == 1",
        ),
    )
    near_misses = (
        NearMiss(
            "a name and a tensor",
            """
                import torch
                w = torch.zeros(2, requires_grad=True)
                opt = torch.optim.Adam([("w", w)])
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, optimizer = name_of(event), event.fields["optimizer"]
        yield diagnostic(
            self,
            event,
            text(
                "{optimizer} reads `{name}` as the name of the tensor beside it, and does not train it",
                optimizer=optimizer,
                name=name,
            ),
            text("a tuple is read as (name, parameter)"),
            why=text("optimizers take named_parameters(), so a tuple means (name, parameter)"),
            help=text("hand over a flat list of tensors"),
        )


class MissingClosure(Rule):
    """`step()` of LBFGS was called without a closure.

    ## Why torch refuses it

    LBFGS computes the loss several times in one step, so it must be handed a function that does so.

    ## What to do

    Write a closure that calls `zero_grad()`, computes the loss, calls `backward()` and returns the loss, and pass it
    to `step`.
    """

    name = "missing-closure"
    words = (Word(rb"LBFGS"),)
    hears = ("optimizer-closure-missing",)
    examples = (
        Example(
            title="LBFGS stepped like SGD",
            bad="""
                import torch
                w = torch.ones(2, requires_grad=True)
                opt = torch.optim.LBFGS([w])  # cause
                opt.zero_grad()
                (w - 3).square().sum().backward()
                opt.step()  # error
            """,
            good="""
                import torch
                w = torch.ones(2, requires_grad=True)
                opt = torch.optim.LBFGS([w])

                def closure():
                    opt.zero_grad()
                    loss = (w - 3).square().sum()
                    loss.backward()
                    return loss

                opt.step(closure)
            """,
            raises="missing 1 required positional argument: 'closure'",
        ),
    )
    near_misses = (
        NearMiss(
            "other optimizers need none",
            """
                import torch
                w = torch.ones(2, requires_grad=True)
                opt = torch.optim.SGD([w], lr=0.1)
                (w - 3).square().sum().backward()
                opt.step()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        optimizer = event.fields["optimizer"]
        yield diagnostic(
            self,
            event,
            text("{optimizer} needs a closure in every step", optimizer=optimizer),
            text("TypeError: step() missing 1 required positional argument: 'closure'"),
            why=text("{optimizer} computes the loss several times in one step", optimizer=optimizer),
            help=text("pass a function that computes the loss, calls backward() and returns the loss"),
        )


def _listed(place: Place | None, edit: Editor) -> Fix:
    """A list of what the generator at `place` gives."""
    return fix(text("make a list of it"), edit.around(place, "list("), "safe")


def _flat(at: Place | None, edit: Editor) -> Edits:
    """The parameters that stand together with those at `at`, each by itself."""
    sign = "from " if edit.is_yielded(at) else "*"
    edits: Edits = ()
    for one in edit.beside(at):
        if edit.code(one).endswith("parameters()"):
            edits += edit.replace(one._replace(end_row=one.row, end_column=one.column), sign)
    return edits
