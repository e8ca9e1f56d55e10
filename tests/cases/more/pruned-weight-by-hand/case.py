import torch
from torch import nn
from torch.nn.utils import prune


def sparsify(model, amount):
    for m in model.modules():
        if isinstance(m, nn.Linear):
            prune.l1_unstructured(m, name="weight", amount=amount)
    return model


torch.manual_seed(0)
model = sparsify(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)), 0.5)
weights = [m.weight for m in model if hasattr(m, "weight")]
biases = [m.bias for m in model if hasattr(m, "bias")]
opts = [torch.optim.SGD(biases, lr=0.1), torch.optim.SGD(weights, lr=0.01, momentum=0.9)]
for _ in range(2):
    loss = nn.functional.cross_entropy(model(torch.randn(9, 8)), torch.randint(0, 2, (9,)))
    for o in opts:
        o.zero_grad()
    loss.backward()
    for o in opts:
        o.step()
