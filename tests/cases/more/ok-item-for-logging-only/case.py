import torch
from torch import nn


class EMA:
    def __init__(self, beta=0.9):
        self.beta, self.value = beta, None

    def update(self, x: float) -> float:
        self.value = x if self.value is None else self.beta * self.value + (1 - self.beta) * x
        return self.value


def focal(logits, y, gamma=2.0):
    p = logits.softmax(-1)
    with torch.no_grad():
        hard = p.argmax(-1).ne(y)
    weight = (1 - p.gather(1, y[:, None]).squeeze(1)).pow(gamma)
    ce = nn.functional.cross_entropy(logits, y, reduction="none")
    return (weight * ce).mean(), hard.float().mean().item()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 12), nn.ELU(), nn.Linear(12, 3))
opt = torch.optim.NAdam(net.parameters(), lr=1e-2)
avg, err = EMA(), EMA()
for step in range(8):
    x = torch.randn(40, 5)
    y = x[:, :3].argmax(1)
    loss, wrong = focal(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, avg.update(loss.item()), err.update(wrong))
