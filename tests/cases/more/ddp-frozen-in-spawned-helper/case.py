import tempfile
from contextlib import contextmanager

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


@contextmanager
def process_group(rank=0, world=1):
    dist.init_process_group("gloo", init_method="file://" + tempfile.mktemp(), rank=rank, world_size=world)
    try:
        yield
    finally:
        dist.destroy_process_group()


class RandomFeatures(nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.w = nn.Parameter(torch.randn(d, k), requires_grad=False)

    def forward(self, x):
        return (x @ self.w).cos()


def wrap_all(**nets):
    return {name: DistributedDataParallel(net) for name, net in nets.items()}


with process_group():
    torch.manual_seed(0)
    nets = wrap_all(student=nn.Linear(4, 6), target=RandomFeatures(4, 6))
    opt = torch.optim.SGD(nets["student"].parameters(), lr=0.1)
    x = torch.randn(8, 4)
    loss = (nets["student"](x) - nets["target"](x)).pow(2).mean()
    loss.backward()
    opt.step()
