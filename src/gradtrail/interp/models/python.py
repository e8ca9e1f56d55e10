"""Python itself: builtins, lists, dicts, strings, and the modules of the standard library that matter."""

from __future__ import annotations

from typing import Any

from gradtrail.interp import budget
from gradtrail.interp.expressions import Rest, SliceValue
from gradtrail.interp.frames import Frame, PathEnds
from gradtrail.interp.loops import Supply, key_of
from gradtrail.interp.models.registry import argument, calls, method
from gradtrail.interp.values import (
    BOOL,
    FLOAT,
    INT,
    MISSING,
    NUMBER,
    OPAQUE,
    PLAIN,
    STR,
    UNKNOWN,
    Array,
    Bound,
    Class,
    Function,
    Instance,
    Iterator,
    Library,
    Mapping,
    Partial,
    Range,
    Sequence,
    Some,
    Tensor,
    Unknown,
)

Args = list[Any]
Keywords = dict[str, Any]

BUILTINS = frozenset(
    """abs all any bool bytes callable chr classmethod complex delattr dict dir divmod enumerate eval exec filter
    float format frozenset getattr globals hasattr hash help hex id input int isinstance issubclass iter len list
    locals map max memoryview min next object oct open ord pow print property range repr reversed round set setattr
    slice sorted staticmethod str sum super tuple type vars zip __import__ bytearray breakpoint compile""".split()
)

EXCEPTIONS = frozenset(
    """Exception BaseException ValueError TypeError RuntimeError KeyError IndexError AttributeError StopIteration
    NotImplementedError ImportError OSError IOError FileNotFoundError AssertionError KeyboardInterrupt
    ModuleNotFoundError UserWarning DeprecationWarning Warning ArithmeticError OverflowError
    ZeroDivisionError SystemExit UnicodeDecodeError StopAsyncIteration RecursionError MemoryError EOFError
    LookupError NameError TimeoutError ConnectionError PermissionError FutureWarning RuntimeWarning""".split()
)

HARMLESS = frozenset(
    """os sys math time random json logging argparse pathlib re datetime collections itertools functools typing
    warnings io string subprocess shutil glob pickle csv tempfile uuid hashlib base64 struct platform socket
    threading abc enum dataclasses contextlib inspect types traceback textwrap pprint heapq bisect operator
    statistics decimal fractions numbers copy gc weakref tqdm rich yaml toml wandb tensorboard tensorboardX
    absl hydra omegaconf click fire gym gymnasium PIL cv2 requests psutil unittest pytest multiprocessing
    concurrent queue signal torchmetrics ctypes zipfile tarfile gzip urllib http getpass termcolor colorama tabulate""".split()
)
"""Libraries that do not change a tensor, a module or a flag that they are handed."""


NEED_ARGUMENT = frozenset(
    """all any enumerate filter getattr hasattr isinstance iter len map next reversed setattr sorted sum zip
    functools.reduce torch.utils.checkpoint.checkpoint""".split()
)
"""Functions that Python refuses, or that mean nothing to us, without a positional argument."""


def _len(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[0]) if args else UNKNOWN
    kind = type(value)
    if kind is Sequence:
        return len(value.items) if value.rest is MISSING else INT
    if kind is Mapping:
        return len(value.entries) if value.rest is MISSING else INT
    if kind is str:
        return len(value)
    if kind is Range:
        return INT if value.length is None else value.length
    if kind in (Tensor, Instance):
        answer = m.call_method(value, "__len__", [], {}, node, frame)
        return INT if type(answer) is Unknown else answer
    if kind is Array and value.shape and value.shape[0] is not None:
        return value.shape[0]
    return INT


