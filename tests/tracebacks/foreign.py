"""Short programs that fail for reasons that are none of autograd's, by name.

`make.py` runs them as it runs the field cases: of what they print, `gradtrail explain` must say nothing but that.
"""

PROGRAMS = {
    "shapes-of-a-product": """
import torch

layer = torch.nn.Linear(16, 4)
features = torch.randn(8, 12)
loss = layer(features).sum()
loss.backward()
""",
    "broadcast": """
import torch

weight = torch.randn(3, 4, requires_grad=True)
scale = torch.randn(3)
(weight * scale).sum().backward()
""",
    "key-of-a-checkpoint": """
import torch

checkpoint = {"model": torch.nn.Linear(2, 2).state_dict(), "epoch": 3}
model = torch.nn.Linear(2, 2)
model.load_state_dict(checkpoint["state_dict"])
""",
    "keys-of-a-state": """
import torch

saved = torch.nn.Sequential(torch.nn.Linear(2, 2)).state_dict()
torch.nn.Linear(2, 2).load_state_dict(saved)
""",
    "sizes-of-a-state": """
import torch

torch.nn.Linear(4, 2).load_state_dict(torch.nn.Linear(4, 3).state_dict())
""",
    "word-out-of-the-table": """
import torch

words = torch.nn.Embedding(10, 4)
words(torch.tensor([3, 12])).sum().backward()
""",
    "target-out-of-bounds": """
import torch
import torch.nn.functional as F

scores = torch.randn(2, 3, requires_grad=True)
F.cross_entropy(scores, torch.tensor([0, 5])).backward()
""",
    "batch-sizes": """
import torch
import torch.nn.functional as F

scores = torch.randn(4, 3, requires_grad=True)
F.cross_entropy(scores, torch.tensor([0, 1, 2])).backward()
""",
    "type-of-the-target": """
import torch
import torch.nn.functional as F

scores = torch.randn(2, 3, requires_grad=True)
F.cross_entropy(scores, torch.tensor([0, 1], dtype=torch.int32)).backward()
""",
    "channels": """
import torch

images = torch.randn(1, 1, 8, 8)
torch.nn.Conv2d(3, 8, 3)(images).mean().backward()
""",
    "no-such-layer": """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.second(self.first(x))


Net()(torch.randn(1, 2))
""",
    "a-tuple-has-no-backward": """
import torch


def loss_of(output):
    return output.sum(), output.mean()


loss = loss_of(torch.randn(3, requires_grad=True))
loss.backward()
""",
    "axis": """
import torch

torch.randn(2, 3, requires_grad=True).softmax(dim=2).sum().backward()
""",
    "index": """
import torch

rows = torch.randn(4, 2, requires_grad=True)
rows[7].sum().backward()
""",
    "stack-of-sizes": """
import torch

torch.stack([torch.ones(2, requires_grad=True), torch.ones(3)]).sum().backward()
""",
    "view-of-a-transpose": """
import torch

torch.randn(2, 3, requires_grad=True).t().view(6).sum().backward()
""",
    "reshape": """
import torch

torch.randn(2, 3, requires_grad=True).reshape(4, 2)
""",
    "truth-of-many": """
import torch

losses = torch.rand(3, requires_grad=True)
if losses > 0.5:
    losses.sum().backward()
""",
    "more-memory-than-there-is": """
import torch

torch.zeros(2**55, requires_grad=True)
""",
    "no-file": """
import torch

torch.load("checkpoints/best.pt")
""",
    "not-a-checkpoint": """
from pathlib import Path

import torch

Path("best.pt").write_text("no checkpoint")
torch.load("best.pt", weights_only=True)
""",
    "no-module": """
import torch
import lightnings_of_yesterday as pl
""",
    "argument-unknown": """
import torch

layer = torch.nn.Linear(2, 2, requires_grad=True)
""",
    "argument-missing": """
import torch


class Net(torch.nn.Module):
    def forward(self, x, mask):
        return x * mask


Net()(torch.randn(2, requires_grad=True))
""",
    "numpy-shapes": """
import numpy as np
import torch

mean = torch.randn(3, requires_grad=True).detach().numpy()
mean + np.ones(4)
""",
    "a-worker-misses-a-key": """
import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return {0: torch.zeros(1)}[index]


if __name__ == "__main__":
    for row in DataLoader(Rows(), num_workers=1):
        print(row)
""",
    "a-batch-of-sizes": """
import torch
from torch.utils.data import DataLoader

for batch in DataLoader([torch.zeros(2), torch.zeros(3)], batch_size=2):
    print(batch)
""",
    "no-end": """
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return self(x)


Net()(torch.zeros(1, requires_grad=True))
""",
    "division": """
losses = []
mean = sum(losses) / len(losses)
print("requires_grad", mean)
""",
    "own-words": """
leaves = ["a", "b"]
assert "leaf" in leaves, "the tree has no leaf that requires grad"
""",
    "option-misspelt": """
import torch

model = torch.nn.Linear(2, 1)
torch.optim.SGD(model.parameters(), lr=0.1, momentums=0.9)
""",
    "groups": """
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters())
print(optimizer.param_groups[1]["lr"])
""",
    "state-of-another-optimizer": """
import torch

first, second = torch.nn.Linear(2, 1), torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
torch.optim.SGD(second.parameters(), lr=0.1).load_state_dict(torch.optim.SGD(first.parameters()).state_dict())
""",
}
