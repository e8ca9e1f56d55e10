"""Neural style transfer: an image is optimized until its features match a content and a style picture.

The features come from a small frozen convolutional network with random weights, which is enough to
match colours and coarse texture on synthetic pictures.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
IMAGE_SIZE = 32
STYLE_WEIGHT = 1e4
CONTENT_WEIGHT = 1.0


class FeatureNet(nn.Module):
    """Stands in for a pretrained VGG: returns the activations after each block."""

    def __init__(self, channels=(8, 16, 32)):
        super().__init__()
        blocks, previous = [], 3
        for width in channels:
            blocks.append(nn.Sequential(nn.Conv2d(previous, width, 3, padding=1), nn.ReLU()))
            previous = width
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x):
        features = []
        for block in self.blocks:
            x = block(x)
            features.append(x)
            x = F.avg_pool2d(x, 2)
        return features


def gram_matrix(features):
    n, c, h, w = features.size()
    flat = features.view(n * c, h * w)
    return flat @ flat.t() / (n * c * h * w)


def content_picture():
    ramp = torch.linspace(0, 1, IMAGE_SIZE)
    across = ramp.repeat(IMAGE_SIZE, 1)
    return torch.stack([across, across.t(), torch.zeros_like(across)]).unsqueeze(0)


def style_picture():
    checks = (torch.arange(IMAGE_SIZE) // 4).view(-1, 1) + (torch.arange(IMAGE_SIZE) // 4).view(1, -1)
    return (checks % 2).float().expand(1, 3, -1, -1)


def total_variation(image):
    return (image[..., 1:, :] - image[..., :-1, :]).abs().mean() + (image[..., 1:] - image[..., :-1]).abs().mean()


def run_style_transfer(net, content, style, num_steps=30):
    with torch.no_grad():
        content_target = net(content)[1]
        style_targets = [gram_matrix(features) for features in net(style)]

    # White noise alone takes long, so start from a mixture with the content.
    input_img = torch.rand(content.size(), device=device, requires_grad=True)
    input_img = 0.6 * content + 0.4 * input_img

    optimizer = optim.Adam([input_img], lr=0.05)
    for step in range(num_steps):
        optimizer.zero_grad()
        features = net(input_img)
        content_loss = F.mse_loss(features[1], content_target)
        style_loss = sum(F.mse_loss(gram_matrix(f), target) for f, target in zip(features, style_targets))
        loss = CONTENT_WEIGHT * content_loss + STYLE_WEIGHT * style_loss + 0.1 * total_variation(input_img)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            input_img.clamp_(0, 1)
        if step % 10 == 0:
            print(f"step {step}: content {content_loss.item():.4f}, style {style_loss.item():.6f}")
    return input_img.detach()


if __name__ == "__main__":
    torch.manual_seed(2)
    feature_net = FeatureNet().to(device).eval().requires_grad_(False)
    result = run_style_transfer(feature_net, content_picture().to(device), style_picture().to(device))
    print("range of the result:", result.min().item(), result.max().item())
