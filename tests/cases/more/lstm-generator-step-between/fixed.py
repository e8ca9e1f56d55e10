import torch
from torch import nn


class SeqGen(nn.Module):
    def __init__(self, z=3, h=8, d=2):
        super().__init__()
        self.rnn = nn.LSTM(z, h, batch_first=True)
        self.out = nn.Linear(h, d)

    def forward(self, z):
        return self.out(self.rnn(z)[0])


torch.manual_seed(0)
gen = SeqGen()
critic = nn.GRU(2, 4, batch_first=True)
g_opt = torch.optim.Adam(gen.parameters(), lr=1e-3)
c_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(2):
    fake = gen(torch.randn(6, 5, 3))
    score = critic(fake)[1].mean()
    smooth = (fake[:, 1:] - fake[:, :-1]).pow(2).mean()
    g_opt.zero_grad()
    smooth.backward(retain_graph=True)
    c_opt.zero_grad()
    score.backward()
    g_opt.step()
    c_opt.step()
