import torch
from torch import nn


class Tracker:
    def __init__(self):
        self.log = {}

    def __call__(self, name):
        return lambda grad: self.log.setdefault(name, []).append(grad.abs().max().item())


torch.manual_seed(0)
track = Tracker()
cls = nn.Parameter(torch.zeros(1, 1, 6))
proj, head = nn.Linear(4, 6), nn.Linear(6, 2)
opt = torch.optim.SGD([cls, *proj.parameters(), *head.parameters()], lr=0.1)
cls.register_hook(track("cls"))
scratch = torch.empty(5, 4)
for step in range(3):
    x = torch.randn(5, 3, 4)
    torch.mean(x, dim=1, out=scratch)
    tokens = torch.cat([cls.expand(len(x), -1, -1), proj(x)], dim=1)
    tokens.retain_grad()
    tokens.register_hook(track("tokens"))
    shift = scratch.mean(1, keepdim=True).expand(-1, 2).clone()
    shift += 1
    logits = head(tokens[:, 0]) + shift
    loss = nn.functional.cross_entropy(logits, torch.tensor([0, 1, 1, 0, 1]))
    opt.zero_grad()
    loss.backward()
    opt.step()
    track.log.setdefault("norm", []).append(tokens.grad.norm().item())
print({k: len(v) for k, v in track.log.items()})
