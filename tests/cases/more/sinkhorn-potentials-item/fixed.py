import torch


def cost_matrix(a, b):
    return torch.cdist(a, b).pow(2)


def sinkhorn(cost, eps=0.5, n_iter=20):
    n, m = cost.shape
    log_k = -cost / eps
    f, g = torch.zeros(n), torch.zeros(m)
    for _ in range(n_iter):
        f = -torch.logsumexp(log_k + g, dim=1)
        g = -torch.logsumexp(log_k + f[:, None], dim=0)
    plan = (f[:, None] + log_k + g).exp()
    return (plan * -log_k * eps).sum()


torch.manual_seed(0)
source = torch.randn(6, 2, requires_grad=True)
target = torch.randn(8, 2) + 3
opt = torch.optim.Adam([source], lr=0.1)
step = 0
while step < 5:
    distance = sinkhorn(cost_matrix(source, target))
    opt.zero_grad()
    distance.backward()
    opt.step()
    step += 1
print(distance.item())
