"""Each of torch's messages, raised on torch and recognised."""

from __future__ import annotations

import copy
import functools
import multiprocessing.reduction
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch
from torch import nn

from gradtrail.laws import messages


def w(*shape: int) -> torch.Tensor:
    return torch.rand(shape or (3,), requires_grad=True)


def twice() -> None:
    y = (w() * 3).sum()
    y.backward()
    y.backward()


def saved() -> None:
    y = w().exp()
    y.add_(1)
    y.sum().backward()


def no_grad_view() -> None:
    x = w()
    with torch.no_grad():
        y = x.view(3)
    y.mul_(2)


class Scale(torch.autograd.Function):
    """Twice the input, as a Function that may be differentiated once."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad * 2


class Same(torch.autograd.Function):
    """A view of the input."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return grad


class Forward(torch.autograd.Function):
    """Without a backward."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Wrong(torch.autograd.Function):
    """Returns too many gradients."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return grad, grad


class Misshapen(torch.autograd.Function):
    """Returns a gradient of another shape."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return torch.ones(7)


class Saving(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(3)
        return x * 3

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad * 3


def nan_in_anomaly_mode() -> None:
    x = torch.zeros(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (x.sqrt() * x).sum().backward()


class Dirty(torch.autograd.Function):
    """Writes its input."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return grad * 2


class Old(torch.autograd.Function):
    """A Function of the old kind."""

    def forward(self, x: Any) -> Any:
        return x


class Late(nn.Module):
    """Sets a parameter before Module.__init__."""

    def __init__(self) -> None:
        self.weight = nn.Parameter(torch.ones(1))
        super().__init__()


def inference() -> torch.Tensor:
    with torch.inference_mode():
        return torch.rand(3)


def twice_differentiated() -> None:
    x = w()
    (first,) = torch.autograd.grad((Scale.apply(x) ** 2).sum(), x, create_graph=True)
    first.sum().backward()


def reentrant() -> None:
    x = w()
    y = torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=True)
    torch.autograd.grad(y.sum(), x)


def unused_gradient() -> None:
    torch.autograd.grad(w().sum(), w())


def distributed(frozen: bool) -> None:
    import torch.distributed as dist

    store = dist.HashStore()
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        model = nn.ModuleDict({"used": nn.Linear(2, 2), "unused": nn.Linear(2, 2)})
        model.forward = lambda x: model["used"](x)  # noqa: PLW0108
        if frozen:
            model.requires_grad_(False)
        wrapped = nn.parallel.DistributedDataParallel(model)
        for _ in range(2):
            wrapped(torch.rand(1, 2)).sum().backward()
    finally:
        dist.destroy_process_group()


def computed_parameter() -> nn.Parameter:
    """A Parameter that has become part of a graph."""
    parameter = nn.Parameter(torch.ones(3), requires_grad=False)
    parameter.mul_(w())
    return parameter


def in_groups(x: torch.Tensor) -> torch.optim.SGD:
    return torch.optim.SGD([{"params": [x]}, {"params": [x]}])


def dense_gradients() -> None:
    x = w()
    x.sum().backward()
    torch.optim.SparseAdam([x]).step()


