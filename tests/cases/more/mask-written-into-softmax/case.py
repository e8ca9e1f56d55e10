import torch
from torch import nn


class PoolingByAttention(nn.Module):
    def __init__(self, dim: int, dropout: float = 0.0):
        super().__init__()
        self.score = nn.Linear(dim, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        weights = torch.softmax(self.score(tokens).squeeze(-1), dim=1)
        for row, n in enumerate(lengths.tolist()):
            weights[row, n:] = 0.0
        weights = weights / weights.sum(dim=1, keepdim=True)
        return torch.einsum("bt,btd->bd", self.dropout(weights), tokens)


def make_batch(size=6, longest=9, dim=8):
    lengths = torch.randint(2, longest, (size,))
    return torch.randn(size, longest, dim), lengths, torch.randint(0, 2, (size,)).float()


torch.manual_seed(0)
pool, clf = PoolingByAttention(8), nn.Linear(8, 1)
opt = torch.optim.AdamW([{"params": m.parameters()} for m in (pool, clf)], lr=1e-2)
for _ in range(4):
    tokens, lengths, y = make_batch()
    logit = clf(pool(tokens, lengths)).squeeze(-1)
    loss = nn.functional.binary_cross_entropy_with_logits(logit, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
