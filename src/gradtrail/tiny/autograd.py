"""All of autograd, to be read from top to bottom.

A *tensor* is an array with a version and, perhaps, a place in a graph. The *graph* has a node for each operation,
which knows how to turn the gradient of a result into those of its inputs. *Backward* walks the graph from the end. A
*step* is what an operation has computed. It becomes a new tensor, or is written in place: then versions are counted,
so that nothing that a node kept can change behind its back. A *view* looks at the memory of another tensor. *Leaving
autograd* is detaching, or switching it off, which the chapter `modes` tells of.

No operation is defined here. Where a gradient has to be added, copied or cut, the core asks a tensor for it: `+`,
`clone()`, `_at(places)`. The chapters give tensors these methods.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradtrail.tiny import words
from gradtrail.tiny.modes import is_grad_enabled, set_grad_enabled
from gradtrail.tiny.values import (
    CPU,
    DTYPES,
    Array,
    NotInTiny,
    Size,
    check_kind,
    common_device,
    device,
    dtype,
    expands,
    listed,
    only,
    plain_name,
    read_only,
    warn,
)

# ------------------------------------------------------------------------------------------ tensors

Edge = tuple["Node", int]
"""A result of a node: which node, and which of its results."""

Device = device  # in a tensor, `device` is the place where it is


class Counter:
    """A version: how often memory was written. All who share the memory share it, `.data` alone does not."""

    value = 0


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


class Tensor:
    """An array, its version, and its place in the graph.

    A tensor that was created is a *leaf*. One that was computed from something that requires grad has a
    `grad_fn`, the node that made it, and requires grad too. Gradients stay in `.grad` of leaves alone.

    What torch's tensors have not begins with an underscore here, so that no program comes upon it.
    """

    __module__ = "torch"

    _array: Array
    device: Device
    _counter: Counter
    _seen: int  # the version at which the edge was right
    _flag = False  # whether gradients were asked for
    _edge: Edge | None = None
    _grad: Tensor | None = None
    _retains = False
    _accumulator: AccumulateGrad | None = None
    _view: View | None = None
    _is_number = False  # whether it was a number of Python, whose type gives way

    shape = read_only(lambda self: Size(self._array.shape))
    ndim = read_only(lambda self: self._array.ndim)
    dtype = read_only(lambda self: DTYPES[self._array.dtype.name])
    is_cuda = read_only(lambda self: self.device.type == "cuda")
    is_leaf = read_only(lambda self: self.grad_fn is None)
    retains_grad = read_only(lambda self: self._retains)
    output_nr = read_only(lambda self: edge[1] if (edge := self._gradient_edge()) else 0)
    _version = read_only(lambda self: self._counter.value)
    _base = read_only(lambda self: self._view and self._view.base)

    @read_only
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for a leaf."""
        edge = self._gradient_edge()
        return edge and edge[0]

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are wanted: asked for on a leaf, inherited by whatever is computed from it."""
        base = self._view and self._view.base
        return self._flag or self._edge is not None or (base is not None and base.requires_grad)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError(words.FLAG_IS_A_BOOL)
        if self._edge:
            # The flag of a computed tensor follows from its inputs: there is nothing to set.
            raise RuntimeError(words.FLAG_OF_COMPUTED + ("" if value else words.DETACH_INSTEAD))
        if value and not self.dtype.is_floating_point:
            raise RuntimeError(words.FLAG_OF_INTEGERS)
        self._flag = value

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set the flag. On a tensor that requires grad already, a computed one too, True changes nothing."""
        if not isinstance(requires_grad, bool):
            raise TypeError(words.FLAG_IS_A_BOOL_.format(plain_name(type(requires_grad))))
        if requires_grad and not self.dtype.is_floating_point:
            raise RuntimeError(words.FLAG_OF_INTEGERS_)
        if self._edge and requires_grad:
            return self
        self.requires_grad = requires_grad
        return self

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward left here."""
        if self._grad is None and not self._retains and self._edge:
            warn(words.NO_GRAD_HERE)
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(words.GRAD_IS_A_TENSOR.format(type(value).__name__))
        if value is not None:
            self._check_grad(value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def _check_grad(self, value: Tensor) -> None:
        if value is self:
            raise RuntimeError(words.GRAD_OF_ITSELF)
        if value.dtype is not self.dtype:
            raise RuntimeError(words.GRAD_OF_OTHER_TYPE.format(value.dtype.long_title, self.dtype.title))
        if value.device != self.device:
            raise RuntimeError(words.GRAD_ELSEWHERE.format(value.device.type, self.device.type))
        if value.shape != self.shape:
            raise RuntimeError(words.GRAD_OF_OTHER_SIZE.format(list(value.shape), list(self.shape)))

    def retain_grad(self) -> None:
        """Have the gradient of a computed tensor kept as well."""
        if not self.requires_grad:
            raise RuntimeError(words.RETAINS_NOTHING)
        edge = self._gradient_edge() if self._edge else None
        if edge and not self._retains:
            self._retains = True
            edge[0].retaining[edge[1]] = self

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Have `hook` called with the gradient; what it returns takes the gradient's place."""
        if not self.requires_grad:
            raise RuntimeError(words.HOOK_ON_NOTHING)
        node, number = self._inward()
        return RemovableHandle(node.hooks[number] if node else [], hook)

    def backward(
        self, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Add the gradients of this tensor to `.grad` of the leaves that it was computed from."""
        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def detach(self) -> Tensor:
        """The same memory and version without history: a write to it is seen by those who kept the tensor."""
        return new(self._array, self.device, counter=self._counter)

    def detach_(self) -> Tensor:
        """The tensor itself without history."""
        if self._view:
            raise RuntimeError(words.DETACH_VIEW)  # the base would still have one
        self._edge, self._flag = None, False
        return self

    @property
    def data(self) -> Tensor:
        """The same memory with a version of its own.

        Writes to it are counted by nobody: what a node kept changes, and nothing says so.
        """
        return new(self._array, self.device)

    @data.setter
    def data(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(words.DATA_IS_A_TENSOR.format(type(value).__name__))
        if self.requires_grad and not value.dtype.is_floating_point:
            raise RuntimeError(words.DATA_OF_INTEGERS)
        self._array, self.device = value._array, value.device
        if self._accumulator:  # it knows the shape that gradients had
            before, self._accumulator = self._accumulator, AccumulateGrad(self)
            self._accumulator.hooks = before.hooks

    def _inward(self) -> tuple[Node | None, int]:
        """Where a gradient for this tensor goes: to its node, or to the keeper of a leaf's gradient."""
        edge = self._gradient_edge()
        if edge:
            return edge
        if not self._flag:
            return (None, 0)
        self._accumulator = self._accumulator or AccumulateGrad(self)
        return (self._accumulator, 0)

    def _gradient_edge(self) -> Edge | None:
        """The edge of this result. That of a view whose memory was written is made anew from the base.

        The base then has another history, and the view's gradient has to go that way.
        """
        view = self._view
        if view and self._seen != self._version and (self._edge or view.base.requires_grad):
            self._check_view(indirect=True)
            places, shape = view.places(), view.base.shape
            self._came_from(
                node_class("AsStridedBackward0")((view.base,), [self], lambda g: g._put(places, shape))
            )
        return self._edge

    def _came_from(self, node: Node) -> None:
        """Take a node as the new history; who retains the gradient goes on to do so."""
        if self._retains and self._edge:
            self._edge[0].retaining.pop(self._edge[1], None)
            node.retaining[0] = self
        self._edge, self._seen = (node, 0), self._version

    def _check_view(self, indirect: bool = False) -> None:
        """Refuse a write to views whose history could not be told afterwards."""
        if self._view and self._view.how:
            output = f"Output {self._edge[1]} of {_short(self._edge[0])}" if self._edge else ""
            raise RuntimeError(words.view_is_written(self._view.how, output, indirect))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"'Tensor' object has no attribute '{name}'")
        raise NotInTiny(f"torch.Tensor.{name}")

    if TYPE_CHECKING:  # what Python asks of tensors comes from the chapters `python_side` and `indexing`

        def _operator(self, *_: Any) -> Tensor: ...

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _operator
        __pow__ = __matmul__ = __neg__ = __and__ = __lt__ = __le__ = __gt__ = __ge__ = _operator
        __getitem__ = __deepcopy__ = _operator


