import torch
from torch import nn


class Bilinear(nn.Module):
    def __init__(self, relations, d, gain=0.5):
        super().__init__()
        self.w = nn.ParameterDict({r: nn.Parameter(torch.randn(d, d)) for r in relations})
        for r in relations:
            nn.init.orthogonal_(self.w[r])
        self.scale = nn.Parameter(torch.ones(len(relations)) * gain)

    def forward(self, head, relation, tail):
        i = sorted(self.w).index(relation)
        return self.scale[i] * torch.einsum("bi,ij,bj->b", head, self.w[relation], tail)


torch.manual_seed(0)
model = Bilinear(["likes", "knows"], 4)
opt = torch.optim.Adam(model.parameters())
score = model(torch.randn(3, 4), "knows", torch.randn(3, 4))
opt.zero_grad()
score.sigmoid().log().neg().mean().backward()
opt.step()
