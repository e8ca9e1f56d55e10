import copy
import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self, d=8, k=3):
        super().__init__()
        self.enc, self.dec = nn.Linear(d, k), nn.Linear(k, d)
        self.code = None

    def forward(self, x):
        self.code = self.enc(x).relu()
        return self.dec(self.code)


class EarlyStopping:
    def __init__(self, patience=3):
        self.patience, self.bad, self.best, self.model = patience, 0, float("inf"), None

    def __call__(self, value, model):
        if value < self.best:
            self.best, self.bad = value, 0
            self.model = copy.deepcopy(model)
        else:
            self.bad += 1
        return self.bad >= self.patience


torch.manual_seed(0)
ae, stopper = Autoencoder(), EarlyStopping()
opt = torch.optim.Adam(ae.parameters(), lr=0.01)
x = torch.randn(60, 3) @ torch.randn(3, 8)
for epoch in range(20):
    loss = (ae(x) - x).pow(2).mean() + 1e-3 * ae.code.abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if stopper(loss.item(), ae):
        break
print(epoch, stopper.best)
