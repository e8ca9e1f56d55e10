import torch
from torch import nn


class GradientLogger:
    def __init__(self):
        self.norms = {}

    def watch(self, name, tensor):
        tensor.register_hook(lambda g: self.norms.setdefault(name, []).append(g.norm().item()))
        return tensor


class Model(nn.Module):
    def __init__(self, logger):
        super().__init__()
        self.logger = logger
        self.stem = nn.Linear(4, 8).requires_grad_(False)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        h = self.stem(x).relu()
        return self.logger.watch("out", self.head(h))


torch.manual_seed(0)
logger = GradientLogger()
model = Model(logger)
opt = torch.optim.SGD(model.head.parameters(), lr=0.1)
for _ in range(2):
    loss = model(torch.randn(6, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(logger.norms)
