import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class ConvNet(nn.Module):
    def __init__(self, n_classes=4):
        super(ConvNet, self).__init__()
        self.conv1 = nn.Conv2d(1, 4, 3)
        self.fc = nn.Linear(4 * 3 * 3, n_classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        return F.log_softmax(self.fc(torch.flatten(x, 1)), dim=1)


class Experiment:
    OPTIMIZERS = {"sgd": optim.SGD, "adam": optim.Adam}

    def __init__(self, net, name="adam", **kwargs):
        self.net = net
        self.opt = self.OPTIMIZERS[name](self.net.parameters(), **kwargs)

    def fit(self, x, y, steps):
        for i in range(steps):
            self.opt.zero_grad()
            loss = F.nll_loss(self.net(x), y)
            loss.backward()
            self.opt.step()
        return loss.item()


torch.manual_seed(1)
exp = Experiment(ConvNet(), lr=1e-3)
print(exp.fit(torch.rand(12, 1, 8, 8), torch.randint(0, 4, (12,)), 3))
