import torch
from torch import nn
import torch.nn.functional as F


class StandardisedConv(nn.Conv2d):
    def forward(self, x):
        w = self.weight
        mean = w.mean(dim=(1, 2, 3), keepdim=True)
        std = w.std(dim=(1, 2, 3), keepdim=True) + 1e-5
        return self._conv_forward(x, (w - mean) / std, self.bias)


class Net(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.conv = StandardisedConv(1, 5, kernel_size=3)
        self.norm = nn.GroupNorm(1, 5)
        self.fc = nn.Linear(5, classes)

    def forward(self, x):
        return self.fc(F.relu(self.norm(self.conv(x))).mean((-2, -1)))


torch.manual_seed(0)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1, nesterov=True, momentum=0.9)
for _ in range(2):
    loss = F.cross_entropy(net(torch.rand(6, 1, 7, 7)), torch.randint(0, 3, (6,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss)
