import torch
from torch import nn


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 6, 3, padding=1), nn.ReLU())
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        self.maps = self.features(x)
        return self.head(self.maps.mean(dim=(2, 3)))


class GradCAM:
    def __init__(self, model):
        self.model = model.eval()

    def __call__(self, x, target=None):
        scores = self.model(x)
        self.model.maps.retain_grad()
        target = scores.argmax(1).item() if target is None else target
        self.model.zero_grad()
        scores[0, target].backward()
        alpha = self.model.maps.grad.mean(dim=(2, 3), keepdim=True)
        cam = (alpha * self.model.maps).sum(1).relu()
        return cam.detach() / (cam.max() + 1e-8)


torch.manual_seed(0)
cam = GradCAM(SmallCNN())
print(cam(torch.rand(1, 1, 8, 8)).shape)
