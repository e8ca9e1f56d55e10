import torch
import torch.nn as nn


def mlp(*sizes):
    parts = []
    for i in range(len(sizes) - 1):
        parts.append(nn.Linear(sizes[i], sizes[i + 1]))
        parts.append(nn.Tanh())
    return nn.Sequential(*parts[:-1])


def derivative(y, x, order=1):
    for _ in range(order):
        y, = torch.autograd.grad(y.sum(), x, retain_graph=True)
    return y


class Heat:
    def __init__(self, alpha=0.1):
        self.alpha = alpha

    def __call__(self, u, x, t):
        return derivative(u, t) - self.alpha * derivative(u, x, order=2)


torch.manual_seed(0)
net, pde = mlp(2, 16, 16, 1), Heat()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(3):
    x, t = (torch.rand(50, 1, requires_grad=True) for _ in range(2))
    u = net(torch.cat([x, t], dim=1))
    loss = pde(u, x, t).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
