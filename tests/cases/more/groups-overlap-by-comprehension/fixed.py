import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(5, 10)
        self.mid = nn.Linear(10, 10)
        self.head = nn.Linear(10, 2)

    def forward(self, x):
        return self.head(self.mid(self.stem(x).relu()).relu())


def discriminative(model, lr):
    head = list(model.head.parameters())
    rest = [p for n, p in model.named_parameters() if not n.startswith("head")]
    return [dict(params=rest, lr=lr / 10), dict(params=head, lr=lr)]


torch.manual_seed(0)
model = Net()
optimizer = torch.optim.Adam(discriminative(model, 1e-3))
x, y = torch.randn(12, 5), torch.randint(0, 2, (12,))
for _ in range(3):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
