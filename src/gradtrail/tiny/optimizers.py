"""Optimizers: they change leaves by the gradients that backward left there."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from gradtrail.tiny import words
from gradtrail.tiny.autograd import Tensor
from gradtrail.tiny.layers import drop_gradients
from gradtrail.tiny.making import zeros_like
from gradtrail.tiny.modes import enable_grad, no_grad
from gradtrail.tiny.moving import typename


class Optimizer:
    """Changes leaves by their gradients. Leaves, because only they have any; in place, because others
    hold the same tensors.
    """

    __module__ = "torch.optim.optimizer"

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got"
                f" {params.type()}"
            )
        self.defaults, self.state = defaults, defaultdict[Any, dict[str, Any]](dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Parameters with options of their own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        listed = param_group["params"]
        if isinstance(listed, set):
            raise TypeError(words.NO_ORDER)
        members = [listed] if isinstance(listed, Tensor) else list(listed)
        named = [isinstance(each, tuple) for each in members]
        if any(named) and not all(named):
            raise ValueError(
                "all optimizer params should be with/without names. Some param names are missing"
            )
        members = [each[1] if isinstance(each, tuple) else each for each in members]
        for each in members:
            if not isinstance(each, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {typename(each)}"
                )
            if not (each.is_leaf or each.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        if len({id(each) for each in members}) != len(members):
            warnings.warn(words.DUPLICATE, UserWarning, stacklevel=3)
        there = {id(each) for group in self.param_groups for each in group["params"]}
        if any(id(each) in there for each in members):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append({**self.defaults, **param_group, "params": members})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients: backward adds to what is there."""
        for group in self.param_groups:
            drop_gradients(group["params"], set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step for each parameter that has a gradient."""
        with enable_grad():
            loss = closure() if closure else None
        with no_grad():
            for group in self.param_groups:
                for each in group["params"]:
                    if each._grad is not None:
                        self._move(each, each._grad, group, self.state[each])
        return loss

    def _move(self, parameter: Tensor, slope: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        raise NotImplementedError


def _check_options(**options: tuple[Any, str]) -> None:
    for value, title in options.values():
        if value < 0:
            raise ValueError(f"Invalid {title}: {value}")


class SGD(Optimizer):
    """A step against the gradient, with momentum if it is asked for."""

    __module__ = "torch.optim.sgd"

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        *,
        nesterov: bool = False,
    ) -> None:
        _check_options(
            a=(lr, "learning rate"), b=(momentum, "momentum value"), c=(weight_decay, "weight_decay value")
        )
        options = (lr, momentum, dampening, weight_decay, nesterov)
        names = ("lr", "momentum", "dampening", "weight_decay", "nesterov")
        super().__init__(params, dict(zip(names, options, strict=True)))

    def _move(self, parameter: Tensor, slope: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if group["weight_decay"]:
            slope = slope + parameter * group["weight_decay"]
        if group["momentum"]:
            if "buffer" in state:
                state["buffer"].mul_(group["momentum"]).add_(slope, alpha=1 - group["dampening"])
            else:
                state["buffer"] = slope.clone()
            slope = slope + state["buffer"] * group["momentum"] if group["nesterov"] else state["buffer"]
        parameter.add_(slope, alpha=-group["lr"])


class Adam(Optimizer):
    """Steps of about the same size for all, by running means of the gradient and of its square."""

    __module__ = "torch.optim.adam"

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
    ) -> None:
        _check_options(
            a=(lr, "learning rate"), b=(eps, "epsilon value"), c=(weight_decay, "weight_decay value")
        )
        for number, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {number}: {beta}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def _move(self, parameter: Tensor, slope: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if group["weight_decay"]:
            slope = slope + parameter * group["weight_decay"]
        if not state:
            state.update(step=0, mean=zeros_like(parameter), square=zeros_like(parameter))
        state["step"] += 1
        first, second = group["betas"]
        state["mean"].mul_(first).add_(slope, alpha=1 - first)
        state["square"].mul_(second).add_(slope * slope, alpha=1 - second)
        size = (state["square"] / (1 - second ** state["step"])).sqrt() + group["eps"]
        parameter.add_(state["mean"] / size, alpha=-group["lr"] / (1 - first ** state["step"]))
