import enum

import torch
from torch import nn


class Mode(enum.Enum):
    FULL = "full"
    HEAD = "head"
    PROBE = "probe"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(6, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(torch.relu(self.backbone(x)))

    def set_mode(self, mode):
        match mode:
            case Mode.FULL:
                self.requires_grad_(True)
            case Mode.HEAD:
                self.backbone.requires_grad_(False)
            case _:
                self.requires_grad_(False)
        return self


torch.manual_seed(0)
net = Net().set_mode(Mode.HEAD)
opt = torch.optim.SGD(net.head.parameters(), lr=0.1)
x, y = torch.randn(10, 6), torch.randint(0, 2, (10,))
loss = nn.functional.cross_entropy(net(x), y)
opt.zero_grad()
loss.backward()
opt.step()
