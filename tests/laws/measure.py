"""What torch does in one call, measured: the oracle that the rows of `gradtrail.laws` are compared with.

A call is run again and again on fresh, equal inputs: once for the facts of its results, once for each
input and output that is then written in place before backward (torch raises exactly where a tensor that
was saved has been touched), once for a second backward.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

torch.set_num_threads(1)  # small tensors; the threads of a pool only wait for each other

MODIFIED = "modified by an inplace operation"
FREED = "backward through the graph a second time"


class Call(NamedTuple):
    """A call to be measured: the function, and its arguments by the names of the row.

    `many` is the name of the positional argument that gathers all the rest ("" for none).
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Slot(NamedTuple):
    """One tensor among the arguments: the parameter's name, and its path in (args, kwargs)."""

    name: str
    path: tuple[Any, ...]
    tensor: torch.Tensor


class Result(NamedTuple):
    """Facts of one tensor that came back."""

    requires_grad: bool
    is_leaf: bool
    node: str
    same_as: str  # the parameter that came back itself, or ""
    shares_with: str  # the parameter whose storage it shares, or ""
    dtype: str
    shape: tuple[int, ...]


class Measured(NamedTuple):
    """What one call did, with `needs` requiring grad."""

    needs: frozenset[str]
    container: str  # "tensor", "tuple", "list", "none", "other"
    results: tuple[Result, ...]
    written: frozenset[str]  # parameters whose version moved in the forward
    saved: frozenset[str]  # parameters and "result", "result0", ... that backward checks
    frees: bool | None  # None: no backward was possible
    zero: bool | None  # all gradients identically zero
    failure: str = ""


def slots(call: Call, names: tuple[str, ...], gathers: str = "") -> list[Slot]:
    """The tensors in a call's arguments, named by the parameters of the row."""
    found: list[Slot] = []

    def look(name: str, path: tuple[Any, ...], value: Any) -> None:
        if isinstance(value, torch.Tensor):
            found.append(Slot(name, path, value))
        elif isinstance(value, (list, tuple)):
            for index, item in enumerate(value):
                look(name, (*path, index), item)

    for index, value in enumerate(call.args):
        look(names[index] if index < len(names) else gathers or f"argument{index}", (0, index), value)
    for key, value in call.kwargs.items():
        look("self" if key == "input" and "input" not in names else key, (1, key), value)
    return found