def new(
    array: Any, where: device = CPU, kind: type[Tensor] = Tensor, *, counter: Counter | None = None
) -> Tensor:
    """A tensor around an array, with its memory. It has no history."""
    made = object.__new__(kind)
    made._array, made.device, made._counter = np.asarray(array), where, counter or Counter()
    made._seen = made._version
    return made


# ---------------------------------------------------------------------------------------- the graph


class Saved:
    """A tensor that a node keeps for its backward, and the version that it had.

    A formula that read other numbers than the forward did would be silently wrong: so it refuses.
    """

    def __init__(self, tensor: Tensor, result_of: Edge | None = None) -> None:
        self.edge = result_of or (tensor._inward() if saved_hooks else (None, 0))
        self.computed, self.is_result = tensor._edge is not None, result_of is not None
        self.hooks = saved_hooks[-1] if saved_hooks else None
        # A result is kept without its node, which would keep itself.
        self.tensor: Any = self._again(tensor) if self.is_result and not self.hooks else tensor
        if self.hooks:
            self.tensor, self.is_result = self.hooks[0](tensor), False
        self.version = tensor._version

    def _again(self, tensor: Tensor) -> Tensor:
        """The same memory, with the place in the graph that the kept tensor had."""
        made, (node, _) = tensor.detach(), self.edge
        if isinstance(node, AccumulateGrad):
            made._accumulator, made._flag = node, True
        elif node:
            made._edge = self.edge  # type: ignore[assignment]
        return made

    def unpack(self) -> Tensor:
        """The tensor, unless it was written, detached or let go of."""
        if self.tensor is None:
            raise RuntimeError(words.TWICE)
        if self.hooks:
            return self._again(self.hooks[1](self.tensor))
        kept: Tensor = self.tensor
        node, now = kept.grad_fn, kept._version
        if self.computed and not (self.is_result or node):
            raise RuntimeError(words.DETACHED_SINCE)
        if now != self.version:
            made = f", which is output {kept.output_nr} of {_short(node)}," if node else ""
            raise RuntimeError(
                words.WRITTEN_SINCE.format(kept.type(), list(kept.shape), made, now, self.version)
            )
        return kept

    def free(self) -> None:
        """Let go of the tensor."""
        self.tensor = None


