import torch
from torch import nn
from torch.autograd import grad


class Disc(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(16, 8), nn.Softplus(), nn.Linear(8, 1))

    def forward(self, img):
        return self.net(img).squeeze(1)


def r1(disc, real, gamma=1.0):
    score = disc(real)
    g, = grad(score.sum(), real, create_graph=True)
    return gamma / 2 * g.flatten(1).pow(2).sum(1).mean(), score


torch.manual_seed(0)
disc = Disc()
opt = torch.optim.Adam(disc.parameters(), betas=(0.0, 0.99))
for _ in range(2):
    real = torch.rand(6, 1, 4, 4).requires_grad_()
    penalty, score = r1(disc, real)
    loss = nn.functional.softplus(-score).mean() + penalty
    opt.zero_grad()
    loss.backward()
    opt.step()
