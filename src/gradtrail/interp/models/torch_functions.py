"""Functions of `torch` that are more than a row of the laws: making tensors, grad modes, autograd, devices."""

from __future__ import annotations

from typing import Any

from gradtrail.interp.expressions import AVAILABLE
from gradtrail.interp.frames import Frame, PathEnds
from gradtrail.interp.graph import gradient_kind
from gradtrail.interp.models.registry import argument, calls, method
from gradtrail.interp.models.tensor import flag, known
from gradtrail.interp.operands import device_from, plain_size, plain_value
from gradtrail.interp.values import (
    ANY_LEAF,
    BOOL,
    FLOAT,
    INT,
    LEAF,
    MAYBE,
    MISSING,
    NO,
    NUMBER,
    PLAIN,
    UNKNOWN,
    YES,
    Array,
    Bound,
    Class,
    Device,
    Dtype,
    Function,
    Instance,
    Iterator,
    Library,
    Mapping,
    OneOf,
    Partial,
    Sequence,
    Some,
    Tensor,
    Unknown,
)
from gradtrail.laws import dtypes, factories

Args = list[Any]
Keywords = dict[str, Any]


class Making:
    """Mixed into the machine: tensors from factories."""

    def make(self: Any, path: str, args: Args, keywords: Keywords, node: Any, frame: Frame) -> Any:
        """The result of a factory, by its law."""
        law = factories.factory(path)
        if law is None:
            return UNKNOWN
        values: dict[str, Any] = dict(law.defaults)
        given: set[str] = set()
        for index, value in enumerate(args):
            if law.gathers and index >= law.args.index(law.gathers):
                rest = args[index:]
                values[law.gathers] = (
                    rest[0] if len(rest) == 1 and type(rest[0]) is not int else Sequence("tuple", tuple(rest))
                )
                given.add(law.gathers)
                break
            if index < len(law.args):
                values[law.args[index]] = value
                given.add(law.args[index])
        for key, value in keywords.items():
            name = "self" if key == "input" and "self" in law.args else key
            values[name] = value
            given.add(name)
        if "**" in keywords:  # they may say any of these
            for name in ("dtype", "device", "requires_grad"):
                values.setdefault(name, UNKNOWN)
                values[name] = UNKNOWN if name not in given else values[name]
        return _made(self, law, values, given, node, frame)


def _made(m: Any, law: Any, values: dict[str, Any], given: set[str], node: Any, frame: Frame) -> Any:
    data = m.settle(values.get("data", values.get("obj", values.get("ndarray", values.get("self")))))
    like = m.settle(values.get("self"))
    if type(like) is Unknown or (law.shape == "like" and type(like) is not Tensor):
        like = None
    if law.keeps_graph and type(data) is Tensor and law.name in ("as_tensor", "asarray"):
        return _as_tensor(m, data, values, node, frame)
    if law.keeps_graph and type(data) in (Unknown, OneOf):
        return m.unknown_tensor(node, frame)
    wanted = m.settle(values.get("requires_grad"))
    requires = YES if wanted is True else NO if wanted in (False, None) and type(wanted) in PLAIN else MAYBE
    result = m.new_tensor(m.origin("created" if requires != NO else "created-no-grad", node, frame))
    if not law.keeps_graph:
        parts = (data,) if type(data) is Tensor else data.items if type(data) is Sequence else ()
        m.note_cut(result.origin, tuple(one for one in map(m.settle, parts) if type(one) is Tensor))
    result.dtype = _dtype(m, law, values, data, like)
    if requires == YES and result.dtype is not None and dtypes.can_require_grad(result.dtype) is False:
        m.refuse(
            "requires-grad-integer", node, frame, m.seen(result, node, frame, "dtype"), dtype=result.dtype
        )
    result.requires = requires
    result.leaf = LEAF
    result.device = _device(m, values, like, law)
    result.shape = _shape(m, law, values, given, data, like)
    result.result_of = law.name
    if law.storage == "shared" and type(data) is Tensor:
        result.storage = data.storage
    elif law.storage == "shared" and type(data) is Array:
        result.storage.memory = data.memory
    if type(data) is Array:
        result.steps = (m.origin("array", node, frame, data.sources, dtype=result.dtype or "?"),)
    return result


