"""What findings say where a wrong word would send the reader astray."""

from __future__ import annotations

import pytest

from gradtrail.findings.diagnostic import Diagnostic
from gradtrail.findings.engine import check_source

START = "import torch\nx = torch.ones(3, requires_grad=True)\n"


def only(source: str) -> Diagnostic:
    (found,) = check_source(START + source)
    return found


@pytest.mark.parametrize(
    ("source", "help"),
    [
        ("(x + 1).numpy()\n", "`(x + 1).detach()`"),
        ("x.numpy()\n", "`x.detach()`"),
        ("(x * 2).backward()\n", "`(x * 2).mean().backward()`"),
    ],
)
def test_code_in_a_help_can_be_pasted(source: str, help: str) -> None:
    assert help in str(only(source).help)


def test_the_tensor_that_is_carried_over_is_named() -> None:
    found = only(
        "cell = torch.nn.RNN(3, 3)\nh = torch.zeros(1, 1, 3)\n"
        "for _ in range(4):\n    out, h = cell(torch.ones(1, 1, 3), h)\n    out.sum().backward()\n"
    )
    assert found.rule == "second-backward"
    assert "`h`" in str(found.help)


@pytest.mark.parametrize(
    "source",
    [
        "torch.zeros = lambda *sizes, **options: 3\ntorch.zeros(3, requires_grad=True).numpy()\n",
        "torch.Tensor.numpy = lambda self: 3\nx.numpy()\n",
        "torch.gather(x, 0, torch.tensor([]))\n",
        "torch.where(x)\n",
    ],
)
def test_nothing_is_said(source: str) -> None:
    assert check_source(START + source) == []


@pytest.mark.parametrize(
    ("after", "name"),
    [
        ("for p in net.parameters():\n    print(p.shape)\nnet.weight.add_(1)\n", "`net.weight`"),
        ("norm = sum(p.norm() for p in net.parameters())\nnet.weight.add_(1)\n", "`net.weight`"),
        ("w = torch.ones(2, requires_grad=True)\nfor p in [w]:\n    p.grad = None\nw.add_(1)\n", "`w`"),
        ("for p in net.parameters():\n    p.add_(1)\n", "`p`"),
    ],
)
def test_a_loop_only_lends_its_name(after: str, name: str) -> None:
    found = only("net = torch.nn.Linear(2, 2)\n" + after)
    assert name in str(found.message)
