"""`torch.Tensor`: the methods and attributes that are more than a row of the laws."""

from __future__ import annotations

from typing import Any

from gradtrail.interp.expressions import SliceValue
from gradtrail.interp.frames import Frame, PathEnds
from gradtrail.interp.models.registry import argument, method, tensor_attribute, tensor_method
from gradtrail.interp.operands import device_from
from gradtrail.interp.values import (
    BOOL,
    FLOAT,
    INT,
    LEAF,
    MISSING,
    NO,
    NON_LEAF,
    NUMBER,
    UNKNOWN,
    YES,
    Array,
    Device,
    Dtype,
    Instance,
    Iterator,
    Library,
    Sequence,
    Tensor,
    Unknown,
    may_be_tensor,
)
from gradtrail.laws import dtypes
from gradtrail.laws.numpy_bridge import BridgeFacts, refusal

Args = list[Any]
Keywords = dict[str, Any]


_OF_BACKWARD = {"gradient", "retain_graph", "create_graph", "inputs", "**"}


@tensor_method("backward")
def backward(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    if not keywords.keys() <= _OF_BACKWARD:
        raise PathEnds  # torch takes no other option, as `retain_variables` of its first releases
    tensor = args[0]
    gradient = argument(args, keywords, 1, "gradient")
    retain = argument(args, keywords, 2, "retain_graph")
    create = argument(args, keywords, 3, "create_graph", False)
    inputs = argument(args, keywords, 4, "inputs")
    chosen = None
    if inputs is not None:
        found = m.items_of(Sequence("list", (inputs,)) if type(inputs) is Tensor else inputs, node, frame)
        chosen = (
            [one for one in found[0] if type(one) is Tensor]
            if found is not None and found[1] is MISSING
            else []
        )
    m.backward(
        [tensor], node, frame, gradient, known(retain, create), flag(create), chosen, allow_unused=True
    )
    return None


def flag(value: Any, default: bool = False) -> bool | None:
    """A boolean argument: True, False or None when it is not known."""
    if value is None:
        return default
    return value if type(value) is bool else None


def known(retain: Any, create: Any) -> bool | None:
    """`retain_graph`, whose default is `create_graph`."""
    return flag(create) if retain is None else flag(retain)


@tensor_method("numpy", "__array__")
def numpy(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    force = argument(args, keywords, 1, "force", False)
    if force is False:
        m.to_numpy(args[0], node, frame, "numpy")
    result = Array(args[0].dtype, args[0].shape, args[0].storage.memory if force is False else None)
    result.sources = (args[0],)
    return result


@tensor_method("item")
def item(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    m.note_number(args[0], "item()", node, frame)
    kind = None if args[0].dtype is None else dtypes.category(args[0].dtype)
    return {"integer": INT, "bool": BOOL, "floating": FLOAT}.get(kind or "", NUMBER)


@tensor_method("tolist")
def tolist(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    if args[0].shape == ():
        return item(m, args, keywords, node, frame, path)
    m.note_number(args[0], "tolist()", node, frame)
    return Sequence("list", (), NUMBER if args[0].shape is not None and len(args[0].shape) == 1 else UNKNOWN)


@tensor_method("size")
def size(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return _size(args[0], argument(args, keywords, 1, "dim"))


def _size(tensor: Tensor, dim: Any) -> Any:
    shape = tensor.shape
    if dim is None:
        return shape_value(tensor)
    if type(dim) is int and shape is not None and -len(shape) <= dim < len(shape) and shape[dim] is not None:
        return shape[dim]
    return INT


def shape_value(tensor: Tensor) -> Sequence:
    """`tensor.shape`."""
    if tensor.shape is None:
        return Sequence("size", (), INT)
    return Sequence("size", tuple(INT if one is None else one for one in tensor.shape))


@tensor_method("dim", "ndimension")
def dim(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return INT if args[0].shape is None else len(args[0].shape)


@tensor_method("numel", "nelement")
def numel(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    shape = args[0].shape
    if shape is None or None in shape:
        return INT
    product = 1
    for one in shape:
        product *= one
    return product


@tensor_method("__len__")
def length(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return _size(args[0], 0)


@tensor_method("requires_grad_")
def requires_grad_(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    m.set_flag(args[0], argument(args, keywords, 1, "requires_grad", True), node, frame, "requires_grad_")
    return args[0]


@tensor_method("retain_grad")
def retain_grad(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    if args[0].requires == NO:
        m.refuse("retain-grad-of-untracked", node, frame, m.seen(args[0], node, frame, "no-grad"))
    m.heap.put(args[0], "retains", True)
    for one in m.kin(args[0]):
        m.heap.put(one, "retains", UNKNOWN)
    return None


@tensor_method("register_hook", "register_post_accumulate_grad_hook")
def register_hook(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    tensor = args[0]
    if tensor.requires == NO:
        m.refuse("hook-of-untracked", node, frame, m.seen(tensor, node, frame, "no-grad"))
    if path == "register_hook" and len(args) > 1:
        handle = m.new_handle(node, frame)
        m.heap.put(tensor, "hooks", (*tensor.hooks, (args[1], handle)))
        return handle
    return UNKNOWN


@method("torch.utils.hooks.RemovableHandle", "remove", "__exit__")
def remove(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    m.heap.put(args[0].state, "removed", True)
    return None


@tensor_method("type")
def type_(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    wanted = argument(args, keywords, 1, "dtype")
    if wanted is None:
        return UNKNOWN
    own = args[0]
    if type(wanted) is Dtype:
        return m.converted(own, wanted.name, own.device, node, frame, "type", False)
    if type(wanted) is Library and wanted.path.endswith("Tensor"):
        name = TYPE_NAMES.get(wanted.path.rpartition(".")[2])
        device = Device("other", "cuda") if ".cuda." in wanted.path else own.device
        return m.converted(own, name, device, node, frame, "type", False)
    return m.converted(own, None, None, node, frame, "type", False)


TYPE_NAMES = {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64", "IntTensor": "int32", "ShortTensor": "int16", "CharTensor": "int8",
    "ByteTensor": "uint8", "BoolTensor": "bool",
}  # fmt: skip


@tensor_method("__iter__")
def iterate(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    rows = m.apply("unbind", [args[0]], {}, node, frame)
    if type(rows) is not Sequence:
        return UNKNOWN
    return Iterator(rows.items, rows.rest, "tensor")


@tensor_method("__setitem__")
def setitem(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """`t[key] = value`: a write through a view; `t[key] += value` has written it already."""
    if len(args) != 3:
        return UNKNOWN
    own, key, value = args
    value = m.settle(value)
    if keywords.get("gradtrail_same") and type(value) is Tensor and value.base is not None:
        if m.modes.grad_mode is False:
            return None
        m.bump(own, node, frame, "__setitem__")
        return None
    bound_args = [own, value]
    row = m.row("copy_")
    bound = m.bind_row(row, bound_args, {}, node, frame)
    bound.tensors = [("self", own)] + ([("other", value)] if type(value) is Tensor else [])
    bound.doubt = may_be_tensor(value)
    if m.modes.grad_mode is True and own.requires == YES and own.leaf & NON_LEAF == 0:
        # An advanced index writes the tensor itself, and so does one that takes all of it; others write a view.
        advanced = _is_mask(key) or _is_whole(key)
        key_of_message = "leaf-in-place" if advanced else "leaf-view-in-place"
        m.refuse(key_of_message, node, frame, m.seen(own, node, frame), op="__setitem__")
    m.check_write(own, bound, node, frame, "__setitem__", _is_whole(key) or _is_mask(key))
    requires = own.requires if m.modes.grad_mode is not False else NO
    if type(value) is Tensor and m.modes.grad_mode is not False:
        requires = YES if value.requires == YES and m.modes.grad_mode else requires | value.requires
    elif type(value) is Unknown and m.modes.grad_mode is not False and requires != YES:
        requires |= YES
    m.rebase(row, bound, own, requires, node, frame, slices=not _is_mask(key), op="__setitem__")
    return None


def _is_whole(key: Any) -> bool:
    """Whether an index takes all of a tensor: `x[:]`, `x[...]`, `x[:, :]`."""
    if type(key) is Sequence and key.kind == "tuple":
        return key.rest is MISSING and all(map(_is_whole, key.items))
    return key is Ellipsis or (
        type(key) is SliceValue and (key.start, key.stop) == (None, None) and key.step in (None, 1)
    )


def _is_mask(key: Any) -> bool:
    if type(key) is Tensor:
        return True
    if type(key) is Sequence:
        return key.kind == "list" or any(
            type(one) is Tensor or (type(one) is Sequence and one.kind == "list") for one in key.items
        )
    return False


@tensor_method("__getitem__")
def getitem(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """`t[key]`: a view for numbers, slices, None and ...; a copy for tensors and lists."""
    own, key = args[0], args[1] if len(args) > 1 else UNKNOWN
    parts = key.items if type(key) is Sequence and key.kind == "tuple" else (key,)
    if own.base is not None:
        m.refresh(own)
    for part in parts:
        if (
            type(part) is Tensor
            and part.dtype is not None
            and dtypes.category(part.dtype) in ("floating", "complex")
        ):
            m.refuse("index-dtype", node, frame, m.seen(part, node, frame, "dtype"), dtype=part.dtype)
    kinds = [_index_kind(part) for part in parts]
    shape = _indexed_shape(own.shape, parts, kinds)
    basic = "advanced" not in kinds and "unknown" not in kinds
    if basic:
        result = m.apply(_last_view(key, parts, kinds, own.shape), [own], {}, node, frame)
    elif "advanced" in kinds:
        result = _gathered(m, own, parts, node, frame)
    else:
        result = m.apply("clone", [own], {}, node, frame)
    if type(result) is not Tensor:
        return UNKNOWN
    result.shape = shape
    result.dtype, result.device = own.dtype, own.device
    indices = tuple(part for part in parts if type(part) is Tensor)
    result.steps = (m.origin("computed", node, frame, (own, *indices), op="indexing"),)
    if result.node is not None:
        result.node.origin = result.origin
        if result.node.name == "ViewBackward0":
            result.node.name = "AliasBackward0"
    if not basic and "unknown" in kinds:
        result.requires = own.requires if m.modes.grad_mode else result.requires
    return result


def _last_view(key: Any, parts: tuple[Any, ...], kinds: list[str], shape: Any) -> str:
    """The operation whose node the result of a basic index has: that of its last part that does something.

    A slice that takes all of its dimension does nothing inside a tuple, and is a slice alone.
    """
    if type(key) is SliceValue:
        return "narrow"
    name = "view_as"
    dimension = 0
    for part, kind in zip(parts, kinds, strict=False):
        if kind == "int":
            name = "select"
        elif part is None:
            name = "unsqueeze"
        elif type(part) is SliceValue:
            length = shape[dimension] if type(shape) is tuple and 0 <= dimension < len(shape) else None
            if not _takes_all(part, length):
                name = "narrow"
        if part is Ellipsis:
            dimension = -len(parts)  # counted from the end from here on: left unknown
        elif part is not None:
            dimension += 1
    return name


def _takes_all(part: SliceValue, length: Any) -> bool:
    """Whether a slice surely is the whole of a dimension of this length."""
    if part.step not in (None, 1) or part.start not in (None, 0):
        return False
    return part.stop is None or (type(part.stop) is int and type(length) is int and part.stop >= length)


def _gathered(m: Any, own: Tensor, parts: tuple[Any, ...], node: Any, frame: Frame) -> Any:
    """Indexing by tensors or lists: a copy, whose node keeps the index."""
    row = m.row("index_select")
    bound = m.bind_row(row, [own], {}, node, frame)
    bound.any_device = True
    bound.tensors += [("index", part) for part in parts if type(part) is Tensor]
    result = m.apply_row(row, bound, node, frame)
    if type(result) is Tensor and result.node is not None and result.node.kind == "op":
        result.node.frees = True
        result.node.name = "IndexBackward0"
    return result


def _index_kind(part: Any) -> str:
    if part is None or part is Ellipsis or type(part) is SliceValue:
        return "slice"
    if type(part) is bool:
        return "advanced"
    if type(part) is int or part is INT:
        return "int"
    if type(part) is Tensor or type(part) is Array or type(part) is Sequence:
        return "advanced"
    return "unknown"


def _indexed_shape(shape: Any, parts: tuple[Any, ...], kinds: list[str]) -> Any:
    if shape is None or "unknown" in kinds:
        return None
    if "advanced" in kinds:
        first = parts[0]
        if (
            len(parts) == 1
            and type(first) is Tensor
            and first.shape is not None
            and first.dtype not in (None, "bool", "uint8")
        ):
            return (*first.shape, *shape[1:])
        return None
    sizes = list(shape)
    used = sum(part is not None and part is not Ellipsis for part in parts)
    result: list[int | None] = []
    position = 0
    for part in parts:
        if part is None:
            result.append(1)
        elif part is Ellipsis:
            skipped = len(sizes) - used
            result.extend(sizes[position : position + skipped])
            position += skipped
        elif position >= len(sizes):
            return None
        elif type(part) is SliceValue:
            size, plain = sizes[position], part.known()
            if size is not None and size < 0:
                return None  # no tensor has this: torch refused it where it was made
            result.append(
                len(range(*plain.indices(size))) if size is not None and plain is not None else None
            )
            position += 1
        else:
            position += 1
    return (*result, *sizes[position:])


@tensor_method("new_tensor", "new_zeros", "new_ones", "new_full", "new_empty", "new")
def new_like(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    name = path.rpartition(".")[2]
    return m.make(f"torch.Tensor.{name}", args, keywords, node, frame)


@tensor_method("share_memory_", "apply_", "map_", "__reversed__", "requires_grad")
def itself(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return args[0]


@tensor_method("__deepcopy__")
def deepcopy(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return m.deep_copy(args[0], node, frame)


@tensor_method("clone")
def clone(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    result = m.apply("clone", [args[0]], {}, node, frame)
    if type(result) is Tensor and args[0].inference is True:
        result.inference = m.modes.inference_mode
    return result


@tensor_method("set_", "swap_tensors")
def replaced(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return args[0]


@tensor_method("is_floating_point", "is_complex")
def of_category(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    if type(args[0]) is not Tensor or args[0].dtype is None:
        return BOOL
    return dtypes.category(args[0].dtype) == path.rpartition("is_")[2].replace("_point", "")


@tensor_method("__bool__", "__contains__", "is_contiguous", "equal", "allclose")
def boolean(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return BOOL


@tensor_method("__float__")
def as_float(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return FLOAT


@tensor_attribute("requires_grad")
def a_requires_grad(m: Any, tensor: Tensor, node: Any, frame: Frame) -> Any:
    return {NO: False, YES: True}.get(tensor.requires, BOOL)


@tensor_attribute("is_leaf")
def a_is_leaf(m: Any, tensor: Tensor, node: Any, frame: Frame) -> Any:
    if tensor.leaf & NON_LEAF == 0:
        return True
    return False if tensor.leaf & LEAF == 0 else BOOL


def _takes_the_name_of_a_leaf(tensor: Tensor) -> bool:
    """Whether a leaf that this is computed from had its name before: `w = w - rate * w.grad`."""
    seen, work = {tensor.serial}, [tensor]
    while work and len(seen) < _MOST_ANCESTORS:
        for parent in work.pop().origin.parents:
            if parent.name == tensor.name and parent.requires == YES and parent.leaf & NON_LEAF == 0:
                return True
            if parent.serial not in seen:
                seen.add(parent.serial)
                work.append(parent)
    return False


_MOST_ANCESTORS = 100


@tensor_attribute("grad")
def a_grad(m: Any, tensor: Tensor, node: Any, frame: Frame) -> Any:
    if tensor.requires == YES and tensor.leaf & LEAF == 0 and tensor.retains is False and tensor.grad is None:
        m.tell(
            "grad-of-non-leaf", node, frame, m.seen(tensor, node, frame), certainty="wrong",
            rebound=_takes_the_name_of_a_leaf(tensor),
        )  # fmt: skip
    return tensor.grad


@tensor_attribute("grad_fn")
def a_grad_fn(m: Any, tensor: Tensor, node: Any, frame: Frame) -> Any:
    return None if tensor.requires == NO else UNKNOWN


@tensor_attribute("data")
def a_data(m: Any, tensor: Tensor, node: Any, frame: Frame) -> Any:
    return m.detached(tensor, node, frame, "data")


@tensor_attribute("shape")
def a_shape(m: Any, tensor: Tensor, node: Any, frame: Frame) -> Any:
    return shape_value(tensor)


@tensor_attribute("ndim")
def a_ndim(m: Any, tensor: Tensor, node: Any, frame: Frame) -> Any:
    return INT if tensor.shape is None else len(tensor.shape)


@tensor_attribute("device")
def a_device(m: Any, tensor: Tensor, node: Any, frame: Frame) -> Any:
    if tensor.device is None:
        m.heap.put(tensor, "device", Device("unknown", f"{tensor.name or 'tensor'}.device"))
    return tensor.device


@tensor_attribute("dtype")
def a_dtype(m: Any, tensor: Tensor, node: Any, frame: Frame) -> Any:
    return Dtype(tensor.dtype)


@tensor_attribute("is_cuda", "is_sparse", "is_quantized", "retains_grad")
def a_boolean(m: Any, tensor: Tensor, node: Any, frame: Frame) -> Any:
    return BOOL


@tensor_attribute("_version", "nbytes", "itemsize", "output_nr")
def a_number(m: Any, tensor: Tensor, node: Any, frame: Frame) -> Any:
    return INT


def refuse_numpy(
    m: Any, tensor: Tensor, node: Any, frame: Frame, how: str, trail: tuple[Any, ...] = ()
) -> None:
    """Ask the laws whether this conversion is refused, in the CPU's world and in another one."""
    device = tensor.device
    requires = {NO: False, YES: True}.get(tensor.requires)
    facts = BridgeFacts(requires, None if device is None else "cpu" if device.kind != "other" else device.name,
                        None if tensor.conj is None else tensor.conj == "conj",
                        None if tensor.conj is None else tensor.conj == "neg", tensor.dtype)  # fmt: skip
    key = refusal(facts, m.modes.grad_mode)
    if key is not None:
        story = "device" if key == "numpy-off-cpu" else "grad"
        if key == "numpy-requires-grad":
            trail = (*m.recording_step(frame), *trail)
        m.refuse(
            key,
            node,
            frame,
            m.seen(tensor, node, frame, story),
            how=how,
            trail=trail,
            device=device.told if device else "",
        )
    if device is not None and device.kind in ("chosen", "symbol"):
        m.refuse(
            "numpy-off-cpu",
            node,
            frame,
            m.seen(tensor, node, frame, "device"),
            off_cpu=True,
            how=how,
            device=device.told,
        )


__all__ = ["Instance", "Unknown", "device_from", "refuse_numpy"]