def _as_tensor(m: Any, data: Tensor, values: dict[str, Any], node: Any, frame: Frame) -> Any:
    dtype, device = values.get("dtype"), values.get("device")
    name = data.dtype if dtype is None else dtype.name if type(dtype) is Dtype else None
    where = data.device if device is None else device_from(device)
    return m.converted(data, name, where, node, frame, "as_tensor", False)


def _dtype(m: Any, law: Any, values: dict[str, Any], data: Any, like: Any) -> Any:
    asked = m.settle(values.get("dtype"))
    if type(asked) is Dtype:
        return asked.name
    if type(asked) is Library and asked.path in ("float", "int", "bool"):
        return {"float": "float64", "int": "int64", "bool": "bool"}[asked.path]
    if asked is not None:
        return None
    rule = law.dtype
    if rule == "default":
        return m.modes.default_dtype if m.modes.default_dtype else None
    if rule == "like":
        return like.dtype if type(like) is Tensor else None
    if rule == "arange":
        parts = [values.get(name) for name in ("start", "end", "step") if values.get(name) is not None]
        if all(type(part) is int or part is INT for part in parts):
            return "int64"
        return m.modes.default_dtype if any(type(part) is float or part is FLOAT for part in parts) else None
    if rule == "fill":
        return _dtype_of_value(m, values.get("fill_value"))
    if rule == "data":
        return _dtype_of_value(m, data)
    return rule if dtypes.category(rule) is not None else None


def _dtype_of_value(m: Any, value: Any) -> Any:
    value = m.settle(value)
    kind = type(value)
    if kind is bool or value is BOOL:
        return "bool"
    if kind is int or value is INT:
        return "int64"
    if kind is float or value is FLOAT:
        return m.modes.default_dtype
    if kind is complex:
        return "complex64"
    if kind is Tensor:
        return value.dtype
    if kind is Array:
        return value.dtype
    if kind is Sequence:
        items = [*value.items, *([] if value.rest is MISSING else [value.rest])]
        found = {_dtype_of_value(m, item) for item in items}
        if not items:
            return m.modes.default_dtype
        if None in found:
            return None
        if found <= {"bool", "int64", m.modes.default_dtype}:
            return (
                m.modes.default_dtype
                if m.modes.default_dtype in found
                else "int64"
                if "int64" in found
                else "bool"
            )
        return found.pop() if len(found) == 1 else None
    return None


def _device(m: Any, values: dict[str, Any], like: Any, law: Any) -> Device | None:
    device = m.settle(values.get("device"))
    if device is None:
        if type(like) is Tensor and (law.shape == "like" or law.name.startswith("Tensor.new")):
            return like.device
        default: Device = m.default_device()
        return default
    return device_from(device)


def _shape(m: Any, law: Any, values: dict[str, Any], given: set[str], data: Any, like: Any) -> Any:
    rule = law.shape
    if law.name == "randint":
        size = values.get("size")
        if size is None and "size" not in given:
            size = values.get("high") if type(values.get("high")) is Sequence else None
        return _sizes(size)
    if rule == "sizes":
        return _sizes(values.get("size"))
    if rule == "like":
        return like.shape if type(like) is Tensor else None
    if rule == "scalar":
        return ()
    if rule == "data":
        return data.shape if type(data) is Tensor or type(data) is Array else _data_shape(m, data)
    if rule == "vector":
        return (_vector_length(law.name, values),)
    if rule in ("matrix",):
        return (None, None)
    if rule == "square":
        first, second = values.get("n"), values.get("m")
        rows = first if type(first) is int else None
        return (rows, rows if second is None else second if type(second) is int else None)
    if rule == "data-or-sizes":
        value = values.get("data")
        if (
            type(value) is Sequence
            and value.kind == "tuple"
            and value.items
            and all(type(one) is int for one in value.items)
        ):
            return tuple(value.items)
        if type(value) is Sequence and value.kind == "list":
            return _data_shape(m, value)
    return None


def _vector_length(name: str, values: dict[str, Any]) -> int | None:
    if name in ("linspace", "logspace"):
        return values["steps"] if type(values.get("steps")) is int else None
    if name == "randperm":
        return values["n"] if type(values.get("n")) is int else None
    if name == "arange":
        start, end, step = values.get("start", 0), values.get("end"), values.get("step", 1)
        if end is None:
            start, end = 0, start
        if all(type(part) is int for part in (start, end, step)) and step:
            return len(range(start, end, step))
    return None


