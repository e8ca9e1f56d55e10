"""Claims about writes in place: what they refuse and what they break."""

from __future__ import annotations

from gradtrail.findings.claims.form import Claim
from gradtrail.laws.text import text

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "plus-equals-is-the-same",
        text("`x += 1` and `x = x + 1` are the same"),
        False,
        text(
            "`+=` writes into the tensor, for all who hold it, and is refused for a leaf that requires grad. `x + 1` is a"
            " new tensor under the old name."
        ),
        """
        import torch

        x = torch.zeros(1)
        other = x
        x += 1
        assert other.item() == 1 and other is x
        x = x + 1
        assert other.item() == 1 and other is not x

        x = torch.zeros(1, requires_grad=True)
        try:
            x += 1
            refused = False
        except RuntimeError:
            refused = True
        assert refused and not (x + 1).is_leaf
        """,
        "pytorch/pytorch#2425",
    ),
    Claim(
        "plus-equals-drops-the-gradient",
        text("`a += b` silently drops the gradient of `b`"),
        False,
        text(
            "The addition is recorded: `a` becomes its result, and the gradient reaches `b`, even when `a` had none."
        ),
        """
        import torch

        a = torch.zeros(2)
        b = torch.ones(2, requires_grad=True)
        a += b
        a.sum().backward()
        assert b.grad.tolist() == [1, 1] and not a.is_leaf
        """,
        "pytorch/pytorch#24961",
    ),
    Claim(
        "in-place-always-breaks-backward",
        text("an in-place operation such as `x += y` on what `backward` passes always raises an error"),
        False,
        text(
            "Only when a node has kept a tensor of that memory, be it another part of it, for all views share one"
            " version. After an addition or a linear layer it is harmless; after exp or sigmoid it is not."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        y = torch.ones(2)

        def refused(step):
            x = step(w)
            x += y
            try:
                x.sum().backward()
            except RuntimeError:
                return True
            return False

        assert not refused(lambda t: t + 1) and not refused(torch.nn.Linear(2, 2))
        assert refused(torch.exp) and refused(torch.sigmoid)  # these keep their result

        x = w + 1
        loss = x[0] * x[0]  # keeps one part
        x[1] += 1
        try:
            loss.backward()
            of_another_part = False
        except RuntimeError:
            of_another_part = True
        assert of_another_part
        """,
        "karpathy/nanoGPT#72",
    ),
    Claim(
        "adding-in-place-after-relu-is-refused",
        text("`out += identity` behind a `relu` is refused by backward, and before it is fine"),
        True,
        text(
            "The ReLU keeps its result, so its result must not be overwritten. It keeps nothing of its input, so that may"
            " be, even by the ReLU itself (`inplace=True`)."
        ),
        """
        import torch
        from torch.nn.functional import relu

        w, identity = torch.ones(2, requires_grad=True), torch.ones(2)

        out = w + 1
        out += identity
        out = relu(out, inplace=True)
        out.sum().backward()
        assert w.grad.tolist() == [1, 1]

        out = relu(w + 1)
        out += identity
        try:
            out.sum().backward()
            refused = False
        except RuntimeError:
            refused = True
        assert refused
        """,
        "pytorch/vision#807",
    ),
    Claim(
        "what-needs-no-gradient-may-be-overwritten",
        text("a tensor with `requires_grad=False` may be overwritten between forward and `backward`"),
        False,
        text("Its value may have been kept for the gradient of something else, and then backward refuses."),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        history = torch.ones(2, requires_grad=False)
        loss = (w * history).sum()
        history += 1
        try:
            loss.backward()
            refused = False
        except RuntimeError:
            refused = True
        assert refused
        """,
        "pytorch/pytorch#8106",
    ),
    Claim(
        "no-grad-allows-in-place-on-a-leaf",
        text("under `no_grad` a leaf may be changed in place"),
        True,
        text(
            "Nothing is recorded there, so it stays the leaf it was, with new values: how an optimizer works."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        with torch.no_grad():
            w[0] = 5
            w.mul_(2)
        assert w.tolist() == [10, 2] and w.is_leaf and w.requires_grad
        """,
        "Atcold/NYU-DLSP20#765",
    ),
)
