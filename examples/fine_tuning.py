"""Fine-tuning a frozen backbone: only the new head and the last block learn.

The "pretrained" backbone is trained here for a moment on another task. Afterwards its parameters are
frozen, a new head replaces the old one, and the last block is thawed after the first epoch.
"""

import copy

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class ResidualBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, x):
        return x + self.body(x)


class Classifier(nn.Module):
    def __init__(self, classes, features=16, width=32, depth=3):
        super().__init__()
        self.stem = nn.Linear(features, width)
        self.blocks = nn.Sequential(*[ResidualBlock(width) for _ in range(depth)])
        self.fc = nn.Linear(width, classes)

    def forward(self, x):
        return self.fc(self.blocks(self.stem(x)))


def task(seed, classes, n=256, features=16):
    generator = torch.Generator().manual_seed(seed)
    centres = torch.randn(classes, features, generator=generator)
    labels = torch.randint(0, classes, (n,), generator=generator)
    return TensorDataset(centres[labels] + 0.5 * torch.randn(n, features, generator=generator), labels)


def set_parameter_requires_grad(module, value):
    for param in module.parameters():
        param.requires_grad = value


def trainable(model):
    return [p for p in model.parameters() if p.requires_grad]


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    correct, total = 0, 0
    for inputs, labels in loader:
        preds = model(inputs).argmax(dim=1)
        correct += (preds == labels).sum().item()
        total += labels.numel()
    return correct / total


def train_model(model, loaders, criterion, optimizer, scheduler, num_epochs, thaw_after=None):
    best_model_wts, best_acc = copy.deepcopy(model.state_dict()), 0.0
    for epoch in range(num_epochs):
        if thaw_after is not None and epoch == thaw_after:
            set_parameter_requires_grad(model.blocks[-1], True)
            optimizer.add_param_group({"params": model.blocks[-1].parameters(), "lr": 1e-3})
        model.train()
        running_loss = 0.0
        for inputs, labels in loaders["train"]:
            optimizer.zero_grad()
            loss = criterion(model(inputs), labels)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(trainable(model), 1.0)
            optimizer.step()
            running_loss += loss.item() * inputs.size(0)
        scheduler.step()
        acc = accuracy(model, loaders["val"])
        print(f"epoch {epoch}: loss {running_loss / len(loaders['train'].dataset):.4f}, accuracy {acc:.2f}")
        if acc > best_acc:
            best_acc, best_model_wts = acc, copy.deepcopy(model.state_dict())
    model.load_state_dict(best_model_wts)
    return model


def loaders_of(dataset):
    train, val = torch.utils.data.random_split(dataset, [192, 64])
    return {"train": DataLoader(train, batch_size=32, shuffle=True), "val": DataLoader(val, batch_size=64)}


def main():
    torch.manual_seed(4)
    criterion = nn.CrossEntropyLoss()

    model = Classifier(classes=8)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    train_model(model, loaders_of(task(0, 8)), criterion, optimizer, scheduler, num_epochs=2)

    set_parameter_requires_grad(model, False)
    model.fc = nn.Linear(model.fc.in_features, 3)
    before = model.stem.weight.clone()
    optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.05, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    train_model(model, loaders_of(task(1, 3)), criterion, optimizer, scheduler, num_epochs=3, thaw_after=1)
    print("the stem has not moved:", torch.equal(before, model.stem.weight))


if __name__ == "__main__":
    main()
