import torch
from torch import optim


def pca(x, k):
    mean = x.mean(0)
    u, s, vh = torch.linalg.svd(x - mean, full_matrices=False)
    return u[:, :k] * s[:k], vh[:k], mean


def refine(codes, basis, mean, x, n_iter, sparsity):
    codes, basis = codes.clone(), basis.clone()
    opt = optim.Adam([codes, basis], lr=1e-2)
    history = []
    for i in range(n_iter):
        opt.zero_grad()
        recon = codes @ basis + mean
        loss = (recon - x).pow(2).mean() + sparsity * codes.abs().mean()
        loss.backward()
        opt.step()
        history.append(loss.item())
    return codes, basis, history


torch.manual_seed(0)
x = torch.randn(50, 3) @ torch.randn(3, 10) + 0.1 * torch.randn(50, 10)
codes, basis, mean = pca(x, 3)
codes, basis, history = refine(codes, basis, mean, x, n_iter=20, sparsity=0.1)
print(history[0], "->", history[-1])
