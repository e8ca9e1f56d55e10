import torch
from torch import nn

NO_DECAY = ("bias", "norm")


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.lin = nn.Linear(d, d)

    def forward(self, x):
        return x + self.lin(self.norm(x)).relu()


def param_groups(model, decay):
    named = dict(model.named_parameters())
    no_decay = [n for n in named if any(k in n for k in NO_DECAY)]
    with_decay = [p for n, p in named.items() if n not in no_decay]
    return [
        {"params": with_decay, "weight_decay": decay},
        {"params": [named[n] for n in no_decay], "weight_decay": 0.0},
    ]


torch.manual_seed(0)
model = nn.Sequential(Block(6), Block(6), nn.Linear(6, 1))
optimizer = torch.optim.AdamW(param_groups(model, 0.01), lr=1e-3)
for _ in range(2):
    x = torch.randn(32, 6)
    loss = (model(x).squeeze(1) - x.sum(1)).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss)
