import abc
import torch
from torch import nn


class Objective(abc.ABC):
    def __call__(self, model, batch):
        outputs = self.predict(model, batch)
        return self.loss(outputs, batch)

    def predict(self, model, batch):
        return model(batch["x"])

    @abc.abstractmethod
    def loss(self, outputs, batch): ...


class Regression(Objective):
    def loss(self, outputs, batch):
        return nn.functional.huber_loss(outputs, batch["y"])


class Smoothed(Regression):
    def loss(self, outputs, batch):
        return super().loss(outputs, batch) + 0.1 * (outputs[1:] - outputs[:-1]).abs().mean()


torch.manual_seed(0)
model = nn.Linear(2, 1)
objective = Smoothed()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    batch = {"x": torch.randn(9, 2), "y": torch.zeros(9, 1)}
    opt.zero_grad()
    objective(model, batch).backward()
    opt.step()
