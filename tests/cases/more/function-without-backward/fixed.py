import torch
from torch import nn


class Binarize(torch.autograd.Function):
    """x -> +1 / -1, gradient to be passed straight through."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x >= 0, torch.ones_like(x), -torch.ones_like(x))

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x.abs() <= 1)


binarize = Binarize.apply


class HashNet(nn.Module):
    def __init__(self, d, bits):
        super().__init__()
        self.proj = nn.Linear(d, bits)

    def forward(self, x):
        return binarize(self.proj(x))


def similarity_loss(codes, sim):
    agree = codes @ codes.t() / codes.shape[1]
    return (agree - sim).pow(2).mean()


torch.manual_seed(0)
model = HashNet(10, 16)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(24, 10)
sim = nn.functional.cosine_similarity(x[:, None], x[None], dim=-1)
for _ in range(3):
    loss = similarity_loss(model(x), sim)
    opt.zero_grad()
    loss.backward()
    opt.step()
