import torch
from torch import nn
from torch.utils.data import DataLoader


class Pixels(torch.utils.data.Dataset):
    def __init__(self, n, stem):
        self.n, self.stem = n, stem
        self.raw = torch.randn(n, 3, 6)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        feature = self.stem(self.raw[i]).mean(-1)
        return {"feature": feature, "index": i}


torch.manual_seed(0)
stem = nn.Linear(6, 4)
loader = DataLoader(Pixels(8, stem), batch_size=4, num_workers=1)
head = nn.Linear(3, 1)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
for batch in loader:
    loss = head(batch["feature"]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
