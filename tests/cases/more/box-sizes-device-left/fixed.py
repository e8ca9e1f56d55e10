import torch
from torch import nn

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


class Detector(nn.Module):
    def __init__(self, sizes=(8.0, 16.0, 32.0)):
        super().__init__()
        self.register_buffer("sizes", torch.tensor(sizes))
        self.backbone = nn.Conv2d(3, 8, 3, stride=4, padding=1)
        self.delta = nn.Conv2d(8, len(sizes), 1)

    def forward(self, images):
        d = self.delta(self.backbone(images).relu())
        return d.exp() * self.sizes.view(1, -1, 1, 1)


def main(steps=2):
    torch.manual_seed(0)
    model = Detector().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for _ in range(steps):
        images = torch.rand(2, 3, 32, 32, device=device)
        loss = (model(images) - 12.0).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


if __name__ == "__main__":
    print(main())
