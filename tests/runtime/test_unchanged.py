"""Observing changes nothing: the same numbers bit for bit, the same random numbers, no tensor kept, torch left as it was."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from support.running import in_a_child

START = """
import gc, warnings, weakref
import torch
from torch import nn

torch.manual_seed(0)
results, alive = [], []

def report(*tensors):
    results.extend(float(t.detach().double().sum()).hex() for t in tensors)

def follow(tensor):
    alive.append(weakref.ref(tensor))
"""

PROGRAMS = {
    "a training": """
        net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1))
        opt = torch.optim.Adam(net.parameters())
        for _ in range(12):
            loss = net(torch.randn(5, 3)).pow(2).mean()
            follow(loss)
            opt.zero_grad()
            loss.backward()
            opt.step()
            report(loss, *net.parameters())
        del loss
        """,
    "a training in a function": """
        def train(seen):
            net = nn.Linear(3, 1)
            opt = torch.optim.Adam(net.parameters())
            for _ in range(12):
                loss = net(torch.randn(5, 3)).pow(2).mean()
                follow(loss)
                opt.zero_grad()
                loss.backward()
                opt.step()
                report(loss, *net.parameters())
            del loss
            gc.collect()
            results.append(str([one() is not None for one in alive]))
            results.append(str(seen["steps"]))  # Python itself may add names to it
        def with_its_names(steps=3):
            seen = locals()
            train(seen)
        with_its_names()
        """,
    "gradients of gradients": """
        w = torch.randn(3, requires_grad=True)
        opt = torch.optim.SGD([w], lr=0.1)
        for _ in range(8):
            (g,) = torch.autograd.grad((w ** 3).sum(), w, create_graph=True)
            follow(g)
            opt.zero_grad()
            g.pow(2).sum().backward()
            opt.step()
            report(w)
        del g
        """,
    "mixed precision": """
        net = nn.Linear(8, 8)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu")
        for _ in range(8):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = net(torch.randn(4, 8)).float().pow(2).mean()
            follow(loss)
            opt.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
            report(loss, *net.parameters())
        del loss
        """,
    "checkpointing": """
        from torch.utils.checkpoint import checkpoint
        net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Tanh())
        head = nn.Linear(4, 1)
        opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
        for reentrant in (False, True) * 4:
            x = torch.randn(5, 3, requires_grad=True)
            loss = head(checkpoint(net, x, use_reentrant=reentrant)).pow(2).mean()
            follow(loss)
            opt.zero_grad()
            loss.backward()
            opt.step()
            report(loss, *net.parameters(), x.grad)
        del loss, x
        """,
    "a compiled model": """
        from torch._dynamo.utils import counters
        def twice(x):
            return torch.relu(x) * 2
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 1)
            def forward(self, x):
                return self.last(twice(self.first(x)))
        net = Net()
        model = torch.compile(net, backend="eager", fullgraph=True)
        opt = torch.optim.Adam(net.parameters())
        for _ in range(8):
            loss = model(torch.randn(5, 3)).pow(2).mean()
            follow(loss)
            opt.zero_grad()
            loss.backward()
            opt.step()
            report(loss, *net.parameters())
        results.append(str({name: dict(counters[name]) for name in ("frames", "stats", "graph_break", "unimplemented")}))
        del loss
        """,
    "a compiled function that makes a step": """
        from torch._dynamo.utils import counters
        net = nn.Linear(3, 1)
        opt = torch.optim.Adam(net.parameters())
        @torch.compile(backend="eager")
        def train(x):
            loss = net(x).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            return loss
        for _ in range(6):
            report(train(torch.randn(5, 3)), *net.parameters())
        results.append(str({name: dict(counters[name]) for name in ("frames", "stats", "graph_break", "unimplemented")}))
        """,
    "warnings that name a place": """
        net = nn.Sequential(nn.Linear(3, 4), nn.Softmax())
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            report(net(torch.randn(5, 3)))
        results.append(str([(one.filename, one.lineno) for one in told]))
        """,
    "torch.func": """
        from torch.func import functional_call, grad, vmap
        net = nn.Linear(3, 1)
        params = {name: p.detach().clone() for name, p in net.named_parameters()}
        def loss(params, x):
            return functional_call(net, params, (x,)).pow(2).mean()
        for _ in range(6):
            found = grad(loss)(params, torch.randn(5, 3))
            each = vmap(grad(loss), in_dims=(None, 0))(params, torch.randn(5, 3))
            params = {name: p - 0.1 * found[name] for name, p in params.items()}
            report(*params.values(), *each.values())
        """,
    "hooks": """
        net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
        calls = []
        net[0].register_forward_hook(lambda m, a, out: calls.append("forward"))
        net[0].register_full_backward_hook(lambda m, gi, go: calls.append("backward"))
        net[0].weight.register_hook(lambda g: g * 2)
        net[1].weight.register_post_accumulate_grad_hook(lambda p: calls.append("grad"))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(8):
            loss = net(torch.randn(5, 3)).pow(2).mean()
            follow(loss)
            opt.zero_grad()
            loss.backward()
            opt.step()
            report(loss, *net.parameters())
        results.append(str(calls))
        del loss
        """,
    "a custom Function": """
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * 2
            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return g * 2 + 0 * x
        w = torch.randn(3, requires_grad=True)
        opt = torch.optim.SGD([w], lr=0.1)
        for _ in range(8):
            loss = Double.apply(w).pow(2).sum()
            follow(loss)
            opt.zero_grad()
            loss.backward()
            opt.step()
            report(loss, w)
        del loss
        """,
    "a closure": """
        net = nn.Linear(3, 1)
        x = torch.randn(5, 3)
        opt = torch.optim.LBFGS(net.parameters(), max_iter=4)
        def closure():
            opt.zero_grad()
            loss = net(x).pow(2).mean()
            loss.backward()
            return loss
        for _ in range(6):
            report(opt.step(closure), *net.parameters())
        """,
    "workers of a DataLoader": """
        from torch.utils.data import DataLoader, TensorDataset
        net = nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        loader = DataLoader(TensorDataset(torch.randn(24, 3)), batch_size=4, shuffle=True, num_workers=2)
        for _ in range(2):
            for (x,) in loader:
                loss = net(x).pow(2).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
                report(loss, *net.parameters())
        """,
    "a thread": """
        import threading
        def work():
            w = torch.ones(3, requires_grad=True)
            opt = torch.optim.SGD([w], lr=0.1)
            for _ in range(8):
                opt.zero_grad()
                (w ** 2).sum().backward()
                opt.step()
                report(w)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """,
    "a copied model and its optimizer's state": """
        import copy, io
        net = nn.Linear(3, 1)
        opt = torch.optim.Adam(net.parameters())
        for _ in range(3):
            opt.zero_grad()
            net(torch.randn(4, 3)).pow(2).mean().backward()
            opt.step()
        twin = copy.deepcopy(net)
        buffer = io.BytesIO()
        torch.save({"net": net.state_dict(), "opt": opt.state_dict()}, buffer)
        results.append(str(len(opt.state)))
        report(*twin.parameters())
        """,
    "subclasses of Tensor": """
        class Mine(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                seen.append(func.__name__)
                return super().__torch_function__(func, types, args, kwargs or {})
        seen = []
        w = torch.ones(3).as_subclass(Mine).requires_grad_()
        opt = torch.optim.SGD([w], lr=0.1)
        for _ in range(4):
            opt.zero_grad()
            (w * 2).sum().backward()
            opt.step()
        results.append(str(seen.count("mul")))
        """,
    "modes of the program's own": """
        from torch.overrides import TorchFunctionMode
        from torch.utils._python_dispatch import TorchDispatchMode
        seen = []
        class Functions(TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                seen.append(getattr(func, "__name__", str(func)))
                return func(*args, **(kwargs or {}))
        class Dispatched(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                seen.append(str(func))
                return func(*args, **(kwargs or {}))
        w = torch.ones(3, requires_grad=True)
        opt = torch.optim.SGD([w], lr=0.1)
        for _ in range(4):
            with Functions(), Dispatched():
                opt.zero_grad()
                (w * 2).sum().backward()
                opt.step()
        results.append(str(seen))
        """,
}

END = """
state = torch.get_rng_state().sum().item()
gc.collect()
kept = sum(one() is not None for one in alive)
"""

WATCHED = ("__init__", "zero_grad")


def results_of(path: Path, watch: bool) -> Any:
    """What a program has gathered: its numbers, the state of its random numbers, and how many tensors are alive."""
    import torch

    from gradtrail.runtime import program
    from gradtrail.runtime.session import Session

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    failed: list[str] = []
    before = torch_as_it_is()
    session = Session(str(path), 3, lambda wrong: failed.append(repr(wrong)))
    loaded = program.script(str(path))
    main = program.take_the_place_of_main(loaded, [])
    if watch:
        session.begin()
    raised = program.execute(loaded, main)
    if raised is not None:
        return repr(raised)
    if watch:
        session.ended()
    space = vars(main)
    return (
        space["results"],
        space["state"],
        space["kept"],
        failed,
        torch_as_it_is() == before,
        sys.gettrace() is None,
    )


def torch_as_it_is() -> list[int]:
    """What is hooked, by identity."""
    import torch
    from torch.nn.modules import module
    from torch.optim import optimizer

    return [
        id(torch.optim.Optimizer.__dict__["__init__"]),
        id(torch.autograd.backward),
        id(torch.autograd.grad),
        len(module._global_forward_pre_hooks),
        len(module._global_parameter_registration_hooks),
        len(optimizer._global_optimizer_pre_hooks),
        len(optimizer._global_optimizer_post_hooks),
    ]


@pytest.mark.parametrize("title", PROGRAMS)
def test_nothing_is_changed(title: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(START.lstrip() + dedent(PROGRAMS[title]) + END, encoding="utf-8")
    alone = in_a_child(tmp_path, lambda: results_of(path, False))
    under = in_a_child(tmp_path, lambda: results_of(path, True))
    assert not isinstance(alone, str), alone
    assert under == alone
    assert alone[2] == 0
    assert alone[3:] == [[], True, True]
