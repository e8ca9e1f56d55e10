import torch
from torch import nn, optim

torch.manual_seed(0)
data = {"train": torch.randn(40, 3), "val": torch.randn(20, 3)}
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.05)
sched = optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
best = {"loss": float("inf"), "state": None}
for epoch in range(4):
    for phase in ("train", "val"):
        is_train = phase == "train"
        net.train() if is_train else net.eval()
        running = 0.0
        for xb in data[phase].split(10):
            with torch.set_grad_enabled(is_train):
                loss = (net(xb) - xb.prod(1, keepdim=True)).abs().mean()
                if is_train:
                    opt.zero_grad()
                    loss.backward()
                    opt.step()
            running += loss.item()
        if is_train:
            sched.step()
        elif running < best["loss"]:
            best.update(loss=running, state={k: v.clone() for k, v in net.state_dict().items()})
net.load_state_dict(best["state"])
print(best["loss"])
