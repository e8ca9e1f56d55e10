import torch
from torch import nn
from torch.autograd import grad


class PINN(nn.Module):
    def __init__(self, width=20, depth=2):
        super().__init__()
        dims = [1] + [width] * depth + [1]
        layers = []
        for a, b in zip(dims[:-1], dims[1:]):
            layers += [nn.Linear(a, b), nn.Tanh()]
        self.net = nn.Sequential(*layers[:-1])

    def forward(self, t):
        return self.net(t)


def residual(model, t, omega=2.0):
    u = model(t)
    du = grad(u.sum(), t, create_graph=True)[0]
    ddu = grad(du.sum(), t, create_graph=True)[0]
    return ddu + omega**2 * u


torch.manual_seed(0)
model = PINN()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
t = torch.linspace(0, 1, 30).reshape(-1, 1).requires_grad_(True)
t0 = torch.zeros(1, 1)
for step in range(5):
    opt.zero_grad()
    loss = residual(model, t).pow(2).mean() + (model(t0) - 1).pow(2).sum()
    loss.backward()
    opt.step()
print(loss.item())
