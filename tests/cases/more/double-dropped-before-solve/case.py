import torch
from torch import nn


class LinearDynamics(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.A = nn.Parameter(-torch.eye(n) + 0.1 * torch.randn(n, n))

    def forward(self, x):
        return x @ self.A.t()


def rk4(f, x, h):
    k1 = f(x)
    k2 = f(x + h / 2 * k1)
    k3 = f(x + h / 2 * k2)
    k4 = f(x + h * k3)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


torch.manual_seed(0)
dyn = LinearDynamics(3)
x = torch.randn(8, 3, dtype=torch.float64)
x.float()
truth = torch.matrix_exp(-0.1 * torch.eye(3))
opt = torch.optim.Rprop(dyn.parameters())
for i in range(10):
    opt.zero_grad()
    loss = (rk4(dyn, x, 0.1) - x.float() @ truth).pow(2).sum()
    loss.backward()
    opt.step()
print(loss.item())
