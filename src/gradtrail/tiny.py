"""An autograd small enough to read, with the laws and the error messages of torch 2.13.

Read it from top to bottom. A *tensor* is an array with a version and, perhaps, a place in a graph. The
*graph* has a node for each operation, which knows how to turn the gradient of a result into those of its
inputs. *backward* walks the graph from the end. A *step* becomes a new tensor, or is written in place: then
versions are counted, so that nothing that a node kept can change behind its back. These four chapters are
all of autograd. Arithmetic, products, views, indexing and losses are steps. *Leaving autograd* is detaching
or switching it off. Parameters, modules, optimizers, custom Functions and checkpoint are built from the rest.

It needs numpy. `gradtrail tiny SCRIPT` runs a program with this module in the place of torch.
"""

from __future__ import annotations

import builtins
import functools
import heapq
import itertools
import math
import re
import sys
import types
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeVar

import numpy as np

Array = np.ndarray[Any, Any]
Made = TypeVar("Made", bound=Callable[..., Any])
__version__ = "2.13.0+tiny"


class NotInTiny(AttributeError):
    """What torch may have and tiny has not."""

    def __init__(self, name: str) -> None:
        super().__init__(f"gradtrail.tiny has no `{name}`")


# ---------------------------------------------------------------------- numbers, places and shapes


class dtype:
    """The type of a tensor's numbers. In a mix the greater kind wins: bool, integer, floating point."""

    def __init__(self, name: str, title: str, kind: int) -> None:
        self.name, self.title, self.kind, self.numpy = name, title, kind, np.dtype(name)
        self.is_floating_point = kind == 2

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __deepcopy__(self, memo: dict[int, Any]) -> dtype:
        return self


bool = dtype("bool", "Bool", 0)
int64 = long = dtype("int64", "Long", 1)
float32 = float = dtype("float32", "Float", 2)
float64 = double = dtype("float64", "Double", 2)
_DTYPES = {each.name: each for each in (bool, int64, float32, float64)}


class device:
    """Where memory is: `cpu`, or `cuda`, a pretend device whose memory numpy cannot reach."""

    def __init__(self, name: str | device, index: int | None = None) -> None:
        self.type, _, number = str(name).partition(":")
        if self.type not in ("cpu", "cuda"):
            raise NotInTiny(f"device {self.type}")
        self.index = int(number) if number else index

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"device(type={self.type!r}{'' if self.index is None else f', index={self.index}'})"

    def __eq__(self, other: object) -> builtins.bool:
        return isinstance(other, device) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


_Device = device
_CPU = device("cpu")


def _device(asked: Any) -> device:
    """The device that is meant: "cuda" is the current one, which is `cuda:0`."""
    found = device("cuda", asked) if isinstance(asked, int) else device(_CPU if asked is None else asked)
    return device("cuda", found.index or 0) if found.type == "cuda" else _CPU


class Size(tuple[int, ...]):
    """A shape."""

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def numel(self) -> int:
        """How many elements a tensor of this shape has."""
        return math.prod(self)


class Counter:
    """A version: how often memory was written. All who share the memory share it, `.data` alone does not."""

    value = 0


# ------------------------------------------------------------------------------------------ tensors

_grad_mode = True


class View(NamedTuple):
    """How a tensor looks at the memory of another one.

    `base` is never a view itself, and `lens` takes an array of its shape to the part that is seen. `how`
    says what the view came from when that matters: "no_grad", "several", "function".
    """

    base: Tensor
    lens: Callable[[Array], Array]
    how: str

    def places(self) -> Array:
        """The positions in the flat base that are seen: the view as a list of places."""
        everywhere = np.arange(self.base._array.size).reshape(self.base._array.shape)
        return np.asarray(self.lens(everywhere))


Edge = tuple["Node", int]
"""A result of a node: which node, and which of its results."""


