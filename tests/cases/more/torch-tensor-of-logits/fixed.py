import torch
import torch.nn as nn
from torch.distributions import Categorical


class Bandit:
    def __init__(self, arms=4):
        self.means = torch.linspace(0, 1, arms)

    def pull(self, arm):
        return (self.means[arm] + 0.1 * torch.randn(())).item()


class Policy(nn.Module):
    def __init__(self, arms):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(arms))

    def act(self):
        dist = Categorical(logits=self.logits)
        a = dist.sample()
        return a.item(), dist.log_prob(a)


torch.manual_seed(0)
bandit, policy = Bandit(), Policy(4)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.1)
baseline = 0.0
for episode in range(10):
    log_probs, rewards = [], []
    for _ in range(8):
        arm, lp = policy.act()
        rewards.append(bandit.pull(arm))
        log_probs.append(lp)
    R = torch.tensor(rewards)
    loss = -(torch.stack(log_probs) * (R - baseline)).mean()
    baseline = 0.9 * baseline + 0.1 * R.mean().item()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(policy.logits.softmax(0))
