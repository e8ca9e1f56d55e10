from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, optim


@dataclass
class Splats:
    centre: Tensor
    log_scale: Tensor
    opacity: Tensor

    @classmethod
    def init(cls, n: int) -> Splats:
        centre = torch.rand(n, 2, requires_grad=True)
        log_scale = torch.full((n,), -2.0, requires_grad=True)
        opacity = torch.logit(torch.full((n,), 0.1)).requires_grad_()
        return cls(centre, log_scale, opacity)

    def render(self, grid: Tensor) -> Tensor:
        d2 = (grid[:, None] - self.centre).square().sum(-1)
        w = torch.exp(-0.5 * d2 / self.log_scale.exp().square())
        return (w * self.opacity.sigmoid()).sum(-1)


def fit(splats: Splats, target: Tensor, grid: Tensor, steps: int = 20) -> float:
    opt = optim.Adam([
        {"params": [splats.centre], "lr": 1e-2},
        {"params": [splats.log_scale], "lr": 5e-3},
        {"params": [splats.opacity], "lr": 5e-2},
    ])
    for _ in range(steps):
        opt.zero_grad()
        loss = (splats.render(grid) - target).abs().mean()
        loss.backward()
        opt.step()
    return float(loss)


if __name__ == "__main__":
    torch.manual_seed(3)
    axis = torch.linspace(0, 1, 12)
    grid = torch.cartesian_prod(axis, axis)
    target = (grid - 0.5).norm(dim=1).lt(0.3).float()
    print(fit(Splats.init(10), target, grid))
