import copy
import torch
from torch import nn
from torch.func import functional_call, grad, vmap


def fast_weights(model, x, y, lr, steps=2):
    params = {k: v.detach().clone().requires_grad_() for k, v in model.named_parameters()}
    for _ in range(steps):
        loss = nn.functional.mse_loss(functional_call(model, params, (x,)), y)
        grads = torch.autograd.grad(loss, tuple(params.values()))
        params = {k: (p - lr * g).detach().requires_grad_() for (k, p), g in zip(params.items(), grads)}
    return params


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
meta = torch.optim.SGD(model.parameters(), lr=0.05)
backup = copy.deepcopy(model)
for it in range(3):
    x = torch.rand(10, 1) * 4
    y = torch.sin(x + it)
    fast = fast_weights(model, x, y, lr=0.01)
    loss = nn.functional.mse_loss(functional_call(model, fast, (x,)), y)
    loss.backward()
    meta.zero_grad()
    for p, q in zip(model.parameters(), fast.values()):
        p.grad = q.grad.clone()
    meta.step()
single = vmap(grad(lambda w, s: (w * s).sum()), in_dims=(None, 0))(torch.ones(2), torch.randn(4, 2))
print(loss.item(), single.shape, sum((a - b).abs().sum() for a, b in zip(model.parameters(), backup.parameters())).item())
