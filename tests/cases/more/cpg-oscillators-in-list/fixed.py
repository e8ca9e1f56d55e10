import torch
from torch.optim import RMSprop

N, T = 4, 40


def simulate(freqs, phases, t):
    return torch.stack([torch.sin(f * t + p) for f, p in zip(freqs, phases)]).mean(0)


class Gait:
    def __init__(self):
        table = torch.rand(2, N)
        self.freqs, self.phases = (row.clone().requires_grad_() for row in table)

    def parameters(self):
        return [self.freqs, self.phases]


torch.manual_seed(2)
t = torch.linspace(0, 6, T)
goal = torch.sin(2 * t).clamp(-0.5, 0.5)
gait = Gait()
opt = RMSprop(gait.parameters(), lr=0.02)
best = float("inf")
while best > 0.05:
    err = (simulate(gait.freqs, gait.phases, t) - goal).square().mean()
    opt.zero_grad()
    err.backward()
    opt.step()
    if err.item() >= best:
        break
    best = err.item()
print(best)
