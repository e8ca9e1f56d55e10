"""Short programs that torch refuses or warns of: tiny says the same, type and text."""

from __future__ import annotations

import copy
import re
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
import torch.utils.checkpoint

from gradtrail import tiny

BEGIN = """
w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
x = torch.tensor([[0.5, 0.25], [1.5, 2.0]])
h = w * 1
layer = nn.Linear(2, 2)


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b=None):
        ctx.save_for_backward(a)
        return a * 2

    @staticmethod
    def backward(ctx, grad):
        return answer(grad)


class Forwards(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2


class Dirty(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        a.add_(1)
        ctx.mark_dirty(a)
        return a

    @staticmethod
    def backward(ctx, grad):
        return grad


class Viewing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a.view(4)

    @staticmethod
    def backward(ctx, grad):
        return grad.view(2, 2)


class Keeping(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        y = a.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y


class Penalized(nn.Module):
    def __init__(self, first):
        setattr(self, "part", first)
"""

PROGRAMS = """
w.add_(1)
w[0].add_(1)
w[0] = 1.0
w[:, 0] += 1
w.view(4).mul_(2)
w.detach_(); w.add_(1); print(w._version)
h[0].detach_()
a, b = h.unbind(); a.mul_(2)
a, b = w.chunk(2); a.mul_(2)
a, b = h.unbind(); h.add_(1); a.sum().backward()
y = torch.exp(w); y.add_(1); y.sum().backward()
y = h ** 2; h[0] = 1; y.sum().backward()
y = h.view(4) ** 2; h.add_(1); y.sum().backward()
y = h.t(); z = y ** 2; y.add_(1); z.sum().backward()
i = torch.arange(2); y = w[i]; i.add_(1); y.sum().backward()
h2 = w * 1; y = h * h2; h.add_(1); h2.sub_(1); y.sum().backward()
y = h * 3; y.sum().backward(); y.sum().backward()
y = (w + 1).sum(); y.backward(); y.backward(); print(w.grad)
w.sum().detach().backward()
(w * 2).backward()
w.backward(torch.ones(2))
w.backward(torch.ones(2, 2, dtype=torch.float64)); print(w.grad.dtype)
(w * 2).sum().backward(gradient=torch.tensor([1.0]))
torch.arange(2).sum().backward()
torch.autograd.grad((w * 2).sum(), torch.ones(2, requires_grad=True))
torch.autograd.grad((w * 2).sum(), torch.ones(2))
torch.autograd.grad(w * 2, w)
torch.autograd.grad(torch.ones(1), w)
print(torch.autograd.grad((w * 2).sum(), [w, torch.ones(1, requires_grad=True)], allow_unused=True))
g, = torch.autograd.grad((w ** 3).sum(), w); g.sum().backward()
(w ** 2).sum().backward(create_graph=True); print(w.grad.requires_grad)
h.requires_grad = False
h.requires_grad = True
h.requires_grad_(False)
h.requires_grad_(); print(h.is_leaf)
x.requires_grad = 'a'
torch.arange(2).requires_grad_()
torch.arange(2).requires_grad = True
torch.tensor([1], requires_grad=True)
torch.arange(3, requires_grad=True)
torch.zeros(2, dtype=torch.long, requires_grad=True)
nn.Parameter(torch.arange(2))
w.numpy()
np.array(h)
np.float32(w.sum())
with torch.no_grad(): print(w.numpy())
w * np.ones(2)
np.ones((2, 2)) * w
x * np.ones(2)
torch.from_numpy(w)
torch.from_numpy([1])
w.item()
torch.ones(0).item()
bool(w)
bool(torch.ones(0))
h.sum().backward(); print(h.grad)
h.retain_grad(); h.sum().backward(); print(h.grad)
y = h.clone(); y.retain_grad(); y.mul_(2); y.sum().backward(); print(y.grad, y.retains_grad)
copy.deepcopy(h)
x.retain_grad()
x.register_hook(print)
w.register_hook(lambda g: g * 3); w.sum().backward(); print(w.grad)
w.grad = 3
w.grad = torch.ones(3)
w.data = 3
torch.optim.SGD([h], lr=0.1)
torch.optim.SGD(w, lr=0.1)
torch.optim.SGD([], lr=0.1)
torch.optim.SGD([layer], lr=0.1)
torch.optim.SGD(layer, lr=0.1)
torch.optim.Adam(layer.parameters, lr=0.1)
torch.optim.SGD([w, w], lr=0.1)
torch.optim.SGD([{'params': [w]}, {'params': [w]}], lr=0.1)
torch.optim.SGD([{'params': [w]}, w], lr=0.1)
torch.optim.SGD([w, {'params': [w]}], lr=0.1)
torch.optim.SGD([{'params': {w}}], lr=0.1)
torch.optim.SGD([{'lr': 1}], lr=0.1)
torch.optim.SGD([1.0])
torch.optim.SGD(['a'])
torch.optim.SGD(None)
torch.optim.SGD([w], lr=-1)
torch.optim.SGD([w], momentum=-1)
torch.optim.Adam([w], lr=-1)
torch.optim.Adam([w], betas=(2, 0))
torch.optim.SGD([('a', w), w])
torch.optim.SGD([h, w]) if h.retain_grad() else torch.optim.SGD([h, w])
o = torch.optim.SGD([w], lr=0.1); w.sum().backward(); o.step(); print(w._version, w)
layer.weight = w
layer.weight = h
layer.weight = 3
layer.weight = None; print(layer.weight)
layer.register_parameter('p', w)
layer.register_buffer('b', 3)
layer.register_buffer('b', x); layer.b = 3
layer.foo
Penalized(layer)
Penalized(nn.Parameter(x))
nn.Module()(1)
layer.load_state_dict({'weight': x})
s = nn.Sequential(nn.ReLU()); s.part = nn.ReLU(); s.part = 3
print(layer, nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
print(layer.weight._version, [name for name, _ in layer.named_parameters()], list(layer.state_dict()))
print(layer.double().weight.dtype, layer.weight.is_leaf)
layer(x.double())
layer(torch.ones(2, 3))
layer(torch.ones(2, 2).long())
answer = lambda g: g[0][0:1]; Wrong.apply(h).sum().backward()
answer = lambda g: torch.ones(3); Wrong.apply(h).sum().backward()
answer = lambda g: g; Wrong.apply(h, 2).sum().backward()
answer = lambda g: 3; Wrong.apply(h).sum().backward()
answer = lambda g: None; Wrong.apply(h).sum().backward(); print(w.grad)
answer = lambda g: (g, None, None); Wrong.apply(h).sum().backward(); print(w.grad)
answer = lambda g: g; y = Wrong.apply(h); print(y.grad_fn.name()); y.sum().backward(); y.sum().backward()
Forwards.apply(h).sum().backward()
Forwards()(w)
print(torch.tensor([1.0, 1000.0, 1001.0]), torch.tensor([1e-5, 1.0]), torch.tensor([0.0, 1e9]), torch.tensor(1e-5))
print(torch.tensor([float('nan'), 1.0]), torch.tensor([float('inf'), 1.5, -2]), torch.tensor([1.0, 20.0]))
torch.autograd.Function.apply(w)
Dirty.apply(w)
y = Dirty.apply(h); print(y is h, h.grad_fn.name(), h._version); y.sum().backward(); print(w.grad)
y = Viewing.apply(h); print(y._base is h, y.grad_fn.name()); y.add_(1)
y = Keeping.apply(h); y.add_(1); y.sum().backward()
y = Keeping.apply(h); y.sum().backward(); print(w.grad); y.sum().backward()
y = checkpoint(lambda t: (t * 2).exp(), w, use_reentrant=False); y.sum().backward(); y.sum().backward()
y = checkpoint(lambda t: t * 2 + 1, w, use_reentrant=False); y.sum().backward(); print(w.grad)
torch.zeros(2, 1).expand(2, 3).add_(1)
y = torch.zeros(2, 1).expand(2, 3); y[0] = 1.0
x.add_(torch.ones(3, 2, 2))
x.add_(x.t())
torch.tensor(0).add_(x.mean())
x.long().mul_(w)
x.long().add_(1.5)
x + torch.ones(3, 3)
x @ torch.ones(3, 3)
x @ torch.ones(3)
x @ x.double()
x[x]
x[5]
x[0, 0, 0]
x[torch.tensor([7])]
x[1.0]
torch.tensor(1.0)[0]
list(torch.tensor(1.0))
len(torch.tensor(1.0))
x.view(3)
x.t().view(4)
x.expand(3, 3)
x.sum(5)
x.unbind(3)
x[0, :] = torch.ones(3)
x[0] = torch.ones(2, 3)
w.fill_(w)
torch.cat([x, torch.ones(3, 3)])
torch.cat([])
torch.stack([x, torch.ones(3)])
torch.tensor([[1], [1, 2]])
torch.tensor('a')
F.cross_entropy(w, torch.tensor([0, 5]))
F.cross_entropy(w, torch.tensor([0, 1, 1]))
F.mse_loss(torch.ones(3, 1), torch.ones(3))
F.softmax(x.long(), 0)
x.long().mean()
x.bool() - x.bool()
-x.bool()
x.long() ** -1
x + 'a'
x + None
torch.mm(x, w, out=torch.zeros(2, 2))
with torch.no_grad: pass
@torch.no_grad()
def f(t): return t * 2
print(f(w).requires_grad, torch.is_grad_enabled())
print(w, h, x.long(), torch.Size([1, 2]), w.dtype, w.device, nn.Parameter(x), w.shape, x > 1, x.double())
print(f"{w.sum():.2f} {w.sum()}", w.type(), (x > 1).type(), type(h.grad_fn).__name__, w.tolist())
print(f"{x:.2f}")
print((x.long() / 2).dtype, (x > 1).sum().dtype, (x + 1).dtype, (x.long() + 1.5).dtype, (x * x.double()).dtype)
print((x.long() * True).dtype, (x * torch.tensor(2.0, dtype=torch.float64)).dtype, (x > 1).float().mean())
print(w.to('cpu') is w, w.float() is w, w.to(torch.float32) is w, w.contiguous() is w, +w is w, w.double() is w)
print(w.flatten(1) is w, x[0].flatten().is_leaf, w.reshape(2, 2) is w, w.view(2, 2).grad_fn.name())
""".strip()


