"""A conditional GAN on small synthetic pictures: bars that lie or stand.

The generator draws an 8x8 picture from noise and a label, the discriminator is shown the label as
well. The networks are updated in turn in every iteration.
"""

import argparse

import torch
from torch import nn, optim

parser = argparse.ArgumentParser()
parser.add_argument("--iterations", type=int, default=20)
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--latent-dim", type=int, default=16)
parser.add_argument("--lr", type=float, default=2e-4)
opt = parser.parse_args()

NUM_CLASSES = 2
SIZE = 8


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.label_emb = nn.Embedding(NUM_CLASSES, NUM_CLASSES)

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(
            *block(opt.latent_dim + NUM_CLASSES, 64, normalize=False),
            *block(64, 128),
            nn.Linear(128, SIZE * SIZE),
            nn.Tanh(),
        )

    def forward(self, noise, labels):
        inputs = torch.cat((self.label_emb(labels), noise), -1)
        return self.model(inputs).view(-1, 1, SIZE, SIZE)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.label_emb = nn.Embedding(NUM_CLASSES, NUM_CLASSES)
        self.model = nn.Sequential(
            nn.Linear(SIZE * SIZE + NUM_CLASSES, 64),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(64, 1),
        )

    def forward(self, img, labels):
        inputs = torch.cat((img.view(img.size(0), -1), self.label_emb(labels)), -1)
        return self.model(inputs)


def bars(n):
    """Pictures of a bar that lies (label 0) or stands (label 1)."""
    labels = torch.randint(0, NUM_CLASSES, (n,))
    images = torch.full((n, 1, SIZE, SIZE), -1.0)
    for i, label in enumerate(labels.tolist()):
        at = int(torch.randint(0, SIZE, (1,)))
        if label == 0:
            images[i, 0, at, :] = 1.0
        else:
            images[i, 0, :, at] = 1.0
    return images, labels


def main():
    torch.manual_seed(1)
    generator = Generator()
    discriminator = Discriminator()
    adversarial_loss = nn.MSELoss()
    optimizer_G = optim.Adam(generator.parameters(), lr=opt.lr, betas=(0.5, 0.999))
    optimizer_D = optim.Adam(discriminator.parameters(), lr=opt.lr, betas=(0.5, 0.999))

    for it in range(opt.iterations):
        real_imgs, labels = bars(opt.batch_size)
        valid = torch.ones(opt.batch_size, 1)
        fake = torch.zeros(opt.batch_size, 1)

        z = torch.randn(opt.batch_size, opt.latent_dim)
        gen_labels = torch.randint(0, NUM_CLASSES, (opt.batch_size,))
        gen_imgs = generator(z, gen_labels)

        # Train the discriminator
        optimizer_D.zero_grad()
        d_real_loss = adversarial_loss(discriminator(real_imgs, labels), valid)
        d_fake_loss = adversarial_loss(discriminator(gen_imgs, gen_labels), fake)
        d_loss = (d_real_loss + d_fake_loss) / 2
        d_loss.backward()
        optimizer_D.step()

        # Train the generator
        optimizer_G.zero_grad()
        validity = discriminator(gen_imgs, gen_labels)
        g_loss = adversarial_loss(validity, valid)
        g_loss.backward()
        optimizer_G.step()

        print(f"[{it}/{opt.iterations}] [D loss: {d_loss.item():.4f}] [G loss: {g_loss.item():.4f}]")


if __name__ == "__main__":
    main()
