import torch
from torch import nn


class Ensemble(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.trunk = nn.Linear(5, 7)
        self.members = nn.ModuleList([nn.Linear(7, 1) for _ in range(k)])

    def forward(self, x):
        h = self.trunk(x).sin()
        return [m(h) for m in self.members]


torch.manual_seed(0)
net = Ensemble(3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(12, 5)
target = x.norm(dim=1, keepdim=True)
opt.zero_grad()
losses = [(out - target).pow(2).mean() for out in net(x)]
torch.autograd.backward(losses)
opt.step()
