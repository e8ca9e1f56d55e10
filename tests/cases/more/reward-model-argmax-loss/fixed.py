import torch
from torch import nn


class Ranker(nn.Module):
    def __init__(self, d=7):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, 16), nn.GELU(), nn.Linear(16, 1))

    def forward(self, chosen, rejected):
        return torch.cat([self.net(chosen), self.net(rejected)], dim=-1)


def pair_loss(scores, kind="hinge"):
    if kind == "hinge":
        return (1 - scores[:, 0] + scores[:, 1]).clamp(min=0).mean()
    if kind == "logistic":
        return nn.functional.softplus(scores[:, 1] - scores[:, 0]).mean()
    wrong = scores.argmax(dim=-1) != 0
    return wrong.float().mean()


def train(model, pairs, epochs, kind):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(epochs):
        for chosen, rejected in pairs:
            loss = pair_loss(model(chosen, rejected), kind)
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss


torch.manual_seed(0)
pairs = [(torch.randn(8, 7) + 0.5, torch.randn(8, 7)) for _ in range(4)]
print(train(Ranker(), pairs, epochs=2, kind="logistic"))
