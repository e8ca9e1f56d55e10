import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(60, 4)
y = (x.sum(1) > 0).long()
loaders = {
    "training": DataLoader(TensorDataset(x[:40], y[:40]), batch_size=10, shuffle=True),
    "validation": DataLoader(TensorDataset(x[40:], y[40:]), batch_size=10),
}
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()

for epoch in range(2):
    for phase in ["training", "validation"]:
        model.train(phase == "training")
        total = 0.0
        for xb, yb in loaders[phase]:
            optimizer.zero_grad()
            with torch.set_grad_enabled(phase == "training"):
                out = model(xb)
                loss = criterion(out, yb)
            if phase == "training":
                loss.backward()
                optimizer.step()
            total += loss.item() * len(xb)
        print(epoch, phase, total)