class Tensor:
    """An array, its version, and its place in the graph.

    A tensor that was created is a *leaf*. One that was computed from something that requires grad has a
    `grad_fn`, the node that made it, and requires grad too. Gradients stay in `.grad` of leaves alone.
    """

    __module__ = "torch"
    __array_priority__ = 1000  # numpy steps back from `array * tensor`
    __hash__ = object.__hash__
    _array: Array
    device: _Device

    def __new__(cls, *arguments: Any, **keywords: Any) -> Tensor:
        """`torch.Tensor(2, 3)` and `torch.Tensor([1, 2])`: float32, whatever went in."""
        sizes = all(isinstance(each, int) for each in arguments)
        return _new(np.zeros(arguments, "f4") if sizes else np.array(arguments[0], "f4"))

    def _begin(self, array: Any, where: _Device, counter: Counter | None = None) -> None:
        self._array, self.device, self._counter = np.asarray(array), where, counter or Counter()
        self._flag = self._retains = self._is_number = False
        self._edge: Edge | None = None
        self._grad: Tensor | None = None
        self._accumulator: AccumulateGrad | None = None
        self._view: View | None = None
        self._seen = self._counter.value

    shape = property(lambda self: Size(self._array.shape))
    ndim = property(lambda self: self._array.ndim)
    dtype = property(lambda self: _DTYPES[self._array.dtype.name])
    is_cuda = property(lambda self: self.device.type == "cuda")
    _version = property(lambda self: self._counter.value)
    _base = property(lambda self: self._view and self._view.base)
    is_leaf = property(lambda self: self.grad_fn is None)
    retains_grad = property(lambda self: self._retains)
    output_nr = property(lambda self: edge[1] if (edge := self._gradient_edge()) else 0)

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for a leaf."""
        edge = self._gradient_edge()
        return edge and edge[0]

    def _gradient_edge(self) -> Edge | None:
        """The edge of this result. That of a view whose memory was written is made anew from the base.

        The base then has another history, and the view's gradient has to go that way.
        """
        view = self._view
        if view and self._seen != self._version and (self._edge or view.base.requires_grad):
            self._check_view(indirect=True)
            node = _node_class("AsStridedBackward0")((view.base,), [self])
            node.formula = functools.partial(_scatter, view.base.shape, view.places())
            self._came_from(node)
        return self._edge

    def _came_from(self, node: Node) -> None:
        """Take a node as the new history; who retains the gradient goes on to do so."""
        if self._retains and self._edge:
            self._edge[0].retaining.pop(self._edge[1], None)
            node.retaining[0] = self
        self._edge, self._seen = (node, 0), self._version

    def _inward(self) -> tuple[Node | None, int]:
        """Where a gradient for this tensor goes: to its node, or to the keeper of a leaf's gradient."""
        edge = self._gradient_edge()
        if edge:
            return edge
        if not self._flag:
            return (None, 0)
        self._accumulator = self._accumulator or AccumulateGrad(self)
        return (self._accumulator, 0)

    def _check_view(self, indirect: builtins.bool = False) -> None:
        """Refuse a write to views whose history could not be told afterwards."""
        how = self._view.how if self._view else ""
        if not how:
            return
        what = "its base or another view of its base has been" if indirect else "is being"
        if self._edge:
            head = f"Output {self._edge[1]} of {_short(self._edge[0])} is a view"
        else:
            head = "A view was created in no_grad mode"
        if self._edge and how == "no_grad":
            head += " of a view which was created in no_grad mode"
        quiet = how == "no_grad" or not self._edge
        head += f" and {what} modified inplace{' with grad mode enabled' * quiet}."
        raise RuntimeError(f"{head} {_WHY_NOT[how]}")

    @property
    def requires_grad(self) -> builtins.bool:
        """Whether gradients are wanted: asked for on a leaf, inherited by whatever is computed from it."""
        return (
            self._flag or self._edge is not None or (self._view is not None and self._view.base.requires_grad)
        )

    @requires_grad.setter
    def requires_grad(self, value: builtins.bool) -> None:
        if not isinstance(value, builtins.bool):
            raise RuntimeError("requires_grad must be a bool")
        if self._edge:
            # The flag of a computed tensor follows from its inputs: there is nothing to set.
            hint = "" if value else _DETACH_INSTEAD
            raise RuntimeError(f"you can only change requires_grad flags of leaf variables.{hint}")
        if value and not self.dtype.is_floating_point:
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        self._flag = value

    def requires_grad_(self, requires_grad: builtins.bool = True) -> Tensor:
        """Set the flag. On a tensor that requires grad already, a computed one too, True changes nothing."""
        if requires_grad and not self.dtype.is_floating_point:
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if self._edge and requires_grad:
            return self
        self.requires_grad = requires_grad
        return self

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward left here."""
        if self._grad is None and not self._retains and self._edge:
            warnings.warn(_NO_GRAD_HERE, UserWarning, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None and not isinstance(value, Tensor):
            got = type(value).__name__
            raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {got}")
        if value is not None and value.shape != self.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size"
                f" '{list(self.shape)}'. Please ensure that the gradient and the tensor are the same size"
            )
        self._grad = value

    def retain_grad(self) -> None:
        """Have the gradient of a computed tensor kept as well."""
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        edge = self._gradient_edge()
        if edge and not self._retains:
            self._retains = True
            edge[0].retaining[edge[1]] = self

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> None:
        """Have `hook` called with the gradient; what it returns takes the gradient's place."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        node, number = self._inward()
        if node:
            node.hooks[number].append(hook)

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: builtins.bool | None = None,
        create_graph: builtins.bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradients of this tensor to `.grad` of the leaves that it was computed from."""
        _backward(self, gradient, retain_graph, create_graph, inputs)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(_NO_DEEPCOPY)  # a copy of the graph is not what anybody means
        copied = memo[id(self)] = _new(self._array.copy(), self.device, type(self))
        copied._flag = self.requires_grad
        copied._counter.value = int(type(self) is Tensor)
        if self._grad is not None and type(self) is Tensor:
            copied._grad = self._grad.__deepcopy__(memo)
        return copied

    # What Python asks of numbers and of sequences.

    def item(self) -> Any:
        """The one number of the tensor, without its history."""
        if self._array.size != 1:
            raise RuntimeError(f"a Tensor with {self._array.size} elements cannot be converted to Scalar")
        return self._array.item()

    def tolist(self) -> Any:
        """The numbers as lists, without their history."""
        return self._array.tolist()

    def __bool__(self) -> builtins.bool:
        if self._array.size != 1:
            many = "more than one value" if self._array.size else "no values"
            raise RuntimeError(f"Boolean value of Tensor with {many} is ambiguous")
        return builtins.bool(self.item())

    def __float__(self) -> builtins.float:
        return builtins.float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if self.dtype.is_floating_point or self._array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of a 0-d tensor")
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))  # rows are views, and non-leaves: so `Adam(w)` cannot mean Adam([w])

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if not self.ndim else object.__format__(self, spec)

    def __repr__(self) -> str:
        form: Any = {"float_kind": _number_form(self._array)}
        text = np.array2string(self._array, separator=", ", prefix="tensor(", formatter=form)
        words = [f"device='{self.device}'"] if self.is_cuda else []
        words += ["dtype=torch.float64"] if self.dtype is float64 else []
        node = self.grad_fn
        words += [f"grad_fn=<{type(node).__name__}>"] if node else []
        words += ["requires_grad=True"] if self.requires_grad and not node else []
        return f"tensor({', '.join([text, *words])})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"'Tensor' object has no attribute '{name}'")
        raise NotInTiny(f"torch.Tensor.{name}")

    def __getitem__(self, index: Any) -> Tensor:
        return _get(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        _set(self, index, value)

    # fmt: off
    def __add__(self, other: Any) -> Tensor: return _operator("add", self, other)
    def __radd__(self, other: Any) -> Tensor: return _operator("add", self, other)
    def __iadd__(self, other: Any) -> Tensor: return _operator("add_", self, other)
    def __sub__(self, other: Any) -> Tensor: return _operator("sub", self, other)
    def __rsub__(self, other: Any) -> Tensor: return _operator("rsub", self, other)
    def __isub__(self, other: Any) -> Tensor: return _operator("sub_", self, other)
    def __mul__(self, other: Any) -> Tensor: return _operator("mul", self, other)
    def __rmul__(self, other: Any) -> Tensor: return _operator("mul", self, other)
    def __imul__(self, other: Any) -> Tensor: return _operator("mul_", self, other)
    def __truediv__(self, other: Any) -> Tensor: return _operator("div", self, other)
    def __rtruediv__(self, other: Any) -> Tensor: return _operator("mul", self.reciprocal(), other)
    def __itruediv__(self, other: Any) -> Tensor: return _operator("div_", self, other)
    def __pow__(self, other: Any) -> Tensor: return _operator("pow", self, other)
    def __rpow__(self, other: Any) -> Tensor: return _operator("_raise", self, other)
    def __ipow__(self, other: Any) -> Tensor: return _operator("pow_", self, other)
    def __matmul__(self, other: Tensor) -> Tensor: return _operator("matmul", self, other)
    def __neg__(self) -> Tensor: return neg(self)
    def __pos__(self) -> Tensor: return self
    def __abs__(self) -> Tensor: return absolute(self)
    def __eq__(self, other: Any) -> Tensor: return _compare(np.equal, self, other)  # type: ignore[override]
    def __ne__(self, other: Any) -> Tensor: return _compare(np.not_equal, self, other)  # type: ignore[override]
    def __lt__(self, other: Any) -> Tensor: return _compare(np.less, self, other)
    def __le__(self, other: Any) -> Tensor: return _compare(np.less_equal, self, other)
    def __gt__(self, other: Any) -> Tensor: return _compare(np.greater, self, other)
    def __ge__(self, other: Any) -> Tensor: return _compare(np.greater_equal, self, other)
    def __and__(self, other: Any) -> Tensor: return _compare(np.logical_and, self, other)
    def __or__(self, other: Any) -> Tensor: return _compare(np.logical_or, self, other)
    def __invert__(self) -> Tensor: return _new(~self._array, self.device)
    # fmt: on


def _number_form(array: Array) -> Callable[[Any], str]:
    """How numbers are shown: four places, none for whole numbers, powers where sizes differ much."""
    signed = array[np.isfinite(array) & (array != 0)] if array.dtype.kind == "f" else np.ones(1)
    finite = np.abs(signed)
    least, most = (finite.min(), finite.max()) if finite.size else (1, 1)
    whole = np.all(finite == np.rint(finite))
    powers = most / least > 1000 or most > 1e8 or (not whole and least < 1e-4)
    form = "{:.4e}" if powers else "{:.0f}." if whole else "{:.4f}"

    def shown(number: Any) -> str:
        return form.format(number) if np.isfinite(number) else str(number)

    width = builtins.max((len(shown(each)) for each in signed), default=0)
    return lambda number: shown(number).rjust(width)


def _new(array: Any, where: device = _CPU, kind: type[Tensor] = Tensor, **begin: Any) -> Tensor:
    """A tensor around an array, with its memory."""
    made = object.__new__(kind)
    made._begin(array, where, **begin)
    return made


def _operator(name: str, self: Tensor, other: Any) -> Tensor:
    """An operator of Python; what is no number and no tensor is left to the other side."""
    if not isinstance(other, Tensor | int | builtins.float | np.number):
        return NotImplemented  # type: ignore[no-any-return]
    return getattr(self, name)(other)  # type: ignore[no-any-return]


def method(function: Made) -> Made:
    """A function that is a method of tensors as well: `torch.sum(x)` and `x.sum()`."""
    setattr(Tensor, function.__name__, function)
    return function


# ---------------------------------------------------------------------------------------- the graph


class Saved:
    """A tensor that a node keeps for its backward, and the version that it had.

    A formula that read other numbers than the forward did would be silently wrong: so it refuses.
    """

    def __init__(self, tensor: Tensor, node: Node | None = None, is_result: builtins.bool = False) -> None:
        self.hooks = _saved_hooks[-1] if _saved_hooks else None
        self.tensor: Any = self.hooks[0](tensor) if self.hooks else tensor
        self.is_result = is_result and not self.hooks
        if self.is_result and node:  # a result is kept without its node, which would keep itself
            self.tensor = _new(tensor._array, tensor.device, counter=tensor._counter)
            self.tensor._edge = (node, 0)
        self.version = tensor._version

    def unpack(self) -> Tensor:
        """The tensor, unless it was written or let go of."""
        if self.tensor is None:
            raise RuntimeError(_TWICE)
        if self.hooks:
            return self.hooks[1](self.tensor)
        kept: Tensor = self.tensor
        node = kept.grad_fn
        if kept._version != self.version:
            made = f", which is output {kept.output_nr} of {_short(node)}," if node else ""
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace"
                f" operation: [{kept.type()} {list(kept.shape)}]{made} is at version {kept._version};"
                f" expected version {self.version} instead. {_ANOMALY}"
            )
        return kept

    def free(self) -> None:
        """Let go of the tensor."""
        self.tensor = None


_saved_hooks: list[tuple[Callable[[Tensor], Any], Callable[[Any], Tensor]]] = []
_steps = itertools.count()


class Node:
    """One operation of the graph: where gradients come from, and the formula that passes them on.

    `next_functions` are the nodes that made its inputs; backward goes there. `formula` takes the gradients
    of the results and then the kept tensors, and gives a gradient (or None) for each input.
    """

    namespace = ""

    def __init__(self, inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
        self.next_functions = tuple(each._inward() for each in inputs)
        self.takes = [(each.shape, each.dtype) for each in inputs]
        self.results = [(each.shape, each.dtype, each.device) for each in results]
        self.saved: list[Saved | None] = []
        self.formula: Callable[..., Any] = lambda *gradients: gradients
        self.hooks: dict[int, list[Any]] = defaultdict(list)
        self.retaining: dict[int, Tensor] = {}
        self.order = next(_steps)  # the later a node was made, the earlier backward runs it

    def name(self) -> str:
        """The name that messages use."""
        return self.namespace + type(self).__name__

    def keep(self, step: Step, result: Tensor) -> None:
        """Keep what the formula of a step needs."""
        whole = {id(RESULT): result, id(SELF): step.inputs[0]}
        self.saved = [
            None if each is None else Saved(whole.get(id(each), each), self, each is RESULT)
            for each in step.kept
        ]

    def results_are_written(self) -> None:
        """A result that is kept counts as kept after the write that made it."""
        for each in self.saved:
            if each and each.is_result:
                each.version = each.tensor._version

    def run(self, gradients: list[Tensor | None]) -> Sequence[Tensor | None]:
        """The gradients of the inputs."""
        kept = [each and each.unpack() for each in self.saved]
        if all(each is None for each in gradients):
            return [None] * len(self.next_functions)
        return _listed(self.formula(*gradients, *kept))

    def free(self) -> None:
        """Let go of what is kept. A second backward fails only where something was."""
        for each in self.saved:
            if each:
                each.free()

    def __lt__(self, other: Node) -> builtins.bool:
        return self.order > other.order


class AccumulateGrad(Node):
    """The end of the graph at a leaf: it adds what arrives to `.grad`."""

    namespace = "torch::autograd::"

    def __init__(self, leaf: Tensor) -> None:
        super().__init__((), [leaf])
        self.variable = leaf
        self.order = sys.maxsize  # a gradient that is complete is put down at once

    def run(self, gradients: list[Tensor | None]) -> Sequence[Tensor | None]:
        """Add to `.grad`: in place, unless the sum must have a graph of its own."""
        (gradient,), leaf = gradients, self.variable
        if gradient is None or not leaf._flag:
            return ()
        if leaf._grad is None:
            leaf._grad = gradient.clone()
        elif _grad_mode:
            leaf._grad = leaf._grad + gradient
        else:
            leaf._grad.add_(gradient)
        return ()


class CopySlices(Node):
    """A write to a part of a tensor: the rest of the gradient passes, that part goes through `inner`."""

    namespace = "torch::autograd::"

    def __init__(self, view: View, inner: Node) -> None:
        super().__init__((view.base,), [view.base])
        self.next_functions += inner.next_functions[1:]
        self.takes += inner.takes[1:]
        self.places = view.places()
        self.inner: Node | None = inner

    def run(self, gradients: list[Tensor | None]) -> Sequence[Tensor | None]:
        """The gradient of the base, in which the written part counts as `inner` says."""
        (gradient,) = gradients
        if self.inner is None:
            raise RuntimeError(_TWICE)
        assert gradient is not None
        first, *others = self.inner.run([_at(gradient, self.places)])
        rest = _without(gradient, self.places)
        if first is None:
            return [rest, *others]
        return [rest + _scatter(gradient.shape, self.places, _reduce(first, self.places.shape)), *others]

    def free(self) -> None:
        """Let go of the inner node with all that it keeps."""
        self.inner = None


class CopyBackwards(Node):
    """The node of `copy_`."""

    namespace = "torch::autograd::"


@functools.cache
def _node_class(name: str) -> type[Node]:
    """The class of nodes with this name: `type(y.grad_fn).__name__` tells the operation."""
    return CopyBackwards if name == "CopyBackwards" else type(name, (Node,), {})


def _short(node: Node | None) -> str:
    """A node's name as messages have it: `Exp` for ExpBackward0."""
    return re.sub(r"Backward0?(?=\d*$)", "", node.name()) if node else ""


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple | list) else [value]


# ----------------------------------------------------------------------------------------- backward


def _walk(
    roots: Sequence[Edge],
    gradients: Sequence[Tensor],
    keep: builtins.bool,
    create: builtins.bool,
    wanted: Sequence[tuple[Node | None, int]] | None = None,
) -> list[Tensor | None]:
    """Carry gradients from the roots to the leaves, or to the `wanted` edges, whose gradients come back.

    A node runs when all who use its results have run: so each runs once, with the sum of what arrives. What
    it kept is let go of then, unless `keep`. Formulas are ordinary operations: `create` records them.
    """
    waiting: dict[Node, int] = defaultdict(int)
    reached = list(dict.fromkeys(node for node, _ in roots))
    known = set(reached)
    for node in reached:
        for follower, _ in node.next_functions:
            if follower:
                waiting[follower] += 1
                if follower not in known:
                    known.add(follower)
                    reached.append(follower)
    on_the_way = known if wanted is None else _leading(reached, {node for node, _ in wanted})
    captured: dict[tuple[Node | None, int], Tensor] = {}
    arrived: dict[Node, list[Tensor | None]] = {}
    ready: list[Node] = []

    def arrive(edge: Edge, gradient: Tensor | None) -> None:
        node, number = edge
        sums = arrived.setdefault(node, [None] * len(node.results))
        if gradient is not None:
            before = sums[number]
            sums[number] = gradient if before is None else before + gradient

    with set_grad_enabled(create):
        for edge, gradient in zip(roots, gradients, strict=True):
            arrive(edge, gradient)
            if not waiting[edge[0]] and edge[0] not in ready:
                heapq.heappush(ready, edge[0])
        while ready:
            node = heapq.heappop(ready)
            incoming = _received(node, arrived.pop(node))
            if wanted is not None:
                captured.update({(node, i): each for i, each in enumerate(incoming) if each is not None})
            if node not in on_the_way or (wanted is not None and isinstance(node, AccumulateGrad)):
                continue
            outgoing = node.run(incoming)
            if not keep:
                node.free()
            for index, (follower, number) in enumerate(node.next_functions):
                if follower is None:
                    continue
                arrive((follower, number), _fitting(outgoing[index], node, index, follower.results[number]))
                waiting[follower] -= 1
                if not waiting[follower]:
                    heapq.heappush(ready, follower)
    return [captured.get(edge) for edge in wanted or ()]


def _leading(reached: list[Node], goals: set[Node | None]) -> set[Node]:
    """The nodes from which a goal is reached, and which therefore have to run."""
    leading: set[Node] = set()
    for node in sorted(reached, key=lambda node: node.order):  # whatever a node leads to was made before it
        if any(follower in goals or follower in leading for follower, _ in node.next_functions):
            leading.add(node)
    return leading


