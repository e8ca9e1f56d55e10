import torch
from torch import nn

CONFIG = {
    "model": {"n_in": 6, "hidden": [12, 12], "n_out": 3},
    "loss": {"name": "CrossEntropyLoss", "kwargs": {"reduction": "mean", "label_smoothing": 0.1}},
    "optim": {"name": "SGD", "kwargs": {"lr": 0.1}},
}


def build_model(n_in, hidden, n_out):
    sizes = [n_in, *hidden]
    blocks = [nn.Sequential(nn.Linear(a, b), nn.ReLU()) for a, b in zip(sizes, sizes[1:])]
    return nn.Sequential(*blocks, nn.Linear(sizes[-1], n_out))


def build(cfg):
    model = build_model(**cfg["model"])
    criterion = getattr(nn, cfg["loss"]["name"])(**cfg["loss"]["kwargs"])
    optimizer = getattr(torch.optim, cfg["optim"]["name"])(model.parameters(), **cfg["optim"]["kwargs"])
    return model, criterion, optimizer


torch.manual_seed(0)
model, criterion, optimizer = build(CONFIG)
for step in range(4):
    x, y = torch.randn(10, 6), torch.randint(0, 3, (10,))
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
