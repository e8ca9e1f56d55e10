import torch
from torch import nn


class TwoTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(6))
        self.left, self.right = nn.Linear(6, 1), nn.Linear(6, 1)

    def forward(self, x):
        h = x + self.shift
        return self.left(h), self.right(h)


torch.manual_seed(0)
model = TwoTask()
opt = torch.optim.Adagrad(model.parameters(), lr=0.05)
for i in range(6):
    x = torch.randn(20, 6)
    a, b = model(x)
    loss_a = (a - x.sum(1, keepdim=True)).pow(2).mean()
    loss_b = (b - x.prod(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss_a.backward()
    loss_b.backward()
    opt.step()
print(loss_a.item(), loss_b.item(), model.shift)
