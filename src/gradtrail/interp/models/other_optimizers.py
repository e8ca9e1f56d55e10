"""Optimizers of small libraries: classes that derive from `torch.optim.Optimizer` and take the parameters first.

Source: the sources of the packages: bitsandbytes (bitsandbytes/optim), lion-pytorch (lion_pytorch/lion_pytorch.py),
schedulefree (schedulefree), torch-optimizer (torch_optimizer/__init__.py).
"""

from __future__ import annotations

from gradtrail.interp.models.registry import OPTIMIZERS

_NAMES = {
    "bitsandbytes.optim": "Adam Adam8bit Adam32bit PagedAdam PagedAdam8bit PagedAdam32bit AdamW AdamW8bit AdamW32bit"
    " PagedAdamW PagedAdamW8bit PagedAdamW32bit Lion Lion8bit Lion32bit PagedLion SGD SGD8bit SGD32bit RMSprop"
    " RMSprop8bit Adagrad Adagrad8bit LAMB LAMB8bit LARS LARS8bit AdEMAMix",
    "lion_pytorch": "Lion",
    "schedulefree": "AdamWScheduleFree SGDScheduleFree RAdamScheduleFree",
    "torch_optimizer": "A2GradExp A2GradInc A2GradUni AccSGD AdaBelief AdaBound Adafactor Adahessian AdaMod AdamP"
    " AggMo Apollo DiffGrad Lamb LARS Lion MADGRAD NovoGrad PID QHAdam QHM RAdam Ranger RangerQH RangerVA SGDP SGDW"
    " SWATS Shampoo Yogi",
}
OPTIMIZERS.update(f"{package}.{name}" for package, names in _NAMES.items() for name in names.split())
OPTIMIZERS.difference_update(("torch_optimizer.Adahessian",))  # its step needs a graph behind the gradients
