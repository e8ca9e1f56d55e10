import random

import torch
from torch import nn


class Seq2Seq(nn.Module):
    def __init__(self, n_in=3, n_out=2, hidden=12):
        super().__init__()
        self.encoder = nn.GRU(n_in, hidden, batch_first=True)
        self.decoder = nn.GRUCell(n_out, hidden)
        self.head = nn.Linear(hidden, n_out)
        self.start = nn.Parameter(torch.zeros(n_out))

    def forward(self, src, trg, teacher=0.5):
        _, h = self.encoder(src)
        h = h[0]
        outputs = torch.zeros(*trg.shape)
        token = self.start.expand(len(src), -1)
        for t in range(trg.size(1)):
            h = self.decoder(token, h)
            y = self.head(h)
            outputs[:, t] = y
            token = trg[:, t] if random.random() < teacher else y
        return outputs


torch.manual_seed(0)
random.seed(0)
model = Seq2Seq()
optimizer = torch.optim.Adam(model.parameters())
src, trg = torch.randn(4, 7, 3), torch.randn(4, 5, 2)
for _ in range(2):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(src, trg), trg)
    loss.backward()
    optimizer.step()
