"""`nn.functional`: what layers compute, and losses.

A loss is one number that says how far a model is off. Its node keeps what the model gave and what was right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtrail.tiny import words
from gradtrail.tiny.arithmetic import relu
from gradtrail.tiny.autograd import RESULT, Step, Tensor, new
from gradtrail.tiny.calls import Made, python_function
from gradtrail.tiny.making import RANDOM
from gradtrail.tiny.operations import operands, operation, recorded, same_device
from gradtrail.tiny.products import addmm, matmul
from gradtrail.tiny.values import Array, NotInTiny, axis_of, dtype, int64, only, warn


def functional(name: str) -> Callable[[Made], Made]:
    """A function of `nn.functional`, which is no method of tensors."""

    def decorate(made: Made) -> Made:
        made.__qualname__ = name
        return python_function(made, f"torch.nn.functional.{name}")

    return decorate


# ------------------------------------------------------------------------------------------- layers


@functional("linear")
def linear(input: Tensor, weight: Tensor, bias: Any = None) -> Tensor:
    """`input @ weight.T + bias`. The weight is kept only if the input requires grad."""
    if not input.ndim:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are 0D and {weight.ndim}D"
        )
    if bias is None:
        return matmul(input, weight.t())
    if input.ndim == 2:
        return addmm(bias, input, weight.t())
    if not input._array.flags.c_contiguous:
        return matmul(input, weight.t()).add_(bias)  # type: ignore[no-any-return]
    flat = addmm(bias, input.view(-1, input.shape[-1]), weight.t())
    return flat.view(*input.shape[:-1], weight.shape[0])  # type: ignore[no-any-return]


@functional("embedding")
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: Any = only(None),
    max_norm: Any = only(None),
    norm_type: Any = only(2.0),
    scale_grad_by_freq: Any = only(False),
    sparse: Any = only(False),
) -> Tensor:
    """Rows of a table, by number."""
    if input.dtype is not int64:
        raise RuntimeError(words.INDICES_ARE_LONG.format(input.type()))
    if np.any((input._array < 0) | (input._array >= weight.shape[0])):
        raise IndexError("index out of range in self")
    return _rows(weight, input)


@recorded
def _rows(weight: Tensor, input: Tensor) -> Step:
    places = np.arange(weight.numel()).reshape(weight.shape)[input._array]
    same_device("_index_select", self=weight, index=input)
    shape, value = weight.shape, weight._array[input._array]
    return Step("EmbeddingBackward0", value, (weight,), lambda g, _: g._put(places, shape), (input,))


def check_share(p: float) -> None:
    """Refuse a share that is none."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


