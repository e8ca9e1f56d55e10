"""The names: which of all this is torch's, and where torch has it.

`torch`, `torch.nn` and their like are modules that hold what tiny has of them. What is asked for beyond that is
refused with `NotInTiny`: a program that needs it cannot be judged here.
"""

from __future__ import annotations

import types
from importlib.machinery import ModuleSpec
from typing import Any, NoReturn

from gradtrail.tiny import (
    arithmetic,
    layers,
    losses,
    making,
    module,
    optimizers,
    products,
    python_side,
    sums,
    values,
    views,
)
from gradtrail.tiny.autograd import (
    Tensor,
    backward,
    grad,
)
from gradtrail.tiny.calls import python_function
from gradtrail.tiny.checkpoint import CheckpointError, checkpoint
from gradtrail.tiny.functions import Function
from gradtrail.tiny.modes import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from gradtrail.tiny.values import NotInTiny


class _Namespace(types.ModuleType):
    """A module of torch's, with what tiny has of it."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotInTiny(f"{self.__name__}.{name}")


def _namespace(name: str, **members: Any) -> types.ModuleType:
    made = _Namespace(name)
    vars(made).update(members, __path__=[], __spec__=ModuleSpec(name, None, is_package=True))
    return made


def _of(chapter: types.ModuleType, names: str) -> dict[str, Any]:
    """What a chapter has by the same name as torch."""
    return {name: getattr(chapter, name) for name in names.split()}


_functional = _namespace(
    "torch.nn.functional",
    **_of(losses, "cross_entropy dropout embedding linear mse_loss nll_loss"),
    softmax=losses.softmaxed,
    log_softmax=losses.log_softmaxed,
    **_of(arithmetic, "sigmoid tanh"),
    relu=losses.rectified,
)

_init = _namespace(
    "torch.nn.init",
    zeros_=no_grad()(lambda tensor: tensor.zero_()),
    ones_=no_grad()(lambda tensor: tensor.fill_(1.0)),
)

_nn = _namespace(
    "torch.nn",
    **_of(module, "Parameter Module"),
    **_of(layers, "ModuleList Sequential Linear Embedding Flatten Dropout Identity"),
    **_of(layers, "ReLU Sigmoid Softmax Tanh MSELoss CrossEntropyLoss"),
    functional=_functional,
    init=_init,
    parameter=_namespace("torch.nn.parameter", Parameter=module.Parameter),
)

_autograd = _namespace(
    "torch.autograd",
    grad=python_function(grad, "torch.autograd.grad"),
    backward=python_function(backward, "torch.autograd.backward"),
    Function=Function,
    function=_namespace("torch.autograd.function", Function=Function),
)

_cuda = _namespace(
    "torch.cuda",
    is_available=lambda: True,
    device_count=lambda: 1,
    manual_seed=making.manual_seed,
    manual_seed_all=making.manual_seed,
    synchronize=lambda *_: None,
)

torch = _namespace(
    "torch",
    __version__="2.13.0+tiny",
    Tensor=Tensor,
    **_of(making, "BoolTensor DoubleTensor FloatTensor LongTensor"),
    # Types, and switches.
    **_of(values, "Size device dtype float32 float64 int64"),
    bool=values.boolean,
    double=values.float64,
    float=values.float32,
    long=values.int64,
    enable_grad=enable_grad,
    is_grad_enabled=is_grad_enabled,
    no_grad=no_grad,
    set_grad_enabled=set_grad_enabled,
    # Tensors that are made.
    **_of(
        making, "arange as_tensor empty empty_like eye from_numpy full linspace manual_seed ones ones_like"
    ),
    **_of(making, "rand rand_like randint randn randn_like randperm tensor zeros zeros_like"),
    # Operations.
    **_of(arithmetic, "absolute add clamp cos div exp fill floor log mul neg reciprocal relu rsub sigmoid"),
    **_of(arithmetic, "sign sin sqrt square sub tanh where zero_"),
    abs=arithmetic.absolute,
    pow=arithmetic.power,
    round=arithmetic.rounded,
    **_of(sums, "argmax mean"),
    sum=sums.total,
    max=sums.greatest,
    min=sums.least,
    **_of(products, "addmm bmm dot matmul mm mv"),
    **_of(losses, "log_softmax softmax"),
    **_of(views, "cat chunk clone flatten permute reshape split squeeze stack t transpose unbind unsqueeze"),
    detach=Tensor.detach,
    detach_=Tensor.detach_,
    numel=python_side.numel,
    # Modules.
    nn=_nn,
    autograd=_autograd,
    optim=_namespace("torch.optim", **_of(optimizers, "Optimizer SGD Adam")),
    utils=_namespace(
        "torch.utils",
        checkpoint=_namespace(
            "torch.utils.checkpoint",
            checkpoint=python_function(checkpoint, "torch.utils.checkpoint.checkpoint"),
            CheckpointError=CheckpointError,
        ),
    ),
    cuda=_cuda,
)


def modules() -> dict[str, types.ModuleType]:
    """What `sys.modules` has to hold for `import torch` and its like to find tiny."""
    found: dict[str, types.ModuleType] = {}
    waiting: list[types.ModuleType] = [torch]
    while waiting:
        each = waiting.pop()
        found[each.__name__] = each
        waiting += [member for member in vars(each).values() if isinstance(member, _Namespace)]
    return found
