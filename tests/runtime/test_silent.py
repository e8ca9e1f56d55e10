"""Silent faults that are seen live, each beside programs that look like them and are right."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from support.observed import observed

START = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
data = [torch.randn(5, 3) for _ in range(12)]
"""

WRONG = {
    "gradients are never cleared": (
        "gradient-not-cleared",
        """
        opt = torch.optim.Adam(net.parameters())
        for x in data:
            net(x).pow(2).mean().backward()  # here
            opt.step()
        """,
    ),
    "the optimizer holds another network": (
        "optimizer-without-gradients",
        """
        other = nn.Linear(3, 1)
        opt = torch.optim.Adam(other.parameters())  # here
        for x in data:
            opt.zero_grad()
            net(x).pow(2).mean().backward()
            opt.step()
        """,
    ),
    "no backward at all": (
        "step-without-backward",
        """
        opt = torch.optim.Adam(net.parameters())
        for x in data:
            loss = net(x).pow(2).mean()
            opt.step()  # here
        """,
    ),
    "an optimizer for each batch": (
        "optimizer-made-anew",
        """
        for x in data:
            opt = torch.optim.Adam(net.parameters())  # here
            opt.zero_grad()
            net(x).pow(2).mean().backward()
            opt.step()
        """,
    ),
    "no step is ever made": (
        "optimizer-never-stepped",
        """
        opt = torch.optim.Adam(net.parameters())  # here
        for x in data:
            opt.zero_grad()
            net(x).pow(2).mean().backward()
        """,
    ),
    "a sum of losses": (
        "graph-grows-with-rounds",
        """
        opt = torch.optim.Adam(net.parameters())
        total = 0.0
        for x in data:
            opt.zero_grad()
            loss = net(x).pow(2).mean()
            loss.backward()
            opt.step()
            total += loss  # here
        """,
    ),
    "a head that is replaced after the optimizer was made": (
        "parameter-outside-optimizer",
        """
        opt = torch.optim.Adam(net.parameters())
        net[2] = nn.Linear(4, 2)  # here
        for x in data:
            opt.zero_grad()
            net(x).pow(2).mean().backward()
            opt.step()
        """,
    ),
}

ONLY_IN_THE_SOURCE = {
    "a list of losses": (
        "graph-kept-in-list",
        """
        opt = torch.optim.Adam(net.parameters())
        history = []
        for x in data:
            opt.zero_grad()
            loss = net(x).pow(2).mean()  # here
            loss.backward()
            opt.step()
            history.append(loss)
        """,
    ),
    "a list of losses in an object": (
        "graph-kept-in-list",
        """
        class Meter:
            def __init__(self):
                self.values = []

        meter = Meter()
        opt = torch.optim.Adam(net.parameters())
        for x in data:
            opt.zero_grad()
            loss = net(x).pow(2).mean()  # here
            loss.backward()
            opt.step()
            meter.values.append(loss)
        """,
    ),
}

