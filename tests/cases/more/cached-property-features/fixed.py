from functools import cached_property

import torch
from torch import nn


class Graph:
    def __init__(self, n, d, k):
        self.adj = (torch.rand(n, n) < 0.3).float()
        self.table = nn.Embedding(n, d)
        self.out = nn.Linear(d, k)

    @property
    def smoothed(self):
        return torch.tanh(self.adj @ self.table.weight)

    def logits(self, nodes):
        return self.out(self.smoothed[nodes])

    def parameters(self):
        return [*self.table.parameters(), *self.out.parameters()]


torch.manual_seed(0)
graph = Graph(12, 4, 2)
labels = torch.randint(0, 2, (12,))
opt = torch.optim.Adam(graph.parameters(), lr=0.1)
for batch in torch.arange(12).chunk(3):
    loss = nn.functional.cross_entropy(graph.logits(batch), labels[batch])
    opt.zero_grad()
    loss.backward()
    opt.step()
