"""A custom layer with a custom autograd Function: quantized channel attention on a small signal task.

`RoundStraightThrough` rounds in the forward pass and lets the gradient through unchanged. The layer
`ChannelGate` weighs the channels of a signal by gates that are computed from their means.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


class RoundStraightThrough(torch.autograd.Function):
    """Round to `levels` steps; the gradient passes as if nothing had happened, inside of [0, 1]."""

    @staticmethod
    def forward(ctx, x, levels):
        ctx.save_for_backward(x)
        return torch.round(x * levels) / levels

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        inside = (x >= 0) & (x <= 1)
        return grad_output * inside, None


class ChannelGate(nn.Module):
    def __init__(self, channels, reduction=2, floor=0.1, levels=16):
        super().__init__()
        self.squeeze = nn.Linear(channels, channels // reduction)
        self.excite = nn.Linear(channels // reduction, channels)
        self.floor = floor
        self.levels = levels

    def forward(self, x):
        means = x.mean(dim=-1)
        gates = torch.sigmoid(self.excite(F.relu(self.squeeze(means))))
        gates.mul_(1 - self.floor).add_(self.floor)
        gates = RoundStraightThrough.apply(gates, self.levels)
        return x * gates.unsqueeze(-1)


class SignalNet(nn.Module):
    def __init__(self, channels=8, classes=2):
        super().__init__()
        self.conv1 = nn.Conv1d(1, channels, 5, padding=2)
        self.gate1 = ChannelGate(channels)
        self.conv2 = nn.Conv1d(channels, channels, 5, padding=2)
        self.gate2 = ChannelGate(channels)
        self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        x = self.gate1(F.relu(self.conv1(x)))
        x = self.gate2(F.relu(self.conv2(x)))
        return self.fc(x.mean(dim=-1))


def signals(n, length=64):
    """Sines of two frequencies in noise."""
    labels = torch.randint(0, 2, (n,))
    t = torch.linspace(0, 1, length)
    frequency = 3.0 + 4.0 * labels.unsqueeze(1)
    wave = torch.sin(2 * torch.pi * frequency * t + torch.rand(n, 1) * 6.28)
    return (wave + 0.2 * torch.randn(n, length)).unsqueeze(1), labels


def train(model, epochs=5, batches=8):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(epochs):
        total, correct = 0.0, 0
        for _ in range(batches):
            x, y = signals(32)
            logits = model(x)
            loss = F.cross_entropy(logits, y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.item()
            correct += (logits.argmax(1) == y).sum().item()
        print(f"epoch {epoch}: loss {total / batches:.3f}, accuracy {correct / (32 * batches):.2f}")


if __name__ == "__main__":
    torch.manual_seed(5)
    train(SignalNet())
