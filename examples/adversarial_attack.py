"""Adversarial examples: fast gradient sign and projected gradient descent against a small classifier.

The classifier learns to tell synthetic patterns apart; both attacks then change the pictures as
little as possible so that it errs. At last it is trained on such pictures, which makes it robust.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ConvNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.dropout = nn.Dropout(0.1)
        self.fc = nn.Linear(16 * 2 * 2, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(self.dropout(torch.flatten(x, 1)))


def patterns(n, size=8):
    """Horizontal stripes, vertical stripes and checks, in noise."""
    rows = torch.arange(size).view(-1, 1) % 2
    columns = torch.arange(size).view(1, -1) % 2
    kinds = torch.stack([rows.expand(size, size), columns.expand(size, size), (rows + columns) % 2]).float()
    labels = torch.randint(0, 3, (n,))
    return (kinds[labels] + 0.1 * torch.randn(n, size, size)).clamp(0, 1).unsqueeze(1), labels


def fgsm_attack(model, images, labels, epsilon):
    images = images.clone().detach()
    images.requires_grad = True
    loss = F.cross_entropy(model(images), labels)
    model.zero_grad()
    loss.backward()
    perturbed = images + epsilon * images.grad.sign()
    return torch.clamp(perturbed, 0, 1).detach()


def pgd_attack(model, images, labels, epsilon=0.3, alpha=0.05, steps=10):
    adversarial = images + torch.empty_like(images).uniform_(-epsilon, epsilon)
    adversarial = adversarial.clamp(0, 1).detach()
    for _ in range(steps):
        adversarial.requires_grad_(True)
        loss = F.cross_entropy(model(adversarial), labels)
        (grad,) = torch.autograd.grad(loss, adversarial)
        adversarial = adversarial.detach() + alpha * grad.sign()
        delta = torch.clamp(adversarial - images, min=-epsilon, max=epsilon)
        adversarial = torch.clamp(images + delta, 0, 1).detach()
    return adversarial


def saliency(model, image, label):
    image = image.unsqueeze(0).requires_grad_()
    score = model(image)[0, label]
    score.backward()
    return image.grad.abs().squeeze().numpy()


def accuracy(model, images, labels):
    with torch.no_grad():
        return (model(images).argmax(1) == labels).float().mean().item()


def train(model, optimizer, steps, attack=None):
    for step in range(steps):
        images, labels = patterns(64)
        if attack is not None:
            model.eval()
            images = attack(model, images, labels)
        model.train()
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    return loss.item()


def main():
    torch.manual_seed(11)
    model = ConvNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    print("loss after training:", round(train(model, optimizer, 40), 3))
    images, labels = patterns(200)
    print("clean accuracy:", accuracy(model, images, labels))
    for epsilon in (0.1, 0.3):
        print(f"FGSM {epsilon}:", accuracy(model, fgsm_attack(model, images, labels, epsilon), labels))
    print("PGD:", accuracy(model, pgd_attack(model, images, labels), labels))
    print("most salient pixel:", saliency(model, images[0], labels[0]).argmax())
    train(model, optimizer, 30, attack=lambda m, x, y: pgd_attack(m, x, y, steps=3))
    print("PGD after adversarial training:", accuracy(model, pgd_attack(model, images, labels), labels))


if __name__ == "__main__":
    main()