def _received(node: Node, gradients: list[Tensor | None]) -> list[Tensor | None]:
    """What a node gets: the hooks of its results see the complete gradients, and may change them."""
    for number, gradient in enumerate(gradients):
        if gradient is None:
            continue
        for hook in node.hooks.get(number, ()):
            changed = hook(gradient)
            gradient = gradient if changed is None else changed
        gradients[number] = gradient
        if number in node.retaining:
            kept = node.retaining[number]
            kept._grad = gradient.clone() if kept._grad is None else kept._grad + gradient
    return gradients


def _fitting(gradient: Any, node: Node, index: int, result: tuple[Size, dtype, device]) -> Tensor | None:
    """A gradient in the shape and type of what it is the gradient of: what was broadcast is summed up."""
    shape, kind, _ = result
    if gradient is None:
        return None
    if not isinstance(gradient, Tensor):
        got = type(gradient).__name__
        raise RuntimeError(f"expected Variable or None (got {got})")
    if gradient.shape != shape:
        if not _expands(shape, gradient.shape):
            raise RuntimeError(
                f"Function {_plain(node)} returned an invalid gradient at index {index} - got"
                f" {list(gradient.shape)} but expected shape compatible with {list(shape)}"
            )
        gradient = _reduce(gradient, shape)
    return gradient if gradient.dtype is kind else to(gradient, kind)


def _plain(node: Node) -> str:
    return type(node).__name__


def _expands(shape: Sequence[int], target: Sequence[int]) -> builtins.bool:
    """Whether `shape` broadcasts to `target`."""
    ends = zip(reversed(shape), reversed(target), strict=False)
    return len(shape) <= len(target) and all(one in (1, other) for one, other in ends)


def _first_gradients(outputs: Sequence[Tensor], given: Sequence[Tensor | None]) -> Iterator[Tensor]:
    """The gradients to begin with: 1 for one number; for more there is no one answer, so it must be given."""
    for number, (output, gradient) in enumerate(zip(outputs, given, strict=True)):
        if gradient is None:
            if output.requires_grad and output.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            gradient = ones_like(output)
        elif gradient.shape != output.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{number}] has a shape of {gradient.shape} and"
                f" output[{number}] has a shape of {output.shape}."
            )
        yield gradient if gradient.dtype is output.dtype else gradient.to(output.dtype)


def _roots(outputs: Sequence[Tensor]) -> list[Edge]:
    roots: list[Edge] = []
    for number, output in enumerate(outputs):
        node, position = output._inward()
        if node is None:
            raise RuntimeError(
                f"element {number} of tensors does not require grad and does not have a grad_fn"
            )
        roots.append((node, position))
    return roots


def _backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: builtins.bool | None = None,
    create_graph: builtins.bool = False,
    inputs: Any = None,
) -> None:
    if inputs is not None:
        raise NotInTiny("torch.Tensor.backward(inputs=)")
    outputs = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    given = [grad_tensors] if grad_tensors is None or isinstance(grad_tensors, Tensor) else list(grad_tensors)
    first = list(_first_gradients(outputs, given if len(given) == len(outputs) else [None] * len(outputs)))
    if create_graph:
        warnings.warn(_CYCLE, UserWarning, stacklevel=3)
    _walk(_roots(outputs), first, create_graph if retain_graph is None else retain_graph, create_graph)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: builtins.bool | None = None,
    create_graph: builtins.bool = False,
    *,
    allow_unused: builtins.bool | None = None,
) -> tuple[Tensor | None, ...]:
    """The gradients of outputs with respect to inputs, which come back and are put down nowhere."""
    results, sources = _listed(outputs), _listed(inputs)
    given = _listed(grad_outputs) if grad_outputs is not None else [None] * len(results)
    first = list(_first_gradients(results, given))
    roots = _roots(results)
    for each in sources:
        if not each.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    keep = create_graph if retain_graph is None else retain_graph
    found = _walk(roots, first, keep, create_graph, [each._inward() for each in sources])
    for number, each in enumerate(found):
        if each is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {number} appears to not have been used in the graph."
                " Set allow_unused=True if this is the desired behavior."
            )
    return tuple(found)


# ------------------------------------------------------------------------------ how steps are recorded


class Step(NamedTuple):
    """One operation that was computed: enough to make a new tensor of it, or to write it in place.

    `formula` takes the gradient, then what is kept, in the order in which it is kept: the order in which
    torch looks at it. Among the kept, `RESULT` stands for the result and `SELF` for the first input.
    """

    name: str
    value: Any
    inputs: tuple[Tensor, ...]
    formula: Callable[..., Any]
    kept: tuple[Any, ...] = ()


RESULT, SELF = object(), object()


def _records(inputs: Iterable[Tensor]) -> builtins.bool:
    return _grad_mode and any(each.requires_grad for each in inputs)


def _record(step: Step) -> Tensor:
    """A new tensor, with a node when grad mode is on and an input requires grad."""
    result = _new(step.value, _common_device(step.inputs))
    if _records(step.inputs):
        result._edge = (_node(step, result), 0)
    return result


def _node(step: Step, result: Tensor) -> Node:
    node = _node_class(step.name)(step.inputs, [result])
    node.formula = step.formula
    node.keep(step, result)
    return node


def _write(target: Tensor, step: Step, places: Array | None = None) -> Tensor:
    """Write a step's value into the target (to some places of it), and give it the history it has now."""
    node = None
    if _records((target, *step.inputs)):
        _check_write(target)
        # What was in the target is kept in a copy. Whoever else looks at it is kept at the version before.
        kept = tuple(_before(target) if each is SELF else each for each in step.kept)
        node = _node(step._replace(kept=kept), target)
    value = np.asarray(step.value)
    _check_kind(_DTYPES[value.dtype.name], target.dtype)
    if places is None:
        _check_fits(target, value, step)
        target._array[...] = value
    else:
        target._array.flat[places.reshape(-1)] = np.broadcast_to(value, places.shape).reshape(-1)
    target._counter.value += 1
    if node:
        node.results_are_written()
        _rebase(target, node)
    return target


def _check_kind(value: dtype, target: dtype) -> None:
    if value.kind > target.kind:
        raise RuntimeError(
            f"result type {value.title} can't be cast to the desired output type {target.title}"
        )


def _check_fits(target: Tensor, value: Array, step: Step) -> None:
    """A target has the shape of the result, and memory that is written once and not read meanwhile."""
    if not _expands(value.shape, target.shape):
        raise RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(value.shape)}"
        )
    if not _order_is_no_matter(target, step):
        _check_overlap(target._array, [each._array for each in step.inputs[1:]])


def _order_is_no_matter(target: Tensor, step: Step) -> builtins.bool:
    """Whether the same comes out however often a place is written: one number, or what is there already."""
    own = step.name == "CopyBackwards" and step.inputs[1] is target
    return own or step.name in ("FillBackward2", "ZeroBackward0")


def _check_overlap(target: Array, sources: Iterable[Array]) -> None:
    """Refuse to write one place several times, and to read what is written meanwhile, askew."""
    if any(size > 1 and not stride for size, stride in zip(target.shape, target.strides, strict=True)):
        raise RuntimeError(_OVERLAP)
    for source in sources:
        same = (target.ctypes.data, target.strides) == (source.ctypes.data, source.strides)
        if _dense(target) and _dense(source) and not same and np.shares_memory(target, source):
            raise RuntimeError(_PARTLY)


def _dense(array: Array) -> builtins.bool:
    return builtins.bool(array.transpose(np.argsort(array.strides)[::-1]).flags.c_contiguous)


def _before(target: Tensor) -> Tensor:
    """What is in the target now, in memory of its own, with the history that it has now."""
    copied = _new(target._array.copy(), target.device)
    copied._edge, copied._flag = target._gradient_edge(), target._flag
    return copied


def _check_write(target: Tensor) -> None:
    """A leaf is not written: its old value would be gone, and it would be a leaf no more."""
    if target._view:
        target._check_view()
        if target.requires_grad and not target._view.base._edge:
            raise RuntimeError(f"a view of {_LEAF_WRITTEN}")
    if target.requires_grad and not target._edge:
        raise RuntimeError(_LEAF_WRITTEN)


def _rebase(target: Tensor, node: Node) -> None:
    """The history of what was written; after a write through a view it is the base that has a new one."""
    owner = target
    if target._view:
        owner, node = target._view.base, CopySlices(target._view, node)
    owner._came_from(node)


def operation(step: Callable[..., Step]) -> Callable[..., Tensor]:
    """An operation that makes a new tensor, as a function and as a method."""

    @functools.wraps(step)
    def made(*arguments: Any, out: Tensor | None = None, **keywords: Any) -> Tensor:
        with np.errstate(all="ignore"):
            taken = step(*arguments, **keywords)
        if out is None:
            return _record(taken)
        if _records((*taken.inputs, out)):
            raise RuntimeError(f"{step.__name__}(): {_NO_OUT}")
        return _write(out, taken)

    return method(made)


def elementwise(step: Callable[..., Step]) -> Callable[..., Tensor]:
    """An operation that can be done in place too: `mul` and `mul_`."""

    def in_place(self: Tensor, *arguments: Any, **keywords: Any) -> Tensor:
        if _records((self, *(each for each in arguments if isinstance(each, Tensor)))):
            _check_write(self)
        with np.errstate(all="ignore"):
            return _write(self, step(self, *arguments, **keywords))

    setattr(Tensor, f"{step.__name__}_", in_place)
    return operation(step)


# ---------------------------------------------------------------------------------------- arithmetic


def _wrapped(value: Any) -> Tensor:
    """A number as a tensor: its type gives way to that of a tensor of the same kind."""
    if isinstance(value, Tensor):
        return value
    number = _new(np.asarray(value, _kind_of(value)))
    number._is_number = True
    return number


def _kind_of(value: Any) -> str:
    return "bool" if isinstance(value, builtins.bool) else "int64" if isinstance(value, int) else "float64"


def _common_dtype(tensors: Sequence[Tensor]) -> dtype:
    """The type of a result: tensors with dimensions decide, then those without, then numbers."""
    found: dtype | None = None
    for rank in (2, 1, 0):
        ranked = [each for each in tensors if (0 if each._is_number else 2 if each.ndim else 1) == rank]
        kinds = [float32 if each._is_number and each.dtype is float64 else each.dtype for each in ranked]
        best = builtins.max(kinds, key=list(_DTYPES.values()).index, default=None)
        if best and (found is None or best.kind > found.kind):
            found = best
    assert found is not None
    return found


def _common_device(tensors: Sequence[Tensor]) -> device:
    """The one device of all; numbers, and tensors without dimensions on the CPU, go anywhere."""
    places = dict.fromkeys(each.device for each in tensors if each.ndim or each.is_cuda)
    if len(places) > 1:
        raise RuntimeError(f"{_DEVICES}, but found at least two devices, cuda:0 and cpu!")
    return next(iter(places), _CPU)


def _same_device(kernel: str, **named: Tensor) -> None:
    """What operations with a kernel of their own say: the first tensor decides, another one is named."""
    first = next(iter(named.values())).device
    for name, each in named.items():
        if each.device != first:
            raise RuntimeError(
                f"{_DEVICES}, but got {name} is on {each.device}, different from other tensors on {first}"
                f" (when checking argument in method wrapper_CUDA_{kernel})"
            )


def _operands(*values: Any, kind: dtype | None = None) -> tuple[list[Tensor], list[Array]]:
    """Operands as tensors, and their arrays in a common type; shapes that do not broadcast are refused."""
    tensors = [_wrapped(each) for each in values]
    _common_device(tensors)
    common = kind or _common_dtype(tensors)
    shapes = [each.shape for each in tensors]
    for one, other in itertools.pairwise(shapes):
        for back, (first, second) in enumerate(zip(reversed(one), reversed(other), strict=False)):
            if first != second and 1 not in (first, second):
                raise RuntimeError(
                    f"The size of tensor a ({first}) must match the size of tensor b ({second}) at"
                    f" non-singleton dimension {builtins.max(len(one), len(other)) - 1 - back}"
                )
    return tensors, [each._array.astype(common.numpy, copy=False) for each in tensors]


