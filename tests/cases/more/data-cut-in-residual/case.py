import torch
from torch import nn


class Corrector(nn.Module):
    def __init__(self, base, d=3):
        super().__init__()
        self.base = base
        self.gate = torch.zeros(d)

    def forward(self, x):
        first = self.base(x).data
        return first * (1 - self.gate) + self.gate * x


torch.manual_seed(0)
model = Corrector(nn.Linear(3, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(10, 3)
for _ in range(3):
    loss = (model(x) - 2 * x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
