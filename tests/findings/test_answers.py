"""What is said of a pasted error: every refusal has an answer, and torch judges its examples and its way out."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from gradtrail.findings.answers import FAMILIES, PAGES, SAME_AS, answer
from gradtrail.findings.rule import Example
from gradtrail.laws import messages
from support.running import outcome_of_text


@pytest.mark.parametrize("key", messages.keys())
def test_every_refusal_has_an_answer(key: str) -> None:
    found = answer(key)
    assert found.rules or found.page is not None


def test_no_page_stands_beside_a_rule() -> None:
    for key in PAGES:
        assert not answer(key).rules, key
    assert not set(SAME_AS) & set(PAGES)


@pytest.mark.parametrize(
    ("key", "example"),
    [
        pytest.param(key, example, id=f"{key}: {example.title}")
        for key in PAGES
        for example in PAGES[key].examples
    ],
)
def test_the_example_of_a_page(key: str, example: Example, tmp_path: Path) -> None:
    bad, good = (dedent(code).strip() + "\n" for code in (example.bad, example.good))
    (row,) = [row for row, line in enumerate(bad.splitlines(), 1) if line.endswith("# error")]
    is_warning = messages.message(key).error.endswith("Warning")
    strict = "import warnings; warnings.simplefilter('error'); " if is_warning else ""
    wrong = outcome_of_text(strict + bad, tmp_path)
    assert wrong.error_type == messages.message(key).error
    assert example.raises in wrong.text
    assert row in (wrong.row, wrong.inner_row) or key == "function-gradient-shape"
    assert outcome_of_text(strict + good, tmp_path).error_type == ""


WAYS_OUT = {
    "leaf": """
        w = torch.ones(2, requires_grad=True)
        torch.optim.SGD([(torch.ones(2) * 0.1).requires_grad_()], lr=0.1)
        with torch.no_grad():
            try:
                torch.optim.SGD([w * 1], lr=0.1)
            except ValueError:
                raise SystemExit("refused as well")
        v = (w * 1).detach()
        assert v.is_leaf and not v.requires_grad
    """,
    "flag": """
        t = torch.ones(2, requires_grad=True) * 2
        t = t.detach().requires_grad_()
        assert t.is_leaf and t.requires_grad
    """,
    "numpy": """
        t = torch.ones(2, requires_grad=True) * 2
        t.detach().cpu().numpy(), t.cpu().detach().numpy()
        with torch.no_grad():
            (torch.ones(2, requires_grad=True) * 2).numpy()
    """,
    "in-place-leaf": """
        x = torch.ones(2, requires_grad=True)
        with torch.no_grad():
            x += 1
        x = x + 1
        y = torch.ones(2, requires_grad=True)
        y.detach().add_(1)
        assert y[0] == 2
    """,
    "in-place-saved": """
        x = torch.ones(2, requires_grad=True)
        y = x.exp()
        y = y + 1
        y.sum().backward()
        y = x.exp()
        right = y.detach().clone()
        y.data.add_(1)
        x.grad = None
        y.sum().backward()
        assert not torch.equal(x.grad, right)
        y = x.exp()
        y.detach().add_(1)
        try:
            y.sum().backward()
        except RuntimeError:
            pass
        else:
            raise AssertionError("detach keeps torch from noticing")
    """,
    "backward": """
        loss = torch.ones(1)
        loss.requires_grad_()
        w = torch.ones(1, requires_grad=True)
        loss.backward()
        assert w.grad is None
    """,
    "twice": """
        w = torch.ones(2, requires_grad=True)
        h = torch.zeros(2)
        for _ in range(2):
            h = (h.detach() * w + w).tanh()
            h.sum().backward()
        y = w.exp()
        (y.sum() + (y * 2).sum()).backward()
    """,
    "gradient": """
        w = torch.ones(2, requires_grad=True)
        assert w.grad is None and w.is_leaf and w.requires_grad
        (w * 2).sum().backward()
        assert w.grad is not None
        torch.optim.SGD([w], lr=0.1).zero_grad()
        assert w.grad is None
        with torch.no_grad():
            w -= 0.1
        assert w.is_leaf and w.requires_grad
        ((w * 2).detach() * w).sum().backward()
        v = torch.ones(2, requires_grad=True)
        ((v * 2).detach() + torch.ones(2, requires_grad=True)).sum().backward()
        assert v.grad is None
    """,
    "input": """
        w, unused = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        loss = (w * 2).sum()
        for other in (w[:1], w.clone(), w.double()):
            try:
                torch.autograd.grad(loss, other, retain_graph=True)
            except RuntimeError:
                continue
            raise AssertionError("a copy made afterwards is no part of the graph")
        found, missing = torch.autograd.grad(loss, [w, unused], allow_unused=True)
        assert found is not None and missing is None
    """,
    "array": """
        import numpy
        a, w = numpy.ones(2), torch.ones(2, dtype=torch.float64, requires_grad=True)
        with torch.no_grad():
            try:
                a * w
            except TypeError:
                pass
            else:
                raise AssertionError("no_grad does not help")
        a * w.detach().numpy()
        assert (torch.from_numpy(a) * w).requires_grad
    """,
    "ddp": """
        net = torch.nn.Linear(2, 2).requires_grad_(False)
        assert [n for n, p in net.named_parameters() if p.requires_grad] == []
    """,
    "nan": """
        x = torch.zeros(2, requires_grad=True)
        y = x.sqrt()
        assert y.isfinite().all()
        torch.where(x > 0, y, 0.0).sum().backward()
        assert x.grad.isnan().all()
        x.grad = None
        (x + 1e-8).sqrt().sum().backward()
        assert x.grad.isfinite().all()
    """,
    "untracked": """
        t = torch.ones(2)
        for register in (lambda t: t.register_hook(print), lambda t: t.retain_grad()):
            try:
                register(t)
            except RuntimeError:
                pass
            else:
                raise AssertionError("it has to require grad first")
            register(torch.ones(2).requires_grad_())
            register(torch.ones(2, requires_grad=True) * 2)
    """,
    "derivative": """
        w = torch.ones(2, requires_grad=True)
        (torch.heaviside(w.detach(), torch.ones(2)) * w).sum().backward()
    """,
    "detach-view": """
        parts = (torch.ones(2, requires_grad=True) * 2).split(1)
        x = parts[0]
        try:
            x.detach_()
        except RuntimeError:
            x = x.detach()
        assert x.grad_fn is None and parts[0].grad_fn is not None
    """,
    "out": """
        w = torch.ones(2, requires_grad=True)
        torch.add(w.detach(), 1, out=torch.empty(2))
        with torch.no_grad():
            torch.add(w, 1, out=torch.empty(2))
        assert torch.add(w, 1).requires_grad
    """,
    "complex": """
        w = torch.ones(2, requires_grad=True)
        (w * 1j).sum().abs().backward()
        (w * 1j * 1j).sum().real.backward()
    """,
    "mode": """
        with torch.no_grad():
            assert not (torch.ones(1, requires_grad=True) * 2).requires_grad
    """,
    "init": """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first = torch.nn.Linear(1, 1)
        Net()
    """,
    "tensor-already": """
        t = torch.ones(2)
        assert torch.as_tensor(t) is t
    """,
    "checkpoint": """
        from torch.utils.checkpoint import checkpoint
        modes = []
        def fn(x):
            modes.append(torch.is_grad_enabled())
            return x * 2
        x = torch.ones(2, requires_grad=True)
        checkpoint(fn, x, use_reentrant=True)
        assert modes == [False]
        torch.autograd.grad(checkpoint(fn, x, use_reentrant=False).sum(), x)
        layer = torch.nn.Linear(2, 1)
        checkpoint(layer, torch.ones(1, 2), use_reentrant=False).sum().backward()
        assert layer.weight.grad is not None
    """,
    "inference": """
        w = torch.ones(2, requires_grad=True)
        with torch.no_grad():
            x = w * 2
        (w * x).sum().backward()
        with torch.inference_mode():
            x = w * 2
        (w * x.clone()).sum().backward()
    """,
    "module": """
        net = torch.nn.Linear(2, 2)
        with torch.no_grad():
            net.weight.copy_(torch.zeros(2, 2))
        net.weight = torch.nn.Parameter(torch.ones(2, 2))
    """,
}
"""Programs that show what the ways out say; where they say that something does not help, that as well."""


@pytest.mark.parametrize("family", WAYS_OUT)
def test_the_way_out(family: str, tmp_path: Path) -> None:
    assert family in FAMILIES
    told = outcome_of_text("import torch\n" + dedent(WAYS_OUT[family]), tmp_path)
    assert told.error_type == "", told


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_to_be_looked_at_can_be_evaluated(family: str, tmp_path: Path) -> None:
    program = """
import torch
model = torch.nn.Linear(2, 2)
params = list(model.parameters())
x = torch.ones(1, 2)
t = state = model(x)
def fn(x):
    return x * 2
inputs = (torch.ones(2, dtype=torch.float64, requires_grad=True),)
loss = inputs[0].sum()
"""
    for check in FAMILIES[family].checks:
        told = outcome_of_text(program + check.expression + "\n", tmp_path)
        assert told.error_type == "", (check, told)