def _nothing(gradient: Tensor) -> Tensor:
    """The gradient of what does not depend on its input."""
    return zeros_like(gradient)


def _times(gradient: Tensor, factor: Tensor | None) -> Tensor | None:
    """The product; None where the factor was not kept because nobody wants that gradient."""
    return None if factor is None else gradient * factor


def _wants(self: Tensor) -> builtins.bool:
    """Whether there is a node for its gradient to go to: a view made under no_grad has none."""
    return _grad_mode and self.requires_grad and self._inward()[0] is not None


def _floating(self: Tensor) -> Array:
    """The array, integers as float32: what functions such as `exp` compute with."""
    return self._array if self.dtype.is_floating_point else self._array.astype("f4")


@elementwise
def add(self: Tensor, other: Any, *, alpha: Any = 1) -> Step:
    """Addition keeps nothing: a second backward through it succeeds, and its inputs may be written."""
    inputs, (a, b) = _operands(self, other)
    return Step("AddBackward0", a + b * np.asarray(alpha, b.dtype), tuple(inputs), lambda g: (g, g * alpha))


@elementwise
def sub(self: Tensor, other: Any, *, alpha: Any = 1) -> Step:
    """Difference."""
    inputs, (a, b) = _operands(self, other)
    if a.dtype == "bool":
        raise RuntimeError(_BOOL_SUB)
    return Step("SubBackward0", a - b * np.asarray(alpha, b.dtype), tuple(inputs), lambda g: (g, g * -alpha))


@operation
def rsub(self: Tensor, other: Any) -> Step:
    """`other - self`."""
    (this, _), (a, b) = _operands(self, other)
    return Step("RsubBackward1", b - a, (this,), lambda g: -g)


@elementwise
def mul(self: Tensor, other: Any) -> Step:
    """A product keeps each factor for the gradient of the other, and only if that one wants it."""
    (x, y), (a, b) = _operands(self, other)
    kept = (y if _wants(x) else None, SELF if _wants(y) else None)
    return Step("MulBackward0", a * b, (x, y), lambda g, y, x: (_times(g, y), _times(g, x)), kept)


@elementwise
def div(self: Tensor, other: Any) -> Step:
    """Quotient."""
    (x, y), (a, b) = _operands(self, other)
    if a.dtype.kind != "f":
        a, b = a.astype("f4"), b.astype("f4")

    def formula(g: Tensor, y: Tensor, x: Tensor | None) -> Any:
        return g / y, None if x is None else -g * ((x / y) / y)

    return Step("DivBackward0", a / b, (x, y), formula, (y, SELF if _wants(y) else None))


@elementwise
def pow(self: Tensor, exponent: Any) -> Step:
    """A power. With a number as exponent the base is kept, with a tensor all three."""
    if isinstance(exponent, Tensor):
        (x, e), (a, b) = _operands(self, exponent)
        return Step(
            "PowBackward1",
            a**b,
            (x, e),
            lambda g, e, result, x: (g * (e * x ** (e - 1)), g * (result * x.log())),
            (e, RESULT, SELF),
        )
    (x, _), (a, b) = _operands(self, exponent)
    if a.dtype == "int64" and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")

    def formula(g: Tensor, x: Tensor) -> Tensor:
        return zeros_like(g) if exponent == 0 else g * (x ** (exponent - 1) * exponent)

    return Step("PowBackward0", a**b, (x,), formula, (SELF,))


@operation
def _raise(self: Tensor, base: Any) -> Step:
    _, (a, b) = _operands(self, base)
    return Step(
        "PowBackward2",
        b**a,
        (self,),
        lambda g, _, result: g * (result * math.log(base)),
        (SELF, RESULT),
    )


def _unary(
    name: str,
    function: Callable[[Array], Any],
    keeps: str,
    formula: Callable[..., Any],
) -> Callable[..., Tensor]:
    """An operation of one tensor. `keeps` is what its formula needs: "self", "result" or "" for nothing."""

    def step(self: Tensor) -> Step:
        kept = {"self": (SELF,), "result": (RESULT,), "": ()}[keeps]
        return Step(f"{name.title()}Backward0", function(_floating(self)), (self,), formula, kept)

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
round = _unary("round", np.rint, "", _nothing)
floor = _unary("floor", np.floor, "", _nothing)


@elementwise
def relu(self: Tensor) -> Step:
    """Zero below zero."""
    return Step(
        "ReluBackward0", np.maximum(self._array, 0), (self,), lambda g, y: where(y <= 0, 0.0, g), (RESULT,)
    )


@elementwise
def neg(self: Tensor) -> Step:
    """The negative."""
    if self.dtype is bool:
        raise RuntimeError(_BOOL_NEG)
    return Step("NegBackward0", -self._array, (self,), lambda g: -g)


@elementwise
def sign(self: Tensor) -> Step:
    """-1, 0 or 1."""
    array = self._array
    return Step("SignBackward0", (array > 0).astype(array.dtype) - (array < 0), (self,), _nothing)


@elementwise
def abs(self: Tensor) -> Step:
    """The absolute value."""
    return Step("AbsBackward0", np.abs(self._array), (self,), lambda g, x: g * x.sign(), (SELF,))


absolute = abs


@elementwise
def clamp(self: Tensor, min: Any = None, max: Any = None) -> Step:
    """Numbers held between bounds; no gradient passes outside them."""

    def formula(g: Tensor, x: Tensor) -> Tensor:
        inside = (-math.inf if min is None else min, math.inf if max is None else max)
        return where((x >= inside[0]) & (x <= inside[1]), g, 0.0)

    return Step("ClampBackward1", np.clip(self._array, min, max), (self,), formula, (SELF,))


@elementwise
def fill(self: Tensor, value: Any) -> Step:
    """What was there has no gradient any more."""
    if not isinstance(value, Tensor):
        return Step("FillBackward2", np.asarray(value, self._array.dtype), (self,), _nothing)
    if value.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with"
            f" {value.ndim} dimension{'s' * (value.ndim > 1)}."
        )
    cast = value._array.astype(self._array.dtype)
    return Step("FillBackward3", cast, (self, value), lambda g: (zeros_like(g), g.sum()))


@method
def zero_(self: Tensor) -> Tensor:
    """Zeros, in place."""
    nothing = np.zeros((), self._array.dtype)
    return _write(self, Step("ZeroBackward0", nothing, (self,), _nothing))


@method
def copy_(self: Tensor, other: Any) -> Tensor:
    """The numbers of another tensor, whose gradient this is from now on."""
    source = _wrapped(other)
    if source.shape != self.shape:
        _check_expand(source, self.shape)
    cast = source._array.astype(self._array.dtype)
    return _write(self, Step("CopyBackwards", cast, (self, source), lambda g: (zeros_like(g), g)))


def _compare(function: Any, self: Tensor, other: Any) -> Tensor:
    """Comparisons have no gradient: their results are leaves."""
    if not isinstance(other, Tensor | int | builtins.float | np.number):
        return NotImplemented  # type: ignore[no-any-return]
    tensors, (a, b) = _operands(self, other)
    return _new(function(a, b), _common_device(tensors))


@operation
def where(condition: Tensor, self: Any, other: Any) -> Step:
    """Of two tensors, element by element."""
    (x, y), (a, b) = _operands(self, other)
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


# ------------------------------------------------------------------------------- sums and products


def _axes(self: Tensor, dim: Any) -> tuple[int, ...]:
    if dim is None:
        return tuple(range(self.ndim))
    return tuple(_axis(each, self.ndim) for each in _listed(dim))


def _axis(dim: int, dimensions: int) -> int:
    reach = builtins.max(dimensions, 1)
    if not -reach <= dim < reach:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-reach}, {reach - 1}], but got {dim})"
        )
    return dim % reach


def _unsummed(gradient: Tensor, shape: Size, axes: tuple[int, ...], keepdim: builtins.bool) -> Tensor:
    """The gradient of a sum: each that went in gets what came out."""
    if shape and not keepdim:
        gradient = gradient.reshape(*(1 if i in axes else size for i, size in enumerate(shape)))
    return expand(gradient, *shape)


@operation
def sum(self: Tensor, dim: Any = None, keepdim: builtins.bool = False, *, dtype: dtype | None = None) -> Step:
    """The sum, of all or along dimensions."""
    shape, axes = self.shape, _axes(self, dim)
    kind = dtype or (self.dtype if self.dtype.is_floating_point else int64)
    value = self._array.sum(axes if self.ndim else None, dtype=kind.numpy, keepdims=keepdim)
    name = "SumBackward0" if dim is None else "SumBackward1"
    return Step(name, value, (self,), lambda g: _unsummed(g, shape, axes, keepdim))


@operation
def mean(self: Tensor, dim: Any = None, keepdim: builtins.bool = False) -> Step:
    """The mean, of all or along dimensions."""
    if not self.dtype.is_floating_point:
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex"
            f" dtype. Got: {self.dtype.title}"
        )
    shape, axes = self.shape, _axes(self, dim)
    count = math.prod(shape[each] for each in axes) if shape else 1
    value = self._array.mean(axes if self.ndim else None, keepdims=keepdim)
    name = "MeanBackward0" if dim is None else "MeanBackward1"
    return Step(name, value, (self,), lambda g: _unsummed(g, shape, axes, keepdim) / count)


class Found(NamedTuple):
    """What is greatest, or least, along a dimension, and where."""

    values: Tensor
    indices: Tensor


def _extreme(title: str, all_of: Any, position: Any) -> Callable[..., Any]:
    """`max` and `min`: of all (equals share the gradient), along a dimension, or of two tensors."""

    def share(g: Tensor, result: Tensor, x: Tensor) -> Tensor:
        equal = x == result
        return g * equal / sum(equal)

    def extreme(self: Tensor, dim: Any = None, keepdim: builtins.bool = False) -> Any:
        if dim is None:
            return _record(Step(f"{title}Backward1", all_of(self._array), (self,), share, (RESULT, self)))
        axis, shape = _axis(dim, self.ndim), self.shape
        found = np.expand_dims(position(self._array, axis), axis) if self.ndim else np.zeros((), "i8")
        values = np.take_along_axis(self._array, found, axis) if self.ndim else self._array.copy()
        squeeze = self.ndim and not keepdim
        indices = _new(found.squeeze(axis) if squeeze else found, self.device)
        places = (
            np.take_along_axis(np.arange(self.numel()).reshape(shape), found, axis) if self.ndim else found
        )

        def formula(g: Tensor, _: Tensor) -> Tensor:
            return _scatter(shape, places, g.reshape(*places.shape))

        value = values.squeeze(axis) if squeeze else values
        return Found(_record(Step(f"{title}Backward0", value, (self,), formula, (indices,))), indices)

    extreme.__name__ = title.lower()
    return method(extreme)


max = _extreme("Max", np.max, np.argmax)
min = _extreme("Min", np.min, np.argmin)


@method
def argmax(self: Tensor, dim: int | None = None, keepdim: builtins.bool = False) -> Tensor:
    """Where the greatest is: a position has no gradient."""
    return _new(np.argmax(self._array, dim, keepdims=keepdim), self.device)


def _check_product(kernel: str, kinds: str = "", **named: Tensor) -> None:
    _same_device(kernel, **named)
    one, other = (each.dtype.title for each in list(named.values())[-2:])
    if one != other:
        raise RuntimeError(
            kinds.format(one, other)
            or f"expected m1 and m2 to have the same dtype, but got: {one.lower()} != {other.lower()}"
        )


@operation
def mm(self: Tensor, mat2: Tensor) -> Step:
    """Product of two matrices."""
    _check_matrices(self, mat2)
    _check_product("mm", self=self, mat2=mat2)
    kept = (mat2 if _wants(self) else None, self if _wants(mat2) else None)
    return Step("MmBackward0", self._array @ mat2._array, (self, mat2), _unmultiplied, kept)


def _check_matrices(a: Tensor, b: Tensor) -> None:
    if a.shape[1] != b.shape[0]:
        sizes = f"{a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]}"
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({sizes})")