def replaced(value: Any, tensors: Iterator[torch.Tensor]) -> Any:
    """`value` with its tensors, in order, replaced by the given ones."""
    if isinstance(value, torch.Tensor):
        return next(tensors)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(replaced(item, tensors) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(replaced(item, tensors) for item in value)
    if isinstance(value, dict):
        return {key: replaced(item, tensors) for key, item in value.items()}
    return value


def can_grad(tensor: torch.Tensor) -> bool:
    """Whether a tensor's dtype allows a gradient."""
    return tensor.dtype.is_floating_point or tensor.dtype.is_complex


def fresh(tensor: torch.Tensor, needs: bool, leaf: bool = False) -> torch.Tensor:
    """An equal tensor of its own storage; a non-leaf that requires grad when it is to need one."""
    copy = tensor.detach().clone()
    if copy.is_conj() != tensor.is_conj():
        copy = copy.conj()
    if copy.is_neg() != tensor.is_neg():
        copy = torch._neg_view(copy)
    if not needs or not can_grad(copy):
        return copy
    if leaf:
        return copy.detach().requires_grad_()
    source = copy.detach().requires_grad_()
    made = source.clone() if not (source.is_conj() or source.is_neg()) else torch.mul(source, 1)
    made.source = source  # type: ignore[attr-defined]
    return made


class Run(NamedTuple):
    """One forward: the inputs by slot, the tensors that came back, the container they came in."""

    inputs: list[torch.Tensor]
    outputs: list[torch.Tensor]
    container: str


def flat(value: Any) -> list[torch.Tensor]:
    """The tensors in a result, nested tuples, lists and dicts opened."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in flat(item)]
    if isinstance(value, dict):
        return [tensor for item in value.values() for tensor in flat(item)]
    return []


def container_of(value: Any) -> str:
    """The kind of thing that came back."""
    if isinstance(value, torch.Tensor):
        return "tensor"
    if value is None:
        return "none"
    if isinstance(value, list) and flat(value):
        return "list"
    return "tuple" if isinstance(value, tuple) and flat(value) else "other"


def run(call: Call, found: list[Slot], needs: frozenset[str], leaf: bool = False) -> Run:
    """The forward of a call on fresh inputs, with the generators seeded."""
    torch.manual_seed(7)
    with torch.enable_grad():
        inputs = [fresh(slot.tensor, slot.name in needs, leaf) for slot in found]
    feed = iter(inputs)
    args = replaced(call.args, feed)
    kwargs = replaced(call.kwargs, feed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = call.function(*args, **kwargs)
    return Run(inputs, flat(value), container_of(value))


def _facts(forward: Run, found: list[Slot]) -> tuple[Result, ...]:
    results = []
    for output in forward.outputs:
        same = next(
            (slot.name for slot, own in zip(found, forward.inputs, strict=False) if own is output), ""
        )
        shares = next(
            (slot.name for slot, own in zip(found, forward.inputs, strict=False) if share(own, output)), ""
        )
        node = output.grad_fn.name() if output.grad_fn is not None else ""
        results.append(
            Result(
                output.requires_grad,
                output.is_leaf,
                node,
                same,
                shares,
                str(output.dtype).split(".")[-1],
                tuple(output.shape),
            )
        )
    return tuple(results)


def share(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors share their storage."""
    try:
        own = one.untyped_storage().data_ptr()
        return own != 0 and own == other.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return False


def write(tensor: torch.Tensor) -> None:
    """Write a tensor in place, values unchanged, without recording."""
    before = tensor._version
    with torch.no_grad():
        with contextlib.suppress(RuntimeError):  # an expanded tensor refuses to be written
            tensor.copy_(tensor.clone())
        if tensor._version == before:
            torch.autograd.graph.increment_version(tensor)


def backward(forward: Run, retain: bool = False) -> str:
    """Backward from everything that requires grad; the message of torch's refusal, or ""."""
    roots = [output for output in forward.outputs if output.requires_grad and output.grad_fn is not None]
    if not roots:
        return "nothing requires grad"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.autograd.backward(roots, [torch.ones_like(root) for root in roots], retain_graph=retain)
    except (RuntimeError, NotImplementedError) as error:
        return str(error) or "error"
    return ""


def measure(call: Call, found: list[Slot], needs: frozenset[str], gradients: bool = True) -> Measured:
    """What a call does when the parameters `needs` require grad.

    Raises whatever the forward raises.
    """
    forward = run(call, found, needs)
    facts = _facts(forward, found)
    written = frozenset(
        slot.name
        for slot, own in zip(found, forward.inputs, strict=False)
        if own._version > 0 and not own.is_inference()
    )
    records = any(output.grad_fn is not None for output in forward.outputs)
    if not records or not gradients:
        return Measured(needs, forward.container, facts, written, frozenset(), None, None)
    first = backward(forward)
    if first:
        return Measured(needs, forward.container, facts, written, frozenset(), None, None, first)
    second = backward(forward)
    frees = FREED in second
    zero = _all_zero(call, found, needs)
    saved = set()
    for index, slot in enumerate(found):
        if slot.name not in saved and _raises_after_writing(call, found, needs, index, None):
            saved.add(slot.name)
    for index, output in enumerate(facts):
        is_input = output.same_as or output.shares_with in saved  # writing it would write the input
        if is_input and not (output.same_as and output.same_as in written):
            continue
        if _raises_after_writing(call, found, needs, None, index):
            saved.add("result" if forward.container == "tensor" else f"result{index}")
    return Measured(needs, forward.container, facts, written, frozenset(saved), frees, zero)


def _all_zero(call: Call, found: list[Slot], needs: frozenset[str]) -> bool | None:
    forward = run(call, found, needs)
    # The sources, because an input that was written in place is a result itself by now.
    wanted = [own.source for own in forward.inputs if hasattr(own, "source")]
    roots = [output for output in forward.outputs if output.requires_grad and output.grad_fn is not None]
    if not wanted:
        return None
    try:
        gradients = torch.autograd.grad(
            roots, wanted, [torch.ones_like(root) for root in roots], allow_unused=True
        )
    except (RuntimeError, NotImplementedError):
        return None
    return all(gradient is None or not gradient.to_dense().any() for gradient in gradients)


def _raises_after_writing(
    call: Call, found: list[Slot], needs: frozenset[str], slot: int | None, output: int | None
) -> bool:
    forward = run(call, found, needs)
    target = forward.inputs[slot] if slot is not None else forward.outputs[output or 0]
    try:
        write(target)
    except RuntimeError:
        return False
    return MODIFIED in backward(forward)


def candidates(found: list[Slot]) -> list[str]:
    """The parameters that can require grad, in order."""
    return list(dict.fromkeys(slot.name for slot in found if can_grad(slot.tensor)))
