import argparse
import torch
import torch.nn as nn


def gram(f):
    b, c, h, w = f.shape
    f = f.view(b * c, h * w)
    return f @ f.t() / f.numel()


def build_extractor():
    layers = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 6, 3, padding=1))
    for p in layers.parameters():
        p.requires_grad_(False)
    return layers.eval()


def get_input_optimizer(img, lr):
    return torch.optim.LBFGS([img], lr=lr)


def transfer(args):
    content, style = torch.rand(1, 3, 16, 16), torch.rand(1, 3, 16, 16)
    net = build_extractor()
    style_target, content_target = gram(net(style)), net(content)
    img = content.clone().requires_grad_(True) if args.init == "content" else torch.rand_like(content).requires_grad_()
    optimizer = get_input_optimizer(img, args.lr)
    run = [0]
    while run[0] < args.steps:

        def closure():
            optimizer.zero_grad()
            feats = net(img)
            loss = args.style_weight * (gram(feats) - style_target).pow(2).sum() + (feats - content_target.detach()).pow(2).mean()
            loss.backward()
            run[0] += 1
            return loss

        optimizer.step(closure)
    return img.detach()


parser = argparse.ArgumentParser()
parser.add_argument("--init", default="content", choices=["content", "noise"])
parser.add_argument("--lr", type=float, default=0.5)
parser.add_argument("--steps", type=int, default=10)
parser.add_argument("--style-weight", type=float, default=1e3)
print(transfer(parser.parse_args([])).mean())
