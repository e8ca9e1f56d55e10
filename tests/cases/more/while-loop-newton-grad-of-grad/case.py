import torch


def loss_of(p):
    return (p - torch.tensor([2.0, -1.0])).pow(4).sum()


def warmup(p, rate=0.01, tol=1e-2):
    """A few plain gradient steps before the real optimizer."""
    previous = float("inf")
    while True:
        g, = torch.autograd.grad(loss_of(p), p)
        p = p - rate * g
        now = loss_of(p).item()
        if previous - now < tol:
            return p
        previous = now


torch.manual_seed(0)
start = torch.randn(2, requires_grad=True)
point = warmup(start)
optimizer = torch.optim.Adam([point], lr=0.1)
for _ in range(20):
    optimizer.zero_grad()
    loss_of(point).backward()
    optimizer.step()
print(point)
