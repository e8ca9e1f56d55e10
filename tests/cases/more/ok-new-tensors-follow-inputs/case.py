import math
import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"


class Positions(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.register_buffer("freq", torch.exp(torch.arange(0, d, 2) * (-math.log(1e4) / d)), persistent=False)
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x):
        pos = torch.arange(x.size(1), device=x.device).unsqueeze(1)
        table = x.new_zeros(x.size(1), x.size(2))
        table[:, 0::2] = torch.sin(pos * self.freq)
        table[:, 1::2] = torch.cos(pos * self.freq)
        return x + self.scale * table


class Model(nn.Module):
    def __init__(self, vocab=20, d=8):
        super().__init__()
        self.emb, self.pos, self.out = nn.Embedding(vocab, d), Positions(d), nn.Linear(d, vocab)

    def forward(self, ids):
        return self.out(self.pos(self.emb(ids)))


torch.manual_seed(0)
model = Model().to(device)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
weights = torch.tensor([1.0] * 20).to(device)
for _ in range(2):
    ids = torch.randint(0, 20, (4, 10)).to(device)
    loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten(), weight=weights)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
