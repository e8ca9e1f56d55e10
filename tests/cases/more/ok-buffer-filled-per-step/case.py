import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, latent=4, hidden=10, out=2, steps=6):
        super().__init__()
        self.steps = steps
        self.init = nn.Linear(latent, hidden)
        self.cell = nn.LSTMCell(out, hidden)
        self.head = nn.Linear(hidden, out)

    def forward(self, z):
        h = torch.tanh(self.init(z))
        c = torch.zeros_like(h)
        x = z.new_zeros(z.size(0), self.head.out_features)
        ys = z.new_empty(z.size(0), self.steps, self.head.out_features)
        for t in range(self.steps):
            h, c = self.cell(x, (h, c))
            x = self.head(h)
            ys[:, t] = x
        return ys


torch.manual_seed(0)
dec = Decoder()
opt = torch.optim.Adamax(dec.parameters(), lr=1e-2)
goal = torch.linspace(-1, 1, 6).view(1, 6, 1).expand(8, 6, 2)
for _ in range(3):
    ys = dec(torch.randn(8, 4))
    loss = (ys - goal).square().mean() + 1e-3 * (ys[:, 1:] - ys[:, :-1]).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
