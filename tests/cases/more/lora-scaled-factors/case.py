import torch
from torch import nn


class Adapter:
    def __init__(self, layer: nn.Linear, rank: int, alpha: float):
        self.layer = layer.requires_grad_(False)
        out_f, in_f = layer.weight.shape
        std = 1 / rank**0.5
        self.factors = {
            "A": nn.Parameter(torch.randn(rank, in_f)) * std,
            "B": nn.Parameter(torch.zeros(out_f, rank)),
        }
        self.alpha = alpha

    def __call__(self, x):
        delta = x @ self.factors["A"].t() @ self.factors["B"].t()
        return self.layer(x) + self.alpha * delta


def trainable(*adapters):
    for a in adapters:
        yield from a.factors.values()


torch.manual_seed(0)
base = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 4))
one, two = Adapter(base[0], 2, 1.0), Adapter(base[2], 2, 1.0)
optimizer = torch.optim.Adam(trainable(one, two), lr=1e-2)
x, y = torch.randn(64, 10), torch.randint(0, 4, (64,))
for step in range(10):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(two(one(x).relu()), y)
    loss.backward()
    optimizer.step()
print("final", loss.item())
