import torch
from torch import nn, optim


def make_closure(model, x, y, opt, decay):
    def closure():
        opt.zero_grad()
        penalty = decay * sum(p.pow(2).sum() for p in model.parameters())
        loss = nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), y) + penalty
        loss.backward()
        return loss

    return closure


torch.manual_seed(0)
x = torch.randn(40, 3)
y = (x[:, 0] > 0).float()
model = nn.Linear(3, 1)
opt = optim.LBFGS(model.parameters(), lr=0.5, max_iter=5)
closure = make_closure(model, x, y, opt, 1e-3)
for _ in range(3):
    value = opt.step(closure)
print(value.item())
