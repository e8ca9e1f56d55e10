"""A variational autoencoder on synthetic 8x8 blobs, with the reparametrization trick."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SIZE = 8


class Blobs(Dataset):
    """Round blobs at random places."""

    def __init__(self, n=256, seed=0):
        generator = torch.Generator().manual_seed(seed)
        self.centres = torch.rand(n, 2, generator=generator) * (SIZE - 1)
        axis = torch.arange(SIZE, dtype=torch.float32)
        self.rows, self.columns = torch.meshgrid(axis, axis, indexing="ij")

    def __len__(self):
        return len(self.centres)

    def __getitem__(self, i):
        row, column = self.centres[i]
        distance = (self.rows - row) ** 2 + (self.columns - column) ** 2
        return torch.exp(-distance / 3.0)


class VAE(nn.Module):
    def __init__(self, hidden=64, latent=2):
        super().__init__()
        self.fc1 = nn.Linear(SIZE * SIZE, hidden)
        self.fc21 = nn.Linear(hidden, latent)
        self.fc22 = nn.Linear(hidden, latent)
        self.fc3 = nn.Linear(latent, hidden)
        self.fc4 = nn.Linear(hidden, SIZE * SIZE)
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        h3 = F.relu(self.fc3(z))
        return torch.sigmoid(self.fc4(h3))

    def forward(self, x):
        if self.training:
            self.steps += 1
        mu, logvar = self.encode(x.view(-1, SIZE * SIZE))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def loss_function(recon_x, x, mu, logvar, beta=1.0):
    bce = F.binary_cross_entropy(recon_x, x.view(-1, SIZE * SIZE), reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + beta * kld


def train(model, loader, optimizer, epoch):
    model.train()
    train_loss = 0
    beta = min(1.0, 0.25 * (epoch + 1))
    for data in loader:
        optimizer.zero_grad()
        recon_batch, mu, logvar = model(data)
        loss = loss_function(recon_batch, data, mu, logvar, beta)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
    print(f"epoch {epoch}: average loss {train_loss / len(loader.dataset):.3f}")


def test(model, loader):
    model.eval()
    test_loss = 0
    pictures = []
    with torch.no_grad():
        for data in loader:
            recon_batch, mu, logvar = model(data)
            test_loss += loss_function(recon_batch, data, mu, logvar)
            pictures.append(recon_batch.view(-1, SIZE, SIZE).numpy())
    print(f"test loss {test_loss / len(loader.dataset):.3f}")
    return pictures


def interpolate(model, first, second, steps=5):
    with torch.no_grad():
        (start, _), (end, _) = model.encode(first.flatten()), model.encode(second.flatten())
    weights = torch.linspace(0, 1, steps).unsqueeze(1)
    path = (1 - weights) * start + weights * end
    return model.decode(path).detach().view(-1, SIZE, SIZE).numpy()


def main():
    torch.manual_seed(8)
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    train_set, test_set = Blobs(256), Blobs(64, seed=1)
    loader = DataLoader(train_set, batch_size=32, shuffle=True)
    for epoch in range(4):
        train(model, loader, optimizer, epoch)
    pictures = test(model, DataLoader(test_set, batch_size=32))
    print("brightest pixel:", max(p.max() for p in pictures), "after", model.steps.item(), "steps")
    print("row of maxima on the way:", interpolate(model, test_set[0], test_set[1]).argmax(axis=2)[:, 0])


if __name__ == "__main__":
    main()
