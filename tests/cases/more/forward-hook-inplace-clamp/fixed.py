import torch
from torch import nn


class ActivationClipper:
    def __init__(self, limit):
        self.limit = limit
        self.handles = []

    def attach(self, model, kind):
        for m in model.modules():
            if isinstance(m, kind):
                self.handles.append(m.register_forward_hook(self.hook))
        return self

    def hook(self, module, inputs, output):
        return output.clamp(-self.limit, self.limit)

    def remove(self):
        while self.handles:
            self.handles.pop().remove()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 12), nn.Sigmoid(), nn.Linear(12, 1))
clipper = ActivationClipper(0.8).attach(model, (nn.Tanh, nn.Sigmoid))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(32, 6), torch.rand(32, 1)
for _ in range(3):
    opt.zero_grad()
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    opt.step()
clipper.remove()
