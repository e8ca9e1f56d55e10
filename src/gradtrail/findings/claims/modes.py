"""Claims about grad mode: no_grad, inference mode, eval and train."""

from __future__ import annotations

from gradtrail.findings.claims.form import Claim
from gradtrail.laws.text import text

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "nothing-made-under-no-grad-requires-grad",
        text("tensors made under `no_grad` do not require grad"),
        False,
        text(
            "Views of a leaf that are taken there say `requires_grad=True`, with no way back to it; and a factory that is"
            " asked for it, as `torch.ones(2, requires_grad=True)`, gives a leaf that does."
        ),
        """
        import torch

        w = torch.ones(2, 2, requires_grad=True)
        with torch.no_grad():
            view, product = w[0], w * 2
            made = torch.ones(2, requires_grad=True)
        assert view.requires_grad and view.is_leaf and view.grad_fn is None
        assert made.requires_grad and not product.requires_grad
        view.sum().backward()
        assert w.grad is None and view.grad is None
        """,
        "pytorch/pytorch#45301",
    ),
    Claim(
        "no-grad-does-not-detach-what-is-there",
        text("`with torch.no_grad(): return x` returns a tensor with its history"),
        True,
        text(
            "`no_grad` stops the recording of what is computed inside; it changes no tensor that exists. `detach` does."
        ),
        """
        import torch

        def give(x):
            with torch.no_grad():
                return x

        y = torch.ones(2, requires_grad=True) * 2
        assert give(y) is y and y.grad_fn is not None
        assert y.detach().grad_fn is None
        """,
        "pytorch/pytorch#33629",
    ),
    Claim(
        "eval-switches-gradients-off",
        text("`model.eval()` switches gradients off"),
        False,
        text(
            "It changes what layers such as dropout and batch norm do. The graph is recorded as in training."
        ),
        """
        import torch

        model = torch.nn.Linear(2, 1)
        model.eval()
        y = model(torch.ones(1, 2))
        assert y.requires_grad and torch.is_grad_enabled()
        y.sum().backward()
        assert model.weight.grad is not None
        """,
        "mindsdb/lightwood#154",
    ),
    Claim(
        "eval-switches-every-dropout-off",
        text("`model.eval()` switches every dropout off, `F.dropout` too"),
        False,
        text(
            "`nn.Dropout` follows the mode. `F.dropout` is in training unless it is told `training=self.training`."
        ),
        """
        import torch
        import torch.nn.functional as F

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Dropout(0.5)

            def forward(self, x):
                return self.layer(x), F.dropout(x, 0.5), F.dropout(x, 0.5, training=self.training)

        x = torch.ones(1000)
        model = Net()
        model.eval()
        layer, untold, told = model(x)
        assert torch.equal(layer, x) and torch.equal(told, x)
        assert not torch.equal(untold, x)
        """,
        "pytorch/pytorch#11999",
    ),
    Claim(
        "inference-mode-can-replace-no-grad",
        text("`inference_mode` can replace `no_grad` everywhere, and is only faster"),
        False,
        text(
            "What is computed in it can never be kept for a backward, not even later; of what it makes, only a view of"
            " a tensor from outside can. Under `no_grad` the same result may be used in training later."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        outside = torch.ones(4)
        with torch.no_grad():
            feature = torch.ones(2) * 2
        (w * feature).sum().backward()
        assert w.grad.tolist() == [2, 2]

        with torch.inference_mode():
            feature = torch.ones(2) * 2
            view = outside[:2]
        (w * view).sum().backward()
        assert not view.is_inference()
        try:
            w * feature
            refused = False
        except RuntimeError:
            refused = True
        assert refused and feature.is_inference()
        """,
        "qubvel-org/segmentation_models.pytorch#1164",
    ),
)
