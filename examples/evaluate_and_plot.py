"""Train a small regression network, then evaluate it and plot prediction and error.

Needs matplotlib beside torch. The picture is written to a temporary folder.
"""

import os
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
import torch.nn as nn


class MLP(nn.Module):
    def __init__(self, sizes=(1, 32, 32, 1)):
        super().__init__()
        layers = []
        for n_in, n_out in zip(sizes, sizes[1:]):
            layers += [nn.Linear(n_in, n_out), nn.Tanh()]
        self.layers = nn.Sequential(*layers[:-1])

    def forward(self, x):
        return self.layers(x)


def make_data(n, noise=0.05):
    x = torch.linspace(-3, 3, n).unsqueeze(1)
    y = torch.sin(2 * x) * torch.exp(-(x**2) / 8)
    return x, y + noise * torch.randn_like(y)


def fit(model, x, y, epochs=150):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.MSELoss()
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


class Evaluation:
    """What a model does with points that it has not seen."""

    def __init__(self, model, x, y):
        model.eval()
        self.x = x
        self.y = y
        self.prediction = model(x)
        self.error = (self.prediction - y).abs()

    def summary(self):
        return {"mean error": self.error.mean().item(), "worst error": self.error.max().item()}

    def worst(self, k=3):
        values, at = self.error.squeeze(1).topk(k)
        return list(zip(self.x[at].flatten().tolist(), values.tolist()))


def plot(evaluation, losses, path):
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
    left.plot(losses)
    left.set_yscale("log")
    left.set_title("training loss")
    right.scatter(evaluation.x.squeeze(1), evaluation.y.squeeze(1), s=6, label="data")
    right.plot(evaluation.x.squeeze(1), evaluation.prediction.squeeze(1), label="prediction")
    right.legend()
    fig.tight_layout()
    fig.savefig(path)
    plt.close(fig)


def main():
    torch.manual_seed(7)
    model = MLP()
    losses = fit(model, *make_data(120))
    evaluation = Evaluation(model, *make_data(61, noise=0.0))
    print(evaluation.summary())
    print("worst:", evaluation.worst())
    with tempfile.TemporaryDirectory() as folder:
        plot(evaluation, losses, os.path.join(folder, "fit.png"))


if __name__ == "__main__":
    main()
