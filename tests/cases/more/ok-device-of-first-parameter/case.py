import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Sampler(nn.Module):
    def __init__(self, d=4):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d + 1, 16), nn.SiLU(), nn.Linear(16, d))
        self.d = d

    @property
    def device(self):
        return next(self.parameters()).device

    def noise(self, n):
        return torch.randn(n, self.d, device=self.device)

    def forward(self, x, t):
        return self.net(torch.cat([x, t.expand(len(x), 1)], dim=1))

    @torch.no_grad()
    def sample(self, n, steps=4):
        x = self.noise(n)
        for t in torch.linspace(1, 0, steps, device=self.device):
            x = x - self(x, t) / steps
        return x.cpu().numpy()


torch.manual_seed(0)
model = Sampler().to(device)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(3):
    x1 = torch.randn(8, 4).to(model.device) + 1
    t = torch.rand(8, 1, device=model.device)
    x0 = model.noise(8)
    loss = (model.net(torch.cat([(1 - t) * x0 + t * x1, t], dim=1)) - (x1 - x0)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item(), model.sample(3).shape)
