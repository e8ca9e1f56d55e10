"""Claims about optimizers: what they take, and what a step changes."""

from __future__ import annotations

from gradtrail.findings.claims.form import Claim
from gradtrail.laws.text import text

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "a-plain-tensor-is-risky-in-an-optimizer",
        text(
            "an optimizer needs `nn.Parameter`s: a plain tensor with `requires_grad` is not updated reliably"
        ),
        False,
        text(
            "An optimizer makes no difference between them. A Parameter matters to a module, which registers it by its"
            " type."
        ),
        """
        import torch

        plain = torch.ones(2, requires_grad=True)
        parameter = torch.nn.Parameter(torch.ones(2))
        optimizer = torch.optim.Adam([plain, parameter], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            (plain.exp().sum() + parameter.exp().sum()).backward()
            optimizer.step()
        assert torch.equal(plain, parameter) and plain[0] < 1
        """,
        "d2l-ai/d2l-en#1713",
    ),
    Claim(
        "a-product-is-always-refused-by-an-optimizer",
        text("the result of `w = a * 2` is always refused by an optimizer"),
        False,
        text(
            "It is refused where `a` requires grad. Where nothing requires grad the product is a leaf: it is taken, and"
            " then silently never trained."
        ),
        """
        import torch

        a = torch.ones(2)
        w = a * 2
        optimizer = torch.optim.SGD([w], lr=0.1)
        optimizer.step()
        assert w.is_leaf and w.tolist() == [2, 2] and w.grad is None
        w.requires_grad_()  # this is what was missing
        w.sum().backward()
        optimizer.step()
        assert w[0] < 2

        a = torch.ones(2, requires_grad=True)
        try:
            torch.optim.SGD([a * 2], lr=0.1)
            refused = False
        except ValueError:
            refused = True
        assert refused
        """,
        "pytorch/pytorch#140469",
    ),
    Claim(
        "only-leaves-can-be-optimized",
        text("only tensors with `is_leaf` True can be handed to an optimizer"),
        False,
        text(
            "A result on which `retain_grad()` was called is taken as well, and with `differentiable=True` nothing is"
            " asked at all. Both are rarely what is wanted."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True).clone()
        w.retain_grad()
        optimizer = torch.optim.SGD([w], lr=0.1)
        w.sum().backward()
        optimizer.step()
        assert not w.is_leaf and w[0] < 1

        other = torch.ones(2, requires_grad=True) * 2
        torch.optim.SGD([other], lr=0.1, differentiable=True)
        assert not other.is_leaf and not other.retains_grad
        """,
        "pytorch/tutorials#3716",
    ),
    Claim(
        "a-parameter-twice-in-one-group-is-updated-twice",
        text(
            "an optimizer that gets the same tensor twice in one list (`[x, x]`) updates it twice in each step"
        ),
        True,
        text("There is no more than a warning. In two groups the same tensor is refused."),
        """
        import warnings
        import torch

        x = torch.zeros(1, requires_grad=True)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            optimizer = torch.optim.SGD([x, x], lr=0.5)
        x.sum().backward()
        optimizer.step()
        assert x.item() == -1 and any("duplicate parameters" in str(one.message) for one in told)
        try:
            torch.optim.SGD([{"params": [x]}, {"params": [x]}], lr=0.5)
            refused = False
        except ValueError:
            refused = True
        assert refused
        """,
        "pytorch/pytorch#40967",
    ),
    Claim(
        "frozen-parameters-must-be-filtered-out",
        text("parameters with `requires_grad=False` must be kept out of the optimizer, which refuses them"),
        False,
        text("They are taken and skipped in every step, because their `.grad` stays None."),
        """
        import torch

        layer = torch.nn.Linear(2, 1)
        layer.bias.requires_grad = False
        before = layer.bias.clone()
        optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
        layer(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        assert layer.bias.grad is None and torch.equal(layer.bias, before)
        """,
        "pytorch/pytorch#7338",
    ),
    Claim(
        "freezing-removes-from-the-optimizer",
        text("`requires_grad = False` after the optimizer was built takes the parameter out of it"),
        False,
        text(
            "It stays in the groups. With `.grad` None it is skipped; with a gradient that is still there, or zeros in"
            " its place (`set_to_none=False`), momentum and weight decay go on moving it."
        ),
        """
        import torch

        def moves(set_to_none):
            w = torch.ones(1, requires_grad=True)
            optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9, weight_decay=0.1)
            w.sum().backward()
            optimizer.step()
            w.requires_grad = False
            assert optimizer.param_groups[0]["params"][0] is w
            optimizer.zero_grad(set_to_none=set_to_none)
            before = w.clone()
            optimizer.step()
            return not torch.equal(w, before)

        assert not moves(set_to_none=True)
        assert moves(set_to_none=False)
        """,
        "ContinualAI/avalanche#1362",
    ),
    Claim(
        "frozen-after-backward-is-still-updated",
        text(
            "a parameter whose `requires_grad` is switched off after backward is still changed by the next `step()`"
        ),
        True,
        text("A step looks at `.grad`, not at the flag, and the gradient of that backward is there."),
        """
        import torch

        w = torch.ones(1, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        w.sum().backward()
        w.requires_grad = False
        optimizer.step()
        assert w[0] < 1
        """,
        "neuralmagic/sparseml#965",
    ),
    Claim(
        "weight-decay-moves-frozen-parameters",
        text(
            "`weight_decay` changes frozen parameters (`requires_grad=False`) too, so they must be filtered out"
        ),
        False,
        text(
            "A parameter whose `.grad` is None is skipped whole, weight decay included. Zeros as a gradient are another"
            " matter: they let it decay."
        ),
        """
        import torch

        for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
            w = torch.ones(1, requires_grad=False)
            optimizer = kind([w], lr=0.1, weight_decay=0.5)
            optimizer.step()
            assert w.item() == 1
            w.grad = torch.zeros(1)
            optimizer.step()
            assert w.item() != 1
        """,
        "iamwangyabin/S-Prompts#2",
    ),
    Claim(
        "zero-grad-frees-the-graph",
        text("`zero_grad()` between the forward and `backward()` destroys what backward needs"),
        False,
        text(
            "It drops the gradients that are there. The graph hangs on the loss, and is not touched. Only a loss that"
            " is computed from `.grad` itself breaks, when `set_to_none=False` writes zeros into it."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        loss = w.exp().sum()
        optimizer.zero_grad()
        assert loss.grad_fn is not None
        loss.backward()
        assert w.grad is not None

        def penalty_after(set_to_none):
            optimizer.zero_grad()
            (w**3).sum().backward(create_graph=True)
            penalty = (w.grad**2).sum()
            optimizer.zero_grad(set_to_none=set_to_none)
            penalty.backward()

        penalty_after(set_to_none=True)
        try:
            penalty_after(set_to_none=False)
            refused = False
        except RuntimeError:
            refused = True
        assert refused
        """,
        "thuml/Transfer-Learning-Library#12",
    ),
    Claim(
        "step-frees-the-graph",
        text("`optimizer.step()` frees the graph"),
        False,
        text(
            "Backward frees what it walked, unless it retains it; a step only writes into the parameters. What a graph"
            " kept of them is then out of date, which the next backward refuses, unless the step was fused: that is not"
            " counted."
        ),
        """
        import torch

        w = torch.ones(1, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        w.grad = torch.ones(1)
        keeps_its_result, keeps_w = w.exp(), w * w
        optimizer.step()
        keeps_its_result.backward()
        try:
            keeps_w.backward()
            message = ""
        except RuntimeError as error:
            message = str(error)
        assert "modified by an inplace operation" in message

        keeps_w = w * w
        torch.optim.SGD([w], lr=0.1, fused=True).step()
        keeps_w.backward()
        """,
        "pytorch/pytorch#17568",
    ),
    Claim(
        "gradients-add-up",
        text("`backward()` adds to the gradients that are there, so they must be cleared for each step"),
        True,
        text("`.grad` is summed into, until `zero_grad()` or an assignment clears it."),
        """
        import torch

        w = torch.ones(1, requires_grad=True)
        (w * 2).backward()
        (w * 3).backward()
        assert w.grad.item() == 5
        w.grad = None
        (w * 3).backward()
        assert w.grad.item() == 3
        """,
        "jcjohnson/pytorch-examples#31",
    ),
)
