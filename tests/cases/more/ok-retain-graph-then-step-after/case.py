import torch
from torch import nn


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 20), nn.Tanh())
        self.heads = nn.ModuleDict({"mean": nn.Linear(20, 1), "scale": nn.Linear(20, 1)})

    def forward(self, x):
        h = self.trunk(x)
        return {k: head(h) for k, head in self.heads.items()}


def conflict(model, losses):
    grads = []
    for name in sorted(losses):
        model.zero_grad()
        losses[name].backward(retain_graph=name != max(losses))
        grads.append([p.grad.clone() for p in model.trunk.parameters()])
    a, b = (torch.cat([g.flatten() for g in gs]) for gs in grads)
    return torch.nn.functional.cosine_similarity(a, b, dim=0)


torch.manual_seed(0)
model = Shared()
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(4):
    x = torch.randn(16, 6)
    out = model(x)
    losses = {"mean": (out["mean"] - x[:, :1]).pow(2).mean(), "scale": (out["scale"].exp() - x.std(1, keepdim=True)).abs().mean()}
    cos = conflict(model, losses)
    opt.step()
    print(cos.item())