@functional("dropout")
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Some numbers set to zero, the others greater for it; outside training the very same tensor."""
    check_share(p)
    if not training or not p:
        return input
    noise = (RANDOM.random(input.shape) >= p) / (1 - p if p < 1 else 1)
    factor = new(noise.astype(input._array.dtype), input.device)
    return input.mul_(factor) if inplace else input * factor


@functional("relu")
def rectified(input: Tensor, inplace: bool = False) -> Tensor:
    """`relu` of `nn.functional`, which may write in place."""
    return input.relu_() if inplace else relu(input)


# ------------------------------------------------------------------------------------------- losses


def _softmaxed(array: Array, axis: int) -> Array:
    raised = np.exp(array - array.max(axis, keepdims=True))
    return np.asarray(raised / raised.sum(axis, keepdims=True))


def _converted(self: Tensor, kind: dtype | None, name: str) -> Array:
    if kind not in (None, self.dtype):
        raise NotInTiny(f"torch.{name}(dtype=)")
    if not self.dtype.is_floating_point:
        kernel = "softmax_kernel_impl" if name == "softmax" else "log_softmax_lastdim_kernel_impl"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{self.dtype.title}'")
    return self._array


@operation
def softmax(self: Tensor, dim: int, dtype: Any = None) -> Step:
    """Positive numbers that add up to one."""
    array, axis = _converted(self, dtype, "softmax"), axis_of(dim, self.ndim)

    def formula(g: Tensor, y: Tensor) -> Any:
        return (g - (g * y).sum(axis, True)) * y

    return Step("SoftmaxBackward0", _softmaxed(array, axis), (self,), formula, (RESULT,))


@operation
def log_softmax(self: Tensor, dim: int, dtype: Any = None) -> Step:
    """The logarithm of softmax, without the detour."""
    array, axis = _converted(self, dtype, "log_softmax"), axis_of(dim, self.ndim)
    shifted = array - array.max(axis, keepdims=True)
    value = shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))

    def formula(g: Tensor, y: Tensor) -> Any:
        return g - y.exp() * g.sum(axis, True)

    return Step("LogSoftmaxBackward0", value, (self,), formula, (RESULT,))


def _of_dim(made: Callable[..., Tensor], name: str) -> Callable[..., Tensor]:
    @functional(name)
    def with_dim(input: Tensor, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
        if dim is None:
            raise NotInTiny(f"torch.nn.functional.{name}(dim=None)")
        return made(input, dim, dtype)

    return with_dim


softmaxed, log_softmaxed = _of_dim(softmax, "softmax"), _of_dim(log_softmax, "log_softmax")


def _reduced(step: Step, reduction: str, count: int) -> Step:
    """A loss for each sample (`none`), their sum, or their mean."""
    if reduction == "none":
        return step
    share = (1 / count if count else float("nan")) if reduction == "mean" else 1.0
    value, inner = np.asarray(step.value), step.formula
    shape = value.shape
    return step._replace(
        value=np.asarray(value.sum() * share, value.dtype),
        formula=lambda g, *kept: inner((g * share).expand(*shape), *kept),
    )


def _check_reduction(reduction: str) -> None:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


def _check_classes(input: Tensor, target: Tensor) -> None:
    if input.ndim > 1 and (not target.ndim or input.shape[0] != target.shape[0]):
        size = target.shape[0] if target.ndim else 0
        raise ValueError(f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({size}).")
    if input.ndim <= 2 and target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.dtype is not int64:
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.title}")
    wanted = (input.shape[0], *input.shape[2:])
    if input.ndim > 2 and target.shape != wanted:
        raise RuntimeError(f"Expected target size {list(wanted)}, got {list(target.shape)}")
    if input.ndim == 1 and target.numel() != 1:
        raise RuntimeError(f"size mismatch (got input: {list(input.shape)}, target: {list(target.shape)})")


@functional("nll_loss")
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Any = only(None),
    size_average: Any = only(None),
    ignore_index: int = -100,
    reduce: Any = only(None),
    reduction: str = "mean",
) -> Tensor:
    """The negative of the log probability of the right class."""
    _check_reduction(reduction)
    _check_classes(input, target)
    return _nll(input, target, ignore_index, reduction)


@recorded
def _nll(input: Tensor, target: Tensor, ignored: int, reduction: str) -> Step:
    """The classes are the second dimension, or the only one."""
    shape, axis = input.shape, min(1, input.ndim - 1)
    counts = target._array != ignored
    classes = np.where(counts, target._array, 0)
    for number in classes.reshape(-1):
        if not 0 <= number < shape[axis]:
            raise IndexError(f"Target {number} is out of bounds.")
    positions = np.moveaxis(np.arange(input.numel()).reshape(shape), axis, -1).reshape(-1, shape[axis])
    places = positions[np.arange(len(positions)), classes.reshape(-1)].reshape(target.shape)
    sign = -counts.astype(input._array.dtype)
    step = Step(
        "NllLossBackward0" if input.ndim < 3 else "NllLoss2DBackward0",
        input._array.reshape(-1)[places] * sign + 0.0,
        (input,),
        lambda g, *_: (g * new(sign, g.device))._put(places, shape),
        (input, target),
    )
    return _reduced(step, reduction, int(counts.sum()))


@functional("cross_entropy")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Any = only(None),
    size_average: Any = only(None),
    ignore_index: int = -100,
    reduce: Any = only(None),
    reduction: str = "mean",
    label_smoothing: Any = only(0.0),
) -> Tensor:
    """How far scores are from the right classes."""
    _check_reduction(reduction)
    same_device("nll_loss_forward", self=input, target=target)
    if target.shape == input.shape:
        if not target.dtype.is_floating_point:
            raise RuntimeError(
                f"Expected floating point type for target with class probabilities, got {target.dtype.title}"
            )
        raise NotInTiny("torch.nn.functional.cross_entropy with probabilities")
    scores = log_softmax(input, min(1, input.ndim - 1))
    return nll_loss(scores, target, ignore_index=ignore_index, reduction=reduction)


@functional("mse_loss")
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = only(None),
    reduce: Any = only(None),
    reduction: str = "mean",
    weight: Any = only(None),
) -> Tensor:
    """The square of the difference."""
    if input.shape != target.shape:
        warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape})."
            " This will likely lead to incorrect results due to broadcasting. Please ensure they have the"
            " same size."
        )
    _check_reduction(reduction)
    return _mse(input, target, reduction)


@recorded
def _mse(input: Tensor, target: Tensor, reduction: str) -> Step:
    inputs, (a, b) = operands(input, target)
    step = Step(
        "MseLossBackward0",
        (a - b) ** 2,
        tuple(inputs),
        lambda g, x, y: (g * (x - y) * 2, g * (y - x) * 2),
        tuple(inputs),
    )
    return _reduced(step, reduction, np.broadcast(a, b).size)
