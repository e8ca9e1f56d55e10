import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class UNet(nn.Module):
    def __init__(self, c=4):
        super().__init__()
        self.down = nn.ModuleList([nn.Conv2d(1, c, 3, padding=1), nn.Conv2d(c, 2 * c, 3, padding=1, stride=2)])
        self.up = [nn.ConvTranspose2d(2 * c, c, 2, stride=2)]
        self.out = nn.Conv2d(2 * c, 1, 1)

    def forward(self, x):
        first = self.down[0](x).relu()
        x = self.down[1](first).relu()
        for layer in self.up:
            x = layer(x).relu()
        return self.out(torch.cat([x, first], dim=1))


torch.manual_seed(0)
model = UNet().to(device)
opt = torch.optim.Adam(model.parameters())
x = torch.rand(2, 1, 8, 8, device=device)
loss = (model(x) - x).pow(2).mean()
opt.zero_grad()
loss.backward()
opt.step()
print(loss.item())
