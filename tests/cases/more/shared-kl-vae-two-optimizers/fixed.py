import torch
from torch import nn, optim


class VAE(nn.Module):
    def __init__(self, d=12, z=3):
        super().__init__()
        self.enc = nn.Linear(d, 2 * z)
        self.dec = nn.Sequential(nn.Linear(z, 24), nn.ReLU(), nn.Linear(24, d))

    def encode(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=-1)
        return mu, logvar

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


def losses(out, x):
    recon, mu, logvar = out
    rec = (recon - x).pow(2).sum(-1).mean()
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(-1).mean()
    return {"rec": rec, "kl": kl}


torch.manual_seed(0)
vae = VAE()
optims = {"rec": optim.Adam(vae.dec.parameters(), 1e-3), "kl": optim.Adam(vae.enc.parameters(), 1e-3)}
for step in range(5):
    x = torch.randn(32, 12)
    parts = losses(vae(x), x)
    for o in optims.values():
        o.zero_grad()
    sum(parts.values()).backward()
    for o in optims.values():
        o.step()
    print(step, {k: round(v.item(), 3) for k, v in parts.items()})
