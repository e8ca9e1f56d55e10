import torch
from torch import nn


class FrozenFeatures:
    def __init__(self, net):
        self.net = net.eval()

    @torch.no_grad()
    def __call__(self, x):
        return nn.functional.normalize(self.net(x), dim=-1)


class Probe(nn.Module):
    def __init__(self, extractor, d, classes):
        super().__init__()
        self.extractor = extractor
        self.head = nn.Linear(d, classes)

    def forward(self, x):
        return self.head(self.extractor(x))


torch.manual_seed(0)
probe = Probe(FrozenFeatures(nn.Sequential(nn.Linear(9, 32), nn.GELU(), nn.Linear(32, 12))), 12, 4)
opt = torch.optim.SGD(probe.parameters(), lr=0.5)
for _ in range(3):
    x, y = torch.randn(50, 9), torch.randint(0, 4, (50,))
    loss = nn.functional.cross_entropy(probe(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
