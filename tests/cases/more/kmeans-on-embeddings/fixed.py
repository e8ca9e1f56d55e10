import torch
from sklearn.cluster import KMeans
from torch import nn


class Skipgram(nn.Module):
    def __init__(self, n_words, dim):
        super().__init__()
        self.centre = nn.Embedding(n_words, dim)
        self.context = nn.Embedding(n_words, dim)

    def forward(self, pairs):
        c, o = self.centre(pairs[:, 0]), self.context(pairs[:, 1])
        return nn.functional.logsigmoid((c * o).sum(1))

    @property
    def vectors(self):
        return nn.functional.normalize(self.centre.weight, dim=1)


def clusters(model, k):
    km = KMeans(n_clusters=k, n_init=3, random_state=0)
    return km.fit_predict(model.vectors.detach())


torch.manual_seed(0)
model = Skipgram(25, 6)
opt = torch.optim.SparseAdam(list(model.parameters())) if False else torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(5):
    loss = -model(torch.randint(0, 25, (64, 2))).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(clusters(model, 4))