class Samples(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """Two samples that require grad."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.ones(2, requires_grad=True)


def load() -> None:
    list(torch.utils.data.DataLoader(Samples(), batch_size=2, num_workers=1))


SCENES: dict[str, Callable[[], object]] = {
    "non-leaf-optimizer": lambda: torch.optim.SGD([w() * 2]),
    "optimizer-empty": lambda: torch.optim.SGD([]),
    "optimizer-not-tensor": lambda: torch.optim.SGD([1]),  # type: ignore[list-item]
    "optimizer-not-iterable": lambda: torch.optim.SGD(nn.Linear(1, 1)),  # type: ignore[arg-type]
    "optimizer-bare-tensor": lambda: torch.optim.SGD(w()),
    "optimizer-group-not-dict": lambda: torch.optim.SGD([{"params": [w()]}, w()]),  # type: ignore[list-item]
    "optimizer-group-without-params": lambda: torch.optim.SGD([{"lr": 1}]),
    "optimizer-set-in-group": lambda: torch.optim.SGD([{"params": {w()}}]),
    "optimizer-names-missing": lambda: torch.optim.SGD([("a", w()), w()]),  # type: ignore[list-item]
    "optimizer-groups-names": lambda: torch.optim.SGD([{"params": [("a", w())]}, {"params": [w()]}]),
    "optimizer-two-groups": lambda: in_groups(w()),
    "optimizer-duplicate": lambda: torch.optim.SGD([w()] * 2),
    "optimizer-lbfgs-groups": lambda: torch.optim.LBFGS([{"params": [w()]}, {"params": [w()]}]),
    "optimizer-muon-dims": lambda: torch.optim.Muon([w()]),
    "optimizer-closure-missing": lambda: torch.optim.LBFGS([w()]).step(),  # type: ignore[call-arg]
    "optimizer-dense-gradients": dense_gradients,
    "numpy-requires-grad": lambda: w().numpy(),
    "numpy-off-cpu": lambda: torch.ones(1, device="meta").numpy(),
    "numpy-sparse": lambda: torch.ones(2).to_sparse().numpy(),
    "numpy-conj": lambda: torch.ones(2, dtype=torch.complex64).conj().numpy(),
    "numpy-neg": lambda: torch.ones(2, dtype=torch.complex64).conj().imag.numpy(),  # noqa: PLW0108
    "numpy-dtype": lambda: torch.ones(2, dtype=torch.bfloat16).numpy(),
    "dlpack-requires-grad": lambda: numpy.from_dlpack(w()),
    "array-times-tensor": lambda: numpy.ones(1) * w(),
    "from-numpy-of-tensor": lambda: torch.from_numpy(torch.ones(1)),
    "leaf-in-place": lambda: w().add_(1),
    "leaf-view-in-place": lambda: w()[0].add_(1),
    "leaf-in-place-function": lambda: Dirty.apply(w()),
    "multi-view-in-place": lambda: (w() * 2).chunk(2)[0].add_(1),
    "no-grad-view-in-place": no_grad_view,
    "function-view-in-place": lambda: Same.apply(w() * 1).add_(1),
    "saved-modified": saved,
    "expanded-in-place": lambda: torch.ones(1).expand(3).add_(1),
    "out-requires-grad": lambda: torch.add(w(), 1, out=torch.empty(3)),
    "detach-view-in-place": lambda: (w() * 1)[0].detach_(),  # noqa: PLW0108
    "backward-twice": twice,
    "backward-no-grad-fn": lambda: torch.ones(1).backward(),
    "backward-non-scalar": lambda: (w() * 2).backward(),  # noqa: PLW0108
    "backward-gradient-shape": lambda: (w() * 2).backward(torch.ones(5)),
    "backward-off-dtype": lambda: (w() * 1j).sum().backward(),
    "grad-unused": unused_gradient,
    "grad-input-not-tracked": lambda: torch.autograd.grad(w().sum(), torch.ones(3)),
    "derivative-missing": lambda: torch.heaviside(w(), torch.ones(3)).sum().backward(),
    "hook-of-untracked": lambda: torch.ones(1).register_hook(print),
    "retain-grad-of-untracked": lambda: torch.ones(1).retain_grad(),
    "flag-of-non-leaf": lambda: (w() * 2).requires_grad_(False),
    "requires-grad-integer": lambda: torch.tensor([1], requires_grad=True),
    "requires-grad-integer-method": lambda: torch.tensor([1]).requires_grad_(),
    "deepcopy-non-leaf": lambda: copy.deepcopy(w() * 2),
    "function-saves-other": lambda: Saving.apply(w()),
    "nan-gradient": nan_in_anomaly_mode,
    "grad-of-non-leaf": lambda: (w() * 1).grad,
    "gradient-missing": lambda: torch.ones(2, requires_grad=True).grad.zero_(),  # noqa: PLW0108
    "no-grad-not-called": lambda: (
        torch.no_grad.__enter__ and exec("with torch.no_grad: pass", {"torch": torch})
    ),
    "assign-over-parameter": lambda: setattr(nn.Linear(1, 1), "weight", torch.ones(1)),
    "register-parameter": lambda: nn.Linear(1, 1).register_parameter("other", torch.ones(1)),  # type: ignore[arg-type]
    "register-non-leaf-parameter": lambda: nn.Linear(1, 1).register_parameter("other", computed_parameter()),
    "module-not-initialized": Late,
    "device-mismatch-recurrent": lambda: nn.LSTM(1, 1)(
        torch.ones(1, 1, 1), (torch.ones(1, 1, 1, device="meta"),) * 2
    ),
    "dtype-mismatch": lambda: nn.functional.binary_cross_entropy(w(), torch.ones(3, dtype=torch.float64)),
    "dtype-mismatch-matmul": lambda: torch.ones(2, 2) @ torch.ones(2, 2, dtype=torch.float64),
    "result-type-cast": lambda: torch.ones(1, dtype=torch.int64).add_(0.5),
    "index-dtype": lambda: torch.ones(3)[torch.ones(1)],
    "inference-saved": lambda: w() * inference(),
    "inference-in-place": lambda: inference().add_(1),
    "inference-requires-grad": lambda: inference().requires_grad_(),
    "once-differentiable": twice_differentiated,
    "function-no-backward": lambda: Forward.apply(w()).sum().backward(),
    "function-gradient-count": lambda: Wrong.apply(w()).sum().backward(),
    "function-gradient-shape": lambda: Misshapen.apply(w()).sum().backward(),
    "function-legacy": lambda: Old()(w()),
    "checkpoint-reentrant-grad": reentrant,
    "checkpoint-no-grad": lambda: torch.utils.checkpoint.checkpoint(
        torch.sin, torch.ones(1), use_reentrant=True
    ),
    "ddp-frozen": functools.partial(distributed, True),
    "ddp-unused": functools.partial(distributed, False),
    "dataloader-grad": load,
    "serialize-non-leaf": lambda: multiprocessing.reduction.ForkingPickler.dumps(w() * 2),
}

TESTED = [key for key in list(messages.keys()) if messages.message(key).provenance.startswith("tested")]


def outcome(scene: Callable[[], object]) -> tuple[str, str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            scene()
        except Exception as error:
            return type(error).__name__, str(error)
    return caught[0].category.__name__, " ".join(str(each.message) for each in caught)


def test_every_tested_message_has_a_scene() -> None:
    assert set(TESTED) == set(SCENES)


@pytest.mark.parametrize("key", SCENES)
def test_torch_says_so(key: str) -> None:
    entry = messages.message(key)
    error, text = outcome(SCENES[key])
    assert error == entry.error
    assert entry.piece in text
    found = messages.recognise(error, text)
    assert found is not None
    assert found.piece in text


def test_strangers() -> None:
    assert messages.recognise("RuntimeError", "something else") is None
    with pytest.raises(KeyError):
        messages.message("no-such-key")
    leaf_view = "a view of a leaf Variable that requires grad is being used in an in-place operation."
    found = messages.recognise("RuntimeError", leaf_view)
    assert found is not None
    assert found.key == "leaf-view-in-place"
