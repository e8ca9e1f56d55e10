"""A denoising diffusion model for points on two moons, with an exponential moving average of the weights."""

import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class SinusoidalEmbedding(nn.Module):
    def __init__(self, width):
        super().__init__()
        half = width // 2
        self.register_buffer("frequencies", torch.exp(-math.log(10000) * torch.arange(half) / (half - 1)))

    def forward(self, t):
        angles = t.float().unsqueeze(1) * self.frequencies
        return torch.cat([angles.sin(), angles.cos()], dim=-1)


class Denoiser(nn.Module):
    def __init__(self, width=64, depth=2):
        super().__init__()
        self.time_embedding = nn.Sequential(SinusoidalEmbedding(width), nn.Linear(width, width), nn.SiLU())
        self.input_proj = nn.Linear(2, width)
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.output_proj = nn.Linear(width, 2)

    def forward(self, x, t):
        h = self.input_proj(x)
        h += self.time_embedding(t)
        for layer in self.layers:
            h = h + F.silu(layer(h))
        return self.output_proj(h)


class Diffusion(nn.Module):
    def __init__(self, model, timesteps=50):
        super().__init__()
        self.model = model
        self.timesteps = timesteps
        betas = torch.linspace(1e-4, 0.05, timesteps)
        alphas_bar = torch.cumprod(1.0 - betas, dim=0)
        self.register_buffer("betas", betas)
        self.register_buffer("sqrt_alphas_bar", alphas_bar.sqrt())
        self.register_buffer("sqrt_one_minus", (1.0 - alphas_bar).sqrt())

    def q_sample(self, x0, t, noise):
        return self.sqrt_alphas_bar[t].unsqueeze(1) * x0 + self.sqrt_one_minus[t].unsqueeze(1) * noise

    def forward(self, x0):
        t = torch.randint(0, self.timesteps, (x0.size(0),))
        noise = torch.randn_like(x0)
        predicted = self.model(self.q_sample(x0, t, noise), t)
        return F.mse_loss(predicted, noise)

    @torch.no_grad()
    def sample(self, n):
        x = torch.randn(n, 2)
        for i in reversed(range(self.timesteps)):
            t = torch.full((n,), i, dtype=torch.long)
            predicted = self.model(x, t)
            x -= self.betas[i] / self.sqrt_one_minus[i] * predicted
            x /= (1.0 - self.betas[i]).sqrt()
            if i > 0:
                x += self.betas[i].sqrt() * torch.randn_like(x)
        return x


class EMA:
    """Keeps a slow copy of a model's weights."""

    def __init__(self, model, decay=0.95):
        self.decay = decay
        self.shadow = copy.deepcopy(model).eval()
        for param in self.shadow.parameters():
            param.requires_grad_(False)

    def update(self, model):
        for slow, fast in zip(self.shadow.parameters(), model.parameters()):
            slow.mul_(self.decay).add_(fast.detach(), alpha=1 - self.decay)


def moons(n):
    angle = torch.rand(n) * math.pi
    upper = torch.rand(n) < 0.5
    x = torch.where(upper, angle.cos(), 1 - angle.cos())
    y = torch.where(upper, angle.sin(), 0.5 - angle.sin())
    return torch.stack([x, y], dim=1) + 0.05 * torch.randn(n, 2)


def main(steps=200):
    torch.manual_seed(9)
    diffusion = Diffusion(Denoiser())
    ema = EMA(diffusion)
    optimizer = torch.optim.AdamW(diffusion.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)
    losses = []
    for step in range(steps):
        loss = diffusion(moons(128))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(diffusion.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        ema.update(diffusion)
        losses.append(loss.item())
        if step % 50 == 0:
            print(f"step {step}: loss {sum(losses[-50:]) / len(losses[-50:]):.3f}")
    points = ema.shadow.sample(200).numpy()
    print("centre of the samples:", points.mean(axis=0), "spread:", points.std(axis=0))


if __name__ == "__main__":
    main()
