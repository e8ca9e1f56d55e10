import torch
from torch import nn


class Recommender(nn.Module):
    def __init__(self, users, items, k=6):
        super().__init__()
        self.u, self.i = nn.Embedding(users, k), nn.Embedding(items, k)

    def forward(self, users, items):
        return (self.u(users) * self.i(items)).sum(-1)


class Fitter:
    def __init__(self, model, l2):
        self.model, self.l2 = model, l2
        self.opt = torch.optim.Adagrad(model.parameters(), lr=0.1)

    def training_step(self, batch):
        users, items, ratings = batch
        score = self.model(users, items)
        return {"loss": (score - ratings).pow(2).mean(), "reg": self.l2 * score.pow(2).mean()}

    def fit(self, batches):
        for batch in batches:
            self.opt.zero_grad()
            out = self.training_step(batch)
            out["loss"].backward()
            out["reg"].backward()
            self.opt.step()
            yield out["loss"].item() + out["reg"].item()


torch.manual_seed(0)
batches = [(torch.randint(0, 9, (16,)), torch.randint(0, 14, (16,)), torch.rand(16) * 5) for _ in range(5)]
print(list(Fitter(Recommender(9, 14), 0.01).fit(batches)))
