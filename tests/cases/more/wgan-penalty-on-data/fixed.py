import torch
from torch import nn, autograd


def gradient_penalty(critic, real, fake, weight=10.0):
    eps = torch.rand(len(real), 1)
    mix = (eps * real + (1 - eps) * fake.detach()).requires_grad_()
    scores = critic(mix)
    grads, = autograd.grad(
        outputs=scores,
        inputs=mix,
        grad_outputs=torch.ones_like(scores),
        create_graph=True,
    )
    return weight * (grads.norm(2, dim=1) - 1).pow(2).mean()


torch.manual_seed(0)
gen = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt = torch.optim.RMSprop(critic.parameters(), lr=5e-5)
for _ in range(3):
    real = torch.randn(20, 2) * 0.5 + 2
    fake = gen(torch.randn(20, 3))
    opt.zero_grad()
    loss = critic(fake.detach()).mean() - critic(real).mean() + gradient_penalty(critic, real, fake)
    loss.backward()
    opt.step()
print(loss.item())
