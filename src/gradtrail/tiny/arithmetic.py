"""Operations that work number by number, and how the gradient of each comes about.

A formula is made of operations itself, and so has a gradient in its turn. What it needs is kept: a product keeps its
factors, a sum keeps nothing. Names with an underscore at the end write in place; `elementwise` makes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtrail.tiny import words
from gradtrail.tiny.autograd import RESULT, SELF, Step, Tensor, check_write, record, records, write
from gradtrail.tiny.calls import Operand
from gradtrail.tiny.operations import (
    check_broadcast,
    elementwise,
    floating,
    method,
    named,
    nothing,
    operands,
    operation,
    times,
    wants,
    wrapped,
)
from gradtrail.tiny.values import Array, NotInTiny, boolean, check_memory, common_device, int64, same_memory


@elementwise
def add(self: Operand, other: Operand, *, alpha: Any = 1) -> Step:
    """Addition keeps nothing: a second backward through it succeeds, and its inputs may be written."""
    inputs, (a, b) = operands(self, other)
    return Step("AddBackward0", a + b * np.asarray(alpha, b.dtype), tuple(inputs), lambda g: (g, g * alpha))


@elementwise
def sub(self: Operand, other: Operand, *, alpha: Any = 1) -> Step:
    """Difference."""
    inputs, (a, b) = operands(self, other)
    if a.dtype == "bool":
        raise RuntimeError(words.BOOL_SUB)
    return Step("SubBackward0", a - b * np.asarray(alpha, b.dtype), tuple(inputs), lambda g: (g, g * -alpha))


@operation
def rsub(self: Tensor, other: Any) -> Step:
    """`other - self`."""
    (this, _), (a, b) = operands(self, other)
    return Step("RsubBackward1", b - a, (this,), lambda g: -g)


@elementwise
def mul(self: Operand, other: Operand) -> Step:
    """A product keeps each factor for the gradient of the other, and only if that one wants it."""
    (x, y), (a, b) = operands(self, other)
    kept = (y if wants(x) else None, SELF if wants(y) else None)
    return Step("MulBackward0", a * b, (x, y), lambda g, y, x: (times(g, y), times(g, x)), kept)


@elementwise
def div(self: Operand, other: Operand) -> Step:
    """Quotient."""
    (x, y), (a, b) = operands(self, other)
    if a.dtype.kind != "f":
        a, b = a.astype("f4"), b.astype("f4")

    def formula(g: Tensor, y: Tensor, x: Tensor | None) -> Any:
        return g / y, None if x is None else -g * ((x / y) / y)

    return Step("DivBackward0", a / b, (x, y), formula, (y, SELF if wants(y) else None))


@elementwise
@named("pow")
def power(self: Operand, exponent: Operand) -> Step:
    """A power. With a number as exponent the base is kept, with a tensor all three."""
    if not isinstance(self, Tensor):
        return _raised(exponent, self)
    if isinstance(exponent, Tensor):
        (x, e), (a, b) = operands(self, exponent)
        return Step(
            "PowBackward1",
            a**b,
            (x, e),
            lambda g, e, result, x: (
                where(e == 0, 0.0, g * (e * x ** (e - 1))),
                g * where((x == 0) & (e >= 0), 0.0, result * x.log()),
            ),
            (e, RESULT, SELF),
        )
    (x, _), (a, b) = operands(self, exponent)
    if a.dtype == "int64" and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")

    def formula(g: Tensor, x: Tensor) -> Tensor:
        return nothing(g) if exponent == 0 else g * (x ** (exponent - 1) * exponent)

    return Step("PowBackward0", a**b, (x,), formula, (SELF,))


def _raised(self: Tensor, base: Any) -> Step:
    _, (a, b) = operands(self, base)

    def formula(g: Tensor, x: Tensor, result: Tensor) -> Any:
        if base == 0:
            return g * where(x >= 0, 0.0, result * -math.inf)
        return g * (result * (math.log(base) if base > 0 else math.nan))

    return Step("PowBackward2", b**a, (self,), formula, (SELF, RESULT))


@operation
def _raise(self: Tensor, base: Any) -> Step:
    return _raised(self, base)


def _unary(
    name: str,
    function: Callable[[Array], Any],
    keeps: str,
    formula: Callable[..., Any],
) -> Callable[..., Tensor]:
    """An operation of one tensor. `keeps` is what its formula needs: "self", "result" or "" for nothing."""

    def step(self: Tensor) -> Step:
        kept = {"self": (SELF,), "result": (RESULT,), "": ()}[keeps]
        if self.dtype is boolean and function in (np.rint, np.floor):
            raise NotImplementedError(f"\"{name}_vml_cpu\" not implemented for 'Bool'")
        whole = self.dtype is int64 and function in (np.rint, np.floor)
        value = self._array.copy() if whole else function(floating(self))
        return Step(f"{name.title()}Backward0", value, (self,), formula, kept)

    step.__name__ = name
    return elementwise(step)


# The derivative of exp, sigmoid, tanh is told by the result, that of log, sin by the input: so they keep
# the one or the other, and writing to what is kept is what backward then refuses.
exp = _unary("exp", np.exp, "result", lambda g, y: g * y)
sigmoid = _unary("sigmoid", lambda a: 1 / (1 + np.exp(-a)), "result", lambda g, y: g * (1 - y) * y)
tanh = _unary("tanh", np.tanh, "result", lambda g, y: g * (1 - y * y))
sqrt = _unary("sqrt", np.sqrt, "result", lambda g, y: g / (2 * y))
reciprocal = _unary("reciprocal", lambda a: 1 / a, "result", lambda g, y: -g * (y * y))
log = _unary("log", np.log, "self", lambda g, x: g / x)
sin = _unary("sin", np.sin, "self", lambda g, x: g * x.cos())
cos = _unary("cos", np.cos, "self", lambda g, x: g * -x.sin())
rounded = _unary("round", np.rint, "", nothing)
floor = _unary("floor", np.floor, "", nothing)


@elementwise
def relu(self: Tensor) -> Step:
    """Zero below zero."""
    if self.dtype is boolean:
        raise RuntimeError("Boolean inputs not supported for relu")
    return Step("ReluBackward0", np.maximum(self._array, 0), (self,), _passed, (RESULT,))


def _passed(g: Tensor, y: Tensor) -> Tensor:
    """The gradient of relu: what was above zero passes. It depends on the input too, if only by steps."""
    value = np.where(y._array <= 0, np.zeros((), g._array.dtype), g._array)
    return record(
        Step("ThresholdBackwardBackward0", value, (g, y), lambda gg, y: (_passed(gg, y), nothing(gg)), (y,))
    )


@elementwise
def neg(self: Tensor) -> Step:
    """The negative."""
    if self.dtype is boolean:
        raise RuntimeError(words.BOOL_NEG)
    return Step("NegBackward0", -self._array, (self,), lambda g: -g)


@elementwise
def sign(self: Tensor) -> Step:
    """-1, 0 or 1."""
    array = self._array
    return Step("SignBackward0", (array > 0).astype(array.dtype) - (array < 0), (self,), nothing)


@elementwise
@named("abs")
def absolute(self: Tensor) -> Step:
    """The absolute value."""
    return Step("AbsBackward0", np.abs(self._array), (self,), lambda g, x: g * x.sign(), (SELF,))


@elementwise
def clamp(self: Tensor, min: Any = None, max: Any = None) -> Step:
    """Numbers held between bounds; no gradient passes outside them."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        raise NotInTiny("torch.clamp between tensors")
    if self.dtype is boolean:
        raise NotInTiny("torch.clamp of bool")
    bounds = [(-math.inf if min is None else min), (math.inf if max is None else max)]
    _, (array, *_) = operands(self, *(each for each in (min, max) if each is not None))

    def formula(g: Tensor, x: Tensor) -> Tensor:
        return where((x >= bounds[0]) & (x <= bounds[1]), g, 0.0)

    value = np.minimum(np.maximum(array, bounds[0]), bounds[1]).astype(array.dtype)
    return Step("ClampBackward1", value, (self,), formula, (SELF,))


