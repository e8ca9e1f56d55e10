"""`nn.functional`: what layers compute, and losses.

A loss is one number that says how far a model is off. Its node keeps what the model gave and what was right.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gradtrail.tiny.arithmetic import relu
from gradtrail.tiny.autograd import RESULT, Step, Tensor, new
from gradtrail.tiny.making import RANDOM
from gradtrail.tiny.operations import operands, operation, same_device
from gradtrail.tiny.products import addmm, matmul
from gradtrail.tiny.values import Array, NotInTiny, axis_of

# ------------------------------------------------------------------------------------------- layers


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`input @ weight.T + bias`. The weight is kept only if the input requires grad."""
    if bias is None:
        return matmul(input, weight.t())
    if input.ndim == 2:
        return addmm(bias, input, weight.t())
    if not input._array.flags.c_contiguous:
        return matmul(input, weight.t()).add_(bias)  # type: ignore[no-any-return]
    flat = addmm(bias, input.view(-1, input.shape[-1]), weight.t())
    return flat.view(*input.shape[:-1], weight.shape[0])  # type: ignore[no-any-return]


@operation
def embedding(input: Tensor, weight: Tensor) -> Step:
    """Rows of a table, by number."""
    places = np.arange(weight.numel()).reshape(weight.shape)[input._array]
    same_device("_index_select", self=weight, index=input)
    shape = weight.shape
    return Step(
        "EmbeddingBackward0",
        weight._array[input._array],
        (weight,),
        lambda g, _: g._put(places, shape),
        (input,),
    )


def dropout(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Some numbers set to zero, the others greater for it; outside training the very same tensor."""
    if not training or not p:
        return input
    noise = (RANDOM.random(input.shape) >= p) / (1 - p)
    return input * new(noise.astype(input._array.dtype), input.device)


def rectified(input: Tensor, inplace: bool = False) -> Tensor:
    """`relu` of `nn.functional`, which may write in place."""
    return input.relu_() if inplace else relu(input)


# ------------------------------------------------------------------------------------------- losses


def _softmaxed(array: Array, axis: int) -> Array:
    raised = np.exp(array - array.max(axis, keepdims=True))
    return np.asarray(raised / raised.sum(axis, keepdims=True))


def _check_softmax(self: Tensor, name: str) -> None:
    if not self.dtype.is_floating_point:
        raise NotImplementedError(f"\"{name}\" not implemented for '{self.dtype.title}'")


@operation
def softmax(self: Tensor, dim: int) -> Step:
    """Positive numbers that add up to one."""
    _check_softmax(self, "softmax_kernel_impl")
    axis = axis_of(dim, self.ndim)

    def formula(g: Tensor, y: Tensor) -> Any:
        return (g - (g * y).sum(axis, True)) * y

    return Step("SoftmaxBackward0", _softmaxed(self._array, axis), (self,), formula, (RESULT,))


@operation
def log_softmax(self: Tensor, dim: int) -> Step:
    """The logarithm of softmax, without the detour."""
    _check_softmax(self, "log_softmax_lastdim_kernel_impl")
    axis = axis_of(dim, self.ndim)
    shifted = self._array - self._array.max(axis, keepdims=True)
    value = shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))

    def formula(g: Tensor, y: Tensor) -> Any:
        return g - y.exp() * g.sum(axis, True)

    return Step("LogSoftmaxBackward0", value, (self,), formula, (RESULT,))


def _reduced(step: Step, reduction: str, count: int) -> Step:
    """A loss for each sample (`none`), their sum, or their mean."""
    if reduction == "none":
        return step
    share = 1 / count if reduction == "mean" else 1.0
    value, inner = np.asarray(step.value), step.formula
    shape = value.shape
    return step._replace(
        value=np.asarray(value.sum() * share, value.dtype),
        formula=lambda g, *kept: inner((g * share).expand(*shape), *kept),
    )


@operation
def nll_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Step:
    """The negative of the log probability of the right class."""
    rows, classes = input._array.reshape(-1, input.shape[-1]), target._array.reshape(-1)
    if len(rows) != len(classes):
        raise ValueError(
            f"Expected input batch_size ({len(rows)}) to match target batch_size ({len(classes)})."
        )
    for number in classes:
        if not 0 <= number < rows.shape[1]:
            raise IndexError(f"Target {number} is out of bounds.")
    places = (np.arange(len(rows)) * rows.shape[1] + classes).reshape(target.shape)
    shape = input.shape
    step = Step(
        "NllLossBackward0",
        -rows.reshape(-1)[places],
        (input,),
        lambda g, *_: (-g)._put(places, shape),
        (input, target),
    )
    return _reduced(step, reduction, len(classes))


def cross_entropy(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """How far scores are from the right classes."""
    same_device("nll_loss_forward", self=input, target=target)
    if target.dtype.is_floating_point:
        raise NotInTiny("torch.nn.functional.cross_entropy with probabilities")
    return nll_loss(log_softmax(input, -1), target, reduction)


@operation
def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Step:
    """The square of the difference."""
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape})."
            " This will likely lead to incorrect results due to broadcasting. Please ensure they have the"
            " same size.",
            UserWarning,
            stacklevel=4,
        )
    inputs, (a, b) = operands(input, target)
    step = Step(
        "MseLossBackward0",
        (a - b) ** 2,
        tuple(inputs),
        lambda g, x, y: (g * (x - y) * 2, g * (y - x) * 2),
        tuple(inputs),
    )
    return _reduced(step, reduction, np.broadcast(a, b).size)
