import torch
from torch import nn, optim


def get_optimizer(name, params):
    table = {
        "sgd": lambda p: optim.SGD(p, lr=0.1),
        "lbfgs": lambda p: optim.LBFGS(p, lr=0.5, history_size=5),
    }
    return table[name](params)


def fit(model, x, y, name, epochs):
    optimizer = get_optimizer(name, model.parameters())
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(0)
x = torch.linspace(-1, 1, 20).unsqueeze(1)
print(fit(nn.Sequential(nn.Linear(1, 5), nn.Tanh(), nn.Linear(5, 1)), x, x**3, "sgd", 4))