def programs() -> list[str]:
    """The programs: a line each; one that goes on has its other lines right below."""
    lines: list[str] = []
    for line in PROGRAMS.splitlines():
        if lines and lines[-1].startswith("@") and not lines[-1].endswith("print"):
            lines[-1] += "\n" + line
            if line.startswith("print"):
                lines.append("")
        else:
            lines.append(line)
    return [line for line in lines if line]


def outcome(library: ModuleType, program: str) -> list[str]:
    """What a program prints, warns of and raises."""
    told: list[str] = []
    space: dict[str, Any] = {
        "torch": library,
        "nn": library.nn,
        "F": library.nn.functional,
        "checkpoint": library.utils.checkpoint.checkpoint,
        "np": np,
        "copy": copy,
        "print": lambda *parts: told.append(" ".join(map(str, parts))),
    }
    exec(BEGIN, space)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(program, space)
        except Exception as error:
            told.append(f"{type(error).__name__}: {error}")
        texts = [str(each.message) for each in caught if each.category is UserWarning]
        told += [text for text in texts if "reference cycle" not in text]  # told once in a process
    library.set_grad_enabled(True)
    return [re.sub(r" \(Triggered internally.*", "", line) for line in told]


@pytest.mark.parametrize("program", programs())
def test_tiny_says_what_torch_says(program: str) -> None:
    torch.manual_seed(0)
    assert outcome(tiny, program) == outcome(torch, program)
