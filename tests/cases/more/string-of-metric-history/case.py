import matplotlib

matplotlib.use("Agg")
from collections import defaultdict

import matplotlib.pyplot as plt
import torch
from torch import nn, optim


class History(defaultdict):
    def __init__(self):
        super().__init__(list)

    def log(self, **metrics):
        for name, value in metrics.items():
            self[name].append(value)

    def draw(self, path=None):
        fig, ax = plt.subplots(figsize=(5, 3))
        for name, values in self.items():
            ax.plot(values, label=name)
        ax.legend()
        if path:
            fig.savefig(path)
        plt.close(fig)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
opt = optim.SGD(net.parameters(), lr=0.1)
history = History()
for step in range(10):
    x = torch.rand(32, 2)
    loss = nn.functional.mse_loss(net(x), x.prod(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.log(loss=loss, weight=net[0].weight.detach().norm())
history.draw()