class RemovableHandle:
    """A hook that can be taken back."""

    __module__ = "torch.utils.hooks"

    def __init__(self, hooks: list[RemovableHandle], hook: Any) -> None:
        self._hooks, self._hook = hooks, hook
        hooks.append(self)

    def remove(self) -> None:
        """Have the hook called no more."""
        if self in self._hooks:
            self._hooks.remove(self)

    def _called(self, gradient: Tensor | None) -> Tensor | None:
        """The gradient that the hook leaves; one of another kind is refused."""
        changed, name = self._hook(gradient), getattr(self._hook, "__name__", "<unknown>")
        if changed is None:
            return gradient
        if gradient is None:
            raise RuntimeError(words.HOOK_MADE_ONE)
        if not isinstance(changed, Tensor):
            raise TypeError(words.HOOK_GAVE_NO_TENSOR.format(plain_name(type(changed))))
        if (changed.dtype, changed.device) != (gradient.dtype, gradient.device):
            raise RuntimeError(words.HOOK_CHANGED_TYPE.format(name, gradient.type(), changed.type()))
        if changed.shape != gradient.shape:
            raise RuntimeError(words.HOOK_CHANGED_SIZE.format(name))
        return changed


saved_hooks: list[tuple[Callable[[Tensor], Any], Callable[[Any], Tensor]]] = []
"""What is kept in the place of a tensor, and how it is had back: the last pair counts."""

_steps = itertools.count()


