import torch
import torch.nn as nn


class Classifier(nn.Module):
    def __init__(self, n_classes=3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 8))
        self.classifier = nn.Linear(8, n_classes)

    def forward(self, x):
        return self.classifier(self.encoder(x))

    def freeze(self, keep=()):
        for name, p in self.named_parameters():
            p.requires_grad = name.split(".")[0] in keep


def train(model, x, y):
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    lossf = nn.CrossEntropyLoss()
    for _ in range(3):
        opt.zero_grad()
        loss = lossf(model(x), y)
        loss.backward()
        opt.step()
    return loss.item()


torch.manual_seed(0)
model = Classifier()
model.freeze(keep=("classifier",))
print(train(model, torch.randn(20, 10), torch.randint(0, 3, (20,))))
