from collections import defaultdict

import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.trunk = nn.Linear(9, 16)
        self.heads = nn.ModuleDict({name: nn.Linear(16, d) for name, d in dims.items()})

    def forward(self, x):
        h = torch.tanh(self.trunk(x))
        return {name: head(h) for name, head in self.heads.items()}


def combined(losses, weights):
    names = sorted(losses)
    values = torch.as_tensor([float(losses[n]) for n in names])
    return (values * torch.tensor([weights[n] for n in names])).sum()


dims = {"age": 1, "income": 1, "region": 4}
torch.manual_seed(0)
model = MultiTask(dims)
opt = torch.optim.Adam(model.parameters())
log = defaultdict(list)
for _ in range(3):
    x = torch.randn(20, 9)
    out = model(x)
    losses = {
        "age": nn.functional.mse_loss(out["age"], x[:, :1]),
        "income": nn.functional.l1_loss(out["income"], x[:, 1:2].exp()),
        "region": nn.functional.cross_entropy(out["region"], x[:, 2:6].argmax(1)),
    }
    total = combined(losses, {"age": 1.0, "income": 0.1, "region": 0.5})
    opt.zero_grad()
    total.backward()
    opt.step()
    for k, v in losses.items():
        log[k].append(v.item())
print({k: sum(v) / len(v) for k, v in log.items()})
