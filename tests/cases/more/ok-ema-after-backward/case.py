import copy
from contextlib import contextmanager

import torch
from torch import nn


class Averaged:
    def __init__(self, model, beta=0.9):
        self.model, self.beta = model, beta
        self.shadow = {k: v.detach().clone() for k, v in model.state_dict().items()}

    def update(self):
        for k, v in self.model.state_dict().items():
            self.shadow[k].mul_(self.beta).add_(v, alpha=1 - self.beta)

    @contextmanager
    def applied(self):
        backup = copy.deepcopy(self.model.state_dict())
        self.model.load_state_dict(self.shadow)
        try:
            yield self.model
        finally:
            self.model.load_state_dict(backup)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
avg = Averaged(model)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(64, 4)
y = x.pow(2).sum(1, keepdim=True)
for epoch in range(5):
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    avg.shadow.pop("1.num_batches_tracked", None) if epoch == 99 else None
    for k in avg.shadow:
        avg.shadow[k] = avg.shadow[k].float()
    avg.update()
with torch.no_grad(), avg.applied() as m:
    m.eval()
    print(nn.functional.mse_loss(m(x), y).item())
