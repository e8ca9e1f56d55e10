import dataclasses
import math

import torch
from torch import nn, optim
from torch.distributions import Normal


@dataclasses.dataclass(frozen=True)
class SacConfig:
    obs: int = 3
    act: int = 1
    lr: float = 3e-4
    init_alpha: float = 0.2


class Actor(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.net = nn.Linear(cfg.obs, 2 * cfg.act)

    def forward(self, obs):
        mean, log_std = self.net(obs).chunk(2, -1)
        dist = Normal(mean, log_std.clamp(-5, 2).exp())
        u = dist.rsample()
        return u.tanh(), (dist.log_prob(u) - torch.log(1 - u.tanh().pow(2) + 1e-6)).sum(-1)


class SAC:
    def __init__(self, cfg):
        self.actor = Actor(cfg)
        self.log_alpha = torch.tensor(max(math.log(cfg.init_alpha), -10.0), requires_grad=True)
        self.target_entropy = -cfg.act
        self.actor_opt = optim.Adam(self.actor.parameters(), lr=cfg.lr)
        self.alpha_opt = optim.Adam([self.log_alpha], lr=cfg.lr)

    def update(self, obs):
        action, logp = self.actor(obs)
        actor_loss = (self.log_alpha.exp().detach() * logp + action.pow(2).sum(-1)).mean()
        alpha_loss = -(self.log_alpha * (logp.detach() + self.target_entropy)).mean()
        for opt, loss in ((self.actor_opt, actor_loss), (self.alpha_opt, alpha_loss)):
            opt.zero_grad()
            loss.backward()
            opt.step()
        return self.log_alpha.item()


torch.manual_seed(0)
agent = SAC(SacConfig())
print([agent.update(torch.randn(16, 3)) for _ in range(3)])
