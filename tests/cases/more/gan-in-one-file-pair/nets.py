import torch
from torch import nn


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)
        m.bias.data.fill_(0.01)


class Sampler(nn.Module):
    def __init__(self, z, d):
        super().__init__()
        self.z = z
        self.net = nn.Sequential(nn.Linear(z, 16), nn.LeakyReLU(0.2), nn.Linear(16, d))

    def sample(self, n):
        return self.net(torch.randn(n, self.z))


class Critic(nn.Sequential):
    def __init__(self, d):
        super().__init__(nn.Linear(d, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
