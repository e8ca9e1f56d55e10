import torch
from torch import nn


class Rollout(nn.Module):
    def __init__(self, d=2, hidden=8):
        super().__init__()
        self.cell = nn.GRUCell(d, hidden)
        self.head = nn.Linear(hidden, d)

    def forward(self, first, steps):
        out = first.new_zeros(steps, *first.shape)
        h = first.new_zeros(len(first), self.cell.hidden_size)
        x = first
        for t in range(steps):
            h = self.cell(x, h)
            out[t] = self.head(h)
            x = out[t]
        return out


torch.manual_seed(0)
net = Rollout()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(2):
    x0 = torch.randn(5, 2)
    path = net(x0, 4)
    loss = (path[-1] - x0.flip(1)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
