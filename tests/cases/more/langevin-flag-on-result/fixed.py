import torch


def energy(x):
    return ((x**2 - 1) ** 2).sum(-1)


class Langevin:
    def __init__(self, step=0.02, temperature=0.5):
        self.step, self.temperature = step, temperature

    def __call__(self, x):
        x.requires_grad = True
        g = torch.autograd.grad(energy(x).sum(), x)[0]
        noise = torch.randn_like(x) * (2 * self.step * self.temperature) ** 0.5
        return (x - self.step * g + noise).detach()


def chain(kernel, x, n):
    samples = []
    while len(samples) < n:
        x = kernel(x)
        samples.append(x.detach())
    return torch.stack(samples)


torch.manual_seed(0)
print(chain(Langevin(), torch.randn(10, 2), 50).std())
