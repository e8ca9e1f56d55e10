"""The fixes of every rule on its own examples: made, run on torch, and looked at again.

An example without a fix counts as such in the summary of the run; one with a fix has to be right.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from gradtrail.findings.engine import Report, check_paths
from gradtrail.findings.repairs import Repaired, repaired
from rules.test_rule_examples import EXAMPLES, marked, on_the_stand_in, program
from support.running import outcome_of_text

MOST_ROWS = 12
"""A repair is small: more rows than these are another program."""

NEVER = ("retain_graph=True", "allow_unused=True", "force=True", "strict=False", "pass")
"""What only silences an error: no repair adds it."""


def repair(path: Path, unsafe: bool = True) -> Repaired:
    """The repair of the program at `path`; nothing is written."""

    def look(texts: Any) -> Report:
        return check_paths([str(path)], texts=texts)

    with mock.patch.dict(os.environ, GRADTRAIL_STRICT="1"):
        return repaired(look, unsafe)


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_what_is_repaired_is_right(
    rule: Any, example: Any, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    bad = program(example.bad)
    path = tmp_path / "program.py"
    path.write_text(bad, encoding="utf-8")
    made = repair(path)
    if not made.texts:
        record_property("repair", "no fix")
        return
    fixed = made.texts[str(path)].decode()
    record_property("repair", "repaired")
    rows = [line for line in difflib.ndiff(bad.splitlines(), fixed.splitlines()) if line[:1] in "+-"]
    assert len(rows) <= 2 * MOST_ROWS, fixed
    assert all(fixed.count(words) <= bad.count(words) for words in NEVER), fixed
    assert made.report.findings == [], fixed
    result = outcome_of_text(fixed, tmp_path, example.proof)
    assert not result.raised, (fixed, result)
    assert not result.proof, fixed
    if example.off_cpu:
        stand_in = outcome_of_text(on_the_stand_in(fixed), tmp_path, example.proof)
        assert example.raises not in stand_in.text, (fixed, stand_in)
    if example.raises:
        assert _still_there(bad.splitlines()[marked(example.bad, "error")[0] - 1], fixed), fixed


def _still_there(statement: str, fixed: str) -> bool:
    """Whether the statement that failed is still there, save for the edit."""
    lines = [line.strip() for line in fixed.splitlines()]
    return bool(difflib.get_close_matches(statement.strip(), lines, cutoff=0.6))


VARIATIONS = {
    "carried in a row of several statements": (
        """
        import torch
        net = torch.nn.RNNCell(2, 3)
        h = torch.zeros(1, 3)
        for t in range(4):
            h = net(torch.ones(1, 2), h)
            loss = h.sum(); net.zero_grad(); loss.backward(); loss = None
        """,
        "loss.backward();",
        "loss.backward(); h = h.detach();",
    ),
    "a sum of losses": (
        """
        import torch
        net = torch.nn.Linear(2, 1)
        total = 0
        for t in range(4):
            total += net(torch.ones(1, 2)).sum()
            total.backward()
        """,
        "    total.backward()",
        "    total.backward()\n    total = total.detach()",
    ),
    "the name of a device that has no value yet": (
        """
        import torch
        device = "cuda" if torch.cuda.is_available() else "cpu"
        net = torch.nn.Linear(2, 2).to(device)
        y = torch.ones(1, 2)
        x = torch.ones(1, 2).to(device)
        loss = torch.nn.functional.mse_loss(x, y)
        """,
        "(x, y)",
        "(x, y.to(x.device))",
    ),
    "Parameters in a list that was made before": (
        """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                ws = [nn.Parameter(torch.ones(2)) for _ in range(3)]
                self.ws = ws

        opt = torch.optim.SGD(Net().parameters(), lr=0.1)
        """,
        "self.ws = ws",
        "self.ws = nn.ParameterList(ws)",
    ),
    "an update by hand in a loop over a dict": (
        """
        import torch
        params = {"a": torch.ones(2, requires_grad=True)}
        for _ in range(2):
            sum(p.sum() for p in params.values()).backward()
            for name, p in params.items():
                if p.grad is None:
                    continue
                params[name] = p - 0.1 * p.grad
        """,
        "        params[name] = p - 0.1 * p.grad",
        "        with torch.no_grad():\n            p -= 0.1 * p.grad\n        p.grad = None",
    ),
    "written with a function that ends in an underscore": (
        """
        import torch
        h = torch.sigmoid(torch.ones(2, requires_grad=True))
        y = h.mul_(2)
        y.sum().backward()
        """,
        "h.mul_(2)",
        "h.mul(2)",
    ),
    "the gradient of an input is asked for": (
        """
        import torch
        x = torch.randn(4)
        y = (x ** 2).sum()
        y.backward()
        print(x.grad)
        """,
        "torch.randn(4)",
        "torch.randn(4).requires_grad_()",
    ),
    "a generator that holds grad mode off": (
        """
        import torch
        body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)

        def features():
            with torch.no_grad():
                for x in torch.ones(3, 4, 2):
                    h = body(x)
                    yield h, len(h)

        for h, _ in features():
            head(h).sum().backward()
        """,
        """    with torch.no_grad():
        for x in torch.ones(3, 4, 2):
            h = body(x)
            yield h, len(h)
