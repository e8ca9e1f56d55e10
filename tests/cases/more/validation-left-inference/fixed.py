import torch
from torch import nn, optim


class Runner:
    def __init__(self, model):
        self.model = model
        self.opt = optim.SGD(model.parameters(), lr=0.1)
        self.best = float("inf")

    def validate(self, x, y):
        self.model.eval()
        torch.set_grad_enabled(False)
        try:
            loss = nn.functional.mse_loss(self.model(x), y).item()
        finally:
            self.model.train()
            torch.set_grad_enabled(True)
        self.best = min(self.best, loss)
        return loss

    def train_one(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


torch.manual_seed(0)
runner = Runner(nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)))
x = torch.rand(30, 2)
y = x.prod(1, keepdim=True)
for epoch in range(3):
    train_loss = runner.train_one(x[:20], y[:20])
    val_loss = runner.validate(x[20:], y[20:])
    print(epoch, train_loss, val_loss, runner.best)