def _unmultiplied(g: Tensor, right: Tensor | None, left: Tensor | None) -> tuple[Any, Any]:
    return (
        None if right is None else matmul(g, right.transpose(-1, -2)),
        None if left is None else matmul(left.transpose(-1, -2), g),
    )


@operation
def bmm(self: Tensor, mat2: Tensor) -> Step:
    """Products of two rows of matrices."""
    _check_product("bmm", self=self, mat2=mat2)
    kept = (mat2 if _wants(self) else None, self if _wants(mat2) else None)
    return Step("BmmBackward0", self._array @ mat2._array, (self, mat2), _unmultiplied, kept)


@operation
def mv(self: Tensor, vec: Tensor) -> Step:
    """Product of a matrix and a vector."""
    if self.shape[1] != vec.shape[0]:
        sizes = f"input ({self.shape[0]}), mat ({self.shape[0]}x{self.shape[1]}), vec ({vec.shape[0]})"
        raise RuntimeError(f"size mismatch, got {sizes}")
    _check_product("mv", self=self, vec=vec)
    return Step(
        "MvBackward0",
        self._array @ vec._array,
        (self, vec),
        lambda g, a, v: (
            None if v is None else g.unsqueeze(1) * v,
            None if a is None else mv(a.transpose(0, 1), g),
        ),
        (self if _wants(vec) else None, vec if _wants(self) else None),
    )


@operation
def dot(self: Tensor, tensor: Tensor) -> Step:
    """Product of two vectors."""
    _check_product("_dot", self=self, tensor=tensor)
    return Step(
        "DotBackward0",
        np.dot(self._array, tensor._array),
        (self, tensor),
        lambda g, a, b: (_times(g, b), _times(g, a)),
        (self if _wants(tensor) else None, tensor if _wants(self) else None),
    )


@operation
def addmm(self: Tensor, mat1: Tensor, mat2: Tensor) -> Step:
    """A product of matrices with something added: what a linear layer does."""
    _check_matrices(mat1, mat2)
    kinds = "mat1 and mat2 must have the same dtype, but got {} and {}"
    _check_product("addmm", kinds, self=self, mat1=mat1, mat2=mat2)
    kept = (mat1 if _wants(mat2) else None, mat2 if _wants(mat1) else None)

    def formula(g: Tensor, left: Tensor | None, right: Tensor | None) -> tuple[Any, Any, Any]:
        return g, *_unmultiplied(g, right, left)

    value = mat1._array @ mat2._array + self._array
    return Step("AddmmBackward0", value, (self, mat1, mat2), formula, kept)


@method
def matmul(self: Tensor, other: Tensor) -> Tensor:
    """The product that fits the dimensions."""
    match (self.ndim, other.ndim):
        case (1, 1):
            return dot(self, other)
        case (2, 1):
            return mv(self, other)
        case (2, 2):
            return mm(self, other)
        case (1, 2):
            product = mm(self.unsqueeze(0), other)
            return _into(product, "SqueezeBackward4", product._array[0])
        case (_, 2):
            flat = mm(self.reshape(-1, self.shape[-1]), other)
            return _unsafe_view(flat, (*self.shape[:-1], other.shape[-1]))
    batch = np.broadcast_shapes(self.shape[:-2], other.shape[:-2])
    one = self.expand(*batch, *self.shape[-2:]).reshape(-1, *self.shape[-2:])
    two = other.expand(*batch, *other.shape[-2:]).reshape(-1, *other.shape[-2:])
    return _unsafe_view(bmm(one, two), (*batch, self.shape[-2], other.shape[-1]))


def _into(self: Tensor, name: str, array: Array) -> Tensor:
    """The tensor itself in another shape, changed in place."""
    shape, made = self.shape, _new(array, self.device, counter=self._counter)
    made._counter.value += 1
    if _records((self,)):
        node = _node_class(name)((self,), [made])
        node.formula = lambda g: g.reshape(*shape)
        made._edge, made._seen = (node, 0), made._version
    return made


# ------------------------------------------------------------------------------------- views, shapes


def _views(
    name: str,
    source: Tensor,
    lenses: Sequence[Callable[[Array], Array]],
    formula: Callable[..., Any],
    how: str = "",
) -> list[Tensor]:
    """Tensors that look at the memory of `source`, results of one node.

    A view has the version of its base and, while it requires grad, a way to write through to it. Whatever
    hides its history (no_grad, sisters from the same node) is remembered: it forbids a write.
    """
    parent = source._view
    if not _grad_mode:
        how = "no_grad"
    made = []
    for lens in lenses:
        view = _new(lens(source._array), source.device, counter=source._counter)
        whole = (lambda array, lens=lens: lens(parent.lens(array))) if parent else lens
        view._view = View(parent.base if parent else source, whole, how or (parent.how if parent else ""))
        made.append(view)
    if _records((source,)):
        node = _node_class(name)((source,), made)
        node.formula = formula
        for number, view in enumerate(made):
            view._edge = (node, number)
    return made


