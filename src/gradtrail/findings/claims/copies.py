"""Claims about copies and moves: devices, dtypes, numpy, new tensors from old ones."""

from __future__ import annotations

from gradtrail.findings.claims.form import Claim
from gradtrail.laws.text import text

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "clone-detaches",
        text("`clone()` makes an independent copy, cut off from the graph"),
        False,
        text(
            "It copies the values and stays in the graph: the gradient of the clone flows on to the original. A copy"
            " without history is `detach().clone()`."
        ),
        """
        import torch

        x = torch.ones(2, requires_grad=True)
        c = x.clone()
        (c * 3).sum().backward()
        assert x.grad.tolist() == [3, 3] and not c.is_leaf
        assert x.detach().clone().grad_fn is None
        """,
        "pytorch/pytorch#64341",
    ),
    Claim(
        "clone-copies-the-gradient",
        text("`clone()` copies the gradient along with the values"),
        False,
        text(
            "The clone has no `.grad`. It has a `grad_fn`, by which its gradient will flow to the original."
        ),
        """
        import torch

        x = torch.ones(2, requires_grad=True)
        (x * 2).sum().backward()
        c = x.clone()
        c.retain_grad()
        assert x.grad is not None and c.grad is None and c.grad_fn is not None
        """,
        "pytorch/pytorch#144468",
    ),
    Claim(
        "clone-drops-the-hooks",
        text("a hook of `register_hook` does not hear the gradients that come through `clone()`"),
        False,
        text(
            "The clone is computed from the tensor, so its gradient reaches the tensor, and the hook with it."
        ),
        """
        import torch

        x = torch.ones(2, requires_grad=True)
        heard = []
        x.register_hook(lambda gradient: heard.append(gradient.tolist()))
        (x * 2).sum().backward()
        (x.clone() * 3).sum().backward()
        assert heard == [[2, 2], [3, 3]]
        """,
        "pytorch/pytorch#2601",
    ),
    Claim(
        "deepcopy-shares-the-memory",
        text("`copy.deepcopy` of a tensor shares the data with it"),
        False,
        text(
            "A deep copy has its own memory, and it is a leaf again; a tensor that is no leaf is refused. It is"
            " `copy.copy` that shares."
        ),
        """
        import copy
        import torch

        x = torch.ones(2, requires_grad=True)
        deep, shallow = copy.deepcopy(x), copy.copy(x)
        assert deep.data_ptr() != x.data_ptr() and deep.is_leaf and deep.requires_grad
        assert shallow.data_ptr() == x.data_ptr()
        try:
            copy.deepcopy(x * 2)
            refused = False
        except RuntimeError:
            refused = True
        assert refused
        """,
        "www.geeksforgeeks.org: Difference between detach, clone, and deepcopy in PyTorch tensors",
    ),
    Claim(
        "numpy-copies",
        text("`t.numpy()` gives an array of its own"),
        False,
        text(
            "For a tensor on the CPU the array shares its memory, and `detach()` before it changes nothing about that."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        array = w.detach().numpy()
        with torch.no_grad():
            w += 1
        assert array.tolist() == [2, 2]
        array[0] = 7
        assert w.tolist() == [7, 2]
        """,
        "pytorch/pytorch#97586",
    ),
    Claim(
        "numpy-is-refused-under-no-grad",
        text("`numpy()` is refused for a tensor that requires grad, even under `no_grad`"),
        False,
        text("So it was until 2020. Today `numpy()` raises only while gradients are recorded."),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        with torch.no_grad():
            assert w.numpy().tolist() == [1, 1]
        try:
            w.numpy()
            refused = False
        except RuntimeError:
            refused = True
        assert refused
        """,
        "pytorch/pytorch#37000",
    ),
    Claim(
        "item-frees-the-graph",
        text("`loss.item()` frees the graph"),
        False,
        text(
            "It only reads the value. The graph lives as long as a tensor leads to it; `item()` helps because the number"
            " that is kept instead leads nowhere."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        loss = w.exp().sum()
        value = loss.item()
        assert loss.grad_fn is not None and isinstance(value, float)
        loss.backward()  # all of it is still there
        assert w.grad is not None
        """,
        "boschresearch/Continuous-Recurrent-Units#4",
    ),
    Claim(
        "a-sum-of-losses-keeps-every-graph",
        text("`total += loss` keeps the graph of every step alive"),
        True,
        text(
            "The sum is computed from the losses, so it leads to each of their graphs. Add `loss.item()` or"
            " `loss.detach()` instead."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        total, number = 0, 0
        for _ in range(5):
            loss = (w + 1).sum()
            loss.backward()
            total += loss
            number += loss.item()
        assert w.grad.tolist() == [5, 5] and isinstance(number, float)
        total.backward()  # through all five once more
        assert w.grad.tolist() == [10, 10]
        """,
        "google/brax#152",
    ),
    Claim(
        "tensor-of-tensors-drops-the-graph",
        text("`torch.tensor(losses)` drops the graph of each loss in the list"),
        True,
        text("It reads the numbers and makes a new leaf of them. `torch.stack` keeps the graph."),
        """
        import torch

        w = torch.ones(1, requires_grad=True)
        losses = [(w * 2).sum(), (w * 3).sum()]
        assert not torch.tensor(losses).requires_grad
        torch.stack(losses).sum().backward()
        assert w.grad.item() == 5
        """,
        "laekov/fastmoe#49",
    ),
    Claim(
        "as-tensor-of-tensors-keeps-the-graph",
        text("`torch.as_tensor` takes a list of tensors, and so keeps their graph"),
        False,
        text(
            "Only of a single tensor, which comes back as it is. Of a list it reads the numbers, as `torch.tensor` does."
        ),
        """
        import torch

        w = torch.ones(1, requires_grad=True)
        losses = [(w * 2).sum(), (w * 3).sum()]
        assert torch.as_tensor(losses[0]) is losses[0]
        assert not torch.as_tensor(losses).requires_grad
        """,
        "lululxvi/deepxde#1318",
    ),
    Claim(
        "argmax-passes-the-gradient-on",
        text("a network can be trained through `argmax`"),
        False,
        text(
            "`argmax` gives integers, which carry no gradient: its result does not require grad, and has no `grad_fn`."
        ),
        """
        import torch

        scores = torch.tensor([1.0, 3.0], requires_grad=True)
        best = scores.argmax()
        assert not best.requires_grad and best.grad_fn is None
        """,
        "pytorch/pytorch#1339",
    ),
    Claim(
        "max-stops-the-gradient",
        text("`torch.max` along a dimension stops the gradient"),
        False,
        text("The values carry the gradient, to the element that was chosen. Only the indices do not."),
        """
        import torch

        x = torch.tensor([[1.0, 3.0]], requires_grad=True)
        values, indices = torch.max(x, 1)
        values.sum().backward()
        assert x.grad.tolist() == [[0, 1]] and not indices.requires_grad
        """,
        "cjf8899/KeepAugment_Pytorch#1",
    ),
    Claim(
        "where-stops-the-gradient",
        text("no gradient flows through `torch.where`"),
        False,
        text("It flows to both branches, each where it was chosen. Only the condition carries none."),
        """
        import torch

        a = torch.tensor([1.0, -1.0], requires_grad=True)
        b = torch.zeros(2, requires_grad=True)
        torch.where(a > 0, a, b).sum().backward()
        assert a.grad.tolist() == [1, 0] and b.grad.tolist() == [0, 1]
        """,
        "Ugenteraan/Deep_Hierarchical_Classification#6",
    ),
)
