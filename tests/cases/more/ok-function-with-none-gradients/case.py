import torch
from torch import nn
from torch.autograd.function import Function, once_differentiable


class ScaleGrad(Function):
    @staticmethod
    def forward(ctx, x, factor: float, clip=None):
        ctx.factor, ctx.clip = factor, clip
        return x.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        g = g * ctx.factor
        if ctx.clip is not None:
            g = g.clamp(-ctx.clip, ctx.clip)
        return g, None, None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Linear(5, 9)
        self.a, self.b = nn.Linear(9, 1), nn.Linear(9, 1)

    def forward(self, x):
        h = self.shared(x).relu()
        return self.a(h), self.b(ScaleGrad.apply(h, 0.1, 1.0))


torch.manual_seed(0)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x = torch.randn(20, 5)
    a, b = net(x)
    loss = (a - x[:, :1]).pow(2).mean() + (b - x[:, 1:2]).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
