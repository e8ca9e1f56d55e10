import torch

from nets import Critic, Sampler, weights_init

torch.manual_seed(0)
G, D = Sampler(4, 2).apply(weights_init), Critic(2).apply(weights_init)
opts = {"G": torch.optim.Adam(G.parameters(), 1e-3), "D": torch.optim.Adam(D.parameters(), 1e-3)}
bce = torch.nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(32, 1), torch.zeros(32, 1)


def d_step(real, fake):
    opts["D"].zero_grad()
    loss = bce(D(real), ones) + bce(D(fake.detach()), zeros)
    loss.backward()
    opts["D"].step()
    return loss.item()


def g_step(fake):
    opts["G"].zero_grad()
    loss = bce(D(fake), ones)
    loss.backward()
    opts["G"].step()
    return loss.item()


for epoch in range(3):
    real = torch.randn(32, 2) + torch.tensor([2.0, -1.0])
    fake = G.sample(32)
    print(epoch, d_step(real, fake), g_step(fake))