def _sizes(value: Any) -> Any:
    if type(value) is int:
        return (value,)
    if type(value) is Sequence:
        if value.rest is not MISSING:
            return None
        if len(value.items) == 1 and type(value.items[0]) is Sequence:
            return _sizes(value.items[0])
        return tuple(
            size if type(size) is int else None for size in (plain_size(item) for item in value.items)
        )
    return None


def _data_shape(m: Any, value: Any) -> Any:
    value = m.settle(value)
    kind = type(value)
    if kind in (int, float, bool, complex) or (
        kind is Some and value.type in ("int", "float", "bool", "number")
    ):
        return ()
    if kind is Tensor or kind is Array:
        return value.shape
    if kind is Sequence:
        if value.rest is not MISSING:
            inner = _data_shape(m, value.rest)
            return None if inner is None else (None, *inner)
        if not value.items:
            return (0,)
        inner = _data_shape(m, value.items[0])
        return None if inner is None else (len(value.items), *inner)
    return None


# Parameters and old names


@calls("torch.nn.Parameter")
def parameter(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    data = m.settle(argument(args, keywords, 0, "data"))
    wanted = argument(args, keywords, 1, "requires_grad", True)
    requires = YES if wanted is True else NO if wanted is False else MAYBE
    if type(data) is Tensor:
        if requires == YES and data.dtype is not None and dtypes.can_require_grad(data.dtype) is False:
            m.refuse(
                "requires-grad-integer", node, frame, m.seen(data, node, frame, "dtype"), dtype=data.dtype
            )
        return m.wrap_parameter(data, node, frame, requires)
    result = m.new_parameter(node, frame)
    result.requires, result.dtype, result.device = requires, None, None
    return result


@calls("torch.autograd.Variable")
def variable(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    data = m.settle(argument(args, keywords, 0, "data"))
    wanted = argument(args, keywords, 1, "requires_grad", False)
    if type(data) is not Tensor:
        result = m.unknown_tensor(node, frame)
    else:
        result = m.detached(data, node, frame, "Variable")
    if type(wanted) is bool:
        result.requires, result.leaf = (YES if wanted else NO), LEAF
        if wanted:
            result.steps = (m.origin("created", node, frame, (data,) if type(data) is Tensor else ()),)
    else:
        result.requires = MAYBE
    return result


# Grad modes


@calls("torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.set_grad_enabled")
def grad_mode(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    if path != "torch.set_grad_enabled" and args and type(args[0]) is Function:
        args[0].mode = (path.rpartition(".")[2], True)
        return args[0]
    result = Instance(Library(path), path, m.serial(), m.origin("made", node, frame, cls=path))
    mode = argument(args, keywords, 0, "mode")
    result.state["mode"] = mode
    result.state["before"] = (m.modes.grad_mode, m.modes.inference_mode)
    if path == "torch.set_grad_enabled":
        m.enter_mode("set_grad_enabled", mode)
        origin = m.origin("grad-off", node, frame)
        m.heap.put(m.modes, "set_by", origin if mode is False else None)
    return result


@method("torch.no_grad", "__call__", "clone")
@method("torch.enable_grad", "__call__", "clone")
@method("torch.inference_mode", "__call__", "clone")
@method("torch.set_grad_enabled", "__call__", "clone")
def decorate(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    manager, function = args[0], args[1] if len(args) > 1 else None
    if type(function) is Function:
        function.mode = (manager.library.rpartition(".")[2], manager.state.get("mode"))
        return function
    return UNKNOWN


@calls("torch.is_grad_enabled")
def is_grad_enabled(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return BOOL if m.modes.grad_mode is None else m.modes.grad_mode


@calls("torch.set_default_dtype", "torch.set_default_tensor_type")
def set_default_dtype(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = args[0] if args else None
    name = value.name if type(value) is Dtype else None
    m.heap.put(m.modes, "default_dtype", name or "")
    return None


@calls("torch.set_default_device")
def set_default_device(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    found = device_from(args[0]) if args else None
    m.heap.put(m.modes, "default_device", found or Device("symbol", "default device"))
    return None


# Devices


@calls("torch.device")
def device(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(argument(args, keywords, 0, "type", UNKNOWN))
    found = device_from(value)
    if found is not None:
        return found
    name = getattr(getattr(node, "args", [None])[0], "id", None) if getattr(node, "args", None) else None
    return Device("symbol", name or "device")


@calls(
    "torch.cuda.is_available", "torch.backends.mps.is_available", "torch.xpu.is_available", "torch.cuda.device_count",
    "torch.accelerator.is_available",
)  # fmt: skip
def available(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    if path.endswith("count"):
        return INT
    device = m.given.device
    if device is None:
        return AVAILABLE
    return device != "cpu" if ".accelerator." in path else f".{device}." in path


# Autograd


@calls("torch.autograd.grad")
def autograd_grad(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    outputs = _tensors(m, argument(args, keywords, 0, "outputs"), node, frame)
    inputs = _tensors(m, argument(args, keywords, 1, "inputs"), node, frame)
    gradients = argument(args, keywords, 2, "grad_outputs")
    retain = argument(args, keywords, 3, "retain_graph")
    create = flag(argument(args, keywords, 4, "create_graph", False))
    unused = flag(argument(args, keywords, 6, "allow_unused"))
    if flag(keywords.get("materialize_grads", False)) is not False:
        unused = True
    if outputs is None or not outputs:
        return Sequence("tuple", (), UNKNOWN)
    if inputs is None:
        m.backward(
            outputs,
            node,
            frame,
            gradients,
            known(retain, create),
            create,
            [],
            accumulate=False,
            allow_unused=None,
        )
        gradient = m.unknown_tensor(node, frame, gradient_kind(create))
        if create is False:
            gradient.requires, gradient.leaf = NO, LEAF
        return Sequence("tuple", (), gradient)
    walked = m.backward(
        outputs,
        node,
        frame,
        gradients,
        known(retain, create),
        create,
        inputs,
        accumulate=False,
        allow_unused=unused,
    )
    results = m.gradients_of(outputs, inputs, create, walked, node, frame)
    if unused is not False:
        return Sequence(
            "tuple",
            tuple(
                OneOf((None, one)) if _unsure(walked, given) else one
                for one, given in zip(results, inputs, strict=False)
            ),
        )
    return Sequence("tuple", tuple(results))


def _unsure(walked: Any, tensor: Tensor) -> bool:
    found = walked.nodes.get(tensor.node) if tensor.node is not None else walked.leaves.get(tensor)
    return found is not True


def _tensors(m: Any, value: Any, node: Any, frame: Frame) -> list[Tensor] | None:
    """The tensors of an argument that takes one or several; None when they are not all known."""
    value = m.settle(value)
    if type(value) is Tensor:
        return [value]
    if type(value) in (Sequence, Iterator):
        found = m.items_of(value, node, frame)
        if found is None or found[1] is not MISSING:
            return None
        items = [m.settle(item) for item in found[0]]
        return items if all(type(item) is Tensor for item in items) else None
    return None


@calls("torch.autograd.backward")
def autograd_backward(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    roots = _tensors(m, argument(args, keywords, 0, "tensors"), node, frame)
    if roots is not None:
        retain, create = (
            argument(args, keywords, 2, "retain_graph"),
            argument(args, keywords, 3, "create_graph", False),
        )
        m.backward(
            roots,
            node,
            frame,
            argument(args, keywords, 1, "grad_tensors"),
            known(retain, create),
            flag(create),
        )
    return None


@calls("torch.utils.checkpoint.checkpoint")
def checkpoint(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """A reentrant checkpoint runs its function under no_grad; its outputs require grad as its inputs do."""
    function, given = args[0], args[1:]
    reentrant = keywords.get("use_reentrant", True)
    passed = {
        k: v
        for k, v in keywords.items()
        if k
        not in (
            "use_reentrant",
            "preserve_rng_state",
            "context_fn",
            "determinism_check",
            "debug",
            "early_stop",
        )
    }
    if reentrant is None:
        reentrant = True
    if reentrant is not True:
        result = m.call(function, given, passed, node, frame)
        return result if reentrant is False else UNKNOWN
    before = m.modes.grad_mode
    m.heap.put(m.modes, "grad_mode", False)
    try:
        result = m.call(function, given, {}, node, frame)
    finally:
        m.heap.put(m.modes, "grad_mode", before)
    requires = NO
    for value in given:
        value = m.settle(value)
        if type(value) is Tensor:
            requires = YES if value.requires == YES else requires | value.requires
        elif type(value) is Unknown:
            requires |= MAYBE
    if requires == NO and before:
        hidden = _parameters_behind(m, function)
        if hidden:
            m.tell(
                "checkpoint-cut",
                node,
                frame,
                None,
                certainty="wrong",
                name=hidden[0].name or "",
                first=m.step_of(hidden[0].origin, frame),
            )
    return _tied(m, result, given, requires if before is not False else NO, node, frame)


def _parameters_behind(m: Any, function: Any) -> list[Tensor]:
    from gradtrail.interp.modules import is_module

    if type(function) is Bound and is_module(function.receiver):
        function = function.receiver
    if is_module(function):
        return [value for _, value in m.parameters_of(function)[0] if value.requires == YES]
    return []


def _tied(m: Any, result: Any, given: Args, requires: int, node: Any, frame: Frame) -> Any:
    if type(result) is Sequence:
        return Sequence(
            result.kind,
            tuple(_tied(m, one, given, requires, node, frame) for one in result.items),
            result.rest,
        )
    if type(result) is not Tensor:
        return result
    origin = m.origin("checkpointed", node, frame, tuple(value for value in given if type(value) is Tensor))
    made = m.new_tensor(origin)
    made.shape, made.dtype, made.device = result.shape, result.dtype, result.device
    made.requires = requires
    made.leaf = LEAF if requires == NO else (ANY_LEAF if requires == MAYBE else 10)
    if requires & YES:
        from gradtrail.interp.results import edges_of
        from gradtrail.interp.values import Node

        edges = edges_of([value for value in given if type(value) is Tensor])
        made.node = Node(
            "CheckpointFunctionBackward",
            "op" if requires == YES else "maybe",
            edges,
            (),
            None,
            origin,
            m.serial(),
        )
        made.node.whole = True
    return made


@calls("torch.utils.checkpoint.checkpoint_sequential")
def checkpoint_sequential(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = args[2] if len(args) > 2 else keywords.get("input", UNKNOWN)
    if keywords.get("use_reentrant") is False and args:
        return m.call(args[0], [value], {}, node, frame)
    return UNKNOWN


@calls("torch.func.functional_call", "torch.nn.utils.stateless.functional_call")
def functional_call(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """The module is called with other tensors in the place of its parameters and buffers."""
    module = m.settle(argument(args, keywords, 0, "module", UNKNOWN))
    given = m.settle(argument(args, keywords, 1, "parameter_and_buffer_dicts", UNKNOWN))
    inputs = m.settle(argument(args, keywords, 2, "args", Sequence("tuple")))
    named = m.settle(argument(args, keywords, 3, "kwargs"))
    places = _places_of(m, module, given)
    if places is None or (named is not None and (type(named) is not Mapping or named.rest is not MISSING)):
        return m.unknown_tensor(node, frame)
    inner = {} if named is None else {str(key): value for key, value in named.entries.items()}
    own = [(owner, name, owner.attributes[name]) for owner, name, _ in places]
    for owner, name, value in places:
        m.heap.put(owner.attributes, name, value)
    try:
        positional = (
            ()
            if inputs is None
            else inputs.items
            if type(inputs) is Sequence and inputs.kind == "tuple"
            else (inputs,)
        )
        return m.call(module, list(positional), inner, node, frame)
    finally:
        for owner, name, value in own:
            m.heap.put(owner.attributes, name, value)


def _places_of(m: Any, module: Any, given: Any) -> list[tuple[Instance, str, Tensor]] | None:
    """Where each tensor of a dict by dotted names belongs in a module; None if that is not known."""
    if (
        type(module) is not Instance
        or module.opened
        or type(given) is not Mapping
        or given.rest is not MISSING
    ):
        return None
    places = []
    for path, value in given.entries.items():
        value = m.settle(value)
        if type(path) is not str or type(value) is not Tensor:
            return None
        *inner, name = path.split(".")
        owner: Any = module
        for part in inner:
            owner = m.settle(owner.attributes.get(part)) if type(owner) is Instance else None
        if type(owner) is not Instance or type(owner.attributes.get(name)) is not Tensor:
            return None
        places.append((owner, name, value))
    return places


@calls(
    "torch.autograd.set_detect_anomaly",
    "torch.autograd.detect_anomaly",
    "torch.cuda.amp.autocast",
    "torch.autocast",
    "torch.amp.autocast",
)
def neutral_manager(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    result = Instance(Library(path), path, m.serial(), m.origin("made", node, frame, cls=path))
    return result


@calls("torch.manual_seed", "torch.set_num_threads", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all",
       "torch.use_deterministic_algorithms", "torch.cuda.empty_cache", "torch.cuda.synchronize",
       "torch.set_printoptions", "torch.set_float32_matmul_precision", "torch.random.manual_seed")  # fmt: skip
def quiet(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return UNKNOWN


@calls("torch.is_tensor")
def is_tensor(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    answer = m.is_instance(args[0] if args else UNKNOWN, Library("torch.Tensor"))
    return BOOL if answer is None else answer


@calls("torch.save")
def save(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return None


@calls("torch.load", "torch.hub.load")
def load(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return UNKNOWN


@calls("torch.numel")
def numel(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return INT


@calls("torch.is_floating_point", "torch.is_complex")
def of_category(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[0]) if args else UNKNOWN
    return (
        m.call_method(value, path.rpartition(".")[2], [], {}, node, frame) if type(value) is Tensor else BOOL
    )


@calls("torch.equal", "torch.allclose")
def truth(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return BOOL


@calls("torch.compile", "torch.jit.script", "torch.jit.trace", "torch.fx.symbolic_trace")
def compiled(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    if path != "torch.compile":
        return UNKNOWN
    # Without a model it gives what takes one.
    return args[0] if args else Library(path)


@calls("torch.from_numpy")
def from_numpy(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[0]) if args else UNKNOWN
    if type(value) is Tensor:
        if m.again and value.origin.node is node:
            return value  # the round before has put it where this one, of another item, would find an array
        m.refuse("from-numpy-of-tensor", node, frame, m.seen(value, node, frame))
    return m.make(path, args, keywords, node, frame)


# Copies


class Copying:
    """Mixed into the machine: `copy.deepcopy`."""

    def deep_copy(self: Any, value: Any, node: Any, frame: Frame, memo: dict[int, Any] | None = None) -> Any:
        """A copy of everything that `value` holds."""
        memo = {} if memo is None else memo
        if id(value) in memo:
            return memo[id(value)]
        kind = type(value)
        if kind is Tensor:
            result: Any = _copied_tensor(self, value, node, frame)
            memo[id(value)] = result
        elif kind is Instance:
            result = Instance(
                value.cls, value.library, self.serial(), self.origin("made", node, frame, cls="")
            )
            memo[id(value)] = result
            if type(value.cls) is Class and any(
                value.cls.find(name) is not MISSING
                for name in ("__deepcopy__", "__getstate__", "__reduce_ex__")
            ):
                result.opened = True  # it is copied in its own way
                return result
            result.opened, result.many = value.opened, value.many
            result.registered = dict(value.registered)
            result.state = dict(value.state)
            for name, one in value.attributes.items():
                result.attributes[name] = self.deep_copy(one, node, frame, memo)
        elif kind is Sequence:
            rest = value.rest if value.rest is MISSING else self.deep_copy(value.rest, node, frame, memo)
            result = Sequence(
                value.kind,
                tuple(self.deep_copy(one, node, frame, memo) for one in value.items),
                rest,
                value.names,
            )
            memo[id(value)] = result
        elif kind is Mapping:
            entries = {key: self.deep_copy(one, node, frame, memo) for key, one in value.entries.items()}
            result = Mapping(
                entries,
                value.rest if value.rest is MISSING else self.deep_copy(value.rest, node, frame, memo),
            )
        else:
            return value
        return result


def _copied_tensor(m: Any, value: Tensor, node: Any, frame: Frame) -> Any:
    if value.leaf & LEAF == 0 and value.requires == YES:
        m.refuse("deepcopy-non-leaf", node, frame, m.seen(value, node, frame))
    result = m.new_tensor(m.origin("copied", node, frame))
    for field in ("requires", "leaf", "dtype", "device", "shape", "parameter", "conj", "inference"):
        setattr(result, field, getattr(value, field))
    result.name, result.many = value.name, value.many
    return result


@calls("copy.deepcopy")
def deepcopy(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return m.deep_copy(m.settle(args[0]) if args else UNKNOWN, node, frame)


@calls("copy.copy")
def shallow(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[0]) if args else UNKNOWN
    if type(value) is Sequence:
        return Sequence(value.kind, value.items, value.rest)
    if type(value) is Mapping:
        return Mapping(dict(value.entries), value.rest)
    if type(value) is Tensor:
        result = (
            _copied_tensor(m, value, node, frame) if value.leaf == LEAF else m.unknown_tensor(node, frame)
        )
        result.storage = value.storage
        return result
    return UNKNOWN


__all__ = ["NUMBER", "Partial", "PathEnds", "plain_value"]
