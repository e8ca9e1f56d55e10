import torch
import torch.nn as nn
import torch.nn.functional as F


class CausalAttention(nn.Module):
    def __init__(self, dim, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).split(d, dim=2)
        q, k, v = (z.view(b, t, self.heads, d // self.heads).transpose(1, 2) for z in (q, k, v))
        att = q @ k.transpose(-2, -1)
        att /= (d // self.heads) ** 0.5
        att.masked_fill_(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        y = y.transpose(1, 2).reshape(b, t, d)
        y += x
        return F.relu_(self.proj(y))


torch.manual_seed(0)
block = CausalAttention(8)
opt = torch.optim.Adam(block.parameters(), lr=1e-3)
for _ in range(3):
    x = torch.randn(2, 5, 8)
    loss = F.mse_loss(block(x), x.roll(1, 1))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
