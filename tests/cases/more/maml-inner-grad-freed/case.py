import torch
from torch import nn
from torch.func import functional_call


def sine_task():
    amp, phase = torch.rand(1) * 4 + 0.1, torch.rand(1) * 3.1
    return lambda n: (lambda x: (x, amp * torch.sin(x + phase)))(torch.rand(n, 1) * 10 - 5)


def adapt(model, params, x, y, lr=0.01):
    loss = nn.functional.mse_loss(functional_call(model, params, (x,)), y)
    grads = torch.autograd.grad(loss, list(params.values()))
    fast = {k: p - lr * g for (k, p), g in zip(params.items(), grads)}
    return fast, loss


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 20), nn.ReLU(), nn.Linear(20, 1))
meta = torch.optim.Adam(model.parameters(), lr=1e-3)
for it in range(4):
    meta.zero_grad()
    total = 0.0
    for _ in range(3):
        task = sine_task()
        fast, support_loss = adapt(model, dict(model.named_parameters()), *task(10))
        x, y = task(10)
        total = total + nn.functional.mse_loss(functional_call(model, fast, (x,)), y) + 0.1 * support_loss
    (total / 3).backward()
    meta.step()
print(float(total))
