import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(0)
frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
frame["y"] = frame["a"] * 2 - frame["c"] + rng.normal(scale=0.1, size=80)

features = torch.tensor(frame[["a", "b", "c"]].values, dtype=torch.float32)
target = torch.tensor(frame["y"].to_numpy(), dtype=torch.float32).unsqueeze(1)
scale = np.array([1.0, 0.5, 2.0], dtype=np.float32)

model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for epoch in range(40):
    pred = model(features * scale)
    loss = nn.functional.mse_loss(pred, target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(float(loss))

with torch.no_grad():
    frame["pred"] = model(features * torch.from_numpy(scale)).squeeze(1).numpy()
residual = np.asarray(frame["y"] - frame["pred"])
weights = {k: v.detach().numpy().round(2) for k, v in model.named_parameters()}
print(np.mean(losses[-5:]), residual.std(), weights)
