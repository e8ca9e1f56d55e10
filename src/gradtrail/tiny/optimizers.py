"""Optimizers: they change leaves by the gradients that backward left there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtrail.tiny import words
from gradtrail.tiny.autograd import Tensor, new
from gradtrail.tiny.calls import lacking
from gradtrail.tiny.making import zeros_like
from gradtrail.tiny.modes import enable_grad, no_grad
from gradtrail.tiny.module import drop_gradients
from gradtrail.tiny.moving import typename
from gradtrail.tiny.values import NotInTiny, warn

_ONLY: dict[str, tuple[Any, ...]] = {
    "amsgrad": (False,),
    "capturable": (False,),
    "decoupled_weight_decay": (False,),
    "differentiable": (False,),
    "foreach": (None, False),
    "fused": (None, False),
}
"""Options that torch has, and the values that tiny takes."""


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
        for name, values in _ONLY.items():
            if name in self.defaults and param_group.get(name, self.defaults[name]) not in values:
                raise NotInTiny(f"torch.optim.{type(self).__name__}({name}=)")
        listed = param_group["params"]
        if isinstance(listed, set):
            raise TypeError(words.NO_ORDER)
        members = [listed] if isinstance(listed, Tensor) else list(listed)
        names = [each[0] for each in members if isinstance(each, tuple)]
        if names and len(names) < len(members):
            raise ValueError(
                "all optimizer params should be with/without names. Some param names are missing"
            )
        members = [each[1] if isinstance(each, tuple) else each for each in members]
        param_group["params"] = members
        if names:
            param_group["param_names"] = names
        for each in members:
            if not isinstance(each, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {typename(each)}"
                )
            if not (each.is_leaf or each.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, value in self.defaults.items():
            param_group.setdefault(name, value)
        if len({id(each) for each in members}) != len(members):
            warn(words.DUPLICATE)
        for group in self.param_groups:
            if ("param_names" in group) != ("param_names" in param_group):
                raise ValueError(
                    words.NAMED_OR_NOT.format("with" if "param_names" in param_group else "without")
                )
        there = {id(each) for group in self.param_groups for each in group["params"]}
        if any(id(each) in there for each in members):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients: backward adds to what is there."""
        for group in self.param_groups:
            drop_gradients(group["params"], set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step for each parameter that has a gradient."""
        raise NotImplementedError

    def _step(self, closure: Callable[[], Any] | None) -> Any:
        with enable_grad():
            loss = closure() if closure else None
        with no_grad():
            for group in self.param_groups:
                members = [each for each in group["params"] if each._grad is not None]
                # A parameter that is there twice takes two steps from the same state.
                states = [self._state_of(each) for each in members]
                for each, state in zip(members, states, strict=True):
                    slope = -each._grad if group["maximize"] else each._grad
                    self._move(each, slope, group, state)
                for each, state in zip(members, states, strict=True):
                    self.state[each].update(state)
        return loss

    def _state_of(self, parameter: Tensor) -> dict[str, Any]:
        return dict(self.state.get(parameter, {}))

    def _move(self, parameter: Tensor, slope: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        raise NotImplementedError

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            text += "".join(f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params")
        return text + ")"


lacking(
    Optimizer,
    "torch.optim.Optimizer",
    "OptimizerPostHook OptimizerPreHook load_state_dict profile_hook_step register_load_state_dict_post_hook"
    " register_load_state_dict_pre_hook register_state_dict_post_hook register_state_dict_pre_hook"
    " register_step_post_hook register_step_pre_hook state_dict",
)


def _check_options(**options: tuple[Any, str]) -> None:
    for value, title in options.values():
        if isinstance(value, Tensor):
            raise NotInTiny(f"torch.optim with a tensor as {title}")
        if value < 0.0:
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
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: Any = None,
        differentiable: bool = False,
        fused: Any = None,
    ) -> None:
        _check_options(
            a=(lr, "learning rate"), b=(momentum, "momentum value"), c=(weight_decay, "weight_decay value")
        )
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "foreach": foreach,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step for each parameter that has a gradient."""
        return self._step(closure)

    def _move(self, parameter: Tensor, slope: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if group["weight_decay"]:
            slope = slope + parameter * group["weight_decay"]
        if group["momentum"]:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = slope.clone()
            else:
                buffer.mul_(group["momentum"]).add_(slope, alpha=1 - group["dampening"])
            slope = slope + buffer * group["momentum"] if group["nesterov"] else buffer
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
        amsgrad: bool = False,
        *,
        foreach: Any = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: Any = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        _check_options(a=(lr, "learning rate"), b=(eps, "epsilon value"))
        for number, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {number}: {beta}")
        _check_options(c=(weight_decay, "weight_decay value"))
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
                "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step for each parameter that has a gradient."""
        return self._step(closure)

    def _state_of(self, parameter: Tensor) -> dict[str, Any]:
        state = self.state[parameter]
        if not state:
            step = new(np.zeros((), "f4"))
            state.update(step=step, exp_avg=zeros_like(parameter), exp_avg_sq=zeros_like(parameter))
        return dict(state)

    def _move(self, parameter: Tensor, slope: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if group["weight_decay"]:
            slope = slope + parameter * group["weight_decay"]
        state["step"].add_(1)
        first, second = group["betas"]
        steps = state["step"].item()
        state["exp_avg"].mul_(first).add_(slope, alpha=1 - first)
        state["exp_avg_sq"].mul_(second).add_(slope * slope, alpha=1 - second)
        size = (state["exp_avg_sq"] / (1 - second**steps)).sqrt() + group["eps"]
        parameter.add_(state["exp_avg"] / size, alpha=-group["lr"] / (1 - first**steps))
