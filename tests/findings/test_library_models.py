"""What libraries around torch do to autograd: right programs stay quiet, and mistakes are found through them.

The packages are not installed here; where each fact was read stands in its file of `interp/models`.
"""

from __future__ import annotations

import pytest

from gradtrail.findings.engine import check_source

START = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Linear(4, 1)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(8, 4), torch.randn(8, 1)))
"""

ACCELERATE = (
    START
    + """\
from accelerate import Accelerator
accelerator = Accelerator(mixed_precision="fp16", gradient_accumulation_steps=2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net, optimizer, data = accelerator.prepare(net, optimizer, data)
total = 0
for x, y in data:
    with accelerator.accumulate(net):
        loss = F.mse_loss(net(x), y)
        accelerator.backward(loss)
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    total += loss.item()
    accelerator.log({"loss": loss})
accelerator.unwrap_model(net).weight.detach().cpu().numpy()
"""
)

FABRIC = (
    START
    + """\
from lightning.fabric import Fabric
fabric = Fabric(accelerator="cuda")
fabric.launch()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net, optimizer = fabric.setup(net, optimizer)
data = fabric.setup_dataloaders(data)
for x, y in data:
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y)
    fabric.backward(loss)
    fabric.clip_gradients(net, optimizer, max_norm=1.0)
    optimizer.step()
"""
)

SCALER = (
    START
    + """\
scaler = torch.cuda.amp.GradScaler()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in data:
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
"""
)

DEEPSPEED = (
    START
    + """\
import deepspeed
engine, optimizer, _, _ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config={})
for x, y in data:
    loss = F.mse_loss(engine(x.to(engine.device)), y.to(engine.device))
    engine.backward(loss)
    engine.step()
"""
)

LIGHTNING = (
    START
    + """\
import pytorch_lightning as pl

class Lit(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.net(x), y)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        return self.net(x).numpy()

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.net.parameters())
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]
"""
)

FIT = "\nmodel = Lit()\npl.Trainer(max_epochs=2).fit(model, data)\n"

MANUAL = LIGHTNING.replace("self.save_hyperparameters()", "self.automatic_optimization = False").replace(
    '        self.log("loss", loss)\n        return loss\n',
    "        optimizer = self.optimizers()\n        optimizer.zero_grad()\n        self.manual_backward(loss)\n        optimizer.step()\n",
)

TRAINER = """\
import torch
import torch.nn.functional as F
from transformers import Trainer

