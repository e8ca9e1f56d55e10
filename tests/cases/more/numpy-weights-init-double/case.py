import numpy as np
import torch
from torch import nn


class FixedFilterBank(nn.Module):
    """Gabor filters in front of a learned classifier."""

    def __init__(self, n=4, width=9):
        super().__init__()
        t = np.linspace(-1, 1, width)
        bank = np.stack([np.exp(-4 * t**2) * np.cos(2 * np.pi * (k + 1) * t) for k in range(n)])
        self.register_buffer("bank", torch.from_numpy(bank).unsqueeze(1))
        self.clf = nn.Linear(n, 2)

    def forward(self, x):
        y = nn.functional.conv1d(x, self.bank, padding="same")
        return self.clf(y.square().mean(-1))


torch.manual_seed(0)
model = FixedFilterBank()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    x, y = torch.randn(6, 1, 40), torch.randint(0, 2, (6,))
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
