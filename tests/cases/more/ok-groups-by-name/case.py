import re
import torch
from torch import nn


def groups_of(model, rules, default_lr):
    buckets = {pattern: [] for pattern in rules}
    rest = []
    for name, p in model.named_parameters():
        for pattern in rules:
            if re.search(pattern, name):
                buckets[pattern].append(p)
                break
        else:
            rest.append(p)
    groups = [{"params": ps, "lr": rules[k]} for k, ps in buckets.items() if ps]
    return [*groups, {"params": rest, "lr": default_lr}]


class Tagger(nn.Module):
    def __init__(self, vocab=40, dim=8, tags=5):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.rnn = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * dim, tags)

    def forward(self, ids):
        return self.out(self.rnn(self.emb(ids))[0])


torch.manual_seed(0)
tagger = Tagger()
opt = torch.optim.Adam(groups_of(tagger, {r"^emb": 1e-4, r"bias": 1e-2}, 1e-3))
ids, tags = torch.randint(0, 40, (6, 10)), torch.randint(0, 5, (6, 10))
for _ in range(3):
    logits = tagger(ids)
    loss = nn.functional.cross_entropy(logits.reshape(-1, 5), tags.reshape(-1), ignore_index=0)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
