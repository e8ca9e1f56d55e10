import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize


class Skew(nn.Module):
    def forward(self, x):
        return x.triu(1) - x.triu(1).transpose(-1, -2)


class Rotation(nn.Module):
    def forward(self, x):
        return torch.linalg.matrix_exp(x)


torch.manual_seed(0)
layer = nn.Linear(3, 3, bias=False)
parametrize.register_parametrization(layer, "weight", Skew())
parametrize.register_parametrization(layer, "weight", Rotation())
norm = parametrizations.weight_norm(nn.Linear(3, 3))
opt = torch.optim.Adam([{"params": layer.parameters()}, {"params": norm.parameters(), "lr": 1e-3}], lr=0.1)
x = torch.randn(20, 3)
with parametrize.cached():
    y = x @ layer.weight.detach().t().flip(0)
for _ in range(5):
    opt.zero_grad()
    loss = (norm(layer(x)) - y).pow(2).mean()
    loss.backward()
    opt.step()
print(loss.item(), torch.dist(layer.weight @ layer.weight.t(), torch.eye(3)).item())
