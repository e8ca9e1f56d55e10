"""Layers: the modules that torch brings along, and rows of modules."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from gradtrail.tiny import losses
from gradtrail.tiny.arithmetic import sigmoid, tanh
from gradtrail.tiny.autograd import Tensor
from gradtrail.tiny.calls import lacking, options
from gradtrail.tiny.making import empty, rand, randn
from gradtrail.tiny.modes import no_grad
from gradtrail.tiny.module import Module, Parameter
from gradtrail.tiny.values import only
from gradtrail.tiny.views import flatten


@options("torch.nn.Linear")
class Linear(Module):
    """A matrix and a bias."""

    __module__ = "torch.nn.modules.linear"
    bias: Any

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(empty(out_features, in_features, device=device, dtype=dtype))
        made = Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Random numbers, written in place."""
        bound = 1 / math.sqrt(self.in_features) if self.in_features else 0.0
        with no_grad():
            for each in self._parameters.values():
                if each is not None:
                    each.copy_((rand(*each.shape) * 2 - 1) * bound)

    def forward(self, input: Tensor) -> Tensor:
        """`input @ weight.T + bias`."""
        return losses.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        bias = self.bias is not None
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={bias}"


@options("torch.nn.Embedding")
class Embedding(Module):
    """A table of vectors."""

    __module__ = "torch.nn.modules.sparse"

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: Any = only(None),
        max_norm: Any = only(None),
        norm_type: Any = only(2.0),
        scale_grad_by_freq: Any = only(False),
        sparse: Any = only(False),
        _weight: Any = only(None),
        _freeze: Any = only(False),
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx, self.max_norm, self.norm_type = None, None, 2.0
        self.scale_grad_by_freq = self.sparse = False
        self.weight = Parameter(empty(num_embeddings, embedding_dim, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Random numbers, written in place."""
        with no_grad():
            self.weight.copy_(randn(*self.weight.shape))

    def forward(self, input: Tensor) -> Tensor:
        """The rows of these numbers."""
        return losses.embedding(input, self.weight)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.num_embeddings}, {self.embedding_dim}"


class _Activation(Module):
    """A module around a function."""

    __module__ = "torch.nn.modules.activation"


class ReLU(_Activation):
    """Zero below zero."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """`relu`."""
        return losses.rectified(input, self.inplace)

    def extra_repr(self) -> str:
        """Whether it writes in place."""
        return "inplace=True" if self.inplace else ""


class Tanh(_Activation):
    """`tanh`."""

    def forward(self, input: Tensor) -> Tensor:
        """`tanh`."""
        return tanh(input)


class Sigmoid(_Activation):
    """`sigmoid`."""

    def forward(self, input: Tensor) -> Tensor:
        """`sigmoid`."""
        return sigmoid(input)


class Softmax(_Activation):
    """`softmax` along a dimension."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """`softmax`."""
        return losses.softmaxed(input, self.dim)

    def extra_repr(self) -> str:
        """The dimension."""
        return f"dim={self.dim}"


class Identity(Module):
    """What goes in comes out."""

    __module__ = "torch.nn.modules.linear"

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """The very same tensor."""
        return input


class Dropout(Module):
    """Some numbers set to zero, in training alone."""

    __module__ = "torch.nn.modules.dropout"

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        losses.check_share(p)
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """`dropout`, if the module is training."""
        return losses.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """The share, and whether it writes in place."""
        return f"p={self.p}, inplace={self.inplace}"


class Flatten(Module):
    """All dimensions but the first as one."""

    __module__ = "torch.nn.modules.flatten"

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        """`flatten`."""
        return flatten(input, self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """The dimensions."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


@options("torch.nn.MSELoss")
class MSELoss(Module):
    """The square of the difference."""

    __module__ = "torch.nn.modules.loss"

    def __init__(
        self, size_average: Any = only(None), reduce: Any = only(None), reduction: str = "mean"
    ) -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """`mse_loss`."""
        return losses.mse_loss(input, target, reduction=self.reduction)


@options("torch.nn.CrossEntropyLoss")
class CrossEntropyLoss(Module):
    """How far scores are from the right classes."""

    __module__ = "torch.nn.modules.loss"

    def __init__(
        self,
        weight: Any = only(None),
        size_average: Any = only(None),
        ignore_index: int = -100,
        reduce: Any = only(None),
        reduction: str = "mean",
        label_smoothing: Any = only(0.0),
    ) -> None:
        super().__init__()
        self.weight, self.ignore_index, self.reduction, self.label_smoothing = (
            None,
            ignore_index,
            reduction,
            0.0,
        )

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """`cross_entropy`."""
        return losses.cross_entropy(input, target, ignore_index=self.ignore_index, reduction=self.reduction)


class _Row(Module):
    """Modules in a row, by number."""

    __module__ = "torch.nn.modules.container"

    def append(self, module: Module) -> Any:
        """One more at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Several more at the end."""
        for each in modules:
            self.append(each)
        return self

    def _name_at(self, index: int) -> str:
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        names: list[str] = list(self._modules)
        return names[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name_at(index), module)


lacking(_Row, "torch.nn.ModuleList", "insert pop _get_item_by_idx _get_abs_string_index")


class ModuleList(_Row):
    """Modules in a list that registers them; a plain list does not."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return ModuleList(list(self)[index])
        return self._modules[self._name_at(index)]

    def _children_told(self) -> list[str]:
        """Equal ones are told once."""
        rows: list[tuple[int, int, str]] = []
        for number, child in enumerate(self):
            text = f"{child!r}"
            if rows and rows[-1][2] == text:
                rows[-1] = (rows[-1][0], number, text)
            else:
                rows.append((number, number, text))
        told = []
        for first, last, text in rows:
            head = f"({first}): " if first == last else f"({first}-{last}): {last - first + 1} x "
            told.append((head + text).replace("\n", "\n  "))
        return told


class Sequential(_Row):
    """Modules one after another."""

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], OrderedDict):
            for name, each in modules[0].items():
                self.add_module(name, each)
        else:
            self.extend(modules)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._name_at(index)]

    def forward(self, input: Any) -> Any:
        """Each takes what the one before gives."""
        for module in self:
            input = module(input)
        return input
