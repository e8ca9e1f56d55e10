"""einops: gradients pass; what only changes axes may share memory with what it was given.

Source: arogozhnikov/einops, einops/einops.py (`rearrange`, `reduce`, `repeat` are reshape, transpose, reduction and
expand of the backend), einops/packing.py, einops/layers/torch.py, einops/_backends.py (`asnumpy` detaches for torch: `to_numpy`
is `x.detach().cpu().numpy()`).
"""

from __future__ import annotations

from typing import Any

from gradtrail.interp.frames import Frame
from gradtrail.interp.models.handing import library_object
from gradtrail.interp.models.registry import calls, method
from gradtrail.interp.values import HARMLESS, UNKNOWN, Array, Sequence, Tensor

Args = list[Any]
Keywords = dict[str, Any]


def _reshaped(m: Any, value: Any, node: Any, frame: Frame) -> Any:
    """A value with other axes: a view where that is possible, else a copy; a list of tensors is stacked first."""
    value = m.settle(value)
    if type(value) is Sequence:
        value = m.apply("stack", [value], {}, node, frame, "torch.stack")
    if type(value) is Array:
        return Array(value.dtype)
    if type(value) is not Tensor:
        return UNKNOWN
    return m.call_method(value, "reshape", [UNKNOWN], {}, node, frame)


@calls("einops.rearrange", "einops.repeat")
def rearrange(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return _reshaped(m, args[0] if args else keywords.get("tensor", UNKNOWN), node, frame)


_REDUCTIONS = {"mean": "mean", "sum": "sum", "max": "amax", "min": "amin", "prod": "prod"}


@calls("einops.reduce")
def reduce(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[0] if args else keywords.get("tensor", UNKNOWN))
    how = args[2] if len(args) > 2 else keywords.get("reduction")
    if type(value) is Sequence:
        value = m.apply("stack", [value], {}, node, frame, "torch.stack")
    operation = _REDUCTIONS.get(how) if type(how) is str else None
    if type(value) is not Tensor or operation is None:
        return UNKNOWN
    result = m.call_method(value, operation, [], {}, node, frame)
    if type(result) is Tensor:
        result.shape = None  # which axes are left stands in the pattern
    return result


@calls("einops.einsum")
def einsum(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """The pattern comes last."""
    result = (
        m.apply("einsum", [args[-1], *args[:-1]], {}, node, frame, "torch.einsum")
        if len(args) > 1
        else UNKNOWN
    )
    if type(result) is Tensor:
        result.shape = None
    return result


@calls("einops.pack")
def pack(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[0]) if args else UNKNOWN
    packed = m.apply("cat", [value], {}, node, frame, "torch.cat") if type(value) is Sequence else UNKNOWN
    if type(packed) is Tensor:
        packed.shape = None
    return Sequence("tuple", (packed, HARMLESS))


@calls("einops.unpack")
def unpack(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return Sequence("list", (), _reshaped(m, args[0] if args else UNKNOWN, node, frame))


@calls("einops.parse_shape", "einops.asnumpy")
def plain(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return Array(None) if path.endswith("asnumpy") else HARMLESS


@calls("einops.layers.torch.Rearrange", "einops.layers.torch.Reduce")
def layer(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    made = library_object(m, path, node, frame)
    made.state["how"] = args[1] if len(args) > 1 else keywords.get("reduction")
    return made


@method("einops.layers.torch.Rearrange", "__call__", "forward")
def call_rearrange(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return _reshaped(m, args[1] if len(args) > 1 else UNKNOWN, node, frame)


@method("einops.layers.torch.Reduce", "__call__", "forward")
def call_reduce(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return reduce(m, [*args[1:2], "", args[0].state.get("how")], {}, node, frame, path)
