import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
import torch.nn as nn


class Head(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.last = None

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(-2, -1) / x.shape[-1] ** 0.5
        self.last = scores.softmax(dim=-1)
        return self.last @ self.v(x)


def show(weights, titles):
    fig, axes = plt.subplots(1, len(weights), figsize=(3 * len(weights), 3))
    for ax, w, t in zip(axes, weights, titles):
        ax.imshow(w, vmin=0, vmax=1, cmap="viridis")
        ax.set_title(t)
    fig.tight_layout()
    return fig


torch.manual_seed(0)
heads = nn.ModuleList([Head(8), Head(8)])
x = torch.randn(2, 6, 8)
opt = torch.optim.Adam(heads.parameters(), lr=1e-2)
for _ in range(5):
    out = x
    for h in heads:
        out = out + h(out)
    loss = (out - x.flip(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
fig = show([h.last[0] for h in heads], [f"head {i}" for i in range(2)])
plt.close(fig)
