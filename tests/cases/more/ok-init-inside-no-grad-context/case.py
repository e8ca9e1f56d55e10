import math
import torch
from torch import nn


def siren_init(layer, first, w0=30.0):
    n = layer.in_features
    bound = 1 / n if first else math.sqrt(6 / n) / w0
    with torch.no_grad():
        layer.weight.uniform_(-bound, bound)
        layer.bias[:] = 0
    nn.init.normal_(layer.bias, std=1e-3)
    layer.bias.data.mul_(2)
    return layer


class Siren(nn.Module):
    def __init__(self, sizes, w0=30.0):
        super().__init__()
        self.w0 = w0
        self.layers = nn.ModuleList(siren_init(nn.Linear(a, b), i == 0) for i, (a, b) in enumerate(zip(sizes, sizes[1:])))

    def forward(self, x):
        *hidden, last = self.layers
        for layer in hidden:
            x = layer(x)
            x *= self.w0
            x = x.sin()
        return last(x)


torch.manual_seed(0)
net = Siren([1, 32, 32, 1])
opt = torch.optim.Adam(net.parameters(), lr=1e-4)
t = torch.linspace(-1, 1, 64).unsqueeze(1)
for _ in range(3):
    loss = (net(t) - t.abs()).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
