import torch
from torch import nn


def safe_inverse(m):
    try:
        return torch.linalg.inv(m)
    except RuntimeError:
        return torch.linalg.pinv(m)


class Whiten(nn.Module):
    def __init__(self, d, eps=1e-2):
        super().__init__()
        self.mix = nn.Parameter(torch.eye(d) + 0.1 * torch.randn(d, d))
        self.eps = eps

    def forward(self, x):
        z = x @ self.mix
        cov = z.t() @ z / len(z) + self.eps * torch.eye(z.shape[1])
        return z @ safe_inverse(cov)


torch.manual_seed(0)
layer = Whiten(3)
opt = torch.optim.SGD(layer.parameters(), lr=0.01)
for _ in range(3):
    out = layer(torch.randn(20, 3))
    loss = (out.t() @ out / 20 - torch.eye(3)).pow(2).sum()
    opt.zero_grad()
    try:
        loss.backward()
    except RuntimeError as error:
        print("skipped", error)
        continue
    opt.step()
print(loss.item())
