from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Spec:
    n_in: int
    n_out: int
    width: int = 8


class Policy(nn.Module):
    def __init__(self, spec: Spec):
        self.spec = spec
        self.net = nn.Sequential(nn.Linear(spec.n_in, spec.width), nn.Tanh(), nn.Linear(spec.width, spec.n_out))
        super().__init__()
        self.log_std = nn.Parameter(torch.zeros(spec.n_out))

    def forward(self, obs):
        return torch.distributions.Normal(self.net(obs), self.log_std.exp())


policy = Policy(Spec(3, 2))
opt = torch.optim.Adam(policy.parameters())
loss = -policy(torch.randn(5, 3)).log_prob(torch.zeros(5, 2)).mean()
loss.backward()
opt.step()
