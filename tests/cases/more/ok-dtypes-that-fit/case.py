import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


class Matcher(nn.Module):
    def __init__(self, vocab=30, dim=8):
        super().__init__()
        self.emb = nn.EmbeddingBag(vocab, dim, mode="mean")
        self.temp = nn.Parameter(torch.zeros((), dtype=torch.float64))
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def forward(self, left, right):
        a, b = self.emb(left), self.emb(right)
        self.steps += 1
        return (a * b).sum(-1) * self.temp.exp()


rng = np.random.default_rng(1)
left = torch.from_numpy(rng.integers(0, 30, size=(12, 4)))
right = torch.from_numpy(rng.integers(0, 30, size=(12, 4)).astype(np.int32)).long()
labels = torch.from_numpy((rng.random(12) > 0.5).astype(np.float32))
weights = torch.from_numpy(rng.random(12)).float()
torch.manual_seed(0)
model = Matcher()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(3):
    logit = model(left, right)
    loss = F.binary_cross_entropy_with_logits(logit, labels.double(), weight=weights)
    rank = torch.where(labels.bool(), logit, torch.zeros_like(logit)).gather(0, left[:, 0].remainder(12))
    loss = loss + 0.1 * rank.masked_fill(labels == 1, 0.0).abs().mean()
    picked = logit[torch.arange(12)[labels > 0]]
    order = logit.argsort()[:3]
    loss = loss + F.cross_entropy(torch.stack([-logit, logit], dim=1), labels.long()) + logit[order].mean() * 1e-3
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item(), picked.shape, model.steps.float().mean())
