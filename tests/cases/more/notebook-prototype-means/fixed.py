# %% imports
import torch
from torch import nn
import torch.nn.functional as F

# %% data
torch.manual_seed(0)
n_way, k_shot, d = 3, 5, 8
support = torch.randn(n_way, k_shot, d) + torch.arange(n_way).view(-1, 1, 1)
query = torch.randn(n_way * 4, d) + torch.arange(n_way).repeat_interleave(4).view(-1, 1)
labels = torch.arange(n_way).repeat_interleave(4)

# %% encoder
encoder = nn.Sequential(nn.Linear(d, 16), nn.ReLU(), nn.Linear(16, 6))

# %% prototypes, to be fine-tuned on the support set
prototypes = []
for shots in support:
    proto = encoder(shots).mean(0).detach()
    proto.requires_grad_(True)
    prototypes.append(proto)

# %%
opt = torch.optim.SGD(prototypes, lr=0.1)
for epoch in range(5):
    logits = -torch.cdist(encoder(query), torch.stack(prototypes))
    loss = F.cross_entropy(logits, labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
