import numpy as np
import torch
from torch import nn


def make_moons(n, noise, seed=0):
    rng = np.random.default_rng(seed)
    t = np.pi * rng.random(n)
    outer = np.stack([np.cos(t), np.sin(t)], axis=1)
    inner = np.stack([1 - np.cos(t), 0.5 - np.sin(t)], axis=1)
    x = np.concatenate([outer, inner]) + rng.normal(scale=noise, size=(2 * n, 2))
    y = np.concatenate([np.zeros(n), np.ones(n)]).astype(np.int64)
    return x, y


def to_tensors(*arrays):
    return tuple(torch.from_numpy(a) for a in arrays)


X, Y = to_tensors(*make_moons(60, 0.1))
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for i in range(5):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(X), Y)
    loss.backward()
    optimizer.step()
print(loss.item())
