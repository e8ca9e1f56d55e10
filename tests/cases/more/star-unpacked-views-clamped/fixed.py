import torch
from torch import nn


def to_corners(box, size):
    cx, cy, w, h = box.unbind(-1)
    x0, y0 = cx - w / 2, cy - h / 2
    w, h = w.clamp(min=1e-3), h.clamp(min=1e-3)
    return torch.stack([x0, y0, x0 + w, y0 + h], dim=-1) * size


class BoxHead(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(d, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, x, size=32):
        return to_corners(self.mlp(x).sigmoid(), size)


torch.manual_seed(0)
head = BoxHead(6)
opt = torch.optim.SGD(head.parameters(), lr=1e-3)
target = torch.tensor([4.0, 4.0, 20.0, 20.0])
loss = nn.functional.l1_loss(head(torch.randn(5, 6)), target.expand(5, 4))
opt.zero_grad()
loss.backward()
opt.step()
