"""Modules, and the Parameters that they know of: what models are built of.

A module is a part of a model. A Parameter is a leaf that a module knows of. What a module does not know of, no
optimizer trains.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from gradtrail.tiny import words
from gradtrail.tiny.autograd import Tensor, new
from gradtrail.tiny.calls import lacking, options
from gradtrail.tiny.making import empty
from gradtrail.tiny.moving import typename
from gradtrail.tiny.values import NotInTiny, dtype, float32, float64, only


class Parameter(Tensor):
    """A leaf that a module registers: it takes the memory of what it is made of, never the history."""

    __module__ = "torch.nn.parameter"

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        """A leaf on the same memory."""
        data = empty(0) if data is None else data.detach()
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
        if each._grad is None:
            continue
        if set_to_none:
            each._grad = None
            continue
        if each._grad.grad_fn is None:
            each._grad.requires_grad_(False)
        else:
            each._grad.detach_()
        each._grad.zero_()


class _IncompatibleKeys(
    NamedTuple("_IncompatibleKeys", [("missing_keys", list[str]), ("unexpected_keys", list[str])])
):
    """What was missing in what a module loaded, and what was too much."""

    def __repr__(self) -> str:
        return super().__repr__() if any(self) else "<All keys matched successfully>"


_LACKING = """
    T_destination bfloat16 call_super_init compile dump_patches get_buffer get_extra_state get_parameter get_submodule
    half ipu mtia register_backward_hook register_forward_hook register_forward_pre_hook register_full_backward_hook
    register_full_backward_pre_hook register_load_state_dict_post_hook register_load_state_dict_pre_hook
    register_state_dict_post_hook register_state_dict_pre_hook set_extra_state set_submodule share_memory to_empty type
    xpu
"""
_HIDDEN = """
    _apply _backward_hooks _backward_pre_hooks _forward_hooks _forward_pre_hooks _load_from_state_dict _named_members
    _register_load_state_dict_pre_hook _register_state_dict_hook _save_to_state_dict _state_dict_hooks
    _version _call_impl
