import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn, optim


class Recorder:
    def __init__(self):
        self.frames, self.losses = [], []

    def __call__(self, step, params, loss):
        self.losses.append(loss.detach())
        self.frames.append({k: v.detach().cpu().clone().numpy() for k, v in params.items()})


def rosenbrock(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


record = Recorder()
point = nn.Parameter(torch.tensor([-1.0, 1.5]))
opt = optim.Adam([point], lr=0.05)
for step in range(30):
    opt.zero_grad()
    value = rosenbrock(point)
    value.backward()
    opt.step()
    record(step, {"p": point}, value)
path = np.array([f["p"] for f in record.frames])
fig, (left, right) = plt.subplots(1, 2)
left.plot(path[:, 0], path[:, 1], "o-")
left.scatter(*point.detach(), marker="x")
right.semilogy(torch.stack(record.losses).numpy())
right.axhline(float(value), color="k")
right.set_title(f"after {len(path)}: {value.item():.3f}")
plt.close(fig)
