import torch
from torch import nn


def averager(beta=0.5):
    value = None
    while True:
        new = yield value
        value = new if value is None else beta * value + (1 - beta) * new


def grouped(*models, **lrs):
    return [{"params": m.parameters(), "lr": lrs.get(type(m).__name__, 1e-2)} for m in models]


torch.manual_seed(0)
enc, dec = nn.GRU(3, 5, batch_first=True), nn.Linear(5, 3)
opt = torch.optim.Adam(grouped(enc, dec, Linear=1e-3))
smooth = averager()
next(smooth)
state = None
for step in range(6):
    x = torch.randn(2, 4, 3)
    h, state = enc(x, state)
    loss = (dec(h)[:, :-1] - x[:, 1:]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    state = state.detach()
    print(step, smooth.send(loss.item()))