"""


class Module:
    """A part of a model: Parameters, buffers and modules that are set as attributes are registered.

    Only what is registered is found by `parameters()`, and so by an optimizer.
    """

    __module__ = "torch.nn.modules.module"
    training: bool

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        call = f"{type(self).__name__}.__init__()"
        if keywords:
            raise TypeError(f"{call} got an unexpected keyword argument '{next(iter(keywords))}'")
        if arguments:
            raise TypeError(f"{call} takes 1 positional argument but {len(arguments) + 1} were given")
        for part in ("_parameters", "_buffers", "_modules"):
            object.__setattr__(self, part, {})
        object.__setattr__(self, "_non_persistent_buffers_set", set())
        object.__setattr__(self, "training", True)

    def __setattr__(self, name: str, value: Any) -> None:
        parts = self.__dict__
        if isinstance(value, Parameter | Module):
            place, what = (
                ("_parameters", "parameters") if isinstance(value, Parameter) else ("_modules", "module")
            )
            if place not in parts:
                raise AttributeError(words.BEFORE_INIT.format(what))
            for other in (parts, parts["_parameters"], parts["_buffers"], parts["_modules"]):
                if other is not parts[place]:
                    other.pop(name, None)
            if isinstance(value, Parameter):
                self.register_parameter(name, value)
            else:
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
        if name in _HIDDEN.split() and "_parameters" in self.__dict__:
            raise NotInTiny(f"torch.nn.Module.{name}")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for place in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(place, ()):
                del self.__dict__[place][name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._parameters, *self._buffers, *self._modules})

    def _check_name(self, place: str, what: str, name: str) -> None:
        """Refuse a name that could not be found again."""
        if place not in self.__dict__:
            raise AttributeError(words.BEFORE_INIT.format(what))
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."')
        if not name:
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[place]:
            raise KeyError(f"attribute '{name}' already exists")

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """A tensor that belongs to the module and is not trained."""
        self._check_name("_buffers", "buffer", name)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(
            name
        )

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """The same as setting the attribute."""
        self._check_name("_parameters", "parameter", name)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None"
                " required)"
            )
        self._parameters[name] = param

    def add_module(self, name: str, module: Module | None) -> None:
        """The same as setting the attribute."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("_modules", "module", name)
        self._modules[name] = module

    register_module = add_module

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """`forward`."""
        if "_parameters" not in self.__dict__:
            self._backward_hooks  # noqa: B018  what torch looks at first, and does not find
        return self.forward(*arguments, **keywords)

    def forward(self, *_: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it, each once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, f"{prefix}.{name}".lstrip("."), remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module and all below it, each once."""
        yield from (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules right below with their names, each once."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        """The modules right below, each once."""
        yield from (child for _, child in self.named_children())

    def apply(self, fn: Callable[[Module], Any]) -> Module:
        """Call a function with all modules below, and with this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def _named(
        self, place: str, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        rows = self.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, self)]
        for above, module in rows:
            for name, each in module.__dict__[place].items():
                if each is not None and id(each) not in seen:
                    if remove_duplicate:
                        seen.add(id(each))
                    yield f"{above}.{name}".lstrip("."), each

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Parameters with their names, each once."""
        yield from self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """A generator: whoever walks through it once has used it up."""
        yield from (each for _, each in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Buffers with their names."""
        yield from self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Buffers."""
        yield from (each for _, each in self.named_buffers(recurse=recurse))

    def to(self, *arguments: Any, **keywords: Any) -> Module:
        """Move or convert: the Parameters stay the same objects, only their data change; buffers are replaced.

        A type is for floating point numbers alone, a device is for all.
        """
        probe = new(np.zeros(1, "f4")).to(*arguments, **keywords)
        kinds = [each for each in (*arguments, *keywords.values()) if isinstance(each, dtype | Tensor)]
        if kinds and not probe.dtype.is_floating_point:
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, but got desired"
                f" dtype={probe.dtype}"
            )

        def moved(each: Tensor) -> Tensor:
            if each.dtype.is_floating_point:
                return each.to(*arguments, **keywords)  # type: ignore[no-any-return]
            rest = [one for one in arguments if not isinstance(one, dtype)]
            where = {name: one for name, one in keywords.items() if name != "dtype"}
            return each.to(*(one.device if isinstance(one, Tensor) else one for one in rest), **where)  # type: ignore[no-any-return]

        for module in self.modules():
            for each in module._parameters.values():
                if each is not None:
                    each.data = moved(each.detach())
                    if each._grad is not None:
                        each._grad = moved(each._grad)
            for name, each in module._buffers.items():
                if each is not None:
                    module._buffers[name] = moved(each)
        return self

    def double(self) -> Module:
        """All parameters as float64."""
        return self.to(float64)

    def float(self) -> Module:
        """All parameters as float32."""
        return self.to(float32)

    def cuda(self, device: Any = None) -> Module:
        """To the pretend device."""
        return self.to("cuda" if device is None else device)

    def cpu(self) -> Module:
        """To the CPU."""
        return self.to("cpu")

    def train(self, mode: bool = True) -> Module:
        """Training or not: that changes modules such as Dropout, never the recording of gradients."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for each in self.children():
            each.train(mode)
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

    def state_dict(
        self, *, destination: Any = only(None), prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Tensor]:
        """Parameters and buffers by name: detached, on the same memory."""
        found: list[tuple[str, Tensor]] = []
        for above, module in self.named_modules(remove_duplicate=False):
            for place in ("_parameters", "_buffers"):
                for name, each in module.__dict__[place].items():
                    if each is None or (place == "_buffers" and name in module._non_persistent_buffers_set):
                        continue
                    whole = prefix + f"{above}.{name}".lstrip(".")
                    found.append((whole, each if keep_vars else each.detach()))
        return OrderedDict(found)

    def load_state_dict(
        self, state_dict: dict[str, Tensor], strict: bool = True, assign: Any = only(False)
    ) -> _IncompatibleKeys:
        """Copy numbers into the parameters and buffers, which stay the same objects."""
        mine = self.state_dict()
        keys = _IncompatibleKeys(
            [each for each in mine if each not in state_dict],
            [each for each in state_dict if each not in mine],
        )
        wrong: list[str] = []
        for title, names in (("Unexpected", keys.unexpected_keys), ("Missing", keys.missing_keys)):
            if names and strict:
                wrong.insert(0, f"{title} key(s) in state_dict: {', '.join(map(_quoted, names))}. ")
        for name, each in mine.items():
            if name in state_dict and state_dict[name].shape != each.shape:
                wrong.append(words.OTHER_SIZE.format(name, state_dict[name].shape, each.shape))
            elif name in state_dict:
                each.copy_(state_dict[name].detach())
        if wrong:
            whole = "\n\t".join(wrong)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{whole}")
        return keys

    def extra_repr(self) -> str:
        """What stands in the parentheses."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def _children_told(self) -> list[str]:
        return [f"({name}): " + f"{child!r}".replace("\n", "\n  ") for name, child in self._modules.items()]

    def __repr__(self) -> str:
        more, rows = self.extra_repr(), self._children_told()
        lines = [*more.split("\n"), *rows] if more else rows
        one = more and not rows and len(lines) == 1
        inside = more if one else "\n  " + "\n  ".join(lines) + "\n" if lines else ""
        return f"{self._get_name()}({inside})"


def _quoted(name: str) -> str:
    return f'"{name}"'


options("torch.nn.Module")(Module)
lacking(Module, "torch.nn.Module", _LACKING)
