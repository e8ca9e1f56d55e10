"""Claims about leaves: which tensors are leaves, and what that means for their gradients."""

from __future__ import annotations

from gradtrail.findings.claims.form import Claim
from gradtrail.laws.text import text

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "to-never-changes-leafness",
        text("`.to(device)` never changes whether a tensor is a leaf"),
        False,
        text(
            "Where device or floating dtype changes, the result of a tensor that requires grad is computed, and no leaf."
            " The gradient arrives at the tensor before the move. Integers are a leaf again, for they carry none."
        ),
        """
        import torch

        x = torch.ones(2, requires_grad=True)
        device = "meta"
        y = x.to(device)
        assert x.is_leaf and not y.is_leaf
        z = x.to(torch.float64)
        z.sum().backward()
        assert not z.is_leaf and x.grad is not None
        assert x.to(torch.int64).is_leaf
        """,
        "pytorch/pytorch#8287",
    ),
    Claim(
        "every-to-makes-a-non-leaf",
        text("every `.to(...)` returns a new tensor, which is no leaf"),
        False,
        text(
            "Where device, dtype and memory format are already right, the very same object comes back and stays a leaf,"
            " unless `copy=True`. That is why such code runs on one machine and is refused on another."
        ),
        """
        import torch

        x = torch.ones(2, requires_grad=True)
        assert x.to("cpu") is x and x.to(torch.float32) is x and x.is_leaf
        assert not x.to("cpu", copy=True).is_leaf and not x.to("meta").is_leaf
        images = torch.ones(1, 2, 3, 3, requires_grad=True)
        assert not images.to("cpu", memory_format=torch.channels_last).is_leaf
        """,
        "wangkuiyi/gotorch#261",
    ),
    Claim(
        "tensor-on-cuda-is-never-a-leaf",
        text("a tensor on `cuda` is never a leaf, so it gets no `.grad`"),
        False,
        text(
            "The device has no say in it: a tensor that is made there, or that requires grad only after the move, is a"
            " leaf. Only what a move returns for a tensor that already required grad is none."
        ),
        """
        import torch

        device = "cuda" if torch.cuda.is_available() else "meta"
        made_there = torch.ones(2, device=device, requires_grad=True)
        moved_first = torch.ones(2).to(device).requires_grad_()
        made_there.sum().backward()
        assert made_there.is_leaf and made_there.grad.device.type == device
        assert moved_first.is_leaf
        assert not torch.ones(2, requires_grad=True).to(device).is_leaf
        """,
        "pytorch/pytorch#2730",
    ),
    Claim(
        "requires-grad-belongs-after-the-move",
        text("set `requires_grad` after the move to the device, and an optimizer takes the tensor"),
        True,
        text(
            "A move of a tensor that does not require grad records nothing, so its result is a leaf, and stays one when"
            " `requires_grad_()` comes last."
        ),
        """
        import torch

        late = torch.ones(2).to("meta").requires_grad_()
        torch.optim.SGD([late], lr=0.1)
        early = torch.ones(2, requires_grad=True).to("meta")
        try:
            torch.optim.SGD([early], lr=0.1)
            refused = False
        except ValueError:
            refused = True
        assert late.is_leaf and refused
        """,
        "mazzzystar/randomCNN-voice-transfer#16",
    ),
    Claim(
        "result-of-an-operation-is-never-a-leaf",
        text("`is_leaf` is False for every result of an operation"),
        False,
        text(
            "Only for results that require grad. Whatever does not require grad counts as a leaf, however it was"
            " computed."
        ),
        """
        import torch

        a = torch.ones(2) * 2 + 1
        b = torch.ones(2, requires_grad=True) * 2
        assert a.is_leaf and not b.is_leaf
        """,
        "pytorch/pytorch#61950",
    ),
    Claim(
        "a-view-stays-the-leaf-it-was",
        text("`x = x.view(2, 2)` leaves `x` the leaf it was, and `x.grad` is filled"),
        False,
        text(
            "A view of what requires grad is a result like any other: no leaf, and its `.grad` stays None. The gradient"
            " is kept by the tensor that the view was taken from, which the name no longer means."
        ),
        """
        import torch

        w = torch.ones(4, requires_grad=True)
        x = w.view(2, 2)
        assert not x.is_leaf and not w.view(4).is_leaf
        x.sum().backward()
        assert x.grad is None and w.grad is not None
        """,
        "pytorch/pytorch#32708",
    ),
    Claim(
        "a-cast-is-not-differentiable",
        text("a cast such as `.type(torch.float64)` is not differentiable, so the gradient ends there"),
        False,
        text(
            "A cast between floating dtypes passes the gradient on. Its result is no leaf, so its own `.grad` is None"
            " and that of the tensor before the cast is filled."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        w.type(torch.float64).sum().backward()
        assert w.grad.tolist() == [1, 1] and w.grad.dtype == torch.float32
        """,
        "pytorch/pytorch#10065",
    ),
    Claim(
        "retain-grad-shows-the-gradient-of-a-result",
        text("`retain_grad()` makes the gradient of an intermediate result readable"),
        True,
        text(
            "A result that requires grad keeps its gradient in `.grad` when `retain_grad()` was called before backward."
            " On a leaf it changes nothing."
        ),
        """
        import torch

        x = torch.ones(2, requires_grad=True)
        kept, dropped = x * 2, x * 3
        kept.retain_grad()
        (kept + dropped).sum().backward()
        assert kept.grad.tolist() == [1, 1] and dropped.grad is None
        """,
        "pytorch/pytorch#12923",
    ),
)
