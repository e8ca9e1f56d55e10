"""Claims about detaching: what `detach` and `.data` cut, share and copy."""

from __future__ import annotations

from gradtrail.findings.claims.form import Claim
from gradtrail.laws.text import text

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "detach-copies",
        text("`detach()` makes a separate copy"),
        False,
        text(
            "It is a new tensor over the same memory: what is written into one shows in the other. A copy is"
            " `detach().clone()`."
        ),
        """
        import torch

        x = torch.ones(2, requires_grad=True)
        d = x.detach()
        d[0] = 5
        assert x.tolist() == [5, 1] and d.data_ptr() == x.data_ptr()
        assert x.detach().clone().data_ptr() != x.data_ptr()
        """,
        "eriklindernoren/PyTorch-GAN#151",
    ),
    Claim(
        "detach-must-come-before-cpu",
        text("`detach()` must come before `cpu()`"),
        False,
        text(
            "Either order gives the same values without a graph. From another device the other order merely records a"
            " move that nobody uses."
        ),
        """
        import torch

        y = torch.ones(2, requires_grad=True) * 2
        a, b = y.detach().cpu(), y.cpu().detach()
        assert torch.equal(a, b)
        assert not a.requires_grad and not b.requires_grad
        assert a.grad_fn is None and b.grad_fn is None
        assert (y.detach().cpu().numpy() == y.cpu().detach().numpy()).all()
        """,
        "facebookresearch/d2go#619",
    ),
    Claim(
        "data-is-the-safe-detach",
        text("`.data` is the same as `detach()`, and as safe"),
        False,
        text(
            "Both share the memory, but `.data` has a version counter of its own. A write through it goes unnoticed, and"
            " backward answers with a wrong gradient instead of an error."
        ),
        """
        import torch

        x = torch.zeros(1, requires_grad=True)
        y = x.exp()
        y.data.mul_(2)
        y.backward()
        assert x.grad.item() == 2  # exp(0) is 1

        y = x.exp()
        y.detach().mul_(2)
        try:
            y.backward()
            refused = False
        except RuntimeError:
            refused = True
        assert refused
        """,
        "pytorch/pytorch#6990",
    ),
    Claim(
        "a-write-into-what-detach-returned-is-noticed",
        text("a write into what `detach()` returned is noticed by `backward`"),
        True,
        text(
            "What `detach` returns shares the version counter, and backward compares it for every tensor that a node kept."
            " A write by way of numpy is counted by nobody: the gradient is then silently wrong."
        ),
        """
        import torch

        x = torch.zeros(1, requires_grad=True)
        y = x.exp()  # keeps its result
        before = y._version
        y.detach().zero_()
        assert y._version == before + 1
        try:
            y.backward()
            refused = False
        except RuntimeError as error:
            refused = "modified by an inplace operation" in str(error)
        assert refused
        z = x + 1  # keeps nothing
        z.detach().zero_()
        z.backward()
        assert x.grad.item() == 1

        y = x.exp()
        y.detach().numpy()[0] = 100
        x.grad = None
        y.backward()
        assert x.grad.item() == 100  # and not 1
        """,
        "pytorch/pytorch#6990",
    ),
    Claim(
        "detach-in-place-is-the-same",
        text("`x.detach_()` does the same as `x = x.detach()`"),
        False,
        text(
            "It changes the tensor itself, for every name it has, and it refuses a view, where `detach()` works."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        y = w * 2
        other = y
        y.detach_()
        assert other.is_leaf and other.grad_fn is None

        view = (w * 2)[0]
        try:
            view.detach_()
            refused = False
        except RuntimeError:
            refused = True
        assert refused and not view.detach().requires_grad
        """,
        "lucidrains/invariant-point-attention#9",
    ),
    Claim(
        "without-detach-the-generator-is-trained-too",
        text("without `detach()` on the fake image the step of the discriminator trains the generator too"),
        False,
        text(
            "A step changes only what its optimizer was given. Without `detach` the generator gets gradients, which cost"
            " time and add up unless they are cleared, but it does not move."
        ),
        """
        import torch

        generator, discriminator = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(discriminator.parameters(), lr=0.1)
        before = generator.weight.detach().clone()
        discriminator(generator(torch.ones(1, 2))).sum().backward()
        optimizer.step()
        assert torch.equal(generator.weight, before) and generator.weight.grad is not None

        generator.zero_grad()
        discriminator(generator(torch.ones(1, 2)).detach()).sum().backward()
        assert generator.weight.grad is None
        """,
        "heykeetae/Self-Attention-GAN#48",
    ),
)
