import pandas as pd
import torch
from torch import nn

torch.manual_seed(0)


def fit(x, y, epochs=10):
    reg = nn.Linear(x.shape[1], 1)
    opt = torch.optim.LBFGS(reg.parameters(), max_iter=epochs)

    def closure():
        opt.zero_grad()
        loss = ((reg(x).squeeze(-1) - y) ** 2).mean()
        loss.backward()
        return loss

    opt.step(closure)
    return reg


def report(reg, x, y, names):
    pred = reg(x).squeeze(-1)
    rows = {"target": y.numpy(), "pred": pred.numpy()}
    rows.update({n: x[:, i].numpy() for i, n in enumerate(names)})
    return pd.DataFrame(rows)


x = torch.randn(30, 2)
y = x @ torch.tensor([1.5, -0.5]) + 0.2
table = report(fit(x, y), x, y, ["a", "b"])
print(table.describe())
