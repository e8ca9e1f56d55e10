"""What to say of an error that somebody pasted: the law, the likely causes, what to look at, and the way out.

Most of it is the page of the rule that hears the refusal. Here stands what a page does not have: the facts to print
beside the failing line, whether `detach` or `no_grad` is the answer, and a page for refusals that no rule hears.
Every sentence is a template; every example is run on torch by `tests/findings/test_answers.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from gradtrail.findings.registry import index, rules_of
from gradtrail.findings.rule import Example, Rule
from gradtrail.laws.text import Text, text


class Check(NamedTuple):
    """An expression to print beside the failing line, and what its value says."""

    expression: str
    says: Text


class Family(NamedTuple):
    """What refusals of one kind have in common: what to look at, and where `detach` and `no_grad` are the answer."""

    checks: tuple[Check, ...]
    way_out: Text


class Page(NamedTuple):
    """A refusal that no rule hears: why torch refuses, what to do, and the causes with their repairs, likeliest first."""

    why: Text
    what_to_do: Text
    examples: tuple[Example, ...]


class Answer(NamedTuple):
    """All there is to say of one refusal. Either `rules` or `page` is there."""

    rules: tuple[type[Rule], ...]
    page: Page | None
    family: Family


_LEAF = Check(
    "t.is_leaf", text("True for a tensor you created, a Parameter, and whatever does not require grad")
)
_GRAD_FN = Check("t.grad_fn", text("None for a leaf; otherwise the operation that the tensor came from"))
_REQUIRES = Check("t.requires_grad", text("whether a gradient is wanted for it, or flows through it"))
_VERSION = Check("t._version", text("how often its memory has been written; compare it before and after"))
_BASE = Check("t._base", text("the tensor that it is a view of; None when it is none"))
_DEVICE = Check("t.device", text("where it lives; print it for every tensor on the line"))
_DTYPE = Check("t.dtype", text("what its elements are; print it for every tensor on the line"))
_MODE = Check("torch.is_grad_enabled()", text("False inside no_grad: nothing is recorded then"))

FAMILIES: dict[str, Family] = {
    "leaf": Family(
        (_LEAF, _GRAD_FN, _REQUIRES),
        text(
            "detach alone does not help: it returns another tensor, and the loss has to be computed from that one."
            " no_grad around the optimizer changes nothing. Scale, cast and move first, and call requires_grad_() last"
        ),
    ),
    "flag": Family(
        (_LEAF, _GRAD_FN, _REQUIRES),
        text(
            "detach, when the tensor shall be a new start without history: `t = t.detach().requires_grad_()`"
        ),
    ),
    "optimizer": Family(
        (
            Check(
                "list(params)", text("what the optimizer is given; an iterator is used up by looking at it")
            ),
            Check("[type(p) for p in params]", text("tensors or dicts, all of one kind")),
            _REQUIRES,
        ),
        text("neither: it is about what the optimizer is given, not about gradients"),
    ),
    "numpy": Family(
        (_REQUIRES, _GRAD_FN, _DEVICE),
        text(
            "detach, when the values are needed beside the training: `t.detach().cpu().numpy()`, where detach may"
            " stand before or behind cpu. no_grad, when nothing of the computation is trained, as in an evaluation."
            " Neither, when the result goes into the loss: then stay with torch, or the gradient is lost"
        ),
    ),
    "numpy-memory": Family(
        (_DEVICE, _DTYPE, Check("t.is_conj()", text("whether a conjugate waits to be written out"))),
        text("neither: numpy cannot read this memory as it is, whether a gradient is wanted or not"),
    ),
    "in-place-leaf": Family(
        (_LEAF, _REQUIRES, _MODE),
        text(
            "no_grad, when the values shall be changed: an update by hand, an initialization. Neither, when it is part"
            " of a computation: write `x = x + 1` instead of `x += 1`. detach would write the same memory all the same"
        ),
    ),
    "in-place-view": Family(
        (_BASE, _GRAD_FN, _MODE),
        text("neither: write into the whole tensor before it is split, or write a clone of the part"),
    ),
    "in-place-saved": Family(
        (
            _VERSION,
            _GRAD_FN,
            Check("torch.autograd.set_detect_anomaly(True)", text("names the forward line")),
        ),
        text(
            "neither: a new tensor instead of the write (`y = y + 1`), or a clone before it, keeps what backward needs."
            " detach and .data only keep torch from noticing, and the gradient is wrong"
        ),
    ),
    "backward": Family(
        (_REQUIRES, _GRAD_FN, _MODE),
        text(
            "neither: they are what cuts a graph. Find the line where requires_grad becomes False: a no_grad, a"
            " detach, .item(), numpy, argmax, a comparison, or torch.tensor() of a tensor. requires_grad_() on the"
            " loss silences the error and trains nothing"
        ),
    ),
    "input": Family(
        (
            _REQUIRES,
            _GRAD_FN,
            Check(
                "torch.autograd.grad(loss, inputs, allow_unused=True, retain_graph=True)",
                text("None in the place of each tensor that the loss was not computed from"),
            ),
        ),
        text(
            "neither: the loss has to be computed from that very tensor, after it requires grad. A slice, a copy or a"
            " conversion made afterwards is another tensor. Where an input may be unused, allow_unused=True gives None"
            " for it, and what follows has to leave that out"
        ),
    ),
    "checkpoint": Family(
        (
            _REQUIRES,
            Check(
                "torch.utils.checkpoint.checkpoint(fn, x, use_reentrant=False)",
                text("the form without these limits"),
            ),
        ),
        text(
            "neither: a reentrant checkpoint runs under no_grad by itself, and a whole backward inside of the other."
            " use_reentrant=False does without both"
        ),
    ),
    "scalar": Family(
        (Check("t.shape", text("a loss has no dimensions: torch.Size([])")), _GRAD_FN),
        text("neither: make one number of it with mean() or sum(), or give backward a gradient of its shape"),
    ),
    "gradient": Family(
        (
            Check(
                "t.grad",
                text("None where no gradient has arrived since the tensor was made, or since zero_grad()"),
            ),
            _LEAF,
            _GRAD_FN,
            _REQUIRES,
        ),
        text(
            "neither: a detach or a no_grad between the tensor and the loss is one of the causes. Only the update of a"
            " weight by hand belongs under no_grad, so that the name stays with the leaf"
        ),
    ),
    "twice": Family(
        (_GRAD_FN, Check("state.grad_fn", text("of what is carried from step to step: None after detach"))),
        text(
            "detach, for a state that is carried from step to step (`h = h.detach()`) and for what a generator hands to"
            " its discriminator. Neither, for two losses of one forward: `(a + b).backward()`."
            " retain_graph=True keeps the graph, and with it memory that grows if the state stays attached"
        ),
    ),
    "device": Family(
        (_DEVICE, Check("next(model.parameters()).device", text("where the module's parameters live"))),
        text("neither: make or move the tensor to where the others are, and keep what `.to(device)` returns"),
    ),
    "dtype": Family(
        (_DTYPE, Check("next(model.parameters()).dtype", text("what the module's parameters are"))),
        text("neither: convert at the place where the tensor comes in, and keep what the conversion returns"),
    ),
    "inference": Family(
        (Check("t.is_inference()", text("whether it was made in inference mode")), _REQUIRES),
        text(
            "no_grad instead of inference_mode, when its results are used in training later; or a clone outside"
        ),
    ),
    "module": Family(
        (
            Check("list(model.named_parameters())", text("the parameters that an optimizer will see")),
            Check("type(t)", text("torch.nn.Parameter, or a plain tensor, which is not registered")),
        ),
        text(
            "no_grad with copy_, when only the values of a Parameter shall change; else assign an nn.Parameter"
        ),
    ),
    "function": Family(
        (
            Check(
                "torch.autograd.gradcheck(fn, inputs)",
                text("compares the backward with differences, in float64"),
            ),
        ),
        text("neither: the backward itself is to be put right"),
    ),
    "processes": Family(
        (_LEAF, _REQUIRES),
        text("detach, for what goes to another process; parameters are shared as they are"),
    ),
    "ddp": Family(
        (
            Check(
                "[n for n, p in model.named_parameters() if p.requires_grad]",
                text("the parameters that DDP will wait for"),
            ),
            Check(
                "[n for n, p in model.named_parameters() if p.grad is None]",
                text("the parameters that got no gradient"),
            ),
        ),
        text(
            "neither: DDP waits for a gradient of each parameter that requires grad when it wraps the module. Let the"
            " loss depend on all of them, or pass find_unused_parameters=True; do not wrap a module that is frozen"
        ),
    ),
    "nan": Family(
        (
            Check("torch.autograd.set_detect_anomaly(True)", text("names the forward line")),
            Check(
                "t.isfinite().all()", text("print it for what goes into that line, and for what comes out")
            ),
        ),
        text(
            "neither: they hide the gradient and leave the nan. Keep the input away from the point where the derivative"
            " is infinite, before the operation and not after it"
        ),
    ),
    "untracked": Family(
        (_REQUIRES, _GRAD_FN, _MODE),
        text(
            "neither: they are how a tensor comes to require no grad. It has to require grad first, because you asked"
            " for it with requires_grad_(), or because it is computed from something that does"
        ),
    ),
    "derivative": Family(
        (_GRAD_FN,),
        text(
            "detach what goes in, when nothing before this operation is to learn through it; else an operation that"
            " has a derivative"
        ),
    ),
    "detach-view": Family(
        (_BASE, _GRAD_FN),
        text(
            "detach, not detach_: `x = x.detach()` gives a tensor without history, and the view stays as it was"
        ),
    ),
    "out": Family(
        (_REQUIRES, _MODE),
        text(
            "either, when nothing of this is trained: detach the arguments, or compute under no_grad. Else leave"
            " out= away, and keep the tensor that comes back"
        ),
    ),
    "complex": Family(
        (_DTYPE,),
        text("neither: a loss is a real number; take `.real` or `.abs()` of it, and call backward on that"),
    ),
    "mode": Family(
        (_MODE,),
        text("no_grad, with parentheses: `with torch.no_grad():`"),
    ),
    "init": Family(
        (Check("list(model.named_parameters())", text("the parameters that an optimizer will see")),),
        text("neither: call `super().__init__()` before the first parameter or module is assigned"),
    ),
    "tensor-already": Family(
        (Check("type(t)", text("torch.Tensor for a tensor, numpy.ndarray for an array")),),
        text("neither: it is a tensor already; use it as it is, or torch.as_tensor, which takes both"),
    ),
    "array": Family(
        (Check("type(t)", text("torch.Tensor for a tensor, numpy.ndarray for an array")), _REQUIRES),
        text(
            "detach with numpy(), when it is to be computed in numpy: `a * t.detach().numpy()`. no_grad does not help."
            " Neither, when a gradient is wanted: make a tensor of the array, `torch.from_numpy(a) * t`"
        ),
    ),
}

_FAMILY_OF: dict[str, str] = {
    "non-leaf-optimizer": "leaf",
    "deepcopy-non-leaf": "flag",
    "flag-of-non-leaf": "flag",
    "requires-grad-integer": "dtype",
    "numpy-requires-grad": "numpy",
    "array-times-tensor": "array",
    "numpy-off-cpu": "numpy",
    "leaf-in-place": "in-place-leaf",
    "leaf-view-in-place": "in-place-leaf",
    "multi-view-in-place": "in-place-view",
    "no-grad-view-in-place": "in-place-view",
    "function-view-in-place": "in-place-view",
    "expanded-in-place": "in-place-view",
    "detach-view-in-place": "detach-view",
    "saved-modified": "in-place-saved",
    "out-requires-grad": "out",
    "backward-twice": "twice",
    "backward-no-grad-fn": "backward",
    "backward-non-scalar": "scalar",
    "grad-unused": "input",
    "grad-input-not-tracked": "input",
    "hook-of-untracked": "untracked",
    "retain-grad-of-untracked": "untracked",
    "derivative-missing": "derivative",
    "backward-gradient-shape": "scalar",
    "backward-off-dtype": "complex",
    "no-grad-not-called": "mode",
    "gradient-missing": "gradient",
    "grad-of-non-leaf": "gradient",
    "nan-gradient": "nan",
    "once-differentiable": "function",
    "register-non-leaf-parameter": "module",
    "module-not-initialized": "init",
    "assign-over-parameter": "module",
    "register-parameter": "module",
    "from-numpy-of-tensor": "tensor-already",
    "result-type-cast": "dtype",
    "index-dtype": "dtype",
    "ddp-frozen": "ddp",
    "ddp-unused": "ddp",
    "dataloader-grad": "processes",
    "serialize-non-leaf": "processes",
    "checkpoint-reentrant-grad": "checkpoint",
    "checkpoint-cut": "checkpoint",
}

_BY_PREFIX = (
    ("optimizer-", "optimizer"),
    ("numpy-", "numpy-memory"),
    ("device-", "device"),
    ("dtype-", "dtype"),
    ("inference-", "inference"),
    ("function-", "function"),
)

SAME_AS: dict[str, str] = {
    "requires-grad-integer-method": "requires-grad-integer",
    "device-mismatch-recurrent": "device-mismatch",
    "device-mismatch-convolution": "device-mismatch",
    "checkpoint-no-grad": "checkpoint-cut",
}
"""Refusals in other words."""

PAGES: dict[str, Page] = {
    "gradient-missing": Page(
        text("`.grad` is None until a backward has put a gradient there, and again after zero_grad()"),
        text(
            "see which of the causes it is: no backward has run yet, the tensor is no leaf, its gradient was just"
            " dropped, or the loss does not depend on it"
        ),
        (
            Example(
                "the gradient is used before the first backward",
                """
                import torch
                w = torch.ones(2, requires_grad=True)
                for _ in range(3):
                    w.grad.zero_()  # error
                    (w ** 2).sum().backward()
                """,
                """
                import torch
                w = torch.ones(2, requires_grad=True)
                for _ in range(3):
                    if w.grad is not None:
                        w.grad.zero_()
                    (w ** 2).sum().backward()
                """,
                raises="'NoneType' object has no attribute 'zero_'",
            ),
            Example(
                "the update gives the name to a computed tensor",
                """
                import torch
                w = torch.ones(2, requires_grad=True)
                for _ in range(3):
                    (w ** 2).sum().backward()
                    print(w.grad.norm())  # error
                    w = w - 0.1 * w.grad  # cause
                """,
                """
                import torch
                w = torch.ones(2, requires_grad=True)
                for _ in range(3):
                    (w ** 2).sum().backward()
                    print(w.grad.norm())
                    with torch.no_grad():
                        w -= 0.1 * w.grad
                    w.grad = None
                """,
                raises="'NoneType' object has no attribute 'norm'",
            ),
            Example(
                "the tensor was scaled or moved after requires_grad",
                """
                import torch
                w = torch.ones(2, requires_grad=True) * 0.1  # cause
                (w ** 2).sum().backward()
                w.grad.norm()  # error
                """,
                """
                import torch
                w = (torch.ones(2) * 0.1).requires_grad_()
                (w ** 2).sum().backward()
                w.grad.norm()
                """,
                raises="'NoneType' object has no attribute 'norm'",
            ),
            Example(
                "zero_grad() has dropped it",
                """
                import torch
                layer = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
                layer(torch.ones(1, 2)).sum().backward()
                optimizer.step()
                optimizer.zero_grad()  # cause
                layer.weight.grad.norm()  # error
                """,
                """
                import torch
                layer = torch.nn.Linear(2, 1)
                optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
                layer(torch.ones(1, 2)).sum().backward()
                layer.weight.grad.norm()
                optimizer.step()
                optimizer.zero_grad()
                """,
                raises="'NoneType' object has no attribute 'norm'",
            ),
            Example(
                "the loss does not depend on it",
                """
                import torch
                first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                hidden = first(torch.ones(1, 2)).detach()  # cause
                second(hidden).sum().backward()
                first.weight.grad.norm()  # error
                """,
                """
                import torch
                first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                hidden = first(torch.ones(1, 2))
                second(hidden).sum().backward()
                first.weight.grad.norm()
                """,
                raises="'NoneType' object has no attribute 'norm'",
            ),
        ),
    ),
    "optimizer-lbfgs-groups": Page(
        text(
            "LBFGS works on all parameters as one long vector, so it has no groups with options of their own"
        ),
        text(
            "give it one list of parameters; use another optimizer where groups need different learning rates"
        ),
        (
            Example(
                "two groups",
                """
                import torch
                a, b = torch.zeros(2, requires_grad=True), torch.zeros(2, requires_grad=True)
                torch.optim.LBFGS([{"params": [a]}, {"params": [b]}])  # error
                """,
                """
                import torch
                a, b = torch.zeros(2, requires_grad=True), torch.zeros(2, requires_grad=True)
                torch.optim.LBFGS([a, b])
                """,
                raises="LBFGS doesn't support per-parameter options",
            ),
        ),
    ),
    "optimizer-muon-dims": Page(
        text(
            "Muon makes the update of a matrix orthogonal, which has no meaning for a vector or a convolution"
        ),
        text("give Muon the matrices of the hidden layers, and everything else to AdamW"),
        (
            Example(
                "a bias among the parameters",
                """
                import torch
                layer = torch.nn.Linear(3, 2)
                torch.optim.Muon(layer.parameters())  # error
                """,
                """
                import torch
                layer = torch.nn.Linear(3, 2)
                torch.optim.Muon([p for p in layer.parameters() if p.ndim == 2])
                torch.optim.AdamW([p for p in layer.parameters() if p.ndim != 2])
                """,
                raises="Muon only supports 2D parameters",
            ),
        ),
    ),
    "optimizer-dense-gradients": Page(
        text("SparseAdam updates only the rows that a sparse gradient names"),
        text("use it for nn.Embedding(..., sparse=True) alone, and another optimizer for the rest"),
        (
            Example(
                "an embedding whose gradient is dense",
                """
                import torch
                table = torch.nn.Embedding(4, 2)
                optimizer = torch.optim.SparseAdam(list(table.parameters()))
                table(torch.tensor([1])).sum().backward()
                optimizer.step()  # error
                """,
                """
                import torch
                table = torch.nn.Embedding(4, 2, sparse=True)
                optimizer = torch.optim.SparseAdam(list(table.parameters()))
                table(torch.tensor([1])).sum().backward()
                optimizer.step()
                """,
                raises="SparseAdam does not support dense gradients",
            ),
        ),
    ),
    "numpy-neg": Page(
        text(
            "torch has put off a change of sign, and shares memory in which it is not done; an array knows nothing of that"
        ),
        text("call resolve_neg() first, which does it"),
        (
            Example(
                "the imaginary part of a conjugate",
                """
                import torch
                spectrum = torch.fft.fft(torch.ones(8))
                spectrum.conj().imag.numpy()  # error
                """,
                """
                import torch
                spectrum = torch.fft.fft(torch.ones(8))
                spectrum.conj().imag.resolve_neg().numpy()
                """,
                raises="Can't call numpy() on Tensor that has negative bit set",
            ),
        ),
    ),
    "numpy-sparse": Page(
        text("a sparse tensor keeps indices and values, while an array of numpy keeps every element"),
        text("call to_dense() first, or take indices() and values()"),
        (
            Example(
                "a sparse matrix",
                """
                import torch
                m = torch.eye(2).to_sparse()
                m.numpy()  # error
                """,
                """
                import torch
                m = torch.eye(2).to_sparse()
                m.to_dense().numpy()
                """,
                raises="layout tensor to numpy",
            ),
        ),
    ),
    "numpy-dtype": Page(
        text("numpy has no bfloat16, no float8, no complex numbers of 16 bits, and no quantized types"),
        text("convert to a type that numpy has, or, for a quantized tensor, call dequantize() or int_repr()"),
        (
            Example(
                "a bfloat16 result",
                """
                import torch
                x = torch.ones(2, dtype=torch.bfloat16)
                x.numpy()  # error
                """,
                """
                import torch
                x = torch.ones(2, dtype=torch.bfloat16)
                x.float().numpy()
                """,
                raises="Got unsupported ScalarType",
            ),
            Example(
                "complex numbers of 16 bits",
                """
                import torch
                x = torch.ones(2, dtype=torch.complex32)
                x.numpy()  # error
                """,
                """
                import torch
                x = torch.ones(2, dtype=torch.complex32)
                x.to(torch.complex64).numpy()
                """,
                raises="Got unsupported ScalarType",
            ),
        ),
    ),
    "nan-gradient": Page(
        text(
            "the backward of the operation that is named gave nan: mostly an infinite derivative times zero. torch looks"
            " for it only in anomaly mode; without, the nan goes on into every parameter behind it"
        ),
        text(
            "keep the input of the operation away from the point where its derivative is infinite. Masking the result"
            " comes too late: zero times infinity is nan"
        ),
        (
            Example(
                "the square root of zero",
                """
                import torch
                torch.autograd.set_detect_anomaly(True)
                x = torch.zeros(2, requires_grad=True)
                (x.sqrt() * x).sum().backward()  # error
                """,
                """
                import torch
                torch.autograd.set_detect_anomaly(True)
                x = torch.zeros(2, requires_grad=True)
                ((x + 1e-8).sqrt() * x).sum().backward()
                """,
                raises="returned nan values in its",
            ),
            Example(
                "torch.where behind the logarithm",
                """
                import torch
                torch.autograd.set_detect_anomaly(True)
                x = torch.tensor([0.0, 1.0], requires_grad=True)
                torch.where(x > 0, x.log(), 0.0).sum().backward()  # error
                """,
                """
                import torch
                torch.autograd.set_detect_anomaly(True)
                x = torch.tensor([0.0, 1.0], requires_grad=True)
                torch.where(x > 0, x.clamp(min=1e-8).log(), 0.0).sum().backward()
                """,
                raises="returned nan values in its",
            ),
        ),
    ),
    "function-saves-other": Page(
        text("save_for_backward watches versions and breaks cycles for tensors; it takes nothing else"),
        text(
            "keep numbers, flags and tuples as attributes of ctx, and each tensor by itself in save_for_backward"
        ),
        (
            Example(
                "a number among the tensors",
                """
                import torch

                class Scale(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x, factor):
                        ctx.save_for_backward(x, factor)  # cause
                        return x * factor

                    @staticmethod
                    def backward(ctx, grad):
                        x, factor = ctx.saved_tensors
                        return grad * factor, None

                Scale.apply(torch.ones(2, requires_grad=True), 3)  # error
                """,
                """
                import torch

                class Scale(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x, factor):
                        ctx.factor = factor
                        return x * factor

                    @staticmethod
                    def backward(ctx, grad):
                        return grad * ctx.factor, None

                Scale.apply(torch.ones(2, requires_grad=True), 3)
                """,
                raises="save_for_backward can only save variables",
            ),
        ),
    ),
    "dlpack-requires-grad": Page(
        text("the other library knows no gradients: what it computes with this memory is lost to autograd"),
        text("detach the tensor first, or stay with torch where the gradient is wanted"),
        (
            Example(
                "numpy by way of DLPack",
                """
                import numpy
                import torch
                w = torch.ones(2, requires_grad=True)
                numpy.from_dlpack(w)  # error
                """,
                """
                import numpy
                import torch
                w = torch.ones(2, requires_grad=True)
                numpy.from_dlpack(w.detach())
                """,
                raises="Can't export tensors that require gradient",
            ),
        ),
    ),
    "optimizer-duplicate": Page(
        text("a parameter that stands twice in a group is updated twice in each step"),
        text(
            "hand each parameter over once: `dict.fromkeys(parameters)` drops the second ones and keeps the order"
        ),
        (
            Example(
                "a shared layer, listed for each of its users",
                """
                import torch
                shared = torch.nn.Linear(2, 2)
                parameters = [*shared.parameters(), *shared.parameters()]
                torch.optim.SGD(parameters, lr=0.1)  # error
                """,
                """
                import torch
                shared = torch.nn.Linear(2, 2)
                parameters = [*shared.parameters(), *shared.parameters()]
                torch.optim.SGD(dict.fromkeys(parameters), lr=0.1)
                """,
                raises="optimizer contains a parameter group with duplicate parameters",
            ),
        ),
    ),
    "leaf-in-place-function": Page(
        text("a Function that writes its input in place takes part in the graph, and would write a leaf"),
        text("let the Function write a clone, or hand it a computed tensor"),
        (
            Example(
                "mark_dirty on a leaf",
                """
                import torch

                class Double(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        ctx.mark_dirty(x)
                        return x.mul_(2)

                    @staticmethod
                    def backward(ctx, grad):
                        return grad * 2

                w = torch.ones(2, requires_grad=True)
                Double.apply(w)  # error
                """,
                """
                import torch

                class Double(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        ctx.mark_dirty(x)
                        return x.mul_(2)

                    @staticmethod
                    def backward(ctx, grad):
                        return grad * 2

                w = torch.ones(2, requires_grad=True)
                Double.apply(w.clone())
                """,
                raises="a leaf Variable that requires grad",
            ),
        ),
    ),
    "backward-gradient-shape": Page(
        text(
            "backward multiplies the given gradient into the graph, so it has the shape of the tensor it starts at"
        ),
        text(
            "give a gradient of the tensor's shape, such as torch.ones_like(y), or reduce the tensor to one number"
        ),
        (
            Example(
                "one number for a vector",
                """
                import torch
                x = torch.ones(3, requires_grad=True)
                y = x * 2
                y.backward(torch.tensor(1.0))  # error
                """,
                """
                import torch
                x = torch.ones(3, requires_grad=True)
                y = x * 2
                y.backward(torch.ones_like(y))
                """,
                raises="Mismatch in shape: grad_output[0]",
            ),
        ),
    ),
    "backward-off-dtype": Page(
        text("a loss is a real number: only of that it can be said whether it has become smaller"),
        text("take the real part, the absolute value or the square of it before backward"),
        (
            Example(
                "a complex loss",
                """
                import torch
                z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
                z.sum().backward()  # error
                """,
                """
                import torch
                z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
                z.abs().sum().backward()
                """,
                raises="grad can be implicitly created only for real scalar outputs",
            ),
        ),
    ),
    "derivative-missing": Page(
        text("some operations have no derivative in torch, and a tensor that requires grad went into one"),
        text("use an operation that has a derivative, or keep what comes out of this one out of the loss"),
        (
            Example(
                "a step function in the loss",
                """
                import torch
                x = torch.ones(2, requires_grad=True)
                loss = torch.heaviside(x, torch.zeros(2)).sum()
                loss.backward()  # error
                """,
                """
                import torch
                x = torch.ones(2, requires_grad=True)
                loss = torch.sigmoid(10 * x).sum()
                loss.backward()
                """,
                raises="is not implemented",
            ),
        ),
    ),
    "register-non-leaf-parameter": Page(
        text(
            "a Parameter is a leaf: register_parameter refuses one that has been computed from other tensors"
        ),
        text("make the values first, and the Parameter last; compute what depends on it in forward"),
        (
            Example(
                "a parameter that was cast",
                """
                import torch
                net = torch.nn.Module()
                w = torch.nn.Parameter(torch.zeros(2))
                v = w * 2
                v.__class__ = torch.nn.Parameter
                net.register_parameter("v", v)  # error
                """,
                """
                import torch
                net = torch.nn.Module()
                net.register_parameter("v", torch.nn.Parameter(torch.zeros(2) * 2))
                """,
                raises="Model parameters must be created explicitly",
            ),
        ),
    ),
    "function-gradient-shape": Page(
        text("the gradient of an input has the input's shape, for it is added to the input's .grad"),
        text(
            "undo in backward what forward did to the shape: sum over what was broadcast, expand what was summed"
        ),
        (
            Example(
                "the gradient of a sum",
                """
                import torch

                class Sum(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        return x.sum()

                    @staticmethod
                    def backward(ctx, grad):
                        return torch.stack([grad, grad])

                Sum.apply(torch.ones(3, requires_grad=True)).backward()  # error
                """,
                """
                import torch

                class Sum(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        ctx.size = x.shape
                        return x.sum()

                    @staticmethod
                    def backward(ctx, grad):
                        return grad.expand(ctx.size)

                Sum.apply(torch.ones(3, requires_grad=True)).backward()
                """,
                raises="returned an invalid gradient",
            ),
        ),
    ),
    "function-legacy": Page(
        text(
            "a Function of torch 1.2 and older had an object for each call; today forward and backward are static"
        ),
        text("make both static methods with `ctx` in the place of `self`, and call `Name.apply(x)`"),
        (
            Example(
                "forward without staticmethod",
                """
                import torch

                class Double(torch.autograd.Function):
                    def forward(self, x):
                        return x * 2

                    def backward(self, grad):
                        return grad * 2

                Double()(torch.ones(2, requires_grad=True))  # error
                """,
                """
                import torch

                class Double(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        return x * 2

                    @staticmethod
                    def backward(ctx, grad):
                        return grad * 2

                Double.apply(torch.ones(2, requires_grad=True))
                """,
                raises="Legacy autograd function with non-static forward method is deprecated",
            ),
        ),
    ),
}


def answer(key: str) -> Answer:
    """What there is to say of the refusal `key` of `laws.messages`. Raises KeyError when there is nothing."""
    key = SAME_AS.get(key, key)
    found = [
        rule
        for module in index().hears.get(key, ())
        for rule in rules_of(module)
        if key in rule.hears and rule.examples
    ]
    page = None if found else PAGES[key]
    return Answer(tuple(found), page, FAMILIES[_family_of(key)])


def _family_of(key: str) -> str:
    known = _FAMILY_OF.get(key)
    if known is not None:
        return known
    return next((family for prefix, family in _BY_PREFIX if key.startswith(prefix)), "backward")
