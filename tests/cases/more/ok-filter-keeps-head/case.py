import itertools
import torch
from torch import nn


class Hydra(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 12), nn.Mish())
        self.heads = nn.ModuleList([nn.Linear(12, k) for k in tasks])

    def forward(self, x, task):
        return self.heads[task](self.body(x))


torch.manual_seed(0)
model = Hydra([2, 3])
for name, p in model.named_parameters():
    if name.startswith("body"):
        p.requires_grad = False
params = filter(lambda p: p.requires_grad, model.parameters())
first = next(params)
opt = torch.optim.Adam(itertools.chain([first], params), lr=1e-2)
for step in range(6):
    task = step % 2
    x = torch.randn(10, 6)
    y = torch.randint(0, task + 2, (10,))
    loss = nn.functional.cross_entropy(model(x, task), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(sum(len(g["params"]) for g in opt.param_groups))
