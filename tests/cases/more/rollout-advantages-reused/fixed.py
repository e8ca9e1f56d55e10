import torch
import torch.nn as nn
from torch.distributions import Categorical


class Agent(nn.Module):
    def __init__(self, obs=4, actions=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, 32), nn.Tanh())
        self.pi = nn.Linear(32, actions)
        self.v = nn.Linear(32, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


def collect(agent, steps, horizon=16):
    obs = torch.randn(horizon, 4)
    with torch.no_grad():
        dist, _ = agent(obs)
        actions = dist.sample()
        logp = dist.log_prob(actions)
    rewards = (actions == obs[:, :3].argmax(1)).float()
    returns = rewards.flip(0).cumsum(0).flip(0)
    return obs, actions, logp, returns


def update(agent, opt, batch, epochs=4, clip=0.2):
    obs, actions, old_logp, returns = batch
    with torch.no_grad():
        _, values = agent(obs)
    adv = returns - values
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(epochs):
        dist, v = agent(obs)
        ratio = (dist.log_prob(actions) - old_logp).exp()
        policy = -torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv).mean()
        loss = policy + 0.5 * (returns - v).pow(2).mean() - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


torch.manual_seed(0)
agent = Agent()
opt = torch.optim.Adam(agent.parameters(), lr=3e-4)
for it in range(3):
    print(it, update(agent, opt, collect(agent, it)))
