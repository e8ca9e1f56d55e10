import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader


class Pairs(Dataset):
    def __init__(self, n=48):
        g = torch.Generator().manual_seed(0)
        self.left = torch.randn(n, 5, generator=g)
        self.right = torch.randn(n, 5, generator=g)

    def __getitem__(self, i):
        a, b = self.left[i], self.right[i]
        label = torch.tensor(float(a.norm() > b.norm()))
        return {"a": a, "b": b, "label": label}

    def __len__(self):
        return len(self.left)


class Comparator(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, batch):
        return (self.score(batch["a"]) - self.score(batch["b"])).squeeze(1)


model = Comparator()
opt = torch.optim.AdamW(model.parameters())
for epoch in range(2):
    for batch in DataLoader(Pairs(), batch_size=12, shuffle=True):
        opt.zero_grad()
        loss = nn.functional.binary_cross_entropy(model(batch).sigmoid(), batch["label"])
        loss.backward()
        opt.step()
print(loss.item())