def _sizes(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else sizes


def _settled(self: Tensor, sizes: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape with its -1 worked out."""
    asked = _sizes(sizes)
    try:
        return np.empty(self.shape, "?").reshape(asked).shape
    except ValueError:
        message = f"shape '{list(asked)}' is invalid for input of size {self.numel()}"
        raise RuntimeError(message) from None


@method
def view(self: Tensor, *sizes: Any) -> Tensor:
    """The same memory in another shape."""
    shape, old = _settled(self, sizes), self.shape
    if not np.shares_memory(self._array, self._array.reshape(shape)) and self.numel():
        raise RuntimeError(_NOT_VIEWABLE)
    return _views("ViewBackward0", self, [lambda a: a.reshape(shape)], lambda g: g.reshape(*old))[0]


@method
def reshape(self: Tensor, *sizes: Any) -> Tensor:
    """A view where the memory allows it, else a copy."""
    shape = _settled(self, sizes)
    if np.shares_memory(self._array, self._array.reshape(shape)) or not self.numel():
        return view(self, shape)
    return _unsafe_view(clone(self), shape)


@operation
def _unsafe_view(self: Tensor, shape: Any) -> Step:
    old = self.shape
    return Step("UnsafeViewBackward0", self._array.reshape(shape), (self,), lambda g: g.reshape(*old))


@method
def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """One dimension in the place of several; one dimension stays the very same tensor."""
    first, last = _axis(start_dim, self.ndim), _axis(end_dim, self.ndim)
    if self.ndim and first == last:
        return self
    return reshape(self, *self.shape[:first], -1, *self.shape[last + 1 :])


@method
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """A view in the shape of another tensor."""
    return view(self, *other.shape)


@method
def permute(self: Tensor, *dims: Any) -> Tensor:
    """Dimensions in another order."""
    order = tuple(_axis(each, self.ndim) for each in _sizes(dims))
    return _permuted("PermuteBackward0", self, order)


def _permuted(name: str, self: Tensor, order: tuple[int, ...]) -> Tensor:
    back = tuple(int(each) for each in np.argsort(order))
    return _views(name, self, [lambda a: a.transpose(order)], lambda g: g.permute(*back))[0]


@method
def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged."""
    order = list(range(self.ndim))
    one, other = _axis(dim0, self.ndim), _axis(dim1, self.ndim)
    if order:
        order[one], order[other] = order[other], order[one]
    return _permuted("TransposeBackward0", self, tuple(order))


@method
def t(self: Tensor) -> Tensor:
    """The matrix transposed."""
    return _permuted("TBackward0", self, tuple(reversed(range(self.ndim))))


Tensor.T = property(lambda self: _permuted("PermuteBackward0", self, tuple(reversed(range(self.ndim)))))  # type: ignore[attr-defined]


@method
def unsqueeze(self: Tensor, dim: int) -> Tensor:
    """A dimension of size 1 more."""
    axis = _axis(dim, self.ndim + 1)
    formula = functools.partial(_squeezed, "SqueezeBackward1", axes=(axis,))
    return _views("UnsqueezeBackward0", self, [lambda a: np.expand_dims(a, axis)], formula)[0]


@method
def squeeze(self: Tensor, dim: Any = None) -> Tensor:
    """Dimensions of size 1 left out."""
    name = "SqueezeBackward0" if dim is None else "SqueezeBackward1"
    return _squeezed(name, self, _axes(self, dim))


def _squeezed(name: str, self: Tensor, axes: tuple[int, ...]) -> Tensor:
    axes, old = tuple(each for each in axes if self.ndim and self.shape[each] == 1), self.shape
    return _views(name, self, [lambda a: np.squeeze(a, axes)], lambda g: g.reshape(*old))[0]


def _check_expand(self: Tensor, shape: Sequence[int]) -> None:
    if len(shape) < self.ndim:
        raise RuntimeError(
            f"expand({self.type()}{{{list(self.shape)}}}, size={list(shape)}): the number of sizes provided"
            f" ({len(shape)}) must be greater or equal to the number of dimensions in the tensor ({self.ndim})"
        )
    for back, (size, target) in enumerate(zip(reversed(self.shape), reversed(shape), strict=False), 1):
        if size not in (1, target):
            raise RuntimeError(
                f"The expanded size of the tensor ({target}) must match the existing size ({size}) at"
                f" non-singleton dimension {len(shape) - back}.  Target sizes: {list(shape)}.  Tensor sizes:"
                f" {list(self.shape)}"
            )


@method
def expand(self: Tensor, *sizes: Any) -> Tensor:
    """The same numbers again and again, in the same memory: so it is not to be written in place."""
    asked = _sizes(sizes)
    ahead = len(asked) - self.ndim
    shape = tuple(
        self.shape[i - ahead] if size == -1 and i >= ahead else size for i, size in enumerate(asked)
    )
    _check_expand(self, shape)
    old = self.shape

    def lens(array: Array) -> Array:
        return np.lib.stride_tricks.as_strided(
            array,
            shape,
            (0,) * ahead
            + tuple(
                0 if size != target else stride
                for size, target, stride in zip(array.shape, shape[ahead:], array.strides, strict=True)
            ),
        )

    return _views("ExpandBackward0", self, [lens], lambda g: _reduce(g, old))[0]


@method
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Expanded to the shape of another tensor."""
    return expand(self, *other.shape)


def _reduce(gradient: Tensor, shape: Sequence[int]) -> Tensor:
    """The gradient of what was broadcast: the sum over all its copies."""
    ahead = gradient.ndim - len(shape)
    if ahead > 0:
        gradient = gradient.sum(tuple(range(ahead)))
    grown = tuple(i for i, size in enumerate(shape) if size == 1 and gradient.shape[i] != 1)
    return gradient.sum(grown, True) if grown else gradient


@method
def unbind(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The rows: views of one memory, results of one node."""
    axis = _axis(dim, self.ndim)
    lenses = [lambda a, i=i: a[_along(axis, i)] for i in range(self.shape[axis])]
    shape = self.shape[:axis] + self.shape[axis + 1 :]

    def formula(*gradients: Tensor | None) -> Tensor:
        return stack([_or_zeros(each, shape, self) for each in gradients], axis)

    return tuple(_views("UnbindBackward0", self, lenses, formula, "several"))


def _along(axis: int, item: Any) -> tuple[Any, ...]:
    """The index that is `item` in one dimension and takes all of the others."""
    return (*itertools.repeat(slice(None), axis), item, ...)


def _or_zeros(gradient: Tensor | None, shape: Sequence[int], like: Tensor) -> Tensor:
    return _new(np.zeros(shape, like._array.dtype), like.device) if gradient is None else gradient


@method
def split(self: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of a size, the last one perhaps smaller: views, results of one node."""
    axis = _axis(dim, self.ndim)
    parts = [slice(i, i + split_size) for i in range(0, self.shape[axis], split_size)]
    lenses = [lambda a, part=part: a[_along(axis, part)] for part in parts]
    shapes = [np.empty(self.shape, "?")[_along(axis, part)].shape for part in parts]

    def formula(*gradients: Tensor | None) -> Tensor:
        return cat([_or_zeros(g, shape, self) for g, shape in zip(gradients, shapes, strict=True)], axis)

    return tuple(_views("SplitBackward0", self, lenses, formula, "several"))


@method
def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """A number of pieces."""
    return split(self, -(-self.shape[_axis(dim, self.ndim)] // chunks), dim)


@operation
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Step:
    """Tensors one after another, in new memory."""
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    first, axis = tensors[0], _axis(dim, tensors[0].ndim)
    if not first.ndim:
        raise RuntimeError("zero-dimensional tensor (at position 0) cannot be concatenated")
    for number, each in enumerate(tensors):
        for i, (expected, got) in enumerate(zip(first.shape, each.shape, strict=False)):
            if i != axis and expected != got:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {axis}. Expected size {expected} but got"
                    f" size {got} for tensor number {number} in the list."
                )
    kind = _common_dtype(tensors).numpy
    ends = list(itertools.accumulate((each.shape[axis] for each in tensors), initial=0))
    value = np.concatenate([each._array.astype(kind) for each in tensors], axis)

    def formula(g: Tensor) -> list[Tensor]:
        return [_slice(g, axis, slice(start, end)) for start, end in itertools.pairwise(ends)]

    return Step("CatBackward0", value, tuple(tensors), formula)


@operation
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Step:
    """Tensors along a new dimension."""
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    for number, each in enumerate(tensors):
        if each.shape != tensors[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and"
                f" {list(each.shape)} at entry {number}"
            )
    axis, kind = _axis(dim, tensors[0].ndim + 1), _common_dtype(tensors).numpy
    value = np.stack([each._array.astype(kind) for each in tensors], axis)
    return Step("StackBackward0", value, tuple(tensors), lambda g: list(g.unbind(axis)))


@operation
def clone(self: Tensor) -> Step:
    """A copy that stays in the graph."""
    return Step("CloneBackward0", self._array.copy(order="K"), (self,), lambda g: g)


@method
def contiguous(self: Tensor) -> Tensor:
    """The very same tensor where its memory is in order, else a copy."""
    if self._array.flags.c_contiguous:
        return self
    return _record(clone.__wrapped__(self)._replace(value=np.ascontiguousarray(self._array)))  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------ indexing


def _select(self: Tensor, axis: int, number: int) -> Tensor:
    size = self.shape[axis]
    if not -size <= number < size:
        raise IndexError(f"index {number} is out of bounds for dimension {axis} with size {size}")
    return _part("SelectBackward0", self, lambda a: a[_along(axis, number)])


def _slice(self: Tensor, axis: int, part: slice) -> Tensor:
    if part.step is not None and part.step < 1:
        raise ValueError("step must be greater than zero")
    return _part("SliceBackward0", self, lambda a: a[_along(axis, part)])


def _part(name: str, self: Tensor, lens: Callable[[Array], Array]) -> Tensor:
    """A view of some elements: its gradient is theirs, and zero for the others."""
    shape = self.shape

    def formula(g: Tensor) -> Tensor:
        return _scatter(shape, np.asarray(lens(np.arange(math.prod(shape)).reshape(shape))), g)

    return _views(name, self, [lens], formula)[0]


def _at(self: Tensor, places: Array) -> Tensor:
    """The elements at places of the flat tensor."""
    shape = self.shape
    value = self._array.reshape(-1)[places]
    return _record(Step("TakeBackward0", value, (self,), lambda g: _scatter(shape, places, g)))


def _scatter(shape: Sequence[int], places: Array, source: Tensor) -> Tensor:
    """Zeros with the source added at places; it undoes `_at`, and `_at` is its gradient."""
    flat = np.zeros(math.prod(shape), source._array.dtype)
    np.add.at(flat, places, source._array)
    return _record(Step("PutBackward0", flat.reshape(shape), (source,), lambda g: _at(g, places)))


def _without(self: Tensor, places: Array) -> Tensor:
    """The tensor with zeros at places."""
    hidden = np.isin(np.arange(self.numel()), places).reshape(self.shape)
    return where(_new(hidden, self.device), 0.0, self)


def _viewed(self: Tensor, index: Any) -> tuple[Tensor, list[tuple[int, Any]]]:
    """The part of the index that numbers, slices, None and ... ask for, as a view; and what is left over."""
    items = list(index) if isinstance(index, tuple) else [index]
    used = builtins.sum(
        each.ndim if _is_mask(each) else not (each is None or each is Ellipsis) for each in items
    )
    if used > self.ndim:
        if not self.ndim:
            raise IndexError(_INDEX_OF_NUMBER)
        raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
    axis, seen, rest = 0, self, []
    for item in items:
        if isinstance(item, builtins.bool):
            raise NotInTiny("torch.Tensor.__getitem__(bool)")
        if isinstance(item, int | np.integer):
            seen = _select(seen, axis, int(item))
        elif isinstance(item, slice):
            start_to_end = item.start in (None, 0) and item.stop is None and item.step in (None, 1)
            seen = seen if start_to_end else _slice(seen, axis, item)
            axis += 1
        elif item is None:
            seen, axis = seen.unsqueeze(axis), axis + 1
        elif item is Ellipsis:
            axis += self.ndim - used
        elif isinstance(item, Tensor | list | np.ndarray):
            chosen = item if isinstance(item, Tensor) else tensor(item)
            if chosen.dtype.is_floating_point:
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
            if chosen.dtype is bool and not chosen.ndim:
                seen, chosen = seen.unsqueeze(axis), chosen.reshape(1)
            rest.append((axis, chosen))
            axis += chosen.ndim if chosen.dtype is bool else 1
        elif isinstance(item, str):
            raise TypeError(f"new(): invalid data type '{type(item).__name__}'")
        else:
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid"
                f" indices (got {type(item).__name__})"
            )
    return seen, rest


def _is_mask(item: Any) -> builtins.bool:
    return isinstance(item, Tensor | np.ndarray) and item.dtype in (bool, np.bool_)


def _positions(self: Tensor, chosen: list[tuple[int, Any]]) -> Array:
    """The places in the flat tensor that index tensors choose."""
    whole: list[Any] = []
    for axis, each in chosen:
        whole += [slice(None)] * (axis - builtins.sum(_width(one) for one in whole))
        whole.append(each._array)
        if each.dtype is not bool and each.numel():
            for number in each._array.reshape(-1):
                if not -self.shape[axis] <= number < self.shape[axis]:
                    raise IndexError(
                        f"index {number} is out of bounds for dimension {axis} with size {self.shape[axis]}"
                    )
    return np.asarray(np.arange(self.numel()).reshape(self.shape)[tuple(whole)])


def _width(item: Any) -> int:
    return int(item.ndim) if isinstance(item, np.ndarray) and item.dtype == np.bool_ else 1


def _get(self: Tensor, index: Any) -> Tensor:
    seen, rest = _viewed(self, index)
    if not rest:
        if seen is not self:
            return seen
        whole = "AliasBackward0" if index is Ellipsis or index == () else "SliceBackward0"
        return _views(whole, self, [lambda a: a[...]], lambda g: g)[0]
    places, shape = _positions(seen, rest), seen.shape
    return _record(
        Step(
            "IndexBackward0",
            seen._array.reshape(-1)[places],
            (seen,),
            lambda g, *_: _scatter(shape, places, g),
            tuple(each for _, each in rest),
        )
    )


def _set(self: Tensor, index: Any, value: Any) -> None:
    """A write to a part: to a view of it, or, when tensors choose, to the places."""
    seen, rest = _viewed(self, index)
    source = _wrapped(value)
    if not rest:
        if not source.ndim and (seen.ndim or source._is_number):
            seen.fill_(source)
        else:
            while source.ndim > seen.ndim and source.shape[0] == 1:
                source = source.squeeze(0)
            seen.copy_(source)
        return
    places = _positions(seen, rest)
    cast = source._array.astype(seen._array.dtype)
    if not _expands(cast.shape, places.shape):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(cast.shape)} cannot be broadcast to indexing result"
            f" of shape {list(places.shape)}"
        )

    def formula(g: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
        return _without(g, places), _reduce(_at(g, places), source.shape)

    kept = tuple(each for _, each in rest)
    _write(seen, Step("IndexPutBackward0", cast, (seen, source), formula, kept), places)


# ------------------------------------------------------------------------------------ leaving autograd


@method
def detach(self: Tensor) -> Tensor:
    """The same memory and version without history: a write to it is seen by those who kept the tensor."""
    return _new(self._array, self.device, counter=self._counter)


@method
def detach_(self: Tensor) -> Tensor:
    """The tensor itself without history."""
    if self._view:
        raise RuntimeError(_DETACH_VIEW)  # the base would still have one
    self._edge, self._flag = None, False
    return self


def _set_data(self: Tensor, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    self._array, self.device = value._array, value.device


# Writes to `.data` are counted by nobody: what a node kept changes, and nothing says so.
Tensor.data = property(lambda self: _new(self._array, self.device), _set_data)  # type: ignore[attr-defined]


class set_grad_enabled:
    """Switches the recording: at once when it is called, and back at the end of a `with`."""

    def __init__(self, mode: builtins.bool) -> None:
        self.before = [_grad_mode]
        self._switch(mode)
        self.mode = mode

    def _switch(self, mode: builtins.bool) -> None:
        global _grad_mode  # noqa: PLW0603
        _grad_mode = mode

    def __enter__(self) -> None:
        self._switch(self.mode)

    def __exit__(self, *_: Any) -> None:
        self._switch(self.before[-1])

    def __call__(self, function: Made) -> Made:
        """The function, run in this mode."""

        @functools.wraps(function)
        def inside(*arguments: Any, **keywords: Any) -> Any:
            with type(self)(self.mode) if type(self) is set_grad_enabled else type(self)():  # type: ignore[call-arg]
                return function(*arguments, **keywords)

        return inside  # type: ignore[return-value]


class no_grad(set_grad_enabled):
    """Nothing is recorded inside: results are leaves that do not require grad."""

    _mode: ClassVar[builtins.bool] = False

    def __new__(cls, function: Any = None) -> Any:
        """`@no_grad` without parentheses decorates, too."""
        made = object.__new__(cls)
        if function is None:
            return made
        made.__init__()  # type: ignore[misc]
        return made(function)

    def __init__(self) -> None:
        self.before, self.mode = [], self._mode

    def __enter__(self) -> None:
        self.before.append(_grad_mode)
        self._switch(self.mode)

    def __exit__(self, *_: Any) -> None:
        self._switch(self.before.pop())


class enable_grad(no_grad):
    """Recording is on inside."""

    _mode = True


def is_grad_enabled() -> builtins.bool:
    """Whether steps are recorded."""
    return _grad_mode


@method
def to(self: Tensor, *arguments: Any, **keywords: Any) -> Tensor:
    """Another type or device. Where nothing changes it is the very same tensor; else a computed one."""
    kind, where = self.dtype, self.device
    for each in (*arguments, *(keywords.get(key) for key in ("dtype", "device"))):
        if isinstance(each, Tensor):
            kind, where = each.dtype, each.device
        elif isinstance(each, dtype):
            kind = each
        elif isinstance(each, str | device | int) and not isinstance(each, builtins.bool):
            where = _device(each)
    if kind is self.dtype and where == self.device and not keywords.get("copy"):
        return self
    old = (self.dtype, self.device)
    made = _new(self._array.astype(kind.numpy), where)
    if _records((self,)) and kind.is_floating_point:
        node = _node_class("ToCopyBackward0")((self,), [made])
        node.formula = lambda g: g.to(*old)
        made._edge = (node, 0)
    return made


# fmt: off
@method
def cpu(self: Tensor) -> Tensor: return to(self, _CPU)  # noqa: D103
@method
def type_as(self: Tensor, other: Tensor) -> Tensor: return to(self, other)  # noqa: D103
@method
def numel(self: Tensor) -> int: return self._array.size  # noqa: D103
@method
def dim(self: Tensor) -> int: return self._array.ndim  # noqa: D103
@method
def square(self: Tensor) -> Tensor: return pow(self, 2)  # noqa: D103
# fmt: on
for _title, _kind in {"float": float32, "double": float64, "long": int64, "bool": bool}.items():
    setattr(Tensor, _title, functools.partialmethod(to, _kind))
Tensor.cuda = lambda self, index=0: to(self, index)  # type: ignore[attr-defined]
Tensor.size = lambda self, dim=None: self.shape if dim is None else self.shape[dim]  # type: ignore[attr-defined]
Tensor.is_floating_point = lambda self: self.dtype.is_floating_point  # type: ignore[attr-defined]


def _type(self: Tensor, kind: Any = None) -> Any:
    if kind is not None:
        return to(self, kind)
    return f"torch.{'cuda.' * self.is_cuda}{self.dtype.title}Tensor"


Tensor.type = _type  # type: ignore[attr-defined]


@method
def numpy(self: Tensor, *, force: builtins.bool = False) -> Array:
    """The memory itself as numpy's: only from the CPU, and only where no gradient could be expected."""
    if force:
        return self.detach().cpu().numpy()  # type: ignore[no-any-return]
    if self.is_cuda:
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to"
            " host memory first."
        )
    if self.requires_grad and _grad_mode:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    return self._array


def _as_array(self: Tensor, dtype: Any = None, copy: builtins.bool | None = None) -> Array:
    array = self.numpy()
    return np.array(array, dtype, copy=copy) if dtype is not None or copy else array


Tensor.__array__ = _as_array  # type: ignore[attr-defined]
Tensor.__array_wrap__ = lambda self, array, *_: from_numpy(np.asarray(array))  # type: ignore[attr-defined]


# ----------------------------------------------------------------------------------- making tensors

_random = np.random.default_rng(0)


def manual_seed(seed: int) -> None:
    """Begin the random numbers anew."""
    global _random  # noqa: PLW0603
    _random = np.random.default_rng(seed)


def _made(array: Any, dtype: Any = None, device: Any = None, requires_grad: Any = False) -> Tensor:
    if dtype is not None:
        array = np.asarray(array).astype(dtype.numpy)
    made = _new(array, _device(device))
    if requires_grad and not made.dtype.is_floating_point:
        raise RuntimeError(_ONLY_FLOATS)
    made._flag = builtins.bool(requires_grad)
    return made


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: builtins.bool = False
) -> Tensor:
    """A new leaf with a copy of the numbers; of a tensor only the numbers are taken."""
    if isinstance(data, Tensor):
        return _made(data._array.copy(), dtype, device or data.device, requires_grad)
    if isinstance(data, str):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    array = data.copy() if isinstance(data, np.ndarray) else np.asarray(_numbers(data))
    if not isinstance(data, np.ndarray) and array.dtype.kind == "f" and dtype is None:
        array = array.astype("f4")
    return _made(array, dtype, device, requires_grad)


def _numbers(data: Any) -> Any:
    """Nested lists of numbers; rows of unlike length are refused."""
    if not isinstance(data, list | tuple):
        return data.item() if isinstance(data, Tensor) and not data.ndim else data
    rows = [_numbers(each.tolist() if isinstance(each, Tensor) else each) for each in data]
    for row in rows:
        if isinstance(row, list) and isinstance(rows[0], list) and len(row) != len(rows[0]):
            raise ValueError(f"expected sequence of length {len(rows[0])} at dim 1 (got {len(row)})")
    return rows


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """The very same tensor where there is one."""
    if isinstance(data, Tensor):
        return to(data, dtype, device)
    return from_numpy(data).to(dtype, device) if isinstance(data, np.ndarray) else tensor(data, dtype=dtype)


def from_numpy(array: Array) -> Tensor:
    """A tensor around the array's memory, with its type: numpy's own numbers are float64."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    if array.dtype.name not in _DTYPES:
        raise NotInTiny(f"torch.{array.dtype.name}")
    return _new(array)


def _factory(name: str, draw: Callable[[tuple[int, ...]], Any]) -> None:
    """`torch.zeros(2, 3)` and its like."""

    def make(*sizes: Any, dtype: Any = None, device: Any = None, requires_grad: Any = False) -> Tensor:
        return _made(np.asarray(draw(_sizes(sizes))), dtype or float32, device, requires_grad)

    def make_like(
        self: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: Any = False
    ) -> Tensor:
        kind, where = dtype or self.dtype, device or self.device
        return make(*self.shape, dtype=kind, device=where, requires_grad=requires_grad)

    globals()[name], globals()[f"{name}_like"] = make, make_like


def _uniform(shape: tuple[int, ...]) -> Any:
    return _random.random(shape)


def _normal(shape: tuple[int, ...]) -> Any:
    return _random.standard_normal(shape)


_factory("zeros", np.zeros)
_factory("empty", np.zeros)
_factory("ones", np.ones)
_factory("rand", _uniform)
_factory("randn", _normal)
zeros: Callable[..., Tensor] = globals()["zeros"]
zeros_like: Callable[..., Tensor] = globals()["zeros_like"]
ones_like: Callable[..., Tensor] = globals()["ones_like"]
rand: Callable[..., Tensor] = globals()["rand"]
randn: Callable[..., Tensor] = globals()["randn"]


def full(size: Any, fill_value: Any, **keywords: Any) -> Tensor:
    """A tensor of one number."""
    return _made(tensor(np.full(size, fill_value).tolist())._array, **keywords)


def eye(n: int, m: int | None = None, *, dtype: Any = None, **keywords: Any) -> Tensor:
    """Ones on the diagonal."""
    return _made(np.eye(n, m), dtype or float32, **keywords)


def arange(*bounds: Any, dtype: Any = None, **keywords: Any) -> Tensor:
    """Numbers in a row."""
    array = np.arange(*bounds)
    return _made(array, dtype or (float32 if array.dtype.kind == "f" else None), **keywords)


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, **keywords: Any) -> Tensor:
    """Numbers at equal distances."""
    return _made(np.linspace(builtins.float(start), builtins.float(end), steps), dtype or float32, **keywords)


def randint(*bounds: Any, dtype: Any = None, **keywords: Any) -> Tensor:
    """Random integers: `randint(high, size)` or `randint(low, high, size)`."""
    low, high, size = (0, *bounds) if len(bounds) == 2 else bounds
    return _made(_random.integers(low, high, tuple(size)), dtype, **keywords)


def randperm(n: int) -> Tensor:
    """The numbers below n in random order."""
    return _new(_random.permutation(n))


# -------------------------------------------------------------------------------- nn.functional: losses


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
    axis = _axis(dim, self.ndim)

    def formula(g: Tensor, y: Tensor) -> Tensor:
        return (g - sum(g * y, axis, True)) * y

    return Step("SoftmaxBackward0", _softmaxed(self._array, axis), (self,), formula, (RESULT,))


@operation
def log_softmax(self: Tensor, dim: int) -> Step:
    """The logarithm of softmax, without the detour."""
    _check_softmax(self, "log_softmax_lastdim_kernel_impl")
    axis = _axis(dim, self.ndim)
    shifted = self._array - self._array.max(axis, keepdims=True)
    value = shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))

    def formula(g: Tensor, y: Tensor) -> Tensor:
        return g - exp(y) * sum(g, axis, True)

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
        lambda g, *_: _scatter(shape, places, -g),
        (input, target),
    )
    return _reduced(step, reduction, len(classes))


def cross_entropy(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """How far scores are from the right classes."""
    _same_device("nll_loss_forward", self=input, target=target)
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
    inputs, (a, b) = _operands(input, target)
    step = Step(
        "MseLossBackward0",
        (a - b) ** 2,
        tuple(inputs),
        lambda g, x, y: (g * (x - y) * 2, g * (y - x) * 2),
        tuple(inputs),
    )
    return _reduced(step, reduction, np.broadcast(a, b).size)


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
    _same_device("_index_select", self=weight, index=input)
    shape = weight.shape
    return Step(
        "EmbeddingBackward0",
        weight._array[input._array],
        (weight,),
        lambda g, _: _scatter(shape, places, g),
        (input,),
    )


def _dropout(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = True) -> Tensor:
    """Some numbers set to zero, the others greater for it; outside training the very same tensor."""
    if not training or not p:
        return input
    noise = (_random.random(input.shape) >= p) / (1 - p)
    return input * _new(noise.astype(input._array.dtype), input.device)


def _functional_relu(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    return input.relu_() if inplace else relu(input)


# ------------------------------------------------------------------------------ Parameter and Module


class Parameter(Tensor):
    """A leaf that a module registers: it takes the memory of what it is made of, never the history."""

    __module__ = "torch.nn.parameter"

    def __new__(cls, data: Any = None, requires_grad: builtins.bool = True) -> Parameter:
        """A leaf on the same memory."""
        if requires_grad and not data.dtype.is_floating_point:
            raise RuntimeError(_ONLY_FLOATS)
        made = _new(data._array, data.device, cls, counter=data._counter)
        made._flag = requires_grad
        return made  # type: ignore[return-value]

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


def _typename(value: Any) -> str:
    if isinstance(value, Tensor):
        return str(value.type())
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


class Module:
    """A part of a model: Parameters, buffers and modules that are set as attributes are registered.

    Only what is registered is found by `parameters()`, and so by an optimizer.
    """

    __module__ = "torch.nn.modules.module"
    training: builtins.bool

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
                raise TypeError(_CANNOT.format(_typename(value), "parameter", name, "torch.nn.Parameter"))
            parts["_parameters"][name] = None
        elif name in parts.get("_modules", ()):
            if value is not None:
                raise TypeError(_CANNOT.format(_typename(value), "child module", name, "torch.nn.Module"))
            parts["_modules"][name] = None
        elif name in parts.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                kinds = "torch.nn.Buffer, torch.Tensor"
                raise TypeError(_CANNOT.format(_typename(value), "buffer", name, kinds))
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
                f"cannot assign '{_typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = tensor

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """The same as setting the attribute."""
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{_typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None"
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

    def _named(self, place: str, repeated: builtins.bool = False) -> Iterator[tuple[str, Any]]:
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

    def train(self, mode: builtins.bool = True) -> Module:
        """Training or not: that changes modules such as Dropout, never the recording of gradients."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Module:
        """Not training."""
        return self.train(False)

    def requires_grad_(self, requires_grad: builtins.bool = True) -> Module:
        """Freeze or thaw all parameters."""
        for each in self.parameters():
            each.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: builtins.bool = True) -> None:
        """Drop the gradients of all parameters."""
        _drop_gradients(self.parameters(), set_to_none)

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


