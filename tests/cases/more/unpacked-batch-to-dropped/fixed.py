import torch
from torch import nn
from torch.utils.data import DataLoader

device = "cuda" if torch.cuda.is_available() else "cpu"


def to_device(batch):
    return {key: value.to(device, non_blocking=True) for key, value in batch.items()}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.text, self.image = nn.Linear(4, 8), nn.Linear(6, 8)
        self.out = nn.Linear(16, 2)

    def forward(self, text, image, **_):
        return self.out(torch.cat([self.text(text), self.image(image)], dim=1).relu())


torch.manual_seed(0)
data = [{"text": torch.randn(4), "image": torch.randn(6), "label": torch.tensor(i % 2)} for i in range(12)]
model = Model().to(device)
opt = torch.optim.Adam(model.parameters())
for batch in DataLoader(data, batch_size=4):
    batch = to_device(batch)
    loss = nn.functional.cross_entropy(model(**batch), batch["label"])
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
