import contextlib
import torch
from torch import nn


@contextlib.contextmanager
def evaluating(model):
    was_training, grads = model.training, torch.is_grad_enabled()
    model.eval()
    torch.set_grad_enabled(False)
    try:
        yield model
    finally:
        torch.set_grad_enabled(grads)
        model.train(was_training)


def perplexity(model, ids):
    with evaluating(model) as m:
        logits = m(ids[:, :-1])
        return nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).exp().item()


torch.manual_seed(0)
lm = nn.Sequential(nn.Embedding(12, 8), nn.Dropout(0.1), nn.Linear(8, 12))
opt = torch.optim.AdamW(lm.parameters(), lr=1e-2)
ids = torch.randint(0, 12, (5, 9))
for epoch in range(3):
    before = perplexity(lm, ids)
    loss = nn.functional.cross_entropy(lm(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(epoch, before, loss.item())
