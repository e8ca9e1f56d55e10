import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr=0.05, decay=1e-3):
        self.model, self.lr, self.decay = model, lr, decay

    def shrink(self):
        for name, p in self.model.named_parameters():
            if name.endswith("weight"):
                p.mul_(1 - self.decay)

    def fit(self, x, y, epochs):
        for epoch in range(epochs):
            loss = nn.functional.binary_cross_entropy_with_logits(self.model(x), y)
            self.model.zero_grad()
            loss.backward()
            self.descend()
            self.shrink()
        return loss.item()

    @torch.no_grad()
    def descend(self):
        for p in self.model.parameters():
            p -= self.lr * p.grad


torch.manual_seed(0)
x = torch.randn(100, 3)
y = (x.sum(1, keepdim=True) > 0).float()
print(Trainer(nn.Sequential(nn.Linear(3, 8), nn.SiLU(), nn.Linear(8, 1))).fit(x, y, 20))