class Mine(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = F.cross_entropy(outputs.logits, labels)
        return (loss, outputs) if return_outputs else loss
"""

EINOPS = (
    START
    + """\
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import Rearrange, Reduce

w = torch.randn(4, 6, requires_grad=True)
x = rearrange(w, "a (b c) -> a b c", b=2)
layer = nn.Sequential(Rearrange("a b c -> a (b c)"), nn.Linear(6, 2))
y = repeat(reduce(x, "a b c -> a b", "mean"), "a b -> a b c", c=3)
packed, shapes = pack([x, y], "a * c")
first, second = unpack(packed, shapes, "a * c")
z = rearrange([w, w], "n a b -> a (n b)")
loss = einsum(x, y, "a b c, a b c -> ").sum() + layer(x).sum() + Reduce("a b c -> a", "max")(x).sum() + z.sum()
loss.backward()
"""
)

FUNC = """\
import torch
from torch.func import functional_call, grad, vmap

net = torch.nn.Linear(3, 1)
params = dict(net.named_parameters())

def loss(params, x):
    return functional_call(net, params, (x,)).sum()

for _ in range(3):
    grads = grad(loss)(params, torch.randn(2, 3))
    params = {name: (value - 0.1 * grads[name]).detach() for name, value in params.items()}
each = vmap(grad(loss), in_dims=(None, 0))(params, torch.randn(5, 2, 3))
print({name: value.numpy() for name, value in each.items()})
"""

COMPILE = (
    START
    + """\
compiled = torch.compile(net, mode="max-autotune")
other = torch.compile(dynamic=True)(net)

@torch.compile(fullgraph=True)
def step(x):
    return compiled(x).sum() + other(x).sum()

optimizer = torch.optim.SGD(compiled.parameters(), lr=0.1)
for x, y in data:
    optimizer.zero_grad()
    step(x).backward()
    optimizer.step()
"""
)

PEFT = (
    START
    + """\
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
base = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
model = get_peft_model(base, LoraConfig(r=4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for x, y in data:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
base[0].weight.numpy()
"""
)

GEOMETRIC = """\
import torch
from torch_geometric.nn import GCNConv, MessagePassing

class Conv(MessagePassing):
    def __init__(self):
        super().__init__(aggr="add")
        self.lin = torch.nn.Linear(3, 3)

    def forward(self, x, edge_index):
        return self.propagate(edge_index, x=self.lin(x))

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = Conv(), GCNConv(3, 1)

    def forward(self, data):
        return self.two(self.one(data.x, data.edge_index).relu(), data.edge_index)

net = Net()
optimizer = torch.optim.Adam(net.parameters())
for data in loader:
    optimizer.zero_grad()
    net(data).sum().backward()
    optimizer.step()
"""

PYRO = """\
import pyro
import torch
from pyro.nn import PyroModule, PyroSample

class Regression(PyroModule):
    def __init__(self):
        super().__init__()
        self.linear = PyroModule[torch.nn.Linear](3, 1)
        self.linear.weight = PyroSample(pyro.distributions.Normal(0.0, 1.0).expand([1, 3]).to_event(2))

    def forward(self, x, y=None):
        loc = pyro.param("loc", torch.tensor(0.0))
        return pyro.sample("obs", pyro.distributions.Normal(self.linear(x) + loc, 1.0), obs=y)

model = Regression()
svi = pyro.infer.SVI(model, pyro.infer.autoguide.AutoNormal(model), pyro.optim.Adam({"lr": 0.01}), pyro.infer.Trace_ELBO())
for _ in range(3):
    loss = svi.step(torch.randn(5, 3), torch.randn(5, 1))
print(pyro.param("loc").item())
"""

PYRO_LINEAR = (
    START
    + """\
from pyro.nn import PyroModule
linear = PyroModule[nn.Linear](4, 1)
optimizer = torch.optim.Adam(linear.parameters(), lr=0.05)
for x, y in data:
    optimizer.zero_grad()
    F.mse_loss(linear(x), y).backward()
    optimizer.step()
"""
)

METRICS = (
    START
    + """\
import torchmetrics
accuracy = torchmetrics.Accuracy(task="binary")
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in data:
    optimizer.zero_grad()
    out = net(x)
    F.mse_loss(out, y).backward()
    optimizer.step()
    accuracy.update(out, y.int())
    accuracy(out.sigmoid(), y)
print(accuracy.compute())
"""
)

TIMM = (
    START
    + """\
from timm.optim import Lamb
from timm.scheduler import CosineLRScheduler
optimizer = Lamb(net.parameters(), lr=0.1)
scheduler = CosineLRScheduler(optimizer, t_initial=10)
for x, y in data:
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
    scheduler.step(1)
"""
)

RIGHT = {
    "accelerate": ACCELERATE,
    "fabric": FABRIC,
    "scaler": SCALER,
    "deepspeed": DEEPSPEED,
    "lightning": LIGHTNING,
    "lightning, fitted": LIGHTNING + FIT,
    "lightning, by hand": MANUAL,
    "lightning, by hand, fitted": MANUAL + FIT,
    "transformers": TRAINER,
    "einops": EINOPS,
    "func": FUNC,
    "compile": COMPILE,
    "peft": PEFT,
    "geometric": GEOMETRIC,
    "pyro": PYRO,
    "pyro, a class made of another": PYRO_LINEAR,
    "metrics": METRICS,
    "timm": TIMM,
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_programs_are_quiet(name: str) -> None:
    assert [(one.place.row, one.rule) for one in check_source(RIGHT[name])] == []


@pytest.mark.parametrize(
    ("program", "old", "new", "rule"),
    [
        (ACCELERATE, "accelerator.backward(loss)", "accelerator.backward(loss.detach())", "backward-without-graph"),
        (ACCELERATE, "accelerator.backward(loss)", "accelerator.backward(loss); accelerator.backward(loss)", "second-backward"),
        (ACCELERATE, "        optimizer.zero_grad()\n", "", "gradient-not-cleared"),
        (ACCELERATE, "net.parameters(), lr", "[net.weight * 2], lr", "non-leaf-in-optimizer"),
        (FABRIC, "fabric.backward(loss)", "fabric.backward(net(x).expand(3, 1))", "backward-from-non-scalar"),
        (FABRIC, "fabric.backward(loss)", "fabric.backward(loss, retain_graph=False); loss.backward()", "second-backward"),
        (FABRIC, "    optimizer.zero_grad()\n", "", "gradient-not-cleared"),
        (SCALER, "scaler.scale(loss).backward()", "scaler.scale(loss.detach()).backward()", "backward-without-graph"),
        (SCALER, "scaler.scale(loss).backward()", "scaler.scale(loss).backward(); scaler.scale(loss).backward()", "second-backward"),
        (SCALER, "    optimizer.zero_grad()\n", "", "gradient-not-cleared"),
        (DEEPSPEED, "engine.backward(loss)", "engine.backward(loss.detach())", "backward-without-graph"),
        (LIGHTNING, "        return loss\n", "        return loss.detach()\n", "backward-without-graph"),
        (LIGHTNING, "        return loss\n", '        return {"loss": loss.detach()}\n', "backward-without-graph"),
        (LIGHTNING, "        return loss\n",
         "        return F.mse_loss(self.net(x), y, reduction='none').detach()\n", "backward-without-graph"),
        (LIGHTNING + FIT, "        return loss\n", "        return loss.detach()\n", "backward-without-graph"),
        (LIGHTNING + FIT, "self.net(x), y)\n        self",
         "self.net(x), y) + getattr(self, 'last', 0)\n        self.last = loss\n        self", "second-backward"),
        (LIGHTNING + FIT, "self.net.parameters()", "[self.net.weight * 2]", "non-leaf-in-optimizer"),
        (LIGHTNING, 'self.log("loss", loss)', "loss.backward()", "second-backward"),
        (LIGHTNING + FIT, 'self.log("loss", loss)', "loss.backward()", "second-backward"),
        (MANUAL, "self.manual_backward(loss)", "self.manual_backward(loss); self.manual_backward(loss)", "second-backward"),
        (MANUAL, "self.manual_backward(loss)", "self.manual_backward(loss.detach())", "backward-without-graph"),
        (TRAINER, "= F.cross_entropy(outputs.logits, labels)",
         "= torch.tensor(F.cross_entropy(outputs.logits, labels).item())", "backward-without-graph"),
        (EINOPS, "loss.backward()", "rearrange(w, 'a b -> b a').numpy()", "numpy-of-tensor-that-requires-grad"),
        (EINOPS, "loss.backward()", "torch.optim.SGD([rearrange(w, 'a b -> b a')])", "non-leaf-in-optimizer"),
        (COMPILE, "step(x).backward()", "step(x).detach().backward()", "backward-without-graph"),
        (COMPILE, "step(x).backward()", "other(x).detach().sum().backward()", "backward-without-graph"),
        (TIMM, "Lamb(net.parameters()", "Lamb([net.weight * 2]", "non-leaf-in-optimizer"),
        (TIMM, "    optimizer.zero_grad()\n", "", "gradient-not-cleared"),
        (METRICS, "F.mse_loss(out, y).backward()", "F.mse_loss(out, y).detach().backward()", "backward-without-graph"),
    ],
)  # fmt: skip
def test_mistakes_are_found(program: str, old: str, new: str, rule: str) -> None:
    assert old in program
    assert rule in [one.rule for one in check_source(program.replace(old, new))]


@pytest.mark.parametrize(
    "optimizer",
    [
        "bitsandbytes.optim.AdamW8bit",
        "lion_pytorch.Lion",
        "schedulefree.AdamWScheduleFree",
        "torch_optimizer.RAdam",
        "transformers.Adafactor",
    ],
)
def test_other_optimizers(optimizer: str) -> None:
    package, _, name = optimizer.rpartition(".")
    code = f"import torch\nfrom {package} import {name}\nw = torch.ones(3, requires_grad=True)\n{name}([w * 2])\n"
    assert [one.rule for one in check_source(code)] == ["non-leaf-in-optimizer"]
    assert check_source(code.replace("w * 2", "w")) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.save_hyperparameters()", "self.automatic_optimization = False"),
        ("    def __init__", "    automatic_optimization = False\n\n    def __init__"),
        (
            "    def __init__",
            "    @property\n    def automatic_optimization(self):\n        return False\n\n    def __init__",
        ),
        ("    def configure", "    def backward(self, loss):\n        pass\n\n    def configure"),
        ("import pytorch_lightning as pl", "import lightning.pytorch as pl"),
        ("return loss.detach()", "return None"),
    ],
)
def test_what_lightning_does_not_do(old: str, new: str) -> None:
    code = LIGHTNING.replace("return loss\n", "return loss.detach()\n")
    assert old in code
    found = [one.rule for one in check_source(code.replace(old, new))]
    assert found == (["backward-without-graph"] if "import" in new else [])


def test_evaluation_of_lightning_is_without_grad() -> None:
    code = LIGHTNING.replace("def validation_step", "def other_step")
    assert [one.rule for one in check_source(code)] == ["numpy-of-tensor-that-requires-grad"]


def test_layers_in_a_list_of_a_module_that_lightning_trains() -> None:
    code = (LIGHTNING + FIT).replace(
        "self.net = nn.Linear(4, 1)", "self.net = nn.Linear(4, 1)\n        self.more = [nn.Linear(4, 4)]"
    )
    code = code.replace("self.net(x), y", "self.net(self.more[0](x)), y").replace(
        "self.net.parameters", "self.parameters"
    )
    assert [one.rule for one in check_source(code)] == ["parameter-outside-optimizer", "mixed-devices"]
    assert check_source(code.replace("[nn.Linear(4, 4)]", "nn.ModuleList([nn.Linear(4, 4)])")) == []
