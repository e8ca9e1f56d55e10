"""A GAN that learns a ring of points.

The generator maps noise to points in the plane, the discriminator tells them from points on a noisy
circle. Both are small multilayer perceptrons, trained in turn.
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

NOISE = 8
BATCH = 128
STEPS = 60


class Generator(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(NOISE, hidden),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(hidden, hidden),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(hidden, 2),
        )

    def forward(self, noise):
        return self.net(noise)


class Discriminator(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.verdict = nn.Linear(hidden, 1)

    def forward(self, points):
        return self.verdict(self.features(points)).squeeze(-1)


def init_weights(module):
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, 0.0, 0.1)
        nn.init.zeros_(module.bias)


def real_points(n):
    angle = torch.rand(n) * 2 * math.pi
    ring = torch.stack([angle.cos(), angle.sin()], dim=1)
    return ring + 0.05 * torch.randn(n, 2)


def train(device):
    generator = Generator().to(device).apply(init_weights)
    discriminator = Discriminator().to(device).apply(init_weights)
    opt_g = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
    opt_d = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
    fixed_noise = torch.randn(256, NOISE, device=device)
    history = {"generator": [], "discriminator": []}

    for step in range(STEPS):
        real = real_points(BATCH).to(device)
        ones = torch.ones(BATCH, device=device)
        zeros = torch.zeros(BATCH, device=device)

        # The discriminator's turn: the fake points are data to it, so their graph is cut off.
        fake = generator(torch.randn(BATCH, NOISE, device=device))
        loss_real = F.binary_cross_entropy_with_logits(discriminator(real), ones)
        loss_fake = F.binary_cross_entropy_with_logits(discriminator(fake.detach()), zeros)
        loss_d = (loss_real + loss_fake) / 2
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()

        # The generator's turn: the same points, judged anew by the discriminator that has just learned.
        loss_g = F.binary_cross_entropy_with_logits(discriminator(fake), ones)
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()

        history["generator"].append(loss_g.item())
        history["discriminator"].append(loss_d.item())
        if step % 20 == 0:
            print(f"step {step:3d}: discriminator {loss_d.item():.3f}, generator {loss_g.item():.3f}")

    generator.eval()
    with torch.no_grad():
        samples = generator(fixed_noise).cpu().numpy()
    return samples, history


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    samples, history = train(device)
    print("mean of the samples", samples.mean(axis=0), "last losses", history["generator"][-1])


if __name__ == "__main__":
    main()
