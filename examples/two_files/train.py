"""Train a spiral classifier. The report at the end is written by `report.py`, which uses `predict` from here."""

import math

import report
import torch
import torch.nn as nn
import torch.nn.functional as F


class SpiralNet(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.fc1 = nn.Linear(2, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 2)

    def forward(self, x):
        x = torch.sin(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.out(x)


def spirals(n, noise=0.1):
    """Two spirals that wind around each other."""
    label = torch.arange(n) % 2
    angle = torch.rand(n).sqrt() * 3 * math.pi
    radius = angle / (3 * math.pi) * (1.0 - 2.0 * label)
    points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)
    return points + noise * torch.randn(n, 2) / 4, label


def predict(model, points):
    """The probability of the second spiral for each point."""
    model.eval()
    logits = model(points)
    return torch.softmax(logits, dim=1)[:, 1]


def train(model, epochs=60):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    points, labels = spirals(256)
    for epoch in range(epochs):
        model.train()
        loss = F.cross_entropy(model(points), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 20 == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f}")
    return model


def main():
    torch.manual_seed(12)
    model = train(SpiralNet())
    points, labels = spirals(100)
    for line in report.lines(model, points, labels):
        print(line)


if __name__ == "__main__":
    main()
