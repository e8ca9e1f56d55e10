import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


class Meter:
    def __init__(self, name, window=8):
        self.name, self.window, self.values = name, window, []

    def push(self, value):
        self.values.append(value)

    @property
    def smoothed(self):
        return np.mean(self.values[-self.window:])

    def __str__(self):
        return f"{self.name}: {self.smoothed:.4f}"


def run_epoch(model, loader, criterion, optimizer, meter):
    model.train()
    for xb, yb in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        meter.push(loss)
    return meter


if __name__ == "__main__":
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(64, 5), torch.randn(64, 1))
    model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
    opt = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    meter = Meter("mse")
    for epoch in range(3):
        print(epoch, run_epoch(model, DataLoader(data, 16, shuffle=True), nn.MSELoss(), opt, meter))
