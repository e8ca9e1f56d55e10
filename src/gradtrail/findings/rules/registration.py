"""What nn.Module registers: Parameters that are overwritten, and Parameters that get lost."""

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


class TensorOverParameter(Rule):
    """A plain tensor is assigned where a module holds a Parameter.

    ## Why torch refuses it

    nn.Module keeps a registered Parameter's name for a Parameter (or None): a computed tensor there would never be
    trained nor saved.

    ## What to do

    - To change the values, write them in place under no_grad: `with torch.no_grad(): layer.weight.copy_(new)`.
    - To put another Parameter there, wrap it: `layer.weight = nn.Parameter(new)`; an optimizer built before holds
      the old one.
    """

    name = "tensor-over-parameter"
    words = (
        Word(rb"\.(?:weight|bias) *=[^=]"),
        Word(rb"register_parameter"),
    )
    hears = ("assign-over-parameter", "register-parameter")
    examples = (
        Example(
            title="a rescaled weight",
            bad="""
                import torch
                layer = torch.nn.Linear(2, 2)
                layer.weight = layer.weight * 2  # error
            """,
            good="""
                import torch
                layer = torch.nn.Linear(2, 2)
                with torch.no_grad():
                    layer.weight *= 2
            """,
            raises="as parameter 'weight' (torch.nn.Parameter or None expected)",
        ),
    )
    near_misses = (
        NearMiss(
            "modules told apart by the name of their class",
            """
                import torch
                from torch import nn

                class Scale(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.weight = None
                        self.bias = None

                net = nn.Sequential(nn.Linear(2, 2), Scale())
                for module in net.modules():
                    if module.__class__.__name__ == "Scale":
                        module.bias = torch.ones(2)
                    if type(module).__name__.find("Scale") != -1:
                        module.weight = torch.ones(2)
            """,
        ),
        NearMiss(
            "set only if it is no parameter",
            """
                import torch
                from torch import nn

                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.weight = nn.Parameter(torch.ones(2))

                    def initialize(self, **values):
                        for name, value in values.items():
                            if name not in self._parameters and name not in self._buffers:
                                setattr(self, name, value)
                            else:
                                getattr(self, name).data.copy_(value)

                Net().initialize(weight=torch.zeros(2), scale=torch.ones(1))
            """,
        ),
        NearMiss(
            "a buffer may be replaced",
            """
                import torch
                norm = torch.nn.BatchNorm1d(2)
                norm.running_mean = torch.ones(2)
            """,
        ),
        NearMiss(
            "wrapped in a Parameter",
            """
                import torch
                layer = torch.nn.Linear(2, 2)
                layer.weight = torch.nn.Parameter(layer.weight * 2)
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        target = event.fields.get("target") or event.fields.get("name", "")
        assigned = event.kind == "assign-over-parameter"
        yield diagnostic(
            self,
            event,
            text("`{target}` is a registered Parameter and takes no plain tensor", target=target)
            if assigned
            else text("`{target}` is to be registered as a parameter and is a plain tensor", target=target),
            text("TypeError: cannot assign ... as parameter ... (torch.nn.Parameter or None expected)"),
            why=text("a plain tensor there would neither be trained nor saved"),
            help=text(
                "write the values in place under no_grad: `{target}.copy_(...)`, or wrap them in nn.Parameter",
                target=target,
            )
            if assigned
            else text("wrap it in nn.Parameter"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        target = str(event.fields.get("target") or event.fields.get("name", ""))
        if event.kind != "assign-over-parameter":
            path, imports = edit.name_for(found.place, "torch.nn.Parameter")
            wrapped = edit.around(edit.argument(found.place, 1), f"{path}(")
            yield fix(text("wrap it in nn.Parameter"), (*wrapped, *imports) if wrapped else ())
            return
        statement = edit.statement(found.place)
        path, imports = edit.name_for(found.place, "torch.no_grad")
        copied = edit.as_call(statement, ".copy_")
        if copied and not edit.is_under(statement, ("no_grad", "inference_mode")):
            under = edit.under(statement, f"with {path}():")
            copied = (*together(under, copied), *imports) if under else ()
        yield fix(text("write the values into `{target}`", target=target), copied)


class ParameterLostByConversion(Rule):
    """A Parameter is converted in the expression that makes it, and gets lost.

    ## Why it goes wrong

    `nn.Parameter(...).to(dtype)`, `.unsqueeze(0)`, `* 0.02` and the like return a plain tensor, computed from the
    Parameter. The module keeps that tensor as an ordinary attribute: `parameters()` and `state_dict()` do not list
    it, and the Parameter itself is forgotten. A move to a device does the same wherever it is not the CPU.

    ## What to do

    Compute first, and wrap last: `self.w = nn.Parameter(torch.randn(3) * 0.02)`.
    """

    name = "parameter-lost-by-conversion"
    severity = "warning"
    words = (Word(rb"Parameter\([^\n]{0,300}\)[ ]*[.*/+-]"),)
    hears = ("parameter-lost",)
    examples = (
        Example(
            title="cast after nn.Parameter",
            bad="""
                import torch
                from torch import nn

                class Scale(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.gain = nn.Parameter(torch.ones(2)).double()  # error

                names = [name for name, _ in Scale().named_parameters()]
            """,
            good="""
                import torch
                from torch import nn

                class Scale(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.gain = nn.Parameter(torch.ones(2).double())

                names = [name for name, _ in Scale().named_parameters()]
            """,
            proof="names == []",
        ),
    )
    near_misses = (
        NearMiss(
            "a conversion that converts nothing returns the Parameter itself",
            """
                import torch
                from torch import nn

                class Scale(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.gain = nn.Parameter(torch.ones(2)).float()

                assert len(list(Scale().parameters())) == 1
            """,
        ),
        NearMiss(
            "computed from a Parameter that the module holds",
            """
                import torch
                from torch import nn

                class Scale(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.raw = nn.Parameter(torch.ones(2))

                    def forward(self, x):
                        self.gain = self.raw.exp()
                        return x * self.gain

                Scale()(torch.ones(2))
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, operation = event.fields["name"], event.fields.get("op", "")
        away = event.certainty == "raises-off-cpu"
        yield diagnostic(
            self,
            event,
            text(
                "wherever the device is not the CPU, `{name}` is not a Parameter: `{op}` returns a plain tensor",
                name=name,
                op=operation,
            )
            if away
            else text(
                "`{name}` is not a Parameter: `{op}` returns a plain tensor, which is never registered",
                name=name,
                op=operation,
            ),
            text("a plain tensor, computed from a Parameter that nothing holds"),
            certainty="wrong",
            why=text("nn.Module registers Parameters; what is computed from one is none"),
            help=text("convert first and wrap last: nn.Parameter(...) outermost"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        value = edit.value(found.place)
        title = text("wrap last: nn.Parameter(...) outermost")
        outermost = edit.hoist(value, "Parameter")
        if outermost:
            yield fix(title, outermost)
            return
        path, imports = edit.name_for(found.place, "torch.nn.Parameter")
        wrapped = edit.around(value, f"{path}(")
        yield fix(title, (*wrapped, *imports) if wrapped else ())


class MisspeltRequiresGrad(Rule):
    """A flag that a tensor does not have is set on it.

    ## Why it goes wrong

    Python lets any attribute be set on a tensor. `p.require_grad = False` makes a new attribute, and
    `p.requires_grad_ = False` hides a method; the tensor requires grad as before.

    ## What to do

    Write `p.requires_grad = False` or `p.requires_grad_(False)`.
    """

    name = "misspelt-requires-grad"
    severity = "warning"
    words = (
        Word(rb"\.require_grad\b"),
        Word(rb"\.requires_grad_ *="),
    )
    hears = ("flag-misspelt",)
    examples = (
        Example(
            title="a letter missing",
            bad="""
                import torch
                w = torch.zeros(2, requires_grad=True)
                w.require_grad = False  # error
            """,
            good="""
                import torch
                w = torch.zeros(2, requires_grad=True)
                w.requires_grad = False
            """,
            proof="w.requires_grad",
        ),
    )
    near_misses = (
        NearMiss(
            "the method", "import torch\nw = torch.zeros(2, requires_grad=True)\nw.requires_grad_(False)"
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, flag = name_of(event), event.fields["name"]
        yield diagnostic(
            self,
            event,
            text("`{flag}` is no flag of a tensor: `{name}` stays as it was", flag=flag, name=name),
            text("only sets an attribute"),
            why=text("Python lets any attribute be set on a tensor"),
            help=text("write `{name}.requires_grad = ...`", name=name),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        target = edit.target(found.place)
        owner, _, _ = edit.code(target).rpartition(".")
        yield fix(
            text("set the flag that there is"),
            edit.replace(target, f"{owner}.requires_grad") if owner else (),
        )


class RequiresGradOnModule(Rule):
    """`requires_grad` is set on a module.

    ## Why it goes wrong

    A module has no such flag: the assignment makes a new attribute, and its parameters require grad as before.

    ## What to do

    Call the method, which sets the flag of every parameter: `model.requires_grad_(False)`.
    """

    name = "requires-grad-on-module"
    severity = "warning"
    words = (Word(rb"\.requires_grad *=[^=]"),)
    hears = ("flag-on-module",)
    examples = (
        Example(
            title="a layer that is not frozen",
            bad="""
                import torch
                model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
                model[0].requires_grad = False  # error
            """,
            good="""
                import torch
                model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
                model[0].requires_grad_(False)
            """,
            proof="model[0].weight.requires_grad",
        ),
    )
    near_misses = (
        NearMiss(
            "the parameters themselves",
            """
                import torch
                model = torch.nn.Linear(2, 1)
                for p in model.parameters():
                    p.requires_grad = False
            """,
        ),
        NearMiss(
            "a module that has such an attribute of its own",
            """
                import torch

                class Adapter(torch.nn.Module):
                    requires_grad = True

                adapter = Adapter()
                adapter.requires_grad = False
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = str(event.fields["name"])
        yield diagnostic(
            self,
            event,
            text(
                "`{name}` is a module and has no such flag: its parameters require grad as before", name=name
            ),
            text("only sets an attribute"),
            why=text("Python lets any attribute be set on a module"),
            help=text("write `{name}.requires_grad_({value})`", name=name, value=str(event.fields["value"])),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        called = edit.as_call(edit.statement(found.place), "_")
        yield fix(text("call requires_grad_ on the module"), called)


class ModuleNotInitialized(Rule):
    """A module gets a layer or a parameter before `super().__init__()` has run.

    ## Why torch refuses it

    `nn.Module.__init__` makes the tables in which parameters and layers are kept. Before that there is no place for
    them.

    ## What to do

    Call `super().__init__()` first.
    """

    name = "module-not-initialized"
    words = (Word(rb"def __init__\([^\n]{0,300}:\n[ \t]+self\.\w+ *= *(?:torch\.)?nn\."),)
    hears = ("module-not-initialized",)
    examples = (
        Example(
            title="super().__init__() comes last",
            bad="""
                import torch

                class Net(torch.nn.Module):
                    def __init__(self):
                        self.layer = torch.nn.Linear(2, 2)  # error
                        super().__init__()

                net = Net()
            """,
            good="""
                import torch

                class Net(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.layer = torch.nn.Linear(2, 2)

                net = Net()
            """,
            raises="cannot assign module before Module.__init__() call",
        ),
    )
    near_misses = (
        NearMiss(
            "a mixin behind torch's class in the order of resolution",
            """
                from abc import ABC
                from torch import nn

                class Scorer(nn.Module, ABC):
                    def __init__(self, model):
                        super().__init__()
                        self.model = model

                class Sampling(ABC):
                    def __init__(self, sampler):
                        self.sampler = sampler

                class SampledScorer(Scorer, Sampling):
                    def __init__(self, model, sampler):
                        super().__init__(model)
                        Sampling.__init__(self, sampler)

                scorer = SampledScorer(nn.Linear(2, 1), nn.Linear(2, 2))
            """,
        ),
        NearMiss(
            "plain values may come first",
            """
                import torch

                class Net(torch.nn.Module):
                    def __init__(self):
                        self.width = 2
                        super().__init__()
                        self.layer = torch.nn.Linear(self.width, 2)

                net = Net()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = event.fields["name"]
        yield diagnostic(
            self,
            event,
            text("`{name}` is assigned before the module's super().__init__() has run", name=name),
            text(
                "AttributeError: cannot assign {what} before Module.__init__() call",
                what="parameters" if event.fields.get("parameter") else "module",
            ),
            why=text("nn.Module.__init__ makes the tables in which parameters and layers are kept"),
            help=text("call super().__init__() first"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        start = "super().__init__()"
        late = edit.saying(found.place, start)
        moved = edit.move(late, before=found.place) if late is not None else edit.start_of(found.place, start)
        yield fix(text("call super().__init__() first"), moved, "safe")


class LayerMadeInForward(Rule):
    """A layer is made in `forward`, used, and thrown away.

    ## Why it goes wrong

    A layer with weights draws new ones in each call, and no optimizer ever holds them. A dropout that is made there is
    always in training mode: `model.eval()` does not know of it.

    ## What to do

    Make the layer in `__init__` and keep it as an attribute. For dropout there is
    `F.dropout(x, p, training=self.training)`.
    """

    name = "layer-made-in-forward"
    severity = "warning"
    words = (Word(rb"nn\.(?:Linear|Bilinear|Dropout\w*|Conv\w+|Embedding|LSTM|GRU|RNN)\([^\n]*\)\("),)
    hears = ("made-in-forward",)
    examples = (
        Example(
            title="a projection sized to its input",
            bad="""
                import torch

                class Net(torch.nn.Module):
                    def forward(self, x):
                        return torch.nn.Linear(x.shape[-1], 1)(x)  # error

                net = Net()
                first, second = net(torch.ones(1, 2)), net(torch.ones(1, 2))
            """,
            good="""
                import torch

                class Net(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.project = torch.nn.Linear(2, 1)

                    def forward(self, x):
                        return self.project(x)

                net = Net()
                first, second = net(torch.ones(1, 2)), net(torch.ones(1, 2))
            """,
            proof="not torch.equal(first, second)",
        ),
        Example(
            title="a dropout",
            bad="""
                import torch

                class Net(torch.nn.Module):
                    def forward(self, x):
                        return torch.nn.Dropout(0.5)(x)  # error

                net = Net().eval()
                out = net(torch.ones(1, 1000))
            """,
            good="""
                import torch

                class Net(torch.nn.Module):
                    def forward(self, x):
                        return torch.nn.functional.dropout(x, 0.5, training=self.training)

                net = Net().eval()
                out = net(torch.ones(1, 1000))
            """,
            proof="(out == 0).any()",
        ),
    )
    near_misses = (
        NearMiss(
            "made in the first call and kept",
            """
                import torch

                class Net(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.project = None

                    def forward(self, x):
                        if self.project is None:
                            self.project = torch.nn.Linear(x.shape[-1], 1)
                        return self.project(x)

                net = Net()
                net(torch.ones(1, 2))
            """,
        ),
        NearMiss(
            "a layer without weights",
            """
                import torch

                class Net(torch.nn.Module):
                    def forward(self, x):
                        return torch.nn.Softmax(dim=-1)(torch.nn.ReLU()(x))

                Net()(torch.ones(1, 2))
            """,
        ),
        NearMiss(
            "a dropout where training is asked for",
            """
                import torch

                class Net(torch.nn.Module):
                    def forward(self, x):
                        if self.training:
                            x = torch.nn.Dropout(0.5)(x)
                        return x

                Net()(torch.ones(1, 2))
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        cls = str(event.fields["cls"])
        if event.fields.get("drops"):
            yield diagnostic(
                self,
                event,
                text(
                    "this {cls} is made in forward: `model.eval()` does not know of it, and it goes on dropping",
                    cls=cls,
                ),
                text("always in training mode"),
                why=text("eval() reaches the modules that are registered"),
                help=text("make it in __init__, or use F.dropout with training=self.training"),
            )
            return
        yield diagnostic(
            self,
            event,
            text(
                "this {cls} is made in forward: each call draws new weights, which no optimizer holds",
                cls=cls,
            ),
            text("new weights in each call"),
            why=text("parameters() lists what is registered when it is called"),
            help=text("make it in __init__, and keep it as an attribute"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        call = edit.caller(found.place)
        layer = edit.callee(found.place).rpartition(".")[2]
        if not event.fields.get("drops") or call is None or not layer.startswith("Dropout"):
            return
        path, imports = edit.name_for(call, "torch.nn.functional.dropout" + layer.removeprefix("Dropout"))
        given = [edit.code(one) for one in (*edit.arguments(call), *edit.arguments(found.place))]
        dropped = edit.replace(call, f"{path}({', '.join((*given, 'training=self.training'))})")
        yield fix(text("use the function, which asks whether the module trains"), (*dropped, *imports))


class LoopNameRebound(Rule):
    """A loop over parameters binds its variable to a new tensor.

    ## Why it goes wrong

    `p = p.detach()` gives the name `p` to a new tensor. The parameter is not changed: it requires grad, and lives where
    it lived, as before.

    ## What to do

    Change the parameter itself: `p.requires_grad_(False)`, or `p.data = ...`; to move all, `model.to(device)`.
    """

    name = "loop-name-rebound"
    severity = "warning"
    words = (
        Word(
            rb"for [^\n]+ in [^\n]*parameters\(\)[^\n]*:\n(?:[ \t]+with [^\n]*\n)?[ \t]+(\w+) *= [^\n]*\b\1\b"
        ),
    )
    hears = ("loop-name-rebound",)
    examples = (
        Example(
            title="freezing that freezes nothing",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                for p in net.parameters():
                    p = p.detach()  # error
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                for p in net.parameters():
                    p.requires_grad_(False)
            """,
            proof="net.weight.requires_grad",
        ),
        Example(
            title="a moving average that moves nothing",
            bad="""
                import torch
                net, slow = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
                first = slow.weight.detach().clone()
                for behind, ahead in zip(slow.parameters(), net.parameters()):
                    behind = 0.9 * behind + 0.1 * ahead  # error
            """,
            good="""
                import torch
                net, slow = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
                first = slow.weight.detach().clone()
                for behind, ahead in zip(slow.parameters(), net.parameters()):
                    behind.data = 0.9 * behind.data + 0.1 * ahead.data
            """,
            proof="torch.equal(slow.weight, first)",
        ),
    )
    near_misses = (
        NearMiss(
            "the new tensor is used",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                total = 0
                for p in net.parameters():
                    p = p.detach()
                    total = total + p.abs().sum()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name, op = str(event.fields["name"]), str(event.fields["op"])
        yield diagnostic(
            self,
            event,
            text(
                "`{name} = {name}.{op}()` gives the name to a new tensor, and the parameter stays as it was",
                name=name,
                op=op,
            )
            if op
            else text(
                "`{name} = ...` gives the name to a new tensor, and the parameter stays as it was", name=name
            ),
            text("only binds the name anew"),
            why=text("an assignment to a name changes no tensor"),
            help=text("change the parameter itself, as with `{name}.requires_grad_(False)`", name=name)
            if op
            else text("write into the parameter under `torch.no_grad()`: `{name}.copy_(...)`", name=name),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name = str(event.fields["name"])
        if event.fields["op"] == "detach":
            frozen = edit.replace(edit.statement(found.place), f"{name}.requires_grad_(False)")
            yield fix(text("freeze the parameter itself"), frozen)
            return
        title = text("write the values into `{target}`", target=name)
        if event.fields["op"] in ("to", "cpu", "cuda", "half", "float", "double", "bfloat16"):
            yield fix(title, edit.replace(edit.target(found.place), f"{name}.data"))
            return
        if event.fields["op"] not in (
            "",
            "clamp",
            "clip",
            "mul",
            "add",
            "sub",
            "div",
            "abs",
            "round",
            "sign",
        ):
            return  # the result may have another shape
        path, imports = edit.name_for(found.place, "torch.no_grad")
        copied = edit.as_call(found.place, ".copy_")
        if copied and not edit.is_under(found.place, ("no_grad", "inference_mode")):
            under = edit.under(found.place, f"with {path}():")
            copied = (*together(under, copied), *imports) if under else ()
        yield fix(title, copied)
