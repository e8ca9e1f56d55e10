from typing import NamedTuple

import torch
from torch import nn


class Batch(NamedTuple):
    obs: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    next_obs: torch.Tensor


class Ensemble(nn.Module):
    def __init__(self, n, obs, actions):
        super().__init__()
        self.members = nn.ModuleList(nn.Linear(obs, actions) for _ in range(n))

    def forward(self, obs):
        return torch.stack([m(obs) for m in self.members])


def td_errors(q, target, batch, gamma=0.9):
    with torch.no_grad():
        best = target(batch.next_obs).max(dim=-1).values
        backup = batch.reward + gamma * best
    chosen = q(batch.obs).gather(-1, batch.action.expand(3, -1).unsqueeze(-1)).squeeze(-1)
    return (chosen - backup).pow(2).mean(dim=1)


torch.manual_seed(0)
q, target = Ensemble(3, 4, 2), Ensemble(3, 4, 2)
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
for step in range(3):
    batch = Batch(torch.randn(16, 4), torch.randint(0, 2, (16,)), torch.rand(16), torch.randn(16, 4))
    losses = td_errors(q, target, batch)
    opt.zero_grad()
    losses.backward()
    opt.step()
    print(losses.tolist())