def _range(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    parts = [m.settle(one) for one in args]
    if len(parts) == 1:
        return Range(0, parts[0], 1)
    if len(parts) == 2:
        return Range(parts[0], parts[1], 1)
    return Range(*parts) if len(parts) == 3 else UNKNOWN


def _pieces(m: Any, value: Any, node: Any, frame: Frame) -> tuple[tuple[Any, ...], Any]:
    """Items and supply of an iterable; everything unknown becomes a rest."""
    found = m.items_of(value, node, frame, supply=True)
    return ((), UNKNOWN) if found is None else found


def _enumerate(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[0])
    start = argument(args, keywords, 1, "start", 0)
    if type(value) is Iterator and value.generator is not None:
        result = Iterator((), MISSING, "enumerate")
        result.generator = (
            Sequence("tuple", (start + i if type(start) is int else INT, one))
            for i, one in enumerate(value.generator)
        )
        return result
    items, rest = _pieces(m, value, node, frame)
    pairs = tuple(
        Sequence("tuple", (start + i if type(start) is int else INT, one)) for i, one in enumerate(items)
    )
    if rest is MISSING:
        return Iterator(pairs, MISSING, "enumerate")
    counter = iter(range(len(items) + (start if type(start) is int else 0), 1 << 30))

    def make() -> Any:
        number = next(counter)
        return Sequence("tuple", (number if number < budget.ROUNDS_OF_LOOP else INT, m.supplied(rest)))

    return Iterator(pairs, Supply(make, counts=True), "enumerate")


def _zip(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    if any(type(one) is Rest for one in args):
        inner = args[0].value if len(args) == 1 else UNKNOWN
        found = m.items_of(inner, node, frame) if inner is not UNKNOWN else None
        if found is not None:
            return Iterator(
                (),
                Sequence(
                    "tuple",
                    (),
                    m.heap.joiner.all_of((*found[0], *(() if found[1] is MISSING else (found[1],)))),
                ),
                "zip",
            )
        return UNKNOWN
    columns = [_pieces(m, m.settle(one), node, frame) for one in args]
    if not columns:
        return Iterator()
    exact = [len(items) for items, rest in columns if rest is MISSING]
    if exact:
        length = min(exact)
        rows = []
        for index in range(length):
            row = []
            for items, rest in columns:
                row.append(items[index] if index < len(items) else m.supplied(rest))
            rows.append(Sequence("tuple", tuple(row)))
        return Iterator(tuple(rows), MISSING, "zip")
    length = min(len(items) for items, _ in columns)
    rows = [Sequence("tuple", tuple(items[index] for items, _ in columns)) for index in range(length)]

    def make() -> Any:
        return Sequence("tuple", tuple(m.supplied(rest) for _, rest in columns))

    return Iterator(tuple(rows), Supply(make), "zip")


def _list(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    kind = path if path in ("list", "tuple", "set") else "set" if path == "frozenset" else "list"
    origin = m.origin("written-down", node, frame)
    found = m.items_of(args[0], node, frame) if args else ((), MISSING)
    items, rest = ((), UNKNOWN) if found is None else found
    return Sequence(kind, items, rest, (), origin)


def _deque(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    made = _list(m, args[:1], {}, node, frame, path)
    if (args[1] if len(args) > 1 else keywords.get("maxlen")) is not None:
        made.origin = None  # it forgets: what is kept in it is no more than so many
        made.rest = made.rest if made.rest is not MISSING else UNKNOWN
        made.items = ()
    return made


def _dict(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    result = Mapping()
    result.arms = m.arms
    if args:
        value = m.settle(args[0])
        if type(value) is Mapping:
            result.entries.update(value.entries)
            result.rest = value.rest
        else:
            found = m.items_of(value, node, frame)
            if found is None:
                result.rest = UNKNOWN
            else:
                for pair in found[0]:
                    inner = m.items_of(pair, node, frame)
                    if inner is not None and len(inner[0]) == 2:
                        m.put_entry(result, inner[0][0], inner[0][1])
                    else:
                        result.rest = UNKNOWN
                if found[1] is not MISSING:
                    inner = m.items_of(found[1], node, frame)
                    result.rest = inner[0][1] if inner is not None and len(inner[0]) == 2 else UNKNOWN
    for key, value in keywords.items():
        if key == "**":
            result.rest = UNKNOWN
        else:
            result.entries[key] = value
    return result


def _defaultdict(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    result = Mapping(default=args[0] if args else MISSING, origin=m.origin("written-down", node, frame))
    result.arms = m.arms
    return result


def _iter(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[0])
    if type(value) is Iterator:
        return value
    items, rest = _pieces(m, value, node, frame)
    return Iterator(items, rest)


def _next(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[0])
    if type(value) is Iterator:
        if value.generator is not None:
            for item in value.generator:
                return item
            return args[1] if len(args) > 1 else UNKNOWN
        position = value.position
        if type(position) is int:
            if position < len(value.items):
                m.heap.put(value, "position", position + 1)
                return value.items[position]
            if value.rest is not MISSING:
                return m.supplied(value.rest)
            return args[1] if len(args) > 1 else UNKNOWN
        return UNKNOWN
    if type(value) is Instance:
        return m.call_method(value, "__next__", [], {}, node, frame)
    return UNKNOWN


def _isinstance(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    answer = m.is_instance(args[0], args[1]) if len(args) == 2 else None
    return BOOL if answer is None else answer


def _getattr(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[0])
    if len(args) > 1 and type(args[1]) is str:
        if type(value) is Library:
            return Library(f"{value.path}.{args[1]}")
        if type(value) is Instance and len(args) > 2 and not _has(m, value, args[1]):
            return (
                args[2]
                if not value.opened
                and type(value.cls) is Class
                and not value.cls.opaque
                and value.cls.library is None
                else UNKNOWN
            )
        return m.attribute(value, args[1], node, frame)
    return Unknown("some attribute", (value,)) if type(value) in (Instance, Tensor) else UNKNOWN


def _has(m: Any, value: Instance, name: str) -> bool:
    return name in value.attributes or (type(value.cls) is Class and value.cls.find(name) is not MISSING)


def _hasattr(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[0])
    if len(args) < 2 or type(args[1]) is not str or type(value) is not Instance:
        return BOOL
    if _has(m, value, args[1]):
        return True
    return False if _lacks(value, args[1]) else BOOL


def _lacks(value: Instance, name: str) -> bool:
    """Whether a layer of torch.nn that holds no parameters certainly has no weight and no bias."""
    law = value.state.get("law")
    if type(value.cls) is not Library or value.opened or value.registered or law is None:
        return False
    return name in ("weight", "bias") and law.kind not in ("loss", "layer") and not law.parameters


def _setattr(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[0])
    if len(args) == 3 and type(args[1]) is str:
        m.set_attribute(value, args[1], m.settle(args[2]), node, frame)
    elif type(value) in (Instance, Tensor):
        m.touch(Unknown("set under some name", (value,)))
        if len(args) == 3:  # whoever goes through the attributes finds it there
            m.touch(Unknown("kept under some name", (m.settle(args[2]),)))
    return None


def _sum(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    found = m.items_of(args[0], node, frame)
    if found is None:
        return UNKNOWN
    items, rest = found
    total = argument(args, keywords, 1, "start", 0)
    import ast

    for item in (*items, *(() if rest is MISSING else (rest,))):
        total = m.binary(ast.Add, total, m.settle(item), node, frame)
    return total


def _extreme(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    values: Any = args
    if len(args) == 1:
        found = m.items_of(args[0], node, frame)
        if found is None or found[1] is not MISSING:
            return (
                UNKNOWN
                if found is None
                else found[1]
                if not found[0]
                else m.heap.joiner.all_of((*found[0], found[1]))
            )
        values = found[0]
    if values and not keywords and all(type(one) in (int, float) for one in values):
        return min(values) if path == "min" else max(values)
    if any(type(one) is Unknown or type(one) is Rest for one in values) or not values:
        return UNKNOWN
    return m.heap.joiner.all_of(tuple(values))


def _number(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[0]) if args else 0
    if type(value) in (int, float, bool, str):
        try:
            return {"int": int, "float": float, "bool": bool}[path](value)
        except (ValueError, OverflowError):
            return UNKNOWN
    if path == "bool":
        answer = m.truth(value)
        return BOOL if answer is None else answer
    if type(value) is Instance:
        m.call_method(value, f"__{path}__", [], {}, node, frame)
    if type(value) is Tensor:
        m.note_number(value, f"{path}()", node, frame)
    return INT if path == "int" else FLOAT


def _str(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = args[0] if args else ""
    _text_of(m, m.settle(value), node, frame)
    return str(value) if type(value) in (int, str, bool) else STR


def _sorted(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    found = m.items_of(args[0], node, frame)
    if found is None:
        return Sequence("list", (), UNKNOWN)
    items, rest = found
    if rest is MISSING and not keywords and all(type(one) is str or type(one) is int for one in items):
        try:
            return Sequence("list", tuple(sorted(items)))
        except TypeError:
            return Sequence("list", (), UNKNOWN)
    if path == "reversed" and rest is MISSING:
        return Iterator(tuple(reversed(items)))
    if rest is MISSING and not keywords:
        pairs = [one for one in items if type(one) is Sequence and one.items and type(one.items[0]) is str]
        if len(pairs) == len(items):
            return Sequence("list", tuple(sorted(items, key=lambda one: one.items[0])))
    joined = m.heap.joiner.all_of((*items, *(() if rest is MISSING else (rest,))))
    return Sequence("list", (), joined) if joined is not MISSING else Sequence("list")


def _map(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    if len(args) < 2:
        return UNKNOWN
    found = m.items_of(args[1], node, frame)
    if found is None or len(args) > 2:
        return Iterator((), UNKNOWN)
    if path == "filter":
        kept, unsure, dropped = [], [], []
        for item in found[0]:
            answer = m.truth(item if args[0] is None else m.call(args[0], [item], {}, node, frame))
            if answer is None:
                unsure.append(item)
            elif answer:
                kept.append(item)
            else:
                dropped.append(item)
        rest = m.heap.joiner.all_of((*unsure, *(() if found[1] is MISSING else (found[1],))))
        return Iterator(tuple(kept), rest, "filter", None if kept else _frozen_at(dropped))
    items = tuple(m.call(args[0], [item], {}, node, frame) for item in found[0])
    rest = found[1] if found[1] is MISSING else m.call(args[0], [found[1]], {}, node, frame)
    return Iterator(items, rest, "map")


def _frozen_at(values: list[Any]) -> Any:
    """Where one of some tensors was frozen: why a filter lets none of them pass."""
    steps = (
        step for value in values if type(value) is Tensor for step in value.steps if step.kind == "frozen"
    )
    return next(steps, None)


def _print(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    for value in args:
        _text_of(m, m.settle(value), node, frame)
    return None


def _text_of(m: Any, value: Any, node: Any, frame: Frame) -> None:
    """`str(value)`: the class of the project is asked for it."""
    if type(value) is Instance and type(value.cls) is Class:
        for name in ("__str__", "__repr__"):
            if type(value.cls.find(name)) is Function:
                m.call_method(value, name, [], {}, node, frame)
                return


def _any(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    found = m.items_of(args[0], node, frame)
    if found is None or found[1] is not MISSING:
        return BOOL
    answers = [m.truth(one) for one in found[0]]
    if path == "any":
        return True if True in answers else BOOL if None in answers else False
    return False if False in answers else BOOL if None in answers else True


def _type(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[0]) if len(args) == 1 else UNKNOWN
    if type(value) is Instance:
        return value.cls
    if type(value) is Tensor:
        return Library("torch.Tensor") if value.parameter is False else UNKNOWN
    if type(value) in (int, float, str, bool):
        return Library(type(value).__name__)
    return UNKNOWN


def _constant(value: Any) -> Any:
    def run(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
        return value

    return run


def _vars(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[0]) if args else UNKNOWN
    if path == "vars" and type(value) is Instance:
        return m.attribute(value, "__dict__", node, frame)
    return Mapping({}, UNKNOWN)


def _abs(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    value = m.settle(args[0]) if args else UNKNOWN
    if type(value) in (int, float):
        if path == "abs":
            return abs(value)
        try:
            return round(value) if len(args) == 1 else FLOAT
        except (OverflowError, ValueError):  # of infinity, of what is not a number
            return UNKNOWN
    if type(value) is Tensor:
        return m.apply(path, [value], {}, node, frame)
    return NUMBER if type(value) is Some else UNKNOWN


def _slice(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    parts = args if len(args) > 1 else [None, *args]
    return SliceValue(*([*list(parts), None, None, None])[:3])


_BUILTIN_CALLS: dict[str, Any] = {
    "len": _len, "range": _range, "enumerate": _enumerate, "zip": _zip, "list": _list, "tuple": _list, "set": _list,
    "frozenset": _list, "dict": _dict, "iter": _iter, "next": _next, "isinstance": _isinstance, "getattr": _getattr,
    "hasattr": _hasattr, "setattr": _setattr, "sum": _sum, "min": _extreme, "max": _extreme, "int": _number,
    "float": _number, "bool": _number, "str": _str, "repr": _constant(STR), "format": _constant(STR),
    "sorted": _sorted, "reversed": _sorted, "map": _map, "filter": _map, "print": _print, "any": _any, "all": _any,
    "type": _type, "callable": _constant(BOOL), "id": _constant(INT), "hash": _constant(INT), "ord": _constant(INT),
    "chr": _constant(STR), "abs": _abs, "round": _abs, "vars": _vars, "globals": _vars, "locals": _vars,
    "input": _constant(STR), "open": _constant(OPAQUE), "slice": _slice, "issubclass": _constant(BOOL),
    "pow": _constant(UNKNOWN), "divmod": _constant(UNKNOWN), "object": _constant(OPAQUE),
}  # fmt: skip

for _name, _handler in _BUILTIN_CALLS.items():
    calls(_name)(_handler)

calls("collections.OrderedDict")(_dict)
calls("collections.defaultdict")(_defaultdict)
calls("collections.deque")(_deque)
calls("tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "rich.progress.track", "tqdm.trange")(
    lambda m, args, keywords, node, frame, path: (
        _range(m, args, keywords, node, frame, path)
        if path.endswith("trange")
        else args[0]
        if args
        else keywords.get("iterable", UNKNOWN)
    )
)


@calls("itertools.chain", "itertools.chain.from_iterable")
def chain(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """One iterator over several iterables; a tensor among them gives its rows."""
    values: Any = args
    if path.endswith("from_iterable"):
        found = m.items_of(args[0], node, frame) if args else None
        if found is None or found[1] is not MISSING:
            return Iterator((), UNKNOWN)
        values = found[0]
    items: list[Any] = []
    rest: Any = MISSING
    for value in values:
        if type(value) is Rest:
            found = m.items_of(value.value, node, frame)
        else:
            found = m.items_of(m.settle(value), node, frame)
        more, tail = ((), UNKNOWN) if found is None else found
        items.extend(more)
        if tail is not MISSING:
            rest = tail if rest is MISSING else m.join(rest, tail)
    if len(items) > budget.ITEMS_TOGETHER:
        rest = m.heap.joiner.all_of((*items, *(() if rest is MISSING else (rest,))))
        items = []
    return Iterator(tuple(items), rest, "itertools.chain")


@calls("itertools.islice", "itertools.cycle")
def islice(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return args[0] if args else UNKNOWN


@calls("itertools.count")
def count(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return Range(0, UNKNOWN, 1)


@calls("functools.partial")
def partial(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return Partial(args[0], tuple(args[1:]), dict(keywords)) if args else UNKNOWN


@calls("functools.reduce")
def reduce(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    found = m.items_of(args[1], node, frame) if len(args) > 1 else None
    if found is None or found[1] is not MISSING:
        return UNKNOWN
    values = list(found[0])
    total = args[2] if len(args) > 2 else (values.pop(0) if values else UNKNOWN)
    for value in values:
        total = m.call(args[0], [total, value], {}, node, frame)
    return total


@calls("functools.wraps")
def wraps(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return OPAQUE


@calls("functools.lru_cache", "functools.cache")
def cached(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    return args[0] if args and type(args[0]) is Function else OPAQUE


@calls("sys.exit", "os._exit", "exit", "quit", "os.abort")
def leave(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    raise PathEnds


def _plain_object(m: Any, path: str, node: Any, frame: Frame) -> Instance:
    return Instance(
        Library(path), path, m.serial(), m.origin("made", node, frame, cls=path.rpartition(".")[2])
    )


@calls("types.SimpleNamespace", "argparse.Namespace")
def namespace(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """An object whose attributes are the keywords of the call."""
    if args or "**" in keywords:
        return UNKNOWN
    result = _plain_object(m, "types.SimpleNamespace", node, frame)
    result.attributes.update(keywords)
    return result


@calls("argparse.ArgumentParser")
def parser(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    result = _plain_object(m, path, node, frame)
    result.state["defaults"] = {}
    return result


@method("argparse.ArgumentParser", "add_argument")
def add_argument(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """One more option: its name, and what it is when the command line does not give it."""
    known, flags = args[0].state.get("defaults"), args[1:]
    if known is None:  # a class of the program, with an `__init__` that was not followed
        return OPAQUE
    name = keywords.get("dest")
    if name is None and flags and all(type(one) is str for one in flags):
        longest = next((one for one in flags if one.startswith("--")), flags[0])
        name = longest.lstrip("-").replace("-", "_")
    if type(name) is not str:
        m.heap.put(args[0], "opened", True)
        return OPAQUE
    action = keywords.get("action", "store")
    absent = {"store_true": False, "store_false": True}.get(action) if type(action) is str else UNKNOWN
    optional = bool(flags) and type(flags[0]) is str and flags[0].startswith("-")
    m.heap.put(known, name, keywords.get("default", absent) if optional else UNKNOWN)
    return OPAQUE


@method("argparse.ArgumentParser", "add_argument_group", "add_mutually_exclusive_group")
def argument_group(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """A group hands its options to the parser."""
    return args[0]


@method("argparse.ArgumentParser", "set_defaults")
def set_defaults(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    known = args[0].state.get("defaults")
    if known is not None:  # else a class of the program, with an `__init__` that was not followed
        for name, value in keywords.items():
            m.heap.put(known, name, value)
    return None


@method("argparse.ArgumentParser", "parse_args")
def parse_args(m: Any, args: Args, keywords: Keywords, node: Any, frame: Frame, path: str) -> Any:
    """An empty list of words gives every option its default; what the command line gives is not known."""
    words = m.settle(argument(args, keywords, 1, "args"))
    parsed = args[0]
    if parsed.opened or type(words) is not Sequence or words.items or words.rest is not MISSING:
        return UNKNOWN
    result = _plain_object(m, "types.SimpleNamespace", node, frame)
    result.attributes.update(parsed.state.get("defaults", {}))
    return result


def object_method(
    m: Any, receiver: Any, name: str, args: Args, keywords: Keywords, node: Any, frame: Frame
) -> Any:
    """A method of a list, dict, string, iterator, array or anything else that is not a tensor or an object."""
    kind = type(receiver)
    if kind is Sequence:
        return _sequence_method(m, receiver, name, args, keywords, node, frame)
    if kind is Mapping:
        return _mapping_method(m, receiver, name, args, keywords, node, frame)
    if kind is str or receiver is STR:
        return _string_method(m, receiver, name, args)
    if kind is Iterator:
        if name == "__next__":
            return _next(m, [receiver], {}, node, frame, "next")
        return receiver if name == "__iter__" else UNKNOWN
    if kind is Range:
        if name == "__getitem__":
            return INT
        return UNKNOWN
    if kind in PLAIN or kind is Some:
        if kind is Some and receiver.type == "object":
            return OPAQUE if name not in ("__getitem__",) else UNKNOWN
        if name in ("item", "conjugate", "__neg__"):
            return NUMBER
        return _some_method(receiver, name, args)
    return m.call_unknown(args, keywords)


def _some_method(receiver: Any, name: str, args: Args) -> Any:
    if name.startswith("__i") and args:
        number = {"int": INT, "float": FLOAT}
        kinds = [
            type(one).__name__ if type(one) in PLAIN else one.type if type(one) is Some else ""
            for one in (receiver, args[0])
        ]
        if type(receiver) in (int, float) and type(args[0]) in (int, float):
            import operator

            compute = {"__iadd__": operator.add, "__isub__": operator.sub, "__imul__": operator.mul}.get(name)
            if compute is not None:
                return compute(receiver, args[0])
        if "" in kinds:
            return UNKNOWN
        if set(kinds) <= {"int", "bool"} and name != "__itruediv__":
            return INT
        if "str" in kinds:
            return STR
        return FLOAT if set(kinds) <= {"int", "float", "bool"} else number.get(kinds[0], NUMBER)
    return UNKNOWN


def _sequence_method(
    m: Any, value: Sequence, name: str, args: Args, keywords: Keywords, node: Any, frame: Frame
) -> Any:
    put = m.heap.put
    exact = value.rest is MISSING
    first = args[0] if args else UNKNOWN
    if name in ("append", "add", "appendleft"):
        _note_kept(m, first, value, node, frame)
        if (
            exact
            and len(value.items) < budget.ITEMS_OF_SEQUENCE
            and not (value.kind == "set" and first in value.items)
        ):
            put(value, "items", (*value.items, first) if name != "appendleft" else (first, *value.items))
        elif not exact:
            put(value, "rest", m.join(value.rest, first))
        else:
            put(value, "rest", first)
        return None
    if name in ("extend", "__iadd__", "update"):
        found = m.items_of(first, node, frame)
        for item in () if found is None else found[0]:
            _note_kept(m, item, value, node, frame)
        if found is None:
            put(value, "rest", UNKNOWN)
        elif exact and len(value.items) + len(found[0]) < budget.ITEMS_OF_SEQUENCE:
            put(value, "items", value.items + found[0])
            if found[1] is not MISSING:
                put(value, "rest", found[1])
        else:
            put(
                value,
                "rest",
                m.heap.joiner.all_of(
                    (
                        *(() if exact else (value.rest,)),
                        *found[0],
                        *(() if found[1] is MISSING else (found[1],)),
                    )
                ),
            )
        return value if name == "__iadd__" else None
    if name == "__getitem__":
        return _get_from_sequence(m, value, m.settle(first), node, frame)
    if name == "__setitem__":
        key, new = first, args[1] if len(args) > 1 else UNKNOWN
        _note_kept(m, new, value, node, frame)
        if type(key) is int and exact and -len(value.items) <= key < len(value.items):
            items = list(value.items)
            items[key] = new
            put(value, "items", tuple(items))
        else:
            put(value, "items", tuple(m.join(one, new) for one in value.items))
            if not exact:
                put(value, "rest", m.join(value.rest, new))
        return None
    if name in ("pop", "popleft"):
        if exact and value.items and (not args or type(first) is int):
            index = (0 if name == "popleft" else -1) if not args else first
            if -len(value.items) <= index < len(value.items):
                items = list(value.items)
                item = items.pop(index)
                put(value, "items", tuple(items))
                return item
        return UNKNOWN if exact else m.heap.joiner.all_of((*value.items, value.rest))
    if name == "clear":
        put(value, "items", ())
        put(value, "rest", MISSING)
        return None
    if name in ("insert", "remove", "__delitem__", "discard"):
        if name == "insert" and len(args) > 1:
            if exact and type(first) is int:
                items = list(value.items)
                items.insert(first, args[1])
                put(value, "items", tuple(items))
            else:
                put(value, "rest", m.join(value.rest, args[1]))
        else:
            everything = m.heap.joiner.all_of((*value.items, *(() if exact else (value.rest,))))
            put(value, "items", ())
            put(value, "rest", everything)
        return None
    if name in ("reverse",) and exact:
        put(value, "items", tuple(reversed(value.items)))
        return None
    if name == "sort":
        if not exact or keywords or not all(type(one) in (int, float, str) for one in value.items):
            everything = m.heap.joiner.all_of((*value.items, *(() if exact else (value.rest,))))
            if everything is not MISSING:
                put(value, "items", ())
                put(value, "rest", everything)
        return None
    if name == "__add__":
        other = m.settle(first)
        if type(other) is Sequence:
            if exact and len(value.items) + len(other.items) <= budget.ITEMS_TOGETHER:
                return Sequence(value.kind, value.items + other.items, other.rest)
            return Sequence(
                value.kind,
                (),
                m.heap.joiner.all_of(
                    (
                        *value.items,
                        *(() if exact else (value.rest,)),
                        *other.items,
                        *(() if other.rest is MISSING else (other.rest,)),
                    )
                ),
            )
        return Sequence(value.kind, (), UNKNOWN)
    if name in ("__mul__", "__imul__"):
        if exact and type(first) is int and 0 <= first * max(len(value.items), 1) <= budget.ITEMS_OF_SEQUENCE:
            return Sequence(value.kind, value.items * first)
        everything = m.heap.joiner.all_of((*value.items, *(() if exact else (value.rest,))))
        return Sequence(value.kind, (), everything)
    if name == "copy":
        return Sequence(value.kind, value.items, value.rest)
    if name == "numel" and value.kind == "size":
        product = 1
        for item in value.items:
            if type(item) is not int or not exact:
                return INT
            product *= item
        return product
    if name in ("index", "count", "__len__"):
        return len(value.items) if name == "__len__" and exact else INT
    if name in ("__contains__", "isdisjoint", "issubset"):
        return BOOL
    if name in ("union", "difference", "intersection", "__or__", "__and__", "__sub__", "__xor__"):
        return Sequence("set", (), UNKNOWN)
    if name in {"_replace", "_asdict"}:
        return UNKNOWN
    return UNKNOWN


def _note_kept(m: Any, value: Any, container: Any, node: Any, frame: Frame) -> None:
    """A tensor is put into a container: its trail may tell. A layer is kept there."""
    if type(value) is Instance:
        m.heap.put(value.state, "held", True)
    if type(value) is Tensor:
        origin = m.origin("appended", node, frame)
        m.note(value, origin)
        m.note_kept(value, container, origin, frame)
    elif type(value) is Sequence and value.kind == "tuple":
        for item in value.items:
            _note_kept(m, item, container, node, frame)
    elif type(value) is Mapping:
        for item in value.entries.values():
            _note_kept(m, item, container, node, frame)


def _get_from_sequence(m: Any, value: Sequence, key: Any, node: Any, frame: Frame) -> Any:
    exact = value.rest is MISSING
    if type(key) is bool:
        key = int(key)
    if type(key) is int:
        if exact and -len(value.items) <= key < len(value.items):
            return value.items[key]
        if not exact and 0 <= key < len(value.items):
            return value.items[key]
        if exact:
            return UNKNOWN
        return value.rest if key >= 0 else m.heap.joiner.all_of((*value.items, value.rest))
    if type(key) is SliceValue:
        part = key.known()
        if part is not None and exact:
            return Sequence(value.kind if value.kind != "namedtuple" else "tuple", value.items[part])
        everything = m.heap.joiner.all_of((*value.items, *(() if exact else (value.rest,))))
        return Sequence(value.kind, (), everything)
    everything = m.heap.joiner.all_of((*value.items, *(() if exact else (value.rest,))))
    return UNKNOWN if everything is MISSING else everything


def _mapping_method(
    m: Any, value: Mapping, name: str, args: Args, keywords: Keywords, node: Any, frame: Frame
) -> Any:
    put = m.heap.put
    exact = value.rest is MISSING
    first = args[0] if args else UNKNOWN
    key = key_of(first)
    if name in ("__getitem__", "get", "setdefault", "pop"):
        if key is not MISSING and key in value.entries:
            found = value.entries[key]
            if name == "pop":
                put(value.entries, key, MISSING)
            return found
        if name == "setdefault" and len(args) > 1 and type(args[1]) is Sequence:
            args[1].origin = value.origin  # it lives as long as what it is put into
        if name == "setdefault" and key is not MISSING and exact:
            made = args[1] if len(args) > 1 else None
            put(value.entries, key, made)
            return made
        if name == "setdefault":
            made = args[1] if len(args) > 1 else None
            known = m.heap.joiner.all_of((*value.entries.values(), value.rest))
            m.put_entry(value, first, made)
            return m.join(known, made)
        if name == "__getitem__" and value.default is not MISSING:
            made = m.call(value.default, [], {}, node, frame)
            if type(made) is Sequence:
                made.origin = value.origin  # the program wrote down no other place
            m.put_entry(value, first, made)
            return made
        if key is not MISSING and exact:
            return args[1] if len(args) > 1 else None if name == "get" else UNKNOWN
        known = (
            [*value.entries.values(), *(() if exact else (value.rest,))] if key is MISSING else [value.rest]
        )
        joined = m.heap.joiner.all_of(tuple(known))
        return UNKNOWN if joined is MISSING else joined
    if name == "__setitem__":
        new = args[1] if len(args) > 1 else UNKNOWN
        _note_kept(m, new, value, node, frame)
        m.put_entry(value, first, new)
        return None
    if name == "update":
        other = m.settle(first) if args else Mapping()
        if type(other) is Mapping:
            for one, item in list(other.entries.items()):
                put(value.entries, one, item)
            if other.rest is not MISSING:
                put(value, "rest", other.rest if exact else m.join(value.rest, other.rest))
        else:
            put(value, "rest", UNKNOWN)
        for one, item in keywords.items():
            put(value.entries, one, item)
        return None
    if name == "items":
        pairs = tuple(Sequence("tuple", (_key_value(one), item)) for one, item in value.entries.items())
        return Sequence("list", pairs, MISSING if exact else Sequence("tuple", (UNKNOWN, value.rest)))
    if name == "keys":
        return Sequence(
            "list", tuple(_key_value(one) for one in value.entries), MISSING if exact else UNKNOWN
        )
    if name == "values":
        sure = tuple(item for one, item in value.entries.items() if one not in value.perhaps)
        others = [item for one, item in value.entries.items() if one in value.perhaps]
        return Sequence("list", sure, m.heap.joiner.all_of((*others, value.rest)) if others else value.rest)
    if name == "copy":
        copied = Mapping(dict(value.entries), value.rest, value.default)
        copied.perhaps, copied.arms = value.perhaps, m.arms
        return copied
    if name == "clear":
        for one in list(value.entries):
            put(value.entries, one, MISSING)
        put(value, "rest", MISSING)
        return None
    if name == "__delitem__":
        if key is not MISSING:
            put(value.entries, key, MISSING)
        return None
    if name in ("__or__", "__ior__"):
        other = m.settle(first)
        if type(other) is Mapping:
            return Mapping(
                {**value.entries, **other.entries}, value.rest if other.rest is MISSING else other.rest
            )
        return Mapping({}, UNKNOWN)
    if name == "__contains__":
        return key in value.entries if key is not MISSING and exact else BOOL
    if name == "__len__":
        return len(value.entries) if exact else INT
    return UNKNOWN


def _key_value(key: Any) -> Any:
    """A key of `Mapping.entries` as a value again."""
    if type(key) is tuple:
        if len(key) == 2 and key[0] == "library":
            return Library(key[1])
        return Sequence("tuple", tuple(_key_value(one) for one in key))
    return key


_LONGEST_STRINGS = 1_000
"""Strings that are longer together are not worked on: a program may make them grow without end."""

_TOLD_STRING_METHODS = frozenset(
    """find rfind count startswith endswith isdigit isalpha isupper islower lower upper strip lstrip rstrip
    removeprefix removesuffix title capitalize replace split rsplit splitlines __contains__ __len__""".split()
)
"""Methods of a string whose result is worked out when it and all arguments are known."""


def _length(values: tuple[Any, ...]) -> int:
    return sum(len(one) for one in values if type(one) is str)


def _string_method(m: Any, value: Any, name: str, args: Args) -> Any:
    plain = type(value) is str and all(type(one) in (str, int) for one in args)
    if name in _TOLD_STRING_METHODS and plain and _length((value, *args)) <= _LONGEST_STRINGS:
        try:
            told = getattr(value, name)(*args)
        except (TypeError, ValueError, OverflowError, MemoryError):
            return UNKNOWN
        return Sequence("list", tuple(told[: budget.ITEMS_OF_SEQUENCE])) if type(told) is list else told
    if name in ("startswith", "endswith", "isdigit", "__contains__", "isalpha", "isupper", "islower"):
        return BOOL
    if name in ("split", "splitlines", "rsplit"):
        return Sequence("list", (), STR)
    if name in ("find", "index", "count", "rfind", "__len__"):
        return INT
    if (
        name == "__getitem__"
        and type(value) is str
        and args
        and type(args[0]) is int
        and -len(value) <= args[0] < len(value)
    ):
        return value[args[0]]
    if name == "encode":
        return UNKNOWN
    return STR


__all__ = ["BUILTINS", "EXCEPTIONS", "HARMLESS", "Bound", "object_method"]