@elementwise
def fill(self: Tensor, value: Any) -> Step:
    """What was there has no gradient any more."""
    if not isinstance(value, Tensor):
        return Step("FillBackward2", np.asarray(value, self._array.dtype), (self,), nothing)
    if value.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with"
            f" {value.ndim} dimension{'s' * (value.ndim > 1)}."
        )
    cast = value._array.astype(self._array.dtype)
    return Step("FillBackward3", cast, (self, value), lambda g: (nothing(g), g.sum()))


@method
def zero_(self: Tensor) -> Tensor:
    """Zeros, in place."""
    zero = np.zeros((), self._array.dtype)
    return write(self, Step("ZeroBackward0", zero, (self,), nothing))


@method
def copy_(self: Tensor, other: Any) -> Tensor:
    """The numbers of another tensor, whose gradient this is from now on."""
    source = wrapped(other)
    if self.dtype.is_floating_point and records((self, source)):
        check_write(self)
    if not same_memory(source._array, self._array):
        check_memory(self._array, [source._array])
    check_broadcast(self.shape, source.shape)
    cast = source._array.astype(self._array.dtype)
    return write(self, Step("CopyBackwards", cast, (self, source), lambda g: (nothing(g), g)))


@operation
def where(condition: Tensor, self: Operand, other: Operand) -> Step:
    """Of two tensors, element by element."""
    (x, y), (a, b) = operands(self, other)
    if condition.dtype is not boolean:
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype"
            f" {condition.dtype.title}"
        )
    if condition.ndim and condition.device != common_device([x, y]):
        raise RuntimeError(f"{words.DEVICES}, but found at least two devices, cuda:0 and cpu!")
    # Results lie in memory as what they come from does; numpy's iterator knows how.
    value = np.nditer((condition._array, a, b, None), ["zerosize_ok"], op_dtypes=None).operands[3]
    value = np.empty_like(value, a.dtype)
    value[...] = np.where(condition._array, a, b)
    return Step(
        "WhereBackward0",
        value,
        (x, y),
        lambda g, c: (where(c, g, 0.0), where(c, 0.0, g)),
        (condition,),
    )


@method
def square(self: Tensor) -> Tensor:
    """Times itself."""
    return power(self, 2)
