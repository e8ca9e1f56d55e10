import math
import torch
import torch.nn.functional as F


class RBF:
    def __init__(self, noise=0.1):
        self._raw = torch.zeros(1, requires_grad=True)
        self._raw_noise = torch.tensor(math.log(noise), requires_grad=True)

    @property
    def lengthscale(self):
        return F.softplus(self._raw)

    @property
    def noise(self):
        return self._raw_noise.exp()

    def __call__(self, a, b):
        d = torch.cdist(a, b)
        return torch.exp(-0.5 * (d / self.lengthscale) ** 2)

    def hyperparameters(self):
        yield self._raw_noise
        yield self._raw


def neg_log_likelihood(kernel, x, y):
    k = kernel(x, x) + kernel.noise * torch.eye(len(x))
    chol = torch.linalg.cholesky(k)
    alpha = torch.cholesky_solve(y[:, None], chol)[:, 0]
    return 0.5 * y @ alpha + chol.diagonal().log().sum()


torch.manual_seed(0)
x = torch.linspace(0, 1, 15)[:, None]
y = torch.sin(6 * x[:, 0]) + 0.1 * torch.randn(15)
kernel = RBF()
optimizer = torch.optim.Adam(kernel.hyperparameters(), lr=0.1)
for i in range(30):
    optimizer.zero_grad()
    nll = neg_log_likelihood(kernel, x, y)
    nll.backward()
    optimizer.step()
print(f"lengthscale {kernel.lengthscale.item():.3f}, nll {nll.item():.3f}")