RIGHT = {
    "a short list of losses, read as numbers": """
        opt = torch.optim.Adam(net.parameters())
        history = []
        for x in data[:6]:
            opt.zero_grad()
            loss = net(x).pow(2).mean()
            loss.backward()
            opt.step()
            history.append(loss)
        print(sum(one.item() for one in history))
        """,
    "a part that comes later, and is handed over": """
        opt = torch.optim.Adam(net.parameters())
        net.append(nn.Linear(1, 1))
        opt.add_param_group({"params": net[3].parameters()})
        for x in data:
            opt.zero_grad()
            net(x).pow(2).mean().backward()
            opt.step()
        """,
    "a part that comes later, with an optimizer of its own": """
        opt = torch.optim.Adam(net.parameters())
        net.append(nn.Linear(1, 1))
        other = torch.optim.Adam(net[3].parameters())
        for x in data:
            opt.zero_grad()
            other.zero_grad()
            net(x).pow(2).mean().backward()
            opt.step()
            other.step()
        """,
    "a part that is left to itself on purpose": """
        opt = torch.optim.Adam(net[2].parameters())
        for x in data:
            net.zero_grad()
            net(x).pow(2).mean().backward()
            opt.step()
        """,
    "an ordinary training": """
        opt = torch.optim.Adam(net.parameters())
        total, history = 0.0, []
        for x in data:
            opt.zero_grad()
            loss = net(x).pow(2).mean()
            loss.backward()
            opt.step()
            total += loss.item()
            history.append(loss.detach())
        """,
    "gradients cleared by hand": """
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for x in data:
            net(x).pow(2).mean().backward()
            opt.step()
            for p in net.parameters():
                p.grad.data.zero_()
        """,
    "gradients cleared by the module, after the step": """
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for x in data:
            net(x).pow(2).mean().backward()
            opt.step()
            net.zero_grad()
        """,
    "accumulation over four batches": """
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for i, x in enumerate(data):
            (net(x).pow(2).mean() / 4).backward()
            if i % 4 == 3:
                opt.step()
                opt.zero_grad()
        """,
    "two networks against each other": """
        critic = nn.Linear(1, 1)
        opt_g = torch.optim.Adam(net.parameters())
        opt_d = torch.optim.Adam(critic.parameters())
        for x in data:
            fake = net(x)
            opt_d.zero_grad()
            critic(fake.detach()).mean().backward()
            opt_d.step()
            opt_g.zero_grad()
            (-critic(fake).mean()).backward()
            opt_g.step()
        """,
    "a low-rank adapter whose second factor is zero": """
        class Adapted(nn.Module):
            def __init__(self, base):
                super().__init__()
                self.base = base.requires_grad_(False)
                self.a = nn.Parameter(torch.randn(2, 3))
                self.b = nn.Parameter(torch.zeros(1, 2))

            def forward(self, x):
                return self.base(x) + x @ self.a.t() @ self.b.t()

        model = Adapted(nn.Linear(3, 1))
        opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad])
        for x in data:
            opt.zero_grad()
            model(x).pow(2).mean().backward()
            opt.step()
        """,
    "warm-up from a learning rate of zero": """
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: min(1.0, step / 20))
        for x in data:
            opt.zero_grad()
            net(x).pow(2).mean().backward()
            opt.step()
            warm.step()
        """,
    "a perturbation is trained, and the network is not": """
        delta = torch.zeros(5, 3, requires_grad=True)
        opt = torch.optim.Adam([delta], lr=0.1)
        for x in data:
            opt.zero_grad()
            (-net(x + delta).pow(2).mean()).backward()
            opt.step()
        """,
    "a closure": """
        opt = torch.optim.LBFGS(net.parameters(), max_iter=3)
        for x in data:
            def closure():
                opt.zero_grad()
                loss = net(x).pow(2).mean()
                loss.backward()
                return loss
            opt.step(closure)
        """,
    "an optimizer for each task's copy": """
        import copy
        outer = torch.optim.Adam(net.parameters())
        for x in data:
            inner = copy.deepcopy(net)
            opt = torch.optim.Adam(inner.parameters())
            opt.zero_grad()
            inner(x).pow(2).mean().backward()
            opt.step()
            outer.zero_grad()
            for p, q in zip(net.parameters(), inner.parameters()):
                p.grad = p.detach() - q.detach()
            outer.step()
        """,
    "an optimizer for each epoch": """
        for epoch in range(5):
            opt = torch.optim.Adam(net.parameters())
            for x in data[:3]:
                opt.zero_grad()
                net(x).pow(2).mean().backward()
                opt.step()
        """,
    "losses are gathered for one backward": """
        opt = torch.optim.Adam(net.parameters())
        for epoch in range(6):
            losses = []
            for x in data[:4]:
                losses.append(net(x).pow(2).mean())
            opt.zero_grad()
            torch.stack(losses).mean().backward()
            opt.step()
        """,
    "truncated backpropagation through time": """
        cell = nn.GRUCell(3, 4)
        opt = torch.optim.Adam(cell.parameters())
        h = torch.zeros(5, 4)
        for x in data:
            h = cell(x, h.detach())
            opt.zero_grad()
            h.pow(2).mean().backward()
            opt.step()
        """,
    "gradients by torch.autograd.grad": """
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for x in data:
            found = torch.autograd.grad(net(x).pow(2).mean(), list(net.parameters()))
            for p, g in zip(net.parameters(), found):
                p.grad = g
            opt.step()
        """,
    "a scaler that skips steps": """
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** 100)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for x in data:
            opt.zero_grad()
            scaler.scale(net(x).pow(2).mean()).backward()
            scaler.step(opt)
            scaler.update()
        """,
    "a loss for each of several optimizers": """
        parts = [net[0], net[2]]
        opts = [torch.optim.Adam(part.parameters()) for part in parts]
        for x in data:
            for opt in opts:
                opt.zero_grad()
            net(x).pow(2).mean().backward()
            for opt in opts:
                opt.step()
        """,
    "a deque of the last losses": """
        from collections import deque
        opt = torch.optim.Adam(net.parameters())
        last = deque(maxlen=3)
        for x in data:
            opt.zero_grad()
            loss = net(x).pow(2).mean()
            loss.backward()
            opt.step()
            last.append(loss)
        """,
    "a few losses of one round in a list": """
        opt = torch.optim.Adam(net.parameters())
        for x in data:
            opt.zero_grad()
            losses = [net(x).pow(2).mean(), net(x).abs().mean()]
            for loss in losses:
                loss.backward()
            opt.step()
        """,
}