class Linear(Module):
    """A matrix and a bias."""

    __module__ = "torch.nn.modules.linear"
    bias: Any

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: builtins.bool = True,
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


ReLU = _module_of("ReLU", "activation", _functional_relu, "inplace")
Tanh = _module_of("Tanh", "activation", tanh)
Sigmoid = _module_of("Sigmoid", "activation", sigmoid)
Softmax = _module_of("Softmax", "activation", softmax, "dim")
Identity = _module_of("Identity", "linear", lambda input: input)
Dropout = _module_of("Dropout", "dropout", _dropout, "p")
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


# ------------------------------------------------------------------------------------------ optimizers


def _drop_gradients(parameters: Iterable[Any], set_to_none: builtins.bool) -> None:
    for each in parameters:
        if each._grad is not None:
            each._grad = None if set_to_none else each._grad.detach().zero_()


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
            raise TypeError(_NO_ORDER)
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
                    f"optimizer can only optimize Tensors, but one of the params is {_typename(each)}"
                )
            if not (each.is_leaf or each.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        if len({id(each) for each in members}) != len(members):
            warnings.warn(_DUPLICATE, UserWarning, stacklevel=3)
        there = {id(each) for group in self.param_groups for each in group["params"]}
        if any(id(each) in there for each in members):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append({**self.defaults, **param_group, "params": members})

    def zero_grad(self, set_to_none: builtins.bool = True) -> None:
        """Drop the gradients: backward adds to what is there."""
        for group in self.param_groups:
            _drop_gradients(group["params"], set_to_none)

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
        lr: builtins.float = 1e-3,
        momentum: builtins.float = 0,
        dampening: builtins.float = 0,
        weight_decay: builtins.float = 0,
        *,
        nesterov: builtins.bool = False,
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
        lr: builtins.float = 1e-3,
        betas: tuple[builtins.float, builtins.float] = (0.9, 0.999),
        eps: builtins.float = 1e-8,
        weight_decay: builtins.float = 0,
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


# ------------------------------------------------------------------------------------ custom Functions


class Context:
    """What `forward` leaves for `backward`."""

    def __init__(self) -> None:
        self.to_save: tuple[Any, ...] = ()
        self.needs_input_grad: tuple[builtins.bool, ...] = ()
        self._dirty: tuple[Tensor, ...] = ()
        self._node: Node | None = None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors: their versions are checked, and they are let go of after backward."""
        self.to_save = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say that inputs were written in place."""
        self._dirty = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was kept."""
        if self._node is None:
            return self.to_save
        return tuple(each and each.unpack() for each in self._node.saved)


class Function:
    """An operation with a gradient of one's own: `forward` is not recorded, `backward` stands in for it."""

    def __call__(self, *_: Any) -> NoReturn:
        """The old way, which torch gave up."""
        raise RuntimeError(_LEGACY)

    @staticmethod
    def forward(*_: Any, **__: Any) -> Any:
        """The result."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(*_: Any) -> Any:
        """The gradients of what went in, from those of what came out."""
        raise NotImplementedError(_NO_BACKWARD)

    @classmethod
    def apply(cls, *arguments: Any) -> Any:
        """Run the function and record it as one node."""
        context = Context()
        tensors = [each for each in arguments if isinstance(each, Tensor)]
        context.needs_input_grad = tuple(
            isinstance(each, Tensor) and each.requires_grad for each in arguments
        )
        records = _records(tensors)
        with no_grad():
            given = cls.forward(context, *arguments)
        for each in context._dirty:
            if records and each.requires_grad and not each._edge:
                raise RuntimeError(_LEAF_WRITTEN.replace("is being", "has been"))
            each._counter.value += 1
        results = _listed(given)
        made = [_own_result(each, tensors, context._dirty) for each in results]
        if records:
            inputs = [each if isinstance(each, Tensor) else _new(0.0) for each in arguments]
            node = _node_class(f"{cls.__name__}Backward")(inputs, made)
            node.run = functools.partial(_run_custom, cls, context, node)  # type: ignore[method-assign]
            for number, each in enumerate(made):
                if each.dtype.is_floating_point:
                    each._edge, each._seen = (node, number), each._version
            kept = [
                made[index] if each is not None and (index := _index(each, results)) >= 0 else each
                for each in context.to_save
            ]
            node.saved = [
                None if each is None else Saved(each, node, any(each is one for one in made)) for each in kept
            ]
            context._node = node
        return tuple(made) if isinstance(given, tuple) else made[0]


def _index(tensor: Any, among: Sequence[Any]) -> int:
    return next((i for i, each in enumerate(among) if each is tensor), -1)


def _own_result(result: Tensor, inputs: Sequence[Tensor], dirty: Sequence[Tensor]) -> Tensor:
    """A result that is an input, or looks at one, must not be written: its gradient is the Function's."""
    if _index(result, inputs) >= 0 and _index(result, dirty) < 0:
        if result.requires_grad and not _grad_mode:
            return detach(result)
        result = view(result, *result.shape)
    if result._view:
        result._view = result._view._replace(how="function")
    return result


def _run_custom(
    kind: type[Function], context: Context, node: Node, gradients: list[Tensor | None]
) -> list[Tensor | None]:
    """`backward` of the Function, with zeros for results that nobody used."""
    filled = [
        _new(np.zeros(shape, numbers.numpy), where) if each is None else each
        for each, (shape, numbers, where) in zip(gradients, node.results, strict=True)
    ]
    found = _listed(kind.backward(context, *filled))
    wanted = len(node.next_functions)
    while len(found) > wanted and found[-1] is None:
        found.pop()
    if len(found) != wanted and found != [None]:
        raise RuntimeError(
            f"function {_plain(node)} returned an incorrect number of gradients (expected {wanted}, got"
            f" {len(found)})"
        )
    return found if len(found) == wanted else [None] * wanted


# ------------------------------------------------------------------------------------------ checkpoint


def checkpoint(
    function: Callable[..., Any], *arguments: Any, use_reentrant: builtins.bool | None = None, **keywords: Any
) -> Any:
    """Keep nothing of what `function` computes; backward computes it once more.

    Each tensor that a node would keep is replaced by its number. The first that is asked for runs the
    function again, with the inputs (if nobody wrote them) and the random numbers of the first run, and
    collects what is kept this time.
    """
    if use_reentrant is not False:
        raise NotInTiny("torch.utils.checkpoint.checkpoint without use_reentrant=False")
    numbers, state = itertools.count(), _random.bit_generator.state
    again: dict[int, Tensor] = {}
    held = [Saved(each) if isinstance(each, Tensor) else each for each in arguments]

    def unpack(number: int) -> Tensor:
        if number not in again:
            fresh, later = itertools.count(), _random.bit_generator.state
            inputs = [_fresh(each.unpack()) if isinstance(each, Saved) else each for each in held]
            _saved_hooks.append((lambda kept: again.update({next(fresh): kept.detach()}), lambda kept: kept))
            _random.bit_generator.state = state
            try:
                with enable_grad():
                    function(*inputs, **keywords)
            finally:
                _saved_hooks.pop()
                _random.bit_generator.state = later
        return again.pop(number)

    _saved_hooks.append((lambda kept: next(numbers), unpack))
    try:
        return function(*arguments, **keywords)
    finally:
        _saved_hooks.pop()


def _fresh(tensor: Tensor) -> Tensor:
    copied: Tensor = tensor.detach()
    copied._flag = tensor.requires_grad
    return copied


# ------------------------------------------------------------------------------- the names of torch


class _Namespace(types.ModuleType):
    """A module of torch's, with what tiny has of it."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotInTiny(f"{self.__name__}.{name}")


def _namespace(name: str, **members: Any) -> types.ModuleType:
    made = _Namespace(f"torch.{name}".rstrip("."))
    vars(made).update(members, __path__=[])
    return made


def _names(words: str) -> dict[str, Any]:
    return {word: globals()[word] for word in words.split()}


functional = _namespace(
    "nn.functional",
    relu=_functional_relu,
    dropout=_dropout,
    **_names("cross_entropy embedding linear log_softmax mse_loss nll_loss sigmoid softmax tanh"),
)
init = _namespace("nn.init", zeros_=no_grad()(Tensor.zero_), ones_=no_grad()(lambda x: x.fill_(1.0)))  # type: ignore[attr-defined]
nn = _namespace(
    "nn",
    functional=functional,
    init=init,
    parameter=_namespace("nn.parameter", Parameter=Parameter),
    **_names("Parameter Module Linear Embedding ReLU Tanh Sigmoid Softmax Identity Dropout Flatten"),
    **_names("MSELoss CrossEntropyLoss ModuleList Sequential"),
)
optim = _namespace("optim", **_names("Optimizer SGD Adam"))
autograd = _namespace(
    "autograd", grad=grad, backward=_backward, Function=Function, function=_namespace("autograd.function")
)
autograd.function.Function = Function
utils = _namespace("utils", checkpoint=_namespace("utils.checkpoint", checkpoint=checkpoint))
cuda: Any = _namespace(
    "cuda",
    is_available=lambda: True,
    device_count=lambda: 1,
    manual_seed=manual_seed,
    manual_seed_all=manual_seed,
    synchronize=lambda *_: None,
)
FloatTensor, LongTensor = Tensor, functools.partial(tensor, dtype=int64)


_OURS = frozenset(
    "Any Array Callable ClassVar Counter Found Iterable Iterator Made NamedTuple Node NoReturn NotInTiny"
    " AccumulateGrad Context CopyBackwards CopySlices Edge OrderedDict Saved Sequence Step TypeVar View"
    " annotations defaultdict elementwise grad method modules operation".split()
)
"""Names of this module that are none of torch's."""


def modules() -> dict[str, types.ModuleType]:
    """What `sys.modules` has to hold for `import torch` and its like to find tiny."""
    public = {
        name: each
        for name, each in globals().items()
        if name[0] != "_" and name not in _OURS and type(each) is not types.ModuleType
    }
    torch = _namespace("", **public, __version__=__version__)
    found: dict[str, types.ModuleType] = {}
    waiting: list[Any] = [torch]
    while waiting:
        each = waiting.pop()
        found[each.__name__] = each
        waiting += [member for member in vars(each).values() if isinstance(member, _Namespace)]
    return found


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise NotInTiny(f"torch.{name}")


# ------------------------------------------------------------------------- torch's words, word for word

_LEAF_WRITTEN = "a leaf Variable that requires grad is being used in an in-place operation."
_DETACH_INSTEAD = (
    " If you want to use a computed variable in a subgraph that doesn't require differentiation use"
    " var_no_grad = var.detach()."
)
_ONLY_FLOATS = "Only Tensors of floating point and complex dtype can require gradients"
_NO_GRAD_HERE = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't"
    " be populated during autograd.backward(). If you indeed want the .grad field to be populated for a"
    " non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by"
    " mistake, make sure you access the leaf Tensor instead. See"
    " github.com/pytorch/pytorch/pull/30531 for more information."
)
_NO_DEEPCOPY = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
    " If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage,"
    " see https://github.com/pytorch/pytorch/pull/103001"
)
_TWICE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have"
    " already been freed). Saved intermediate values of the graph are freed when you call .backward() or"
    " autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or"
    " if you need to access saved tensors after calling backward."
)
_ANOMALY = (
    "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with"
    " torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its"
    " gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to"
    " avoid this. If you have to use this function, make sure to reset the .grad fields of your parameters to"
    " None after use to break the cycle and avoid the leak."
)
_WHY_NOT = {
    "several": (
        "This view is the output of a function that returns multiple views. Such functions do not allow the"
        " output views to be modified inplace. You should replace the inplace operation by an out-of-place"
        " one."
    ),
    "no_grad": (
        "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by"
        " moving both the view and the inplace either both inside the no_grad block (if you don't want the"
        " inplace to be tracked) or both outside (if you want the inplace to be tracked)."
    ),
    "function": (
        "This view was created inside a custom Function (or because an input was returned as-is) and the"
        " autograd logic to handle view+inplace would override the custom backward associated with the custom"
        " Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning"
        " the output of the custom Function."
    ),
}
_DETACH_VIEW = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for"
    " training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence"
    " detach_() cannot be called on these gradients. To fix this error, please refer to the"
    " Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
)
_OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location."
    " Please clone() the tensor before performing the operation."
)
_PARTLY = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single"
    " memory location. Please clone() the tensor before performing the operation."
)
_NO_OUT = (
    "functions with out=... arguments don't support automatic differentiation, but one of the arguments"
    " requires grad."
)
_DEVICES = "Expected all tensors to be on the same device"
_BOOL_SUB = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()`"
    " operator instead."
)
_BOOL_NEG = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use"
    " the `~` or `logical_not()` operator instead."
)
_NOT_VIEWABLE = (
    "view size is not compatible with input tensor's size and stride (at least one dimension spans across two"
    " contiguous subspaces). Use .reshape(...) instead."
)
_INDEX_OF_NUMBER = (
    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a"
    " 0-dim tensor to a number"
)
_CANNOT = "cannot assign '{}' as {} '{}' ({} or None expected)"
_NO_ORDER = (
    "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets"
    " will change between runs. Please use a list instead."
)
_DUPLICATE = (
    "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see"
    " github.com/pytorch/pytorch/issues/40967 for more information"
)
_LEGACY = (
    "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd"
    " function with static forward method. (Example:"
    " https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
)
_NO_BACKWARD = (
    "You must implement either the backward or vjp method for your custom autograd.Function to use it with"
    " backward mode AD."
)
