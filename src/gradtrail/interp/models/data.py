"""`torch.utils.data`, multiprocessing and distributed: code that is called back, and what may cross a border."""

from __future__ import annotations

from typing import Any

from gradtrail.interp.frames import Frame
from gradtrail.interp.loops import Supply
from gradtrail.interp.models.registry import argument, calls, method
from gradtrail.interp.modules import is_module
from gradtrail.interp.values import (
    BOOL,
    CPU,
    FLOAT,
    INT,
    LEAF,
    MISSING,
    NO,
    NON_LEAF,
    UNKNOWN,
    YES,
    Array,
    Class,
    Function,
    Instance,
    Iterator,
    Library,
    Mapping,
    Sequence,
    Some,
    Tensor,
    Unknown,
)

Args = list[Any]
Keywords = dict[str, Any]


def library_object(m: Any, path: str, node: Any, frame: Frame) -> Instance:
    """An object of a library class that the machine keeps something about."""
    return Instance(
        Library(path), path, m.serial(), m.origin("made", node, frame, cls=path.rpartition(".")[2])
    )


@calls("torch.utils.data.TensorDataset")
def tensor_dataset(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    result = library_object(m, path, node, frame)
    result.attributes["tensors"] = Sequence("tuple", tuple(m.settle(one) for one in args))
    return result


@method("torch.utils.data.TensorDataset", "__getitem__")
def tensor_dataset_item(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    tensors = args[0].attributes.get("tensors")
    if type(tensors) is not Sequence:
        return UNKNOWN
    key = args[1] if len(args) > 1 else INT
    return Sequence(
        "tuple", tuple(m.call_method(one, "__getitem__", [key], {}, node, frame) for one in tensors.items)
    )


@method("torch.utils.data.TensorDataset", "__len__")
def tensor_dataset_length(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    tensors = args[0].attributes.get("tensors")
    first = tensors.items[0] if type(tensors) is Sequence and tensors.items else None
    return m.call_method(first, "__len__", [], {}, node, frame) if type(first) is Tensor else INT


@calls("torch.utils.data.Subset")
def subset(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return args[0] if args else UNKNOWN


@calls("torch.utils.data.random_split")
def random_split(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return Sequence("list", (), args[0]) if args else UNKNOWN


@calls("torch.utils.data.DataLoader")
def data_loader(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    result = library_object(m, path, node, frame)
    result.attributes["dataset"] = m.settle(argument(args, keywords, 0, "dataset", UNKNOWN))
    result.attributes["batch_size"] = argument(args, keywords, 1, "batch_size", 1)
    result.attributes["num_workers"] = argument(args, keywords, 5, "num_workers", 0)
    result.attributes["collate_fn"] = argument(args, keywords, 6, "collate_fn")
    result.attributes["sampler"] = UNKNOWN
    return result


@method("torch.utils.data.DataLoader", "__len__")
def loader_length(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return INT


def batches(m: Any, loader: Instance, node: Any, frame: Frame) -> Supply:
    """What a loader yields, one batch after the other."""
    return Supply(lambda: batch(m, loader, node, frame))


def batch(m: Any, loader: Instance, node: Any, frame: Frame) -> Any:
    """One batch: samples of the dataset, collated."""
    dataset = loader.attributes.get("dataset")
    collate = loader.attributes.get("collate_fn")
    size = loader.attributes.get("batch_size")
    sample: Any = UNKNOWN
    before = m.modes.grad_mode
    if type(dataset) is Instance:
        if (
            type(dataset.cls) is Class and type(dataset.cls.find("__getitem__")) is Function
        ) or dataset.library == "torch.utils.data.TensorDataset":
            sample = m.call_method(dataset, "__getitem__", [INT], {}, node, frame)
        elif type(dataset.cls) is Class and type(dataset.cls.find("__iter__")) is Function:
            found = m.items_of(dataset, node, frame)
            if found is not None:
                sample = m.heap.joiner.all_of((*found[0][:3], *(() if found[1] is MISSING else (found[1],))))
    elif type(dataset) is Sequence:
        sample = m.heap.joiner.all_of(
            (*dataset.items[:8], *(() if dataset.rest is MISSING else (dataset.rest,)))
        )
    m.heap.put(m.modes, "grad_mode", before)
    if sample is UNKNOWN or sample is MISSING or type(sample) is Unknown:
        return UNKNOWN
    if collate is not None:
        return m.call(collate, [Sequence("list", (), sample)], {}, node, frame)
    workers = loader.attributes.get("num_workers")
    many = type(workers) is int and workers > 0
    if size is None:
        return sample
    return collated(m, sample, size if type(size) is int else None, many, node, frame)


def collated(m: Any, sample: Any, size: int | None, workers: bool, node: Any, frame: Frame) -> Any:
    """What default_collate makes of samples like `sample`."""
    sample = m.settle(sample)
    kind = type(sample)
    if kind is Tensor:
        if workers and sample.requires == YES:
            m.refuse("dataloader-grad", node, frame, m.seen(sample, node, frame))
        origin = m.origin("batch", node, frame, (sample,))
        result = m.new_tensor(origin)
        result.dtype, result.device = sample.dtype, sample.device
        result.requires = sample.requires if m.modes.grad_mode is not False else NO
        result.leaf = LEAF if result.requires == NO else NON_LEAF if result.requires == YES else 15
        if result.requires & YES:
            result.node = m.apply("clone", [sample], {}, node, frame).node
        result.shape = None if sample.shape is None else (None, *sample.shape)
        return result
    if kind is Sequence:
        items = tuple(collated(m, one, size, workers, node, frame) for one in sample.items)
        rest = sample.rest if sample.rest is MISSING else collated(m, sample.rest, size, workers, node, frame)
        return Sequence("list" if sample.kind != "namedtuple" else "namedtuple", items, rest, sample.names)
    if kind is Mapping:
        entries = {key: collated(m, one, size, workers, node, frame) for key, one in sample.entries.items()}
        return Mapping(entries, sample.rest if sample.rest is MISSING else UNKNOWN)
    dtype = {int: "int64", float: "float64", bool: "bool"}.get(kind) or (
        {"int": "int64", "float": "float64"}.get(sample.type) if kind is Some else None
    )
    if kind is Array or dtype is not None or sample is BOOL or sample is FLOAT:
        result = m.new_tensor(m.origin("batch", node, frame))
        result.requires, result.leaf, result.device = NO, LEAF, CPU
        result.dtype = sample.dtype if kind is Array else dtype
        result.shape = (
            (None, *sample.shape)
            if kind is Array and sample.shape is not None
            else None
            if kind is Array
            else (None,)
        )
        return result
    return UNKNOWN


# Multiprocessing


@calls("torch.multiprocessing.spawn", "torch.multiprocessing.start_processes")
def spawn(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """Each process calls the function with its rank."""
    function = argument(args, keywords, 0, "fn")
    given = argument(args, keywords, 1, "args", Sequence("tuple"))
    found = m.items_of(given, node, frame)
    if found is not None:
        told = len(m.journal.events)
        try:
            m.call(function, [0, *found[0]], {}, node, frame)
        finally:
            _raised_in_parent(m, told, node, frame)
    return None


def _raised_in_parent(m: Any, told: int, node: Any, frame: Frame) -> None:
    """What a child process raises, the parent meets where it started the child."""
    from gradtrail.interp.events import Step
    from gradtrail.interp.trails import SENTENCES
    from gradtrail.laws.text import text

    for event in m.journal.events[told:]:
        if event.certainty == "raises":
            event.trail = (*event.trail, Step(event.place, "child", text(SENTENCES["child"])))
            event.place = m.place(node, frame)


@calls("torch.multiprocessing.Process", "multiprocessing.Process")
def process(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    target = keywords.get("target")
    found = m.items_of(keywords.get("args", Sequence("tuple")), node, frame)
    if target is not None and found is not None:
        m.call(target, list(found[0]), {}, node, frame)
    return library_object(m, "multiprocessing.Process", node, frame)


@calls("torch.multiprocessing.get_context", "multiprocessing.get_context")
def context(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return Library("torch.multiprocessing")


@calls("torch.multiprocessing.Queue", "torch.multiprocessing.SimpleQueue", "multiprocessing.Queue", "multiprocessing.SimpleQueue",
       "torch.multiprocessing.JoinableQueue")  # fmt: skip
def queue(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    result = library_object(m, "torch.multiprocessing.Queue", node, frame)
    result.state["simple"] = path.endswith("SimpleQueue")
    return result


@calls("torch.multiprocessing.Pipe", "multiprocessing.Pipe")
def pipe(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """Two connections; `send` pickles at once, like a SimpleQueue."""
    ends = tuple(queue(m, [], {}, node, frame, "torch.multiprocessing.SimpleQueue") for _ in range(2))
    return Sequence("tuple", ends)


@method("torch.multiprocessing.Queue", "put", "put_nowait", "send")
def put(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[1]) if len(args) > 1 else UNKNOWN
    values = (
        value.items
        if type(value) is Sequence
        else tuple(value.entries.values())
        if type(value) is Mapping
        else (value,)
    )
    for one in values:
        one = m.settle(one)
        if type(one) is Tensor and one.requires == YES and one.leaf & LEAF == 0:
            if args[0].state.get("simple"):
                m.refuse("serialize-non-leaf", node, frame, m.seen(one, node, frame))
            m.tell("serialize-non-leaf", node, frame, m.seen(one, node, frame), certainty="wrong")
    return None


@method("torch.multiprocessing.Queue", "get", "recv", "poll")
def get(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return UNKNOWN


# Distributed


@calls("torch.nn.parallel.DistributedDataParallel", "torch.nn.DataParallel")
def data_parallel(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    module = m.settle(argument(args, keywords, 0, "module", UNKNOWN))
    if not is_module(module):
        return UNKNOWN
    found, complete = m.parameters_of(module)
    ddp = path.endswith("DistributedDataParallel")
    if ddp and complete and found and all(tensor.requires == NO for _, tensor in found):
        frozen = [origin for _, tensor in found for origin in tensor.steps[1:] if origin.kind == "frozen"]
        trail = m.steps_of(frozen[:1] or [found[0][1].origin], frame)
        m.refuse("ddp-frozen", node, frame, m.seen(module, node, frame), trail=trail)
    result = library_object(m, path, node, frame)
    m.register(result, "module", module, "module")
    result.attributes["training"] = True
    result.state["ddp"] = ddp
    result.state["find_unused"] = keywords.get("find_unused_parameters", False)
    result.state["forwards"] = 0
    result.opened = not complete
    if ddp:
        m.wrappers[result.serial] = result
    return result


def forward_of_ddp(m: Any, wrapper: Instance, args: Args, keywords: Keywords, node: Any, frame: Frame) -> Any:
    """A forward through DDP: the reducer of the iteration before must have finished."""
    module = wrapper.attributes.get("module")
    before = wrapper.state.get("last")
    if (
        wrapper.state.get("ddp")
        and wrapper.state.get("find_unused") is False
        and before is not None
        and m.modes.grad_mode
    ):
        unused = _unused(m, wrapper, before)
        if unused:
            m.refuse(
                "ddp-unused",
                node,
                frame,
                m.seen(unused[0][1], node, frame),
                names=tuple(name for name, _ in unused),
                wrapper=m.place(wrapper.origin.node, wrapper.origin.frame),
                trail=_choosing_step(m, module, node, frame, unused),
            )
    result = m.call_method(module, "__call__", args, keywords, node, frame)
    m.note_forward(wrapper, result)
    if m.modes.grad_mode and wrapper.state.get("ddp"):
        m.heap.put(wrapper.state, "last", {tensor: tensor.grad for _, tensor in m.parameters_of(module)[0]})
        m.heap.put(wrapper.state, "result", result)
    return result


def _unused(m: Any, wrapper: Instance, before: dict[Tensor, Any]) -> list[tuple[str, Tensor]]:
    """Parameters that the last output did not reach, though it was walked backward."""
    from gradtrail.interp.graph import reach

    result = wrapper.state.get("result")
    if type(result) is not Tensor or result.node is None:
        return []
    walked = reach([result.node])
    if not walked.complete or not any(node.freed is not None for node in walked.nodes):
        return []
    found, complete = m.parameters_of(wrapper.attributes["module"])
    if not complete:
        return []
    return [
        (name, tensor)
        for name, tensor in found
        if tensor.requires == YES and tensor not in walked.leaves and not tensor.many
    ]


def _choosing_step(
    m: Any, module: Any, node: Any, frame: Frame, unused: list[tuple[str, Tensor]]
) -> tuple[Any, ...]:
    """Where the forward chose what to use: its return, as the place to look at."""
    import ast

    from gradtrail.interp.events import Step
    from gradtrail.interp.trails import SENTENCES
    from gradtrail.laws.text import text

    steps = [m.step_of(unused[0][1].origin, frame)]
    forward = (
        module.cls.find("forward") if type(module) is Instance and type(module.cls) is Class else MISSING
    )
    if type(forward) is Function and forward.open():
        for part in ast.walk(forward.node):
            if type(part) is ast.Subscript and type(part.value) is ast.Attribute:
                name = part.value.attr
                if any(path.startswith(name + ".") for path, _ in unused):
                    steps.append(
                        Step(
                            forward.space.source.place(part),
                            "read",
                            text(SENTENCES["read"], name=f"self.{name}"),
                        )
                    )
    return tuple(steps)


__all__ = ["Iterator", "batches", "forward_of_ddp"]