""",
        """    for x in torch.ones(3, 4, 2):
        with torch.no_grad():
            h = body(x)
            item = h, len(h)
        yield item
""",
    ),
    "what is left of a window that never fills": (
        """
        import torch
        net = torch.nn.Linear(2, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for number, x in enumerate(torch.ones(6, 4, 2)):
            (net(x).pow(2).mean() / 8).backward()
            if (number + 1) % 8 == 0:
                opt.step()
                opt.zero_grad()
        print(net.weight)
        """,
        "print(",
        "opt.step()\nopt.zero_grad()\nprint(",
    ),
    "an LSTM's state, carried with its graphs": (
        """
        import torch
        net, out, h = torch.nn.LSTM(2, 4), torch.nn.Linear(4, 1), None
        for _ in range(4):
            y, h = net(torch.ones(3, 1, 2), h)
            out(y).sum().backward(retain_graph=True)
        """,
        "backward(retain_graph=True)",
        "backward()\n    h = tuple(one.detach() for one in h)",
    ),
    "kept in a tuple": (
        """
        import torch
        net, history = torch.nn.Linear(2, 1), []
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(4):
            loss = net(torch.ones(1, 2)).sum()
            opt.zero_grad(); loss.backward(); opt.step()
            history.append((step, loss))
        """,
        "(step, loss)",
        "(step, loss.detach())",
    ),
    "a factor that another loss needs": (
        """
        import torch
        from torch.distributions import Normal
        actor, critic = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
        obs, ret = torch.randn(16, 3), torch.randn(16, 1)
        pi = Normal(actor(obs), 1.0)
        a = pi.sample()
        adv = ret - critic(obs)
        (adv.pow(2).mean() - (adv * pi.log_prob(a)).mean()).backward()
        assert critic.weight.grad is not None
        """,
        "adv * pi",
        "adv.detach() * pi",
    ),
    "a follower of a class of the program": (
        """
        import copy
        import torch

        class Enc(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = torch.nn.Linear(3, 4)

            def forward(self, x):
                return self.fc(x).tanh()

        query = Enc()
        key = copy.deepcopy(query)
        opt = torch.optim.SGD([*query.parameters(), *key.parameters()], lr=0.1)
        for _ in range(4):
            x = torch.randn(6, 3)
            k = key(x)
            loss = (query(x) - k).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            with torch.no_grad():
                for slow, fast in zip(key.parameters(), query.parameters()):
                    slow.lerp_(fast, 0.1)
        """,
        "    k = key(x)",
        "    with torch.no_grad():\n        k = key(x)",
    ),
    "train() where the model has another name": (
        """
        import torch
        net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.5), torch.nn.Linear(2, 1))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)

        @torch.no_grad()
        def evaluate(model):
            model.eval()
            return model(torch.ones(4, 2)).mean().item()

        for _ in range(3):
            for _ in range(2):
                opt.zero_grad()
                net(torch.ones(4, 2)).pow(2).mean().backward()
                opt.step()
            evaluate(net)
        """,
        "    for _ in range(2):",
        "    net.train()\n    for _ in range(2):",
    ),
    "parts that a generator makes": (
        """
        import torch
        x, y = torch.randn(8, 2), torch.randn(8, 1)
        net = torch.nn.Linear(2, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        PARTS = 4

        def pieces(parts):
            yield from zip(x.chunk(parts), y.chunk(parts))

        opt.zero_grad()
        for a, b in pieces(PARTS):
            torch.nn.functional.mse_loss(net(a), b).backward()
        opt.step()
        """,
        "torch.nn.functional.mse_loss(net(a), b).backward()",
        "(torch.nn.functional.mse_loss(net(a), b) / PARTS).backward()",
    ),
    "unfrozen at one epoch": (
        """
        import torch
        body, head = torch.nn.Linear(2, 2).requires_grad_(False), torch.nn.Linear(2, 1)
        opt = torch.optim.SGD(head.parameters(), lr=0.1)
        for epoch in range(6):
            if epoch == 3:
                body.requires_grad_(True)
            opt.zero_grad()
            head(body(torch.ones(4, 2))).pow(2).mean().backward()
            opt.step()
        """,
        "        body.requires_grad_(True)\n",
        '        body.requires_grad_(True)\n        opt.add_param_group({"params": body.parameters()})\n',
    ),
    "rounded inside an expression": (
        """
        import torch
        net = torch.nn.Linear(2, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            level = net(torch.ones(1, 2)) * 3
            opt.zero_grad()
            (torch.round(level) / 3 - 30).pow(2).sum().backward()
            opt.step()
        """,
        "torch.round(level)",
        "(level + (torch.round(level) - level).detach())",
    ),
    "the step that is left out, in an object": (
        """
        import torch

        class Trainer:
            def __init__(self):
                self.net = torch.nn.Linear(2, 1)
                self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

            def fit(self):
                for _ in range(3):
                    self.opt.zero_grad()
                    self.net(torch.ones(4, 2)).pow(2).mean().backward()

        Trainer().fit()
        """,
        "mean().backward()\n",
        "mean().backward()\n            self.opt.step()\n",
    ),
}


ALONE = {
    "a draw that has no other": """
        import torch
        from torch.distributions import Categorical
        enc, dec = torch.nn.Linear(2, 3), torch.nn.Embedding(3, 2)
        opt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
        for _ in range(3):
            z = Categorical(logits=enc(torch.ones(4, 2))).sample()
            opt.zero_grad()
            dec(z).pow(2).mean().backward()
            opt.step()
        """,
    "two memories in one row": """
        import torch
        a, b = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
        b.weight.data, b.bias.data = a.weight.data, a.bias.data
        opt = torch.optim.SGD(a.parameters(), lr=0.1)
        for _ in range(3):
            with torch.no_grad():
                y = b(torch.ones(4, 2)) + 1
            opt.zero_grad()
            (a(torch.ones(4, 2)) - y).pow(2).mean().backward()
            opt.step()
        """,
    "the name of the module that is lacking is taken": """
        import torch
        net = torch.nn.Linear(2, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        copy = net.state_dict()
        for _ in range(3):
            opt.zero_grad()
            net(torch.ones(4, 2)).sum().backward()
            opt.step()
        net.load_state_dict(copy)
        """,
    "unfrozen again in every epoch": """
        import torch
        body, head = torch.nn.Linear(2, 2).requires_grad_(False), torch.nn.Linear(2, 1)
        opt = torch.optim.SGD(head.parameters(), lr=0.1)
        for epoch in range(6):
            if epoch >= 3:
                body.requires_grad_(True)
            opt.zero_grad()
            head(body(torch.ones(4, 2))).pow(2).mean().backward()
            opt.step()
        """,
    "a function that evaluates and trains": """
        import torch
        net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.2), torch.nn.Linear(2, 1))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)

        def run(x, train):
            if train:
                net.train()
            else:
                net.eval()
            return net(x).pow(2).mean()

        for _ in range(3):
            opt.zero_grad()
            run(torch.ones(4, 2), True).backward()
            opt.step()
            print(run(torch.ones(4, 2), False))
        """,
}


@pytest.mark.parametrize("name", ALONE)
def test_what_is_not_sure_is_left_alone(name: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(program(ALONE[name]), encoding="utf-8")
    made = repair(path)
    assert made.report.findings
    assert made.texts == {}


@pytest.mark.parametrize("name", VARIATIONS)
def test_variations(name: str, tmp_path: Path) -> None:
    source, old, new = VARIATIONS[name]
    path = tmp_path / "program.py"
    bad = program(source)
    path.write_text(bad, encoding="utf-8")
    made = repair(path)
    fixed = made.texts[str(path)].decode()
    assert fixed == bad.replace(old, new)
    assert made.report.findings == []
    assert not outcome_of_text(fixed, tmp_path).raised
