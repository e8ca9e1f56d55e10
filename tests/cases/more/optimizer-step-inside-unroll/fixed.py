import torch
from torch import nn


class Env:
    def __init__(self, horizon=4):
        self.horizon = horizon

    def rollout(self, policy, state):
        for t in range(self.horizon):
            action = policy(state)
            state = state + 0.1 * action
            yield state, (state.pow(2).sum(1) + 0.01 * action.pow(2).sum(1)).mean()


torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
env = Env()
for episode in range(2):
    total = 0.0
    for state, cost in env.rollout(policy, torch.randn(8, 3)):
        total = total + cost
    opt.zero_grad()
    total.backward()
    opt.step()
    print(episode, cost.item())
