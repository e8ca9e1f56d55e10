import torch
import torch.nn as nn

MEAN, STD = (0.4, 0.5, 0.6), (0.2, 0.3, 0.2)


class Generator(nn.Module):
    def __init__(self, z=5):
        super().__init__()
        self.z = z
        self.net = nn.Sequential(nn.Linear(z, 3 * 8 * 8), nn.Sigmoid())

    def forward(self, n):
        return self.net(torch.randn(n, self.z)).view(n, 3, 8, 8)


def normalise(batch):
    for image in batch:
        for c, (m, s) in enumerate(zip(MEAN, STD)):
            image[c].sub_(m).div_(s)
    return batch


def feature_score(images, net):
    return net(normalise(images)).mean()


torch.manual_seed(0)
gen = Generator()
critic = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 1))
opt = torch.optim.Adam(gen.parameters(), lr=2e-4, betas=(0.5, 0.999))
for _ in range(2):
    opt.zero_grad()
    loss = -feature_score(gen(6), critic)
    loss.backward()
    opt.step()
print(loss.item())
