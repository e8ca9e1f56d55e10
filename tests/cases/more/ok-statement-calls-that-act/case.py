import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, d)
        self.act = nn.PReLU()

    def forward(self, x):
        return self.act(self.lin(x))


torch.manual_seed(0)
net = nn.Sequential(Block(4), Block(4), nn.Linear(4, 1))
net.to(torch.float32)
net.float()
net.train()
net.requires_grad_(True)
running = torch.zeros(4)
history = torch.empty(0)
opt = torch.optim.ASGD(net.parameters(), lr=0.05)
for step in range(5):
    x = torch.randn(20, 4)
    running.mul_(0.9).add_(x.mean(0), alpha=0.1)
    loss = (net(x) - x.amax(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    loss.detach_()
    history = torch.cat([history, loss.reshape(1)])
running.clamp_(-1, 1)
running.requires_grad_()
print(history, running)
