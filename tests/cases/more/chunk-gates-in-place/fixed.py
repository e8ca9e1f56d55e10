import torch
from torch import nn


class PlainLSTMCell(nn.Module):
    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.n_hidden = n_hidden
        self.x2h = nn.Linear(n_in, 4 * n_hidden)
        self.h2h = nn.Linear(n_hidden, 4 * n_hidden)

    def forward(self, x, state=None):
        if state is None:
            state = (x.new_zeros(x.size(0), self.n_hidden),) * 2
        h, c = state
        gates = self.x2h(x) + self.h2h(h)
        i, f, g, o = gates.chunk(4, dim=1)
        i, f, o, g = i.sigmoid(), f.sigmoid(), o.sigmoid(), g.tanh()
        c = f * c + i * g
        h = o * torch.tanh(c)
        return h, c


torch.manual_seed(0)
cell, head = PlainLSTMCell(3, 7), nn.Linear(7, 3)
opt = torch.optim.RMSprop([*cell.parameters(), *head.parameters()], lr=1e-3)
seq = torch.randn(15, 4, 3)
state, loss = None, 0.0
for t in range(len(seq) - 1):
    state = cell(seq[t], state)
    loss = loss + (head(state[0]) - seq[t + 1]).pow(2).mean()
opt.zero_grad()
loss.backward()
opt.step()
print(loss.item())
