import functools
import time

import torch
from torch import nn


def timed(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        start = time.perf_counter()
        with torch.no_grad():
            result = fn(*args, **kwargs)
        wrapper.seconds += time.perf_counter() - start
        return result

    wrapper.seconds = 0.0
    return wrapper


@timed
def forward(model, x):
    return model(x)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(model.parameters())
for _ in range(3):
    x = torch.randn(16, 4)
    loss = (forward(model, x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(forward.seconds > 0)