@pytest.mark.parametrize("title", WRONG)
def test_the_fault_is_seen_without_the_source(title: str, tmp_path: Path) -> None:
    rule, source = WRONG[title]
    source = START.lstrip() + dedent(source)
    row = next(number for number, line in enumerate(source.splitlines(), 1) if line.endswith("# here"))
    seen = observed(source, tmp_path, live_only=True)
    assert (seen.raised, seen.failed) == ("", [])
    assert [(one.rule, one.row) for one in seen.findings] == [(rule, row)]


@pytest.mark.parametrize("title", [*WRONG, *ONLY_IN_THE_SOURCE])
def test_the_fault_is_told_once_with_the_source(title: str, tmp_path: Path) -> None:
    rule, source = {**WRONG, **ONLY_IN_THE_SOURCE}[title]
    seen = observed(START.lstrip() + dedent(source), tmp_path)
    assert (seen.raised, seen.failed) == ("", [])
    assert seen.rules == [rule]


@pytest.mark.parametrize("title", RIGHT)
@pytest.mark.parametrize("live_only", [True, False], ids=["live", "with the source"])
def test_the_right_program_is_quiet(title: str, live_only: bool, tmp_path: Path) -> None:
    seen = observed(START.lstrip() + dedent(RIGHT[title]), tmp_path, live_only=live_only)
    assert (seen.raised, seen.failed) == ("", [])
    assert seen.findings == []


EVALUATES_LATE = """
opt = torch.optim.Adam(net.parameters())

def train():
    for x in data:
        opt.zero_grad()
        net(x).pow(2).mean().backward()
        opt.step()

def evaluate():
    with torch.no_grad():
        scores = net(data[0])
        scores.squeeze(1)
        return scores

train()
print(evaluate())
"""

NEVER_CALLED = EVALUATES_LATE.replace("print(evaluate())", "if len(data) > 100:\n    print(evaluate())")


@pytest.mark.parametrize(
    ("source", "steps", "found"),
    [(EVALUATES_LATE, 3, True), (EVALUATES_LATE, 50, True), (NEVER_CALLED, 50, False)],
    ids=["after the watched steps", "within them", "never"],
)
def test_what_did_not_run_is_not_told(source: str, steps: int, found: bool, tmp_path: Path) -> None:
    seen = observed(START.lstrip() + source, tmp_path, steps=steps)
    assert (seen.raised, seen.failed) == ("", [])
    assert bool(seen.findings) is found


MOVED = """
device = "cuda" if torch.cuda.is_available() else "cpu"
x = data[0]
x.to(device)
y = net(x).detach()
y.cpu()
"""


@pytest.mark.skipif("__import__('torch').cuda.is_available()", reason="a move gives another tensor there")
def test_a_dropped_move_is_none_where_there_is_one_device(tmp_path: Path) -> None:
    assert observed(START.lstrip() + MOVED, tmp_path).findings == []
    (found,) = observed(START.lstrip() + MOVED.replace("y.cpu()", "y.to(torch.float64)"), tmp_path).findings
    assert found.rule == "dropped-result"
