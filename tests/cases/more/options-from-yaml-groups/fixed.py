import torch
from torch import nn

OPTIONS = """
encoder: {lr: 0.001}
decoder: {lr: 0.01}
"""


def parse(text):
    out = {}
    for line in text.strip().splitlines():
        key, _, rest = line.partition(":")
        out[key.strip()] = {"lr": float(rest.strip(" {}").split(":")[1])}
    return out


class Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.GRU(3, 6, batch_first=True)
        self.decoder = nn.Linear(6, 3)

    def forward(self, x):
        return self.decoder(self.encoder(x)[0])


def make_optimizer(model, options):
    groups = {}
    for name, opt in options.items():
        groups[name] = {"params": list(getattr(model, name).parameters()), **opt}
    return torch.optim.Adam(list(groups.values()))


torch.manual_seed(0)
model = Seq()
optimizer = make_optimizer(model, parse(OPTIONS))
x = torch.randn(2, 5, 3)
loss = (model(x) - x).abs().mean()
loss.backward()
optimizer.step()
