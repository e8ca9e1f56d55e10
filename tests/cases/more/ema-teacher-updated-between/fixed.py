import copy
import torch
from torch import nn


class MeanTeacher:
    def __init__(self, student, decay=0.99):
        self.student = student
        self.teacher = copy.deepcopy(student)
        self.decay = decay

    @torch.no_grad()
    def update(self):
        for t, s in zip(self.teacher.parameters(), self.student.parameters()):
            t.mul_(self.decay).add_(s, alpha=1 - self.decay)

    def consistency(self, x, noise=0.1):
        with torch.no_grad():
            soft = self.teacher(x + noise * torch.randn_like(x)).softmax(-1)
        logp = self.student(x).log_softmax(-1)
        return -(soft * logp).sum(-1).mean()


def make_net():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))


torch.manual_seed(0)
mt = MeanTeacher(make_net())
opt = torch.optim.Adam(mt.student.parameters(), lr=1e-3)
for it in range(4):
    x = torch.randn(32, 8)
    loss = mt.consistency(x)
    mt.update()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
