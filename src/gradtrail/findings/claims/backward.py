"""Claims about backward: what it needs, leaves behind and refuses."""

from __future__ import annotations

from gradtrail.findings.claims.form import Claim
from gradtrail.laws.text import text

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "backward-twice-always-raises",
        text("`backward()` can never be called twice without `retain_graph=True`"),
        False,
        text(
            "It raises only where a node on the way had kept something: a tensor, or, for a write into a part, how it was"
            " written. Sums, copies and reshapes keep nothing, and the gradients simply add up."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        loss = (w.clone() + 1).sum()
        loss.backward()
        loss.backward()
        assert w.grad.tolist() == [2, 2]

        def refused(loss):
            loss.backward(retain_graph=True)
            loss.backward()
            try:
                loss.backward()
            except RuntimeError:
                return True
            return False

        written = w.clone()
        written[0] = 0.0
        assert refused(w.exp().sum()) and refused(written.sum())
        """,
        "rentruewang/brief#1",
    ),
    Claim(
        "retain-graph-cures-a-carried-hidden-state",
        text("`retain_graph=True` is the fix for a hidden state that is carried from step to step"),
        False,
        text(
            "It keeps the graphs of all steps, and once the optimizer has changed the weights backward refuses them all"
            " the same; after a fused step, which is not counted, it goes on with wrong values. The fix is"
            " `h = h.detach()`."
        ),
        """
        import torch

        def run(retain_graph, cut, fused=False):
            cell = torch.nn.RNNCell(2, 2)
            optimizer = torch.optim.SGD(cell.parameters(), lr=0.1, fused=fused)
            h = torch.zeros(1, 2)
            for _ in range(3):
                h = cell(torch.ones(1, 2), h.detach() if cut else h)
                optimizer.zero_grad()
                h.sum().backward(retain_graph=retain_graph)
                optimizer.step()

        try:
            run(retain_graph=True, cut=False)
            message = ""
        except RuntimeError as error:
            message = str(error)
        assert "modified by an inplace operation" in message
        run(retain_graph=True, cut=False, fused=True)
        run(retain_graph=False, cut=True)
        """,
        "MorvanZhou/PyTorch-Tutorial#57",
    ),
    Claim(
        "inputs-need-requires-grad",
        text("the inputs need `requires_grad=True`, or the weights of the network are not trained"),
        False,
        text(
            "One tensor that requires grad is enough for a result to have a graph, and the weights do. Inputs need it only"
            " when their own gradient is wanted."
        ),
        """
        import torch

        model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
        inputs = torch.ones(1, 2, requires_grad=False)
        model(inputs).sum().backward()
        assert all(parameter.grad is not None for parameter in model.parameters())
        assert inputs.grad is None
        """,
        "Gaoyiminggithub/Graphonomy#23",
    ),
    Claim(
        "two-losses-need-retain-graph",
        text("two losses of one forward need `retain_graph=True`"),
        False,
        text("Their sum gives the same gradients in one backward, and nothing has to be retained."),
        """
        import torch

        def losses(w):
            y = w.exp()
            return y.sum(), (y * y).sum()

        w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        a, b = losses(w)
        (a + b).backward()
        a, b = losses(v)
        a.backward(retain_graph=True)
        b.backward()
        assert torch.allclose(w.grad, v.grad)
        """,
        "ueoo/AGIS-Net#8",
    ),
    Claim(
        "requires-grad-on-the-loss-cures-the-error",
        text("`loss.requires_grad_()` cures `element 0 of tensors does not require grad`"),
        False,
        text(
            "The error is gone and nothing is trained: the loss becomes a leaf without a way to any parameter. What is to"
            " be mended is the place where the graph was cut."
        ),
        """
        import torch

        model = torch.nn.Linear(2, 1)
        loss = model(torch.ones(1, 2)).detach().sum()  # the cut
        loss.requires_grad_()
        loss.backward()
        assert loss.is_leaf and loss.grad.item() == 1
        assert all(parameter.grad is None for parameter in model.parameters())
        """,
        "mazurowski-lab/finetune-SAM#26",
    ),
    Claim(
        "variable-around-the-loss-makes-it-trainable",
        text("`Variable(loss, requires_grad=True)` makes a loss trainable"),
        False,
        text(
            "It makes a new leaf of the loss: what was cut off before stays so, what was not is cut off now, and the"
            " parameters get no gradient."
        ),
        """
        import torch
        from torch.autograd import Variable

        w = torch.ones(2, requires_grad=True)
        loss = Variable((w * 2).data.sum(), requires_grad=True)
        loss.backward()
        assert loss.is_leaf and w.grad is None
        Variable((w * 2).sum(), requires_grad=True).backward()
        assert w.grad is None
        """,
        "huggingface/torchMoji#21",
    ),
    Claim(
        "retain-graph-is-enough-for-a-second-derivative",
        text("`retain_graph=True` can stand for `create_graph=True`"),
        False,
        text(
            "`retain_graph` keeps the graph of the function; only `create_graph` records the gradient itself, so that it"
            " can be differentiated."
        ),
        """
        import torch

        x = torch.ones(1, requires_grad=True)
        y = x**3
        (first,) = torch.autograd.grad(y, x, retain_graph=True)
        assert not first.requires_grad
        (first,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(first, x)
        assert first.item() == 3 and second.item() == 6
        """,
        "Pulkit-Khandelwal/medical-mldg-seg#2",
    ),
    Claim(
        "backward-with-create-graph-makes-a-cycle",
        text(
            "`backward(create_graph=True)` leaves a parameter and its gradient in a cycle; `autograd.grad` does not"
        ),
        True,
        text(
            "Unless the function is linear, the gradient in `.grad` has a graph that leads back to the parameter. torch"
            " warns of it in any case. Set `.grad` to None afterwards, or ask for the gradient with"
            " `torch.autograd.grad`."
        ),
        """
        import warnings
        import torch

        x = torch.ones(1, requires_grad=True)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            (x**3).backward(create_graph=True)
        assert x.grad.grad_fn is not None
        assert any("reference cycle" in str(one.message) for one in told)
        x.grad = None
        (gradient,) = torch.autograd.grad(x**3, x, create_graph=True)
        assert gradient.grad_fn is not None and x.grad is None
        (x * 2).backward(create_graph=True)
        assert x.grad.grad_fn is None
        """,
        "pytorch/pytorch#4661",
    ),
    Claim(
        "what-a-hook-returns-replaces-the-gradient",
        text("what a hook of `register_hook` returns replaces the gradient"),
        True,
        text("It goes on from there, to `.grad` of a leaf and to what the tensor was computed from."),
        """
        import torch

        x = torch.ones(1, requires_grad=True)
        y = x * 2
        y.register_hook(lambda gradient: gradient * 10)
        y.backward()
        assert x.grad.item() == 20
        x.grad = None
        x.register_hook(lambda gradient: gradient * 0)
        (x * 2).backward()
        assert x.grad.item() == 0
        """,
        "dotnet/TorchSharp#1483",
    ),
    Claim(
        "a-hook-stays-with-the-old-value",
        text(
            "a hook of `register_hook` on a computed tensor stays with the value that an in-place operation overwrote"
        ),
        True,
        text(
            "It hears the gradient of the value it was set on. A hook that is set after the in-place operation hears that"
            " of the new value. A leaf that is written under `no_grad` stays the same leaf, and so does its hook."
        ),
        """
        import torch

        y = torch.ones(1, requires_grad=True).clone()
        heard = []
        y.register_hook(lambda gradient: heard.append(("old", gradient.item())))
        y.mul_(3)
        y.register_hook(lambda gradient: heard.append(("new", gradient.item())))
        y.backward()
        assert heard == [("new", 1), ("old", 3)]

        w = torch.ones(1, requires_grad=True)
        w.register_hook(lambda gradient: heard.append(("leaf", gradient.item())))
        with torch.no_grad():
            w.mul_(3)
        (w * w).backward()
        assert heard[-1] == ("leaf", 6)
        """,
        "pytorch/pytorch#107323",
    ),
    Claim(
        "checkpoint-is-the-same-as-the-call",
        text("`checkpoint(function, x)` requires grad whenever `function(x)` does"),
        False,
        text(
            "With `use_reentrant=True` only the tensors that are handed in count. Where none of them requires grad, the"
            " parameters inside get no gradient, with no more than a warning."
        ),
        """
        import warnings
        import torch
        from torch.utils.checkpoint import checkpoint

        function = torch.nn.Linear(2, 1)
        x = torch.ones(1, 2)
        assert function(x).requires_grad
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            assert not checkpoint(function, x, use_reentrant=True).requires_grad
        assert len(told) == 1
        """,
        "pytorch/pytorch#7617",
    ),
    Claim(
        "use-reentrant-false-trains-behind-frozen-layers",
        text("`use_reentrant=False` lets `checkpoint` train parameters behind frozen layers"),
        True,
        text(
            "It records the graph of the call itself, so parameters inside count as they do without a checkpoint."
        ),
        """
        import torch
        from torch.utils.checkpoint import checkpoint

        frozen = torch.nn.Linear(2, 2).requires_grad_(False)
        head = torch.nn.Linear(2, 1)
        y = checkpoint(head, frozen(torch.ones(1, 2)), use_reentrant=False)
        y.sum().backward()
        assert head.weight.grad is not None and frozen.weight.grad is None
        """,
        "huggingface/transformers#21381",
    ),
)
