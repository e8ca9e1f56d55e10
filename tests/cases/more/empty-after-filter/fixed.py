import torch
from torch import nn
from functools import partial

trainable = partial(filter, lambda p: p.requires_grad)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv1d(2, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten())
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.layers(x))


def finetune(model, freeze=True):
    if freeze:
        for p in model.layers.parameters():
            p.requires_grad = False
    optimizer = torch.optim.SGD(trainable(model.parameters()), lr=0.1)
    for _ in range(3):
        x, y = torch.randn(8, 2, 12), torch.randint(0, 3, (8,))
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(0)
print(finetune(Backbone()))
