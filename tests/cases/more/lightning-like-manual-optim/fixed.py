import torch
from torch import nn


class Module(nn.Module):
    def optimizers(self):
        return self._optimizers

    def toggle(self, name):
        for child_name, child in self.named_children():
            child.requires_grad_(child_name == name)

    def untoggle(self):
        self.requires_grad_(True)


class CycleStep(Module):
    def __init__(self, d=4):
        super().__init__()
        self.f, self.g = nn.Linear(d, d), nn.Linear(d, d)
        self._optimizers = {k: torch.optim.Adam(m.parameters(), 1e-2) for k, m in self.named_children()}

    def training_step(self, x):
        for name, opt in self.optimizers().items():
            self.toggle(name)
            net = getattr(self, name)
            loss = (net(x) - x.flip(1)).abs().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            self.untoggle()
        return loss.detach()


class Trainer:
    def __init__(self, max_steps):
        self.max_steps = max_steps

    def fit(self, module):
        module.train()
        return [module.training_step(torch.randn(8, 4)) for _ in range(self.max_steps)]


torch.manual_seed(0)
print(Trainer(max_steps=3).fit(CycleStep()))
