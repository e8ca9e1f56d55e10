import torch
from torch import optim


class Lagrangian:
    def __init__(self, n):
        self.x = torch.zeros(n, requires_grad=True)
        self.mu = torch.zeros(1, requires_grad=True)

    def value(self, target):
        violation = self.x.sum() - 1
        return (self.x - target).pow(2).sum() + self.mu.squeeze() * violation, violation


def optimizers(problem):
    primal = [problem.x.detach().clone().requires_grad_()]
    dual = [problem.mu]
    return optim.SGD(primal, lr=0.1), optim.SGD(dual, lr=0.1, maximize=True)


torch.manual_seed(0)
problem = Lagrangian(4)
start = problem.x.detach().clone()
descend, ascend = optimizers(problem)
for step in range(20):
    value, violation = problem.value(torch.tensor([0.4, 0.1, 0.2, 0.9]))
    descend.zero_grad()
    ascend.zero_grad()
    value.backward()
    descend.step()
    ascend.step()
moved = (problem.x.detach() - start).abs().max().item()
print(moved, violation.item())