class Node:
    """One operation of the graph: where gradients come from, and the formula that passes them on.

    `next_functions` are the nodes that made its inputs; backward goes there. `formula` takes the gradients
    of the results and then the kept tensors, and gives a gradient (or None) for each input. A node without a
    formula has a `run` of its own.
    """

    namespace = ""

    def __init__(
        self, inputs: Sequence[Tensor], results: Sequence[Tensor], formula: Callable[..., Any] | None = None
    ) -> None:
        self.next_functions = tuple(each._inward() for each in inputs)
        self.results = [(each.shape, each.dtype, each.device) for each in results]
        self.formula = formula
        self.saved: list[Saved | None] = []
        self.hooks: dict[int, list[RemovableHandle]] = defaultdict(list)
        self.retaining: dict[int, Tensor] = {}
        self.order = next(_steps)  # the later a node was made, the earlier backward runs it

    def name(self) -> str:
        """The name that messages use."""
        return self.namespace + type(self).__name__

    def run(self, gradients: list[Tensor | None]) -> Sequence[Tensor | None]:
        """The gradients of the inputs."""
        kept = [each and each.unpack() for each in self.saved]
        if all(each is None for each in gradients):
            return [None] * len(self.next_functions)
        return listed(self.formula(*gradients, *kept)) if self.formula else gradients

    def free(self) -> None:
        """Let go of what is kept. A second backward fails only where something was."""
        for each in self.saved:
            if each:
                each.free()

    def __lt__(self, other: Node) -> bool:
        return self.order > other.order


class AccumulateGrad(Node):
    """The end of the graph at a leaf: it adds what arrives to `.grad`."""

    __module__ = "builtins"
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
        elif is_grad_enabled():
            leaf._grad = leaf._grad + gradient
        else:
            leaf._grad.add_(gradient)
        return ()


class CopySlices(Node):
    """A write to a part of a tensor: the rest of the gradient passes, that part goes through `inner`."""

    __module__ = "builtins"
    namespace = "torch::autograd::"

    def __init__(self, view: View, inner: Node) -> None:
        super().__init__((view.base,), [view.base])
        self.next_functions += inner.next_functions[1:]
        self.places = view.places()
        self.overlaps = len(np.unique(self.places)) < self.places.size
        self.inner: Node | None = inner

    def run(self, gradients: list[Tensor | None]) -> Sequence[Tensor | None]:
        """The gradient of the base, in which the written part counts as `inner` says."""
        (gradient,) = gradients
        if self.inner is None:
            raise RuntimeError(words.TWICE)
        if gradient is None:
            return [None] * len(self.next_functions)
        if self.overlaps and self.next_functions[0][0]:
            raise RuntimeError(words.OVERLAP)
        part, *others = self.inner.run([gradient._at(self.places)])
        rest = gradient._without(self.places)
        if part is None:
            return [rest, *others]
        return [rest + part._summed_to(self.places.shape)._put(self.places, gradient.shape), *others]

    def free(self) -> None:
        """Let go of the inner node with all that it keeps."""
        self.inner = None


@functools.cache
def node_class(name: str) -> type[Node]:
    """The class of nodes with this name: `type(y.grad_fn).__name__` tells the operation."""
    namespace = "torch::autograd::" if name == "CopyBackwards" else ""
    return type(name, (Node,), {"namespace": namespace, "__module__": "builtins"})


def _short(node: Node | None) -> str:
    """A node's name as messages have it: `Exp` for ExpBackward0."""
    return re.sub(r"Backward0?(?=\d*$)", "", node.name()) if node else ""


