"""Layers, and the modules and Parameters that they are built of.

A module is a part of a model. A Parameter is a leaf that a module knows of. What a module does not know of, no
optimizer trains.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gradtrail.tiny import words
from gradtrail.tiny.arithmetic import sigmoid, tanh
from gradtrail.tiny.autograd import Tensor, new
from gradtrail.tiny.losses import cross_entropy, dropout, embedding, linear, mse_loss, rectified, softmax
from gradtrail.tiny.making import rand, randn
from gradtrail.tiny.moving import typename
from gradtrail.tiny.values import float32, float64
from gradtrail.tiny.views import flatten


class Parameter(Tensor):
    """A leaf that a module registers: it takes the memory of what it is made of, never the history."""

    __module__ = "torch.nn.parameter"

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        """A leaf on the same memory."""
        if requires_grad and not data.dtype.is_floating_point:
            raise RuntimeError(words.ONLY_FLOATS)
        made = new(data._array, data.device, cls, counter=data._counter)
        made._flag = requires_grad
        return made  # type: ignore[return-value]

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


def drop_gradients(parameters: Iterable[Tensor], set_to_none: bool) -> None:
    """Drop the gradients, or write zeros into them."""
    for each in parameters:
        if each._grad is not None:
            each._grad = None if set_to_none else each._grad.detach().zero_()


class Module:
    """A part of a model: Parameters, buffers and modules that are set as attributes are registered.

    Only what is registered is found by `parameters()`, and so by an optimizer.
    """

    __module__ = "torch.nn.modules.module"
    training: bool

    def __init__(self) -> None:
        for part in ("_parameters", "_buffers", "_modules"):
            object.__setattr__(self, part, {})
        object.__setattr__(self, "training", True)

    def __setattr__(self, name: str, value: Any) -> None:
        parts = self.__dict__
        if isinstance(value, Parameter | Module):
            place, what = (
                ("_parameters", "parameters") if isinstance(value, Parameter) else ("_modules", "module")
            )
            if place not in parts:
                raise AttributeError(f"cannot assign {what} before Module.__init__() call")
            for other in (parts, parts["_parameters"], parts["_buffers"], parts["_modules"]):
                if other is not parts[place]:
                    other.pop(name, None)
            parts[place][name] = value
        elif name in parts.get("_parameters", ()):
            if value is not None:
                raise TypeError(words.CANNOT.format(typename(value), "parameter", name, "torch.nn.Parameter"))
            parts["_parameters"][name] = None
        elif name in parts.get("_modules", ()):
            if value is not None:
                raise TypeError(words.CANNOT.format(typename(value), "child module", name, "torch.nn.Module"))
            parts["_modules"][name] = None
        elif name in parts.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                kinds = "torch.nn.Buffer, torch.Tensor"
                raise TypeError(words.CANNOT.format(typename(value), "buffer", name, kinds))
            parts["_buffers"][name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        for place in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(place, ()):
                return self.__dict__[place][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for place in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(place, ()):
                del self.__dict__[place][name]
                return
        object.__delattr__(self, name)

    def register_buffer(self, name: str, tensor: Tensor | None) -> None:
        """A tensor that belongs to the module and is not trained."""
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = tensor

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """The same as setting the attribute."""
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None"
                " required)"
            )
        self._parameters[name] = param

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """`forward`."""
        return self.forward(*arguments, **keywords)

    def forward(self, *_: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module and all below it."""
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(f"{prefix}.{name}".lstrip("."))

    def modules(self) -> Iterator[Module]:
        """This module and all below it, each once."""
        yield from dict.fromkeys(module for _, module in self.named_modules())

    def children(self) -> Iterator[Module]:
        """The modules right below."""
        yield from (child for child in self._modules.values() if child is not None)

    def _named(self, place: str, repeated: bool = False) -> Iterator[tuple[str, Any]]:
        seen = set()
        for prefix, module in self.named_modules():
            for name, each in module.__dict__[place].items():
                if each is not None and (repeated or id(each) not in seen):
                    seen.add(id(each))
                    yield f"{prefix}.{name}".lstrip("."), each

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Parameters with their names, each once."""
        return self._named("_parameters")

    def parameters(self) -> Iterator[Parameter]:
        """A generator: whoever walks through it once has used it up."""
        yield from (each for _, each in self._named("_parameters"))

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        """Buffers with their names."""
        return self._named("_buffers")

    def buffers(self) -> Iterator[Tensor]:
        """Buffers."""
        yield from (each for _, each in self._named("_buffers"))

    def to(self, *arguments: Any, **keywords: Any) -> Module:
        """Move or convert: the Parameters stay the same objects, only their data change."""
        for module in self.modules():
            for each in (*module._parameters.values(), *module._buffers.values()):
                if each is not None and each.dtype.is_floating_point:
                    each.data = each.detach().to(*arguments, **keywords)
                    if each._grad is not None:
                        each._grad = each._grad.to(*arguments, **keywords)
        return self

    def double(self) -> Module:
        """All parameters as float64."""
        return self.to(float64)

    def float(self) -> Module:
        """All parameters as float32."""
        return self.to(float32)

    def cuda(self) -> Module:
        """To the pretend device."""
        return self.to("cuda")

    def cpu(self) -> Module:
        """To the CPU."""
        return self.to("cpu")

    def train(self, mode: bool = True) -> Module:
        """Training or not: that changes modules such as Dropout, never the recording of gradients."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Module:
        """Not training."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Freeze or thaw all parameters."""
        for each in self.parameters():
            each.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters."""
        drop_gradients(self.parameters(), set_to_none)

    def state_dict(self) -> dict[str, Tensor]:
        """Parameters and buffers by name: detached, on the same memory."""
        found: list[tuple[str, Tensor]] = []
        for prefix, module in self.named_modules():
            for place in ("_parameters", "_buffers"):
                for name, each in module.__dict__[place].items():
                    if each is not None:
                        found.append((f"{prefix}.{name}".lstrip("."), each.detach()))
        return OrderedDict(found)

    def load_state_dict(self, state_dict: dict[str, Tensor]) -> None:
        """Copy numbers into the parameters and buffers, which stay the same objects."""
        mine = self.state_dict()
        wrong = [
            f"{title} key(s) in state_dict: {', '.join(map(_quoted, names))}. "
            for title, names in (
                ("Missing", [each for each in mine if each not in state_dict]),
                ("Unexpected", [each for each in state_dict if each not in mine]),
            )
            if names
        ]
        if wrong:
            whole = "\n\t".join(wrong)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{whole}")
        for name, each in mine.items():
            each.copy_(state_dict[name])

    def extra_repr(self) -> str:
        """What stands in the parentheses."""
        return ""

    def __repr__(self) -> str:
        rows = [f"({name}): {child!r}".replace("\n", "\n  ") for name, child in self._modules.items()]
        inside = "".join(f"\n  {row}" for row in rows) + "\n" if rows else self.extra_repr()
        return f"{type(self).__name__}({inside})"


def _quoted(name: str) -> str:
    return f'"{name}"'


# ------------------------------------------------------------------------------------------- layers


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
        bound = 1 / math.sqrt(in_features) if in_features else 0.0
        shapes = {"weight": (out_features, in_features), "bias": (out_features,)}
        for name, shape in shapes.items():
            drawn = rand(*shape, dtype=dtype, device=device)
            made = Parameter((drawn * 2 - 1) * bound) if bias or name == "weight" else None
            if made is not None:
                made._counter.value = 1  # it was filled with random numbers, in place
            self.register_parameter(name, made)

    def forward(self, input: Tensor) -> Tensor:
        """`input @ weight.T + bias`."""
        return linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        bias = self.bias is not None
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={bias}"


class Embedding(Module):
    """A table of vectors."""

    __module__ = "torch.nn.modules.sparse"

    def __init__(self, num_embeddings: int, embedding_dim: int) -> None:
        super().__init__()
        self.weight = Parameter(randn(num_embeddings, embedding_dim))
        self.weight._counter.value = 1

    def forward(self, input: Tensor) -> Tensor:
        """The rows of these numbers."""
        return embedding(input, self.weight)


def _module_of(name: str, where: str, function: Callable[..., Any], *options: str) -> type[Module]:
    """A module without parameters, around a function; `options` are what its constructor takes."""

    def __init__(self: Any, *arguments: Any, **keywords: Any) -> None:
        Module.__init__(self)
        self.options = {**dict(zip(options, arguments, strict=False)), **keywords}

    def forward(self: Any, *inputs: Any) -> Any:
        training = {"training": self.training} if name == "Dropout" else {}
        return function(*inputs, **self.options, **training)

    body = {"__init__": __init__, "forward": forward, "__module__": f"torch.nn.modules.{where}"}
    return type(name, (Module,), {**body, "__doc__": f"`{name}` as a module."})


ReLU = _module_of("ReLU", "activation", rectified, "inplace")
Tanh = _module_of("Tanh", "activation", tanh)
Sigmoid = _module_of("Sigmoid", "activation", sigmoid)
Softmax = _module_of("Softmax", "activation", softmax, "dim")
Identity = _module_of("Identity", "linear", lambda input: input)
Dropout = _module_of("Dropout", "dropout", dropout, "p")
Flatten = _module_of("Flatten", "flatten", lambda x, start_dim=1, end_dim=-1: flatten(x, start_dim, end_dim))
MSELoss = _module_of("MSELoss", "loss", mse_loss)
CrossEntropyLoss = _module_of("CrossEntropyLoss", "loss", cross_entropy)


class ModuleList(Module):
    """Modules in a list that registers them; a plain list does not."""

    __module__ = "torch.nn.modules.container"

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        for each in modules:
            self.append(each)

    def append(self, module: Module) -> ModuleList:
        """One more at the end."""
        setattr(self, str(len(self._modules)), module)
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, index: Any) -> Any:
        found = list(self._modules.values())[index]
        return type(self)(*found) if isinstance(found, list) else found


class Sequential(ModuleList):
    """Modules one after another."""

    __module__ = "torch.nn.modules.container"

    def __init__(self, *modules: Module) -> None:
        super().__init__(modules)

    def forward(self, input: Any) -> Any:
        """Each takes what the one before gives."""
        for module in self:
            input = module(input)
        return input
