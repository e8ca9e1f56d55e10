import torch
from torch import nn

cfg = {"device": "cpu", "dtype": torch.float32, "lr": 0.1, "shape": (3, 2)}


def learnable(shape, device, dtype):
    return nn.Parameter(torch.zeros(shape, dtype=dtype)).to(device=device, dtype=dtype)


offsets = learnable(cfg["shape"], cfg["device"], cfg["dtype"])
gains = torch.ones(cfg["shape"], dtype=torch.float64).float().requires_grad_()
frozen = torch.ones(cfg["shape"], requires_grad=True).detach().to(cfg["dtype"]).requires_grad_(True)
opt = torch.optim.SGD([offsets, gains, frozen], lr=cfg["lr"], momentum=0.5)
target = torch.arange(6.0).view(3, 2)
for _ in range(30):
    opt.zero_grad()
    ((offsets + gains * frozen - target) ** 2).sum().backward()
    opt.step()
print(offsets, gains)