# ----------------------------------------------------------------------------------------- backward


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = only(None),
    inputs: Any = None,
) -> None:
    """Add the gradients of the tensors to `.grad` of the leaves (or to those of `inputs` alone)."""
    sources = None if inputs is None else _tensors(inputs)
    if sources == ():
        raise RuntimeError(words.NO_INPUTS.format("backward"))
    outputs = _tensors(tensors)
    first = list(_first_gradients(outputs, grad_tensors))
    if create_graph:
        warn(words.CYCLE)
    roots, keep = _roots(outputs), create_graph if retain_graph is None else retain_graph
    for each in sources or ():
        each.retain_grad()
    wanted = None if sources is None else [each._inward() for each in sources]
    _walk(roots, first, keep, create_graph, wanted, put_down=True)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: Any = only(False),
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of outputs with respect to inputs, which come back and are put down nowhere."""
    if materialize_grads and allow_unused is False:
        raise ValueError(words.UNUSED_ARE_ZERO)
    results, sources = _tensors(outputs), _tensors(inputs)
    if not sources:
        raise RuntimeError(words.NO_INPUTS.format("grad"))
    first = list(_first_gradients(results, grad_outputs))
    roots = _roots(results)
    for each in sources:
        if not isinstance(each, Tensor):
            raise RuntimeError(words.SOURCE_IS_A_TENSOR.format(plain_name(type(each))))
    if not all(each.requires_grad for each in sources):
        raise RuntimeError(words.NO_SOURCE)
    keep = create_graph if retain_graph is None else retain_graph
    found = _walk(roots, first, keep, create_graph, [each._inward() for each in sources])
    for number, each in enumerate(found):
        if each is None and materialize_grads:
            found[number] = new(np.zeros_like(sources[number]._array), sources[number].device)
        elif each is None and not allow_unused:
            raise RuntimeError(words.UNUSED.format(number))
    return tuple(found)


def _tensors(value: Any) -> tuple[Any, ...]:
    return (value,) if isinstance(value, Tensor) else tuple(value)


def _first_gradients(outputs: Sequence[Tensor], given: Any) -> Iterator[Tensor]:
    """The gradients to begin with: 1 for one number; for more there is no one answer, so it must be given."""
    gradients = (None,) * len(outputs) if given is None else _tensors(given)
    for number, (output, gradient) in enumerate(zip(outputs, gradients, strict=False)):
        assert isinstance(output, Tensor), words.ROOT_IS_A_TENSOR
        if gradient is None:
            if output.requires_grad and output._array.size != 1:
                raise RuntimeError(words.NOT_ONE_NUMBER)
            gradient = new(np.ones(output.shape, output._array.dtype), output.device)
        elif not isinstance(gradient, Tensor):
            raise TypeError(words.NO_FIRST_GRADIENT.format(type(gradient).__name__))
        elif gradient.shape != output.shape:
            raise RuntimeError(words.MISMATCH.format(number, gradient.shape, number, output.shape))
        result, invalid = (output.shape, output.dtype, output.device), f"invalid gradient at index {number}"
        yield _fitting(gradient, result, invalid)  # type: ignore[misc]
    if len(gradients) < len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(gradients)} gradients")


def _roots(outputs: Sequence[Tensor]) -> list[Edge]:
    """Where the walk begins."""
    roots: list[Edge] = []
    for number, output in enumerate(outputs):
        node, position = output._inward()
        if node is None:
            raise RuntimeError(words.NO_GRAPH.format(number))
        roots.append((node, position))
    return roots


walks: list[bool] = []
"""The walks that are under way, one inside the other: whether each goes to all leaves."""


def _walk(
    roots: Sequence[Edge],
    gradients: Sequence[Tensor],
    keep: bool,
    create: bool,
    wanted: Sequence[tuple[Node | None, int]] | None = None,
    put_down: bool = False,
) -> list[Tensor | None]:
    """Carry gradients from the roots to the leaves, or to the `wanted` edges alone, whose gradients come back.

    A node runs when all who use its results have run: so each runs once, with the sum of what arrives. What
    it kept is let go of then, unless `keep`. Formulas are ordinary operations: `create` records them.
    """
    reached, waiting = _reached(roots)
    goals = {node for node, _ in wanted or ()}
    on_the_way = set(reached) if wanted is None else _leading(reached, goals)
    if put_down:
        on_the_way.update(node for node in goals if node)
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
            if node not in on_the_way:
                continue
            walks.append(wanted is None)
            try:
                outgoing = node.run(incoming)
            finally:
                walks.pop()
            if not keep:
                node.free()
            for index, (follower, number) in enumerate(node.next_functions):
                if follower is None:
                    continue
                invalid = f"Function {type(node).__name__} returned an invalid gradient at index {index}"
                arrive((follower, number), _fitting(outgoing[index], follower.results[number], invalid))
                waiting[follower] -= 1
                if not waiting[follower]:
                    heapq.heappush(ready, follower)
    return [captured.get(edge) for edge in wanted or ()]


def _reached(roots: Sequence[Edge]) -> tuple[list[Node], dict[Node, int]]:
    """The nodes that are reached from the roots, and for how many edges each of them has to wait."""
    reached = list(dict.fromkeys(node for node, _ in roots))
    known, waiting = set(reached), defaultdict[Node, int](int)
    for node in reached:  # the list grows while it is read
        for follower, _ in node.next_functions:
            if follower:
                waiting[follower] += 1
                if follower not in known:
                    known.add(follower)
                    reached.append(follower)
    return reached, waiting


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
        for hook in list(node.hooks.get(number, ())):
            gradient = hook._called(gradient)
        gradients[number] = gradient
        if number in node.retaining and gradient is not None:
            kept = node.retaining[number]
            kept._grad = gradient.clone() if kept._grad is None else kept._grad + gradient
    return gradients


def _fitting(gradient: Any, result: tuple[Size, dtype, device], invalid: str) -> Tensor | None:
    """A gradient in the shape and type of what it is the gradient of: what was broadcast is summed up."""
    shape, kind, where = result
    if gradient is None:
        return None
    if not isinstance(gradient, Tensor):
        raise RuntimeError(words.NO_GRADIENT.format(type(gradient).__name__))
    if gradient.shape != shape:
        if not expands(shape, gradient.shape):
            raise RuntimeError(invalid + words.OTHER_GRADIENT.format(list(gradient.shape), list(shape)))
        gradient = gradient._summed_to(shape)
    if gradient.device != where:
        if gradient.ndim:
            raise RuntimeError(invalid + words.OTHER_DEVICE.format(where, gradient.device))
        gradient = gradient.to(where)
    fitting: Tensor = gradient if gradient.dtype is kind else gradient.to(kind)
    return fitting


# --------------------------------------------------------------------------- how steps are recorded


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


def records(inputs: Iterable[Tensor]) -> bool:
    """Whether a step from these inputs gets a node: grad mode is on and one of them requires grad."""
    return is_grad_enabled() and any(each.requires_grad for each in inputs)


def record(step: Step) -> Tensor:
    """A step as a new tensor."""
    result = new(step.value, common_device(step.inputs))
    if records(step.inputs):
        result._edge = (_node(step, result), 0)
    return result


def _node(step: Step, result: Tensor) -> Node:
    """The node of a step, with what its formula needs."""
    node = node_class(step.name)(step.inputs, [result], step.formula)
    whole = {id(RESULT): result, id(SELF): step.inputs[0]}
    node.saved = [
        None if each is None else Saved(whole.get(id(each), each), (node, 0) if each is RESULT else None)
        for each in step.kept
    ]
    return node


def write(target: Tensor, step: Step, places: Array | None = None) -> Tensor:
    """Write a step's value into the target (to some places of it), and give it the history it has now."""
    node = None
    # Numbers that are copied into integers leave their history behind.
    kept_out = step.name == "CopyBackwards" and not target.dtype.is_floating_point
    if records((target, *step.inputs)) and not kept_out:
        check_write(target)
        # What was in the target is kept in a copy. Whoever else looks at it is kept at the version before.
        kept = tuple(_before(target) if each is SELF else each for each in step.kept)
        node = _node(step._replace(kept=kept), target)
    value = np.asarray(step.value)
    if places is None:
        if not expands(value.shape, target.shape):
            both = list(np.broadcast_shapes(target.shape, value.shape))
            raise RuntimeError(words.OTHER_SHAPE.format(list(target.shape), both))
        check_kind(value, target._array)
        target._array[...] = value
    else:
        target._array.flat[places.reshape(-1)] = np.broadcast_to(value, places.shape).reshape(-1)
    target._counter.value += 1
    if node:
        for each in node.saved:  # a result that is kept counts as kept after the write that made it
            if each and each.is_result:
                each.version = target._version
        rebase(target, node)
    return target


def check_write(target: Tensor) -> None:
    """A leaf is not written: its old value would be gone, and it would be a leaf no more."""
    if target._view:
        target._check_view()
        if target.requires_grad and not target._view.base._edge:
            raise RuntimeError(f"a view of {words.LEAF_WRITTEN}")
    if target.requires_grad and not target._edge:
        raise RuntimeError(words.LEAF_WRITTEN)


def _before(target: Tensor) -> Tensor:
    """What is in the target now, in memory of its own, with the history that it has now."""
    copied = new(target._array.copy(), target.device)
    copied._edge, copied._flag = target._gradient_edge(), target._flag
    return copied


def rebase(target: Tensor, node: Node) -> None:
    """The history of what was written; after a write through a view it is the base that has a new one."""
    owner = target
    if target._view:
        owner, node = target._view.base, CopySlices(target._view, node)
    owner._came_from(node)
    target._gradient_edge()  # a view learns at once that it has another history
