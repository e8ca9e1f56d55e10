from dataclasses import dataclass, field

import torch
from torch import nn, Tensor


@dataclass
class Config:
    d_in: int = 3
    d_state: int = 5
    seq_len: int = 12
    lrs: tuple = field(default_factory=lambda: (1e-2, 1e-3))


class DiagonalSSM(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.log_decay = nn.Parameter(torch.randn(cfg.d_state))
        self.b = nn.Linear(cfg.d_in, cfg.d_state, bias=False)
        self.c = nn.Linear(cfg.d_state, 1, bias=False)

    def forward(self, u: Tensor) -> Tensor:
        decay = torch.exp(-self.log_decay.exp())
        state = torch.zeros(u.shape[0], len(decay))
        ys = []
        for t in range(u.shape[1]):
            state = state * decay + self.b(u[:, t])
            ys.append(self.c(state))
        return torch.cat(ys, dim=1)


torch.manual_seed(0)
cfg = Config()
model = DiagonalSSM(cfg)
for lr in cfg.lrs:
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    u = torch.randn(8, cfg.seq_len, cfg.d_in)
    loss = (model(u) - u.cumsum(1)[..., 0]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
