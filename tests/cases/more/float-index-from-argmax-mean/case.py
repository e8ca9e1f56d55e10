import torch
from torch import nn


def centre_frame(mask):
    position = torch.arange(mask.shape[1]).float()
    return (mask * position).sum(1) / mask.sum(1).clamp(min=1)


class Pooler(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.conv = nn.Conv1d(d, d, 3, padding=1)

    def forward(self, x, mask):
        h = self.conv(x.transpose(1, 2)).transpose(1, 2)
        index = centre_frame(mask).round()
        return h[torch.arange(len(h)), index]


torch.manual_seed(0)
pool, head = Pooler(4), nn.Linear(4, 2)
opt = torch.optim.SGD([*pool.parameters(), *head.parameters()], lr=0.1)
x = torch.randn(3, 7, 4)
mask = torch.tensor([[1.0] * n + [0.0] * (7 - n) for n in (7, 4, 2)])
loss = head(pool(x, mask)).logsumexp(1).mean()
opt.zero_grad()
loss.backward()
opt.step()
