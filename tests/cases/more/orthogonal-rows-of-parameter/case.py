import torch
from torch import nn


class Lookup(nn.Module):
    def __init__(self, n: int, d: int, pad: int = 0):
        super().__init__()
        self.table = nn.Parameter(torch.randn(n, d) * 0.1)
        self.table[pad] = 0.0
        self.pad = pad

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        keep = (ids != self.pad).unsqueeze(-1)
        return (self.table[ids] * keep).sum(1) / keep.sum(1).clamp(min=1)


def main():
    torch.manual_seed(0)
    lookup = Lookup(30, 6)
    clf = nn.Linear(6, 2)
    opt = torch.optim.Adagrad([*lookup.parameters(), *clf.parameters()], lr=0.1)
    ids, y = torch.randint(0, 30, (16, 5)), torch.randint(0, 2, (16,))
    for _ in range(5):
        loss = nn.functional.cross_entropy(clf(lookup(ids)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


if __name__ == "__main__":
    print(main())
