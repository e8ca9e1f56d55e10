import torch
from torch import nn
from torch.autograd import Function


class FakeQuantize(Function):
    @staticmethod
    def forward(ctx, x, scale, bits):
        top = 2 ** (bits - 1) - 1
        q = (x / scale).round().clamp(-top - 1, top)
        ctx.save_for_backward(x, scale, q)
        ctx.top = top
        return q * scale

    @staticmethod
    def backward(ctx, grad):
        x, scale, q = ctx.saved_tensors
        inside = (x / scale).abs() <= ctx.top
        grad_x = grad * inside
        grad_scale = (grad * (q - x / scale * inside)).sum().reshape(scale.shape)
        return grad_x, grad_scale


class QuantLinear(nn.Linear):
    def __init__(self, *args, bits=4, **kwargs):
        super().__init__(*args, **kwargs)
        self.bits = bits
        self.scale = nn.Parameter(torch.tensor([0.05]))

    def forward(self, x):
        return nn.functional.linear(x, FakeQuantize.apply(self.weight, self.scale, self.bits), self.bias)


torch.manual_seed(0)
net = nn.Sequential(QuantLinear(8, 16, bits=3), nn.ReLU(), QuantLinear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=1e-2)
loss = nn.functional.cross_entropy(net(torch.randn(30, 8)), torch.randint(0, 2, (30,)))
opt.zero_grad()
loss.backward()
opt.step()
