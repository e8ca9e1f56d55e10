import math
from typing import Iterable

import torch
import torch.nn as nn
import torch.nn.functional as F


class ContrastiveLoss:
    """CLIP style loss with its own temperature, trained beside the encoders."""

    def __init__(self, init: float = 0.07, dtype: torch.dtype = torch.float64):
        self.log_scale = nn.Parameter(torch.tensor(math.log(1 / init))).to(dtype)

    def __call__(self, a, b):
        a, b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
        logits = self.log_scale.exp() * (a @ b.t()).to(self.log_scale.dtype)
        target = torch.arange(len(a))
        return 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target))

    def parameters(self) -> Iterable[torch.Tensor]:
        return iter((self.log_scale,))


torch.manual_seed(0)
image, text = nn.Linear(20, 8), nn.Linear(12, 8)
criterion = ContrastiveLoss()
everything = [p for part in (image, text, criterion) for p in part.parameters()]
opt = torch.optim.AdamW(everything, lr=1e-3, weight_decay=0.01)
for _ in range(3):
    loss = criterion(image(torch.randn(16, 20)), text(torch.randn(16, 12)))
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
