import torch
from torch import nn


class TwoTower(nn.Module):
    def __init__(self, d=5, tie=True):
        super().__init__()
        self.query = nn.Linear(d, 4)
        self.item = nn.Linear(d, 4)
        self.tie = tie

    def forward(self, q, i):
        other = self.query if self.tie else self.item
        return (self.query(q) * other(i)).sum(-1)


def per_sample_grads(model, q, i, y):
    params = [p for p in model.parameters() if p.requires_grad]
    rows = []
    for a, b, t in zip(q, i, y):
        loss = nn.functional.binary_cross_entropy_with_logits(model(a, b), t)
        grads = torch.autograd.grad(loss, params)
        rows.append(torch.cat([g.flatten() for g in grads]))
    return torch.stack(rows)


torch.manual_seed(0)
model = TwoTower()
g = per_sample_grads(model, torch.randn(6, 5), torch.randn(6, 5), torch.rand(6).round())
print((g @ g.t()).diagonal())
