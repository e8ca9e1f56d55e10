import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, d=2, h=10):
        super().__init__()
        self.h = h
        self.cell = nn.GRUCell(d, h)
        self.out = nn.Linear(h, d)

    def rollout(self, window, hidden):
        preds = []
        for x in window:
            hidden = self.cell(x, hidden)
            preds.append(self.out(hidden))
        return torch.stack(preds), hidden

    def initial(self, batch):
        return torch.zeros(batch, self.h)


def stream(n, length, batch=4):
    for _ in range(n):
        yield torch.randn(length + 1, batch, 2).cumsum(0)


torch.manual_seed(0)
model = Forecaster()
opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
hidden = model.initial(4)
for window in stream(6, length=5):
    pred, hidden = model.rollout(window[:-1], hidden)
    loss = nn.functional.smooth_l1_loss(pred, window[1:])
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    opt.step()
print(loss.item())
