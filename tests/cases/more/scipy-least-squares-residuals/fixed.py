import numpy as np
import torch
from scipy import optimize

T = torch.linspace(0, 4, 25, dtype=torch.float64)
OBS = 2.0 * torch.exp(-0.7 * T) + 0.01 * torch.randn(25, dtype=torch.float64)


def model(theta, t):
    a, k = theta
    return a * torch.exp(-k * t)


def residuals(theta):
    theta = torch.tensor(theta, requires_grad=True)
    return (model(theta, T) - OBS).detach().numpy()


def jacobian(theta):
    theta = torch.tensor(theta)
    return torch.autograd.functional.jacobian(lambda p: model(p, T), theta).numpy()


solution = optimize.least_squares(residuals, x0=np.array([1.0, 1.0]), jac=jacobian)
print(solution.x)
