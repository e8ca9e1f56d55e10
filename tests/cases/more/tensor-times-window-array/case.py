import numpy as np
import torch
import torch.nn as nn


class BandFilter(nn.Module):
    """Learned FIR taps under a fixed window."""

    def __init__(self, taps=9, window="hann"):
        super().__init__()
        self.taps = nn.Parameter(torch.randn(taps) / taps)
        self.window = getattr(np, {"hann": "hanning", "hamming": "hamming"}[window])(taps)

    def forward(self, signal):
        kernel = self.taps * self.window
        return torch.nn.functional.conv1d(signal, kernel.float().view(1, 1, -1), padding="same")


torch.manual_seed(0)
noisy = torch.sin(torch.linspace(0, 20, 200)).view(1, 1, -1) + 0.3 * torch.randn(1, 1, 200)
clean = torch.sin(torch.linspace(0, 20, 200)).view(1, 1, -1)
filt = BandFilter()
opt = torch.optim.Adam(filt.parameters(), lr=0.02)
for _ in range(40):
    opt.zero_grad()
    loss = (filt(noisy) - clean).square().mean()
    loss.backward()
    opt.step()
print(loss.item())
