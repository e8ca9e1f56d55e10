"""From tensors to numpy: what cannot be made into an array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import code_of, diagnostic, fix, name_of, step_at
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import text
from gradtrail.source.place import Place
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor


class NumpyOfTensorThatRequiresGrad(Rule):
    """A tensor that requires grad is made into a numpy array.

    ## Why torch refuses it

    An array has no gradient: whatever is computed with it is lost to autograd. So `numpy()` raises on a tensor
    that requires grad while grad mode is on. `np.array(t)`, lists of tensors handed to numpy, matplotlib,
    scikit-learn and scipy all go the same way. `model.eval()` does not switch grad mode off.

    ## What to do

    - To evaluate, run the model under `torch.no_grad()`: nothing computed there requires grad.
    - To look at a value while training, detach it first: `t.detach().cpu().numpy()`. The order of `detach`
      and `cpu` does not matter. For one number use `t.item()`.
    """

    name = "numpy-of-tensor-that-requires-grad"
    words = (
        Word(rb"\.numpy\("),
        Word(rb"np\.(?:array|asarray|mean|stack|concatenate|sum|max|min|std)\("),
        Word(rb"plt\."),
        Word(rb"\.(?:plot|scatter|hist|choice|fit_transform)\("),
        Word(rb"sklearn"),
        Word(rb"scipy\.optimize"),
    )
    hears = ("numpy-requires-grad",)
    examples = (
        Example(
            title="the output of a model",
            bad="""
                import torch
                net = torch.nn.Linear(2, 1)
                out = net(torch.ones(3, 2))  # cause
                print(out.numpy())  # error
            """,
            good="""
                import torch
                net = torch.nn.Linear(2, 1)
                with torch.no_grad():
                    out = net(torch.ones(3, 2))
                print(out.numpy())
            """,
            raises="Can't call numpy() on Tensor that requires grad",
        ),
        Example(
            title="a list of losses handed to numpy",
            bad="""
                import numpy as np
                import torch
                w = torch.ones(2, requires_grad=True)
                losses = []
                for _ in range(3):
                    loss = w.pow(2).sum()
                    losses.append(loss)  # cause
                print(np.mean(losses))  # error
            """,
            good="""
                import numpy as np
                import torch
                w = torch.ones(2, requires_grad=True)
                losses = []
                for _ in range(3):
                    loss = w.pow(2).sum()
                    losses.append(loss.item())
                print(np.mean(losses))
            """,
            raises="Can't call numpy() on Tensor that requires grad",
        ),
    )
    near_misses = (
        NearMiss(
            "three layers, frozen one by one",
            """
                import torch
                from torch import nn
                layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2)])
                for layer in layers:
                    for parameter in layer.parameters():
                        parameter.requires_grad = False
                x = torch.ones(1, 2)
                for layer in layers:
                    x = layer(x)
                array = x.numpy()
            """,
        ),
        NearMiss(
            "frozen through a name that is not known",
            """
                import torch
                from torch import nn

                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.first, self.last = nn.Linear(2, 2), nn.Linear(2, 2)

                x = torch.ones(1, 2)
                net = Net()
                for name in eval("['first']"):
                    getattr(net, name).requires_grad_(False)
                array = net.first(x).numpy()
                net = Net()
                net.get_submodule(eval("'first'")).requires_grad_(False)
                array = net.first(x).numpy()
                net = Net()
                for name, layer in net._modules.items():
                    layer.requires_grad_(False)
                array = net.first(x).numpy()
                net = Net()
                setattr(net, eval("'first'"), nn.Linear(2, 2).requires_grad_(False))
                array = net.first(x).numpy()
                net = Net()
                getattr(net, eval("'requires_grad_'"))(False)
                array = net.first(x).numpy()
            """,
            shown=False,
        ),
        NearMiss(
            "grad mode switched in less usual ways",
            """
                import contextlib
                import torch
                net, x = torch.nn.Linear(2, 2), torch.ones(1, 2)
                with contextlib.ExitStack() as stack:
                    stack.enter_context(torch.no_grad())
                    array = net(x).numpy()
                mode = torch.no_grad()
                mode.__enter__()
                array = net(x).numpy()
                mode.__exit__(None, None, None)
                mode = torch.inference_mode if eval("True") else torch.no_grad
                with mode():
                    array = net(x).numpy()
                mode = torch.enable_grad if eval("False") else torch.no_grad
                with mode():
                    array = net(x).numpy()
                array = torch.no_grad()(lambda: net(x))().numpy()
            """,
            shown=False,
        ),
        NearMiss(
            "attributes that are not what was stored",
            """
                import torch
                w = torch.rand(3, requires_grad=True)

                class Detaching:
                    def __setattr__(self, name, value):
                        object.__setattr__(self, name, value.detach())

                class Reading:
                    def __getattribute__(self, name):
                        return object.__getattribute__(self, name).detach()

                class Descriptor:
                    def __get__(self, owner, cls=None):
                        return owner.kept.detach()

                    def __set__(self, owner, value):
                        owner.kept = value

                class Described:
                    y = Descriptor()

                class Options(dict):
                    __getattr__ = dict.__getitem__
                    __setattr__ = dict.__setitem__

                for holder in (Detaching(), Reading(), Described()):
                    holder.y = w.exp()
                    array = holder.y.numpy()
                options = Options()
                options.y = w.exp()
                options["y"] = options.y.detach()
                array = options.y.numpy()
            """,
        ),
        NearMiss(
            "a method that is not known has changed the object",
            """
                import torch
                w = torch.rand(3, requires_grad=True)
                Base = eval("type('Base', (), {'finish': lambda self: setattr(self, 'y', self.y.detach())})")

                class Trainer(Base):
                    def __init__(self):
                        self.y = w.exp()

                    def fire(self, event):
                        getattr(self, "on_" + event)()

                    def on_end(self):
                        self.y = self.y.detach()

                trainer = Trainer()
                trainer.finish()
                array = trainer.y.numpy()
                trainer = Trainer()
                trainer.fire(eval("'end'"))
                array = trainer.y.numpy()
            """,
            shown=False,
        ),
        NearMiss(
            "the last of several, frozen through the list that holds them",
            """
                import torch
                weights = []
                for _ in range(eval("2")):
                    weight = torch.ones(2, requires_grad=True)
                    weights.append(weight)
                for one in weights:
                    one.requires_grad_(False)
                array = weight.numpy()
            """,
            shown=False,
        ),
        NearMiss(
            "layers made in a loop and frozen in another",
            """
                import torch
                layers = []
                for _ in range(eval("2")):
                    layers.append(torch.nn.Linear(2, 2))
                for layer in layers:
                    for parameter in layer.parameters():
                        parameter.requires_grad = False
                for layer in layers:
                    array = layer(torch.ones(1, 2)).numpy()
            """,
            shown=False,
        ),
        NearMiss(
            "kept under a name that is not known",
            """
                import torch

                class Holder:
                    pass

                holder, number = Holder(), eval("0")
                weight = torch.ones(2, requires_grad=True)
                setattr(holder, f"weight{number}", weight)
                for one in vars(holder).values():
                    one.requires_grad_(False)
                array = weight.numpy()
            """,
            shown=False,
        ),
        NearMiss(
            "numbers of numpy, which leave the operation to the tensor",
            """
                import numpy as np
                import torch
                w = torch.ones(3, requires_grad=True)
                a = np.array([1.0, 2.0])
                loss = (np.log(2) - w + w / np.sqrt(2) + np.random.rand() * w + a[0] * w - a.mean() * w + np.max(a) * w).sum()
                loss.backward()
            """,
        ),
        NearMiss(
            "frozen as one of two",
            """
                import torch
                w = torch.ones(2, requires_grad=True)
                v = torch.ones(2, requires_grad=True)
                chosen = w if eval("True") else v
                chosen.requires_grad = False
                array = w.numpy()
            """,
            shown=False,
        ),
        NearMiss(
            "frozen as one that may be something unknown",
            """
                import torch
                w = torch.ones(2, requires_grad=True)
                chosen = w if eval("True") else eval("None")
                chosen.requires_grad = False
                array = w.numpy()
            """,
            shown=False,
        ),
        NearMiss(
            "frozen layers, their number not known",
            """
                import torch
                from torch import nn

                class Net(nn.Module):
                    def __init__(self, sizes):
                        super().__init__()
                        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in sizes])
                        self.last = nn.Linear(2, 2) if sizes else nn.Identity()

                    def forward(self, x):
                        for layer in self.layers:
                            x = layer(x)
                        return self.last(x)

                sizes = eval("[(2, 2), (2, 2)]")
                net = Net(sizes).requires_grad_(False)
                array = net(torch.ones(1, 2)).numpy()
                net = Net(sizes)
                for parameter in net.parameters():
                    parameter.requires_grad = False
                array = net(torch.ones(1, 2)).numpy()
                net = Net(sizes)
                for layer in net.layers:
                    for parameter in layer.parameters():
                        parameter.requires_grad = False
                for parameter in net.last.parameters():
                    parameter.requires_grad = False
                array = net(torch.ones(1, 2)).numpy()
            """,
            shown=False,
        ),
        NearMiss(
            "eval is not needed, no_grad is",
            """
                import torch
                net = torch.nn.Linear(2, 1)

                @torch.no_grad()
                def predict(x):
                    return net(x)

                print(predict(torch.ones(3, 2)).numpy())
            """,
        ),
        NearMiss(
            "even a parameter converts while grad mode is off",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                with torch.no_grad():
                    print(net.weight.numpy())
            """,
        ),
        NearMiss(
            "comparisons and argmax carry no gradient",
            """
                import torch
                net = torch.nn.Linear(2, 3)
                out = net(torch.ones(4, 2))
                print(out.argmax(1).numpy(), (out > 0).numpy(), out.max(1).indices.numpy())
            """,
        ),
        NearMiss(
            "force=True detaches",
            """
                import torch
                net = torch.nn.Linear(2, 1)
                print(net(torch.ones(3, 2)).numpy(force=True))
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        evaluation = any(step.kind == "grad-on" for step in event.trail)
        parameter = event.subject is not None and event.subject.facts.get("parameter") is True
        help = text("detach it first: `{code}.detach()`", code=code_of(event))
        if evaluation and not parameter:
            help = text(
                "detach it first: `{code}.detach()`; or, where no backward follows, compute `{name}` under"
                " torch.no_grad()",
                code=code_of(event),
                name=name,
            )
        yield diagnostic(
            self,
            event,
            text("`{name}` requires grad, so it cannot be made into a numpy array", name=name),
            text("RuntimeError: Can't call numpy() on Tensor that requires grad"),
            why=text("an array has no gradient: what is computed with it is lost to autograd"),
            help=help,
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name = name_of(event)
        given = edit.inside(found.place, name) if edit.receiver(found.place, "numpy") is None else None
        if given is not None and given != found.place:
            detached = edit.after(given, ".detach().cpu().numpy()")
        else:
            detached = edit.after(_looked_at(event, found, edit), ".detach()")
        here = all(edit.statement(one.place) == edit.statement(found.place) for one in detached)
        detach = fix(
            text("detach `{name}`: the array has no gradient", name=name),
            detached,
            "safe" if here else "unsafe",
        )
        made = step_at(found, "computed", "call", "further-call")
        evaluates = edit.says(found.place, ".eval()") and not edit.says(found.place, "backward(")
        if not evaluates or made is None or edit.function(made) != edit.function(found.place):
            yield detach
            return
        path, imports = edit.name_for(made, "torch.no_grad")
        wrapped = edit.under(made, f"with {path}():")
        yield fix(
            text("compute `{name}` without a graph", name=name), (*wrapped, *imports) if wrapped else ()
        )
        yield detach


class NumpyOfTensorOffCpu(Rule):
    """A tensor on another device is made into a numpy array.

    ## Why torch refuses it

    numpy reads memory of the CPU only.

    ## What to do

    Call `.cpu()` first, and use what it returns: `t.cpu().numpy()`, or `t.detach().cpu().numpy()` if it
    requires grad.
    """

    name = "numpy-of-tensor-off-cpu"
    words = (Word(rb"\.numpy\("),)
    hears = ("numpy-off-cpu",)
    examples = (
        Example(
            title="a mask computed on the device",
            bad="""
                import torch
                device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
                mask = torch.zeros(3, device=device) > 0  # cause
                print(mask.numpy())  # error
            """,
            good="""
                import torch
                device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
                mask = torch.zeros(3, device=device) > 0
                print(mask.cpu().numpy())
            """,
            raises="device type tensor to numpy",
            off_cpu=True,
        ),
    )
    near_misses = (
        NearMiss(
            "moved first",
            """
                import torch
                device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
                print(torch.zeros(3, device=device).cpu().numpy())
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        template = (
            "`{name}` is on `{device}`: wherever that is not the CPU, it cannot be made into a numpy array"
            if event.certainty == "raises-off-cpu"
            else "`{name}` is on `{device}`, so it cannot be made into a numpy array"
        )
        yield diagnostic(
            self,
            event,
            text(template, name=name, device=event.fields.get("device", "")),
            text("TypeError: can't convert ... device type tensor to numpy"),
            why=text("numpy reads memory of the CPU only"),
            help=text("use what `{code}.cpu()` returns", code=code_of(event)),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        moved = edit.after(_converted(event, found, edit), ".cpu()")
        yield fix(text("move `{name}` to the CPU first", name=name_of(event)), moved, "safe")


class NumpyOfLazyConjugate(Rule):
    """A lazily conjugated or negated tensor is made into a numpy array.

    ## Why torch refuses it

    `conj()`, `mH` and `adjoint()` of a complex tensor only set a flag on a view of the same memory; so does
    `.imag` of a conjugate. numpy cannot see the flag.

    ## What to do

    Call `resolve_conj()` (or `resolve_neg()`) first: it writes the conjugate out.
    """

    name = "numpy-of-lazy-conjugate"
    words = (Word(rb"\.numpy\("),)
    hears = ("numpy-conj",)
    examples = (
        Example(
            title="the conjugate of a spectrum",
            bad="""
                import torch
                spectrum = torch.fft.fft(torch.ones(8))
                reference = spectrum.conj()  # cause
                print(reference.numpy())  # error
            """,
            good="""
                import torch
                spectrum = torch.fft.fft(torch.ones(8))
                reference = spectrum.conj().resolve_conj()
                print(reference.numpy())
            """,
            raises="Can't call numpy() on Tensor that has conjugate bit set",
        ),
    )
    near_misses = (
        NearMiss(
            "conjugated twice",
            """
                import torch
                z = torch.ones(2, 2, dtype=torch.cfloat)
                array = z.conj().conj().numpy()
            """,
        ),
        NearMiss(
            "arithmetic writes the conjugate out",
            """
                import torch
                x = torch.fft.fft(torch.ones(8))
                print((x * x.conj()).numpy(), x.conj().abs().numpy())
            """,
        ),
        NearMiss("a real tensor has no conjugate bit", "import torch\nprint(torch.ones(3).conj().numpy())"),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        yield diagnostic(
            self,
            event,
            text(
                "`{name}` is conjugated lazily, so it cannot be made into a numpy array", name=name_of(event)
            ),
            text("RuntimeError: Can't call numpy() on Tensor that has conjugate bit set"),
            why=text("conj() only sets a flag on a view of the same memory, which numpy cannot see"),
            help=text("call resolve_conj() first"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        written = edit.after(_converted(event, found, edit), ".resolve_conj()")
        yield fix(text("write the conjugate out"), written, "safe")


class FromNumpyOfTensor(Rule):
    """`torch.from_numpy` was given a tensor.

    ## Why torch refuses it

    It takes numpy arrays and nothing else.

    ## What to do

    Use the tensor as it is, or `torch.as_tensor`, which takes both.
    """

    name = "from-numpy-of-tensor"
    words = (Word(rb"from_numpy"),)
    hears = ("from-numpy-of-tensor",)
    examples = (
        Example(
            title="a tensor instead of an array",
            bad="""
                import torch
                x = torch.ones(3)
                y = torch.from_numpy(x)  # error
            """,
            good="""
                import torch
                x = torch.ones(3)
                y = torch.as_tensor(x)
            """,
            raises="expected np.ndarray (got Tensor)",
        ),
    )
    near_misses = (
        NearMiss("an array", "import numpy as np\nimport torch\ny = torch.from_numpy(np.zeros(3))"),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        yield diagnostic(
            self,
            event,
            text("`{name}` is a tensor already: torch.from_numpy takes arrays only", name=name),
            text("TypeError: expected np.ndarray (got Tensor)"),
            help=text("use `{name}` as it is, or torch.as_tensor, which takes both", name=name),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        taken = edit.rename_call(found.place, "from_numpy", "as_tensor")
        yield fix(text("use torch.as_tensor, which takes both"), taken, "safe")


class ArrayOperatorTensor(Rule):
    """An operator stands between a numpy array and a tensor that requires grad.

    ## Why torch refuses it

    With the array on the left, numpy hands the operation to the tensor, and the tensor's operators take tensors and
    numbers. With the tensor on the left numpy would have to make an array of it, and an array has no gradient.

    ## What to do

    Make a tensor of the array: `torch.from_numpy(a) * w`. Where no gradient is wanted, compute in numpy:
    `a * w.detach().numpy()`.
    """

    name = "array-operator-tensor"
    words = (Word(rb"numpy"),)
    hears = ("array-times-tensor",)
    examples = (
        Example(
            title="an array of factors times a parameter",
            bad="""
                import numpy as np
                import torch
                factors = np.ones(3)
                w = torch.ones(3, requires_grad=True)  # cause
                scaled = factors * w  # error
            """,
            good="""
                import numpy as np
                import torch
                factors = np.ones(3)
                w = torch.ones(3, dtype=torch.float64, requires_grad=True)
                scaled = torch.from_numpy(factors) * w
            """,
            raises="unsupported operand type(s) for",
        ),
        Example(
            title="an array plus the output of a model",
            bad="""
                import numpy as np
                import torch
                net = torch.nn.Linear(2, 2)
                moved = np.ones((1, 2)) + net(torch.ones(1, 2))  # error
            """,
            good="""
                import numpy as np
                import torch
                net = torch.nn.Linear(2, 2)
                moved = np.ones((1, 2)) + net(torch.ones(1, 2)).detach().numpy()
            """,
            raises="Concatenation operation is not implemented for NumPy arrays",
        ),
    )
    near_misses = (
        NearMiss(
            "a number of numpy",
            """
                import numpy as np
                import torch
                w = torch.ones(3, requires_grad=True)
                scaled = np.float64(2) * w + np.pi * w
            """,
        ),
        NearMiss(
            "an array over a tensor that needs no gradient",
            "import numpy as np\nimport torch\nratio = np.ones(3) / torch.ones(3)",
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        yield diagnostic(
            self,
            event,
            text(
                "`{name}` is a tensor that requires grad, and on the left of the operator stands an array",
                name=name,
            ),
            text("TypeError: Concatenation operation is not implemented for NumPy arrays")
            if event.fields.get("op") == "+"
            else text("TypeError: unsupported operand type(s) for ..."),
            why=text("numpy hands the operation to the tensor, whose operators take tensors and numbers"),
            help=text(
                "make a tensor of the array with torch.from_numpy, or, where no gradient is wanted, an array of the"
                " tensor: `{code}.detach().numpy()`",
                code=code_of(event),
            ),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        array = edit.operand(found.place)
        path, imports = edit.name_for(array, "torch.from_numpy")
        made = edit.around(array, f"{path}(")
        yield fix(text("make a tensor of the array"), (*made, *imports) if made else ())


def _converted(event: Event, found: Diagnostic, edit: Editor) -> Place | None:
    """The expression of which the array is made."""
    return edit.receiver(found.place, "numpy") or edit.inside(found.place, name_of(event))


def _looked_at(event: Event, found: Diagnostic, edit: Editor) -> Place | None:
    """The expression that is to be detached: what is converted, returned to a library, or collected."""
    value = edit.receiver(found.place, "numpy")
    if value is not None:
        return edit.receiver(value, "cpu") or value
    returned = step_at(found, "returned")
    if returned is not None:
        return edit.inside(returned, name_of(event))
    appended = edit.argument(step_at(found, "appended"), 0)
    if appended is not None:
        return appended
    made = step_at(found, "computed")
    here = edit.statement(made) == edit.statement(found.place)
    collected = edit.function(made) == edit.function(found.place) and not edit.says(found.place, "backward(")
    return made if here or collected else None
