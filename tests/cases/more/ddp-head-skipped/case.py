import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(7, 12)
        self.main = nn.Linear(12, 3)
        self.aux = nn.Linear(12, 3)

    def forward(self, x):
        h = self.body(x).relu()
        return self.main(h)


def setup():
    path = os.path.join(tempfile.mkdtemp(), "store")
    dist.init_process_group("gloo", init_method=f"file://{path}", rank=0, world_size=1)


def train(steps=3):
    torch.manual_seed(0)
    model = DistributedDataParallel(Net())
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        x, y = torch.randn(9, 7), torch.randint(0, 3, (9,))
        out = model(x)
        loss = nn.functional.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()


setup()
try:
    train()
finally:
    dist.destroy_process_group()
