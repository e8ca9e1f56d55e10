import torch
from torch import nn
from torch.nn.utils import weight_norm


class TCN(nn.Module):
    def __init__(self, channels, kernel=3):
        super().__init__()
        sizes = list(zip(channels, channels[1:]))
        self.layers = nn.ModuleList(weight_norm(nn.Conv1d(a, b, kernel, padding="same")) for a, b in sizes)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return x.mean(-1)


def decayed(model):
    return [p for layer in model.layers for n, p in layer.named_parameters() if n != "bias"]


torch.manual_seed(0)
tcn = TCN([2, 6, 3])
optimizer = torch.optim.AdamW(decayed(tcn), lr=1e-3, weight_decay=1e-2)
for _ in range(2):
    x, y = torch.randn(5, 2, 20), torch.randint(0, 3, (5,))
    loss = nn.functional.cross_entropy(tcn(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss)
