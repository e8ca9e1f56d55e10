import torch
import torch.nn.functional as F
from torch import nn, optim


def normalise(adj):
    deg = adj.sum(1).rsqrt()
    return deg[:, None] * adj * deg[None, :]


def knn_graph(x, k=3):
    d = torch.cdist(x, x)
    idx = d.topk(k + 1, largest=False).indices
    return torch.zeros_like(d).scatter_(1, idx, 1.0)


class GCN(nn.Module):
    def __init__(self, n_feat, n_hid, n_cls):
        super().__init__()
        self.lin1 = nn.Linear(n_feat, n_hid)
        self.lin2 = nn.Linear(n_hid, n_cls)

    def forward(self, x, a):
        return self.lin2(a @ F.relu(self.lin1(a @ x)))


torch.manual_seed(0)
x, y = torch.randn(20, 5), torch.randint(0, 3, (20,))
edge_logits = nn.Parameter(knn_graph(x) * 4 - 2)
net = GCN(5, 8, 3)
opt = optim.Adam([edge_logits, *net.parameters()], lr=1e-2)
adj = normalise(edge_logits.sigmoid())
for epoch in range(1, 6):
    net.train()
    opt.zero_grad()
    loss = F.cross_entropy(net(x, adj), y) + 1e-3 * adj.abs().sum()
    loss.backward()
    opt.step()
    with torch.no_grad():
        acc = (net.eval()(x, adj).argmax(1) == y).float().mean()
    print(f"{epoch}: {loss.item():.3f} {acc:.2f}")
