"""Functions, classes and objects of the program: how they are made, called, read and written."""

from __future__ import annotations

import ast
from typing import Any

from gradtrail.interp import budget
from gradtrail.interp.expressions import Expressions, Rest, SliceValue
from gradtrail.interp.frames import NORMAL, RETURN, Exits, Frame, PathEnds, returns_within
from gradtrail.interp.loops import Suspended, has_yield
from gradtrail.interp.statements import Lazy
from gradtrail.interp.values import (
    FREE,
    MISSING,
    NON_LEAF,
    OPAQUE,
    PLAIN,
    UNKNOWN,
    YES,
    Bound,
    Class,
    Device,
    Dtype,
    Function,
    Instance,
    Iterator,
    Library,
    Mapping,
    Module,
    Node,
    OneOf,
    Partial,
    Range,
    Sequence,
    Some,
    Super,
    Tensor,
    Unknown,
)

_DEVICE_NAMES = frozenset(("device", "dev", "DEVICE", "torch_device", "device_type"))

_KEEPING_DECORATORS = frozenset(
    (
        "hydra.main", "click.command", "click.option", "click.argument", "click.group", "pytest.fixture",
        "pytest.mark.parametrize", "functools.wraps", "functools.lru_cache", "functools.cache", "abc.abstractmethod",
        "torch.jit.export", "torch.jit.ignore", "torch.jit.unused", "torch.jit.script", "torch.compile",
        "typing.overload", "typing.override", "typing_extensions.override", "typing.no_type_check",
        "torch.jit.script_method", "torch._dynamo.disable", "torch.compiler.disable", "numba.jit", "numba.njit",
        "functools.singledispatch", "atexit.register", "torch.cuda.amp.custom_fwd", "torch.cuda.amp.custom_bwd",
        "torch.amp.custom_fwd", "torch.amp.custom_bwd", "contextlib.asynccontextmanager",
    )
)  # fmt: skip
"""Decorators of libraries that leave the decorated function's grad mode as it is."""


def is_generator(function: Function) -> bool:
    """Whether a function yields; remembered on its node."""
    node = function.node
    known = getattr(node, "gradtrail_generates", None)
    if known is None:
        known = function.space.yields_in(node) and any(has_yield(one) for one in node.body)
        node.gradtrail_generates = known
    return bool(known)


_CHANGING = frozenset(
    """to cuda cpu xpu half double float bfloat16 type train eval apply load_state_dict backward retain_grad
    parameters named_parameters modules named_modules children named_children add_module register_parameter
    register_buffer append extend insert __setitem__ __iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__
    update clear remove pop popitem __delitem__ _apply __ipow__ __imatmul__ __iand__ __ior__ __ixor__ __ilshift__ __irshift__""".split()
)


_HANDS_OUT = frozenset("__getitem__ get values items pop popitem setdefault copy __iter__".split())
"""Methods of a container that give what it holds."""


def _is_descriptor(member: Any) -> bool:
    """Whether a member of a class is an object of the program that answers when it is read or set."""
    return (
        type(member) is Instance
        and type(member.cls) is Class
        and any(member.cls.find(name) is not MISSING for name in ("__get__", "__set__"))
    )


def _answers_by_itself(cls: Class) -> bool:
    """Whether attributes of a class are not what was stored: a `__getattribute__`, a dict read by attribute."""
    if cls.find("__getattribute__") is not MISSING:
        return True
    mapping = cls.library in (
        "dict",
        "collections.OrderedDict",
        "collections.UserDict",
        "collections.defaultdict",
    )
    return mapping and cls.find("__getattr__") is not MISSING


def _changes(method: str) -> bool:
    """Whether a method may change a tensor or module in place."""
    return method in _CHANGING or (method.endswith("_") and not method.endswith("__"))


def _is_from_outside(value: Any) -> bool:
    """Whether nothing that the program has made lies in an argument."""
    kind = type(value)
    if kind is Unknown:
        return value is FREE or value is MISSING
    if kind is Sequence:
        return all(map(_is_from_outside, (*value.items, value.rest)))
    if kind is Mapping:
        return all(map(_is_from_outside, (*value.entries.values(), value.rest)))
    return kind in PLAIN or kind in (Device, Dtype, Library, Some, Range, SliceValue)


def _without_fields(base: Any) -> bool:
    """Whether a base class that is not the program's own adds no fields to a dataclass."""
    return type(base) is Library and base.path.startswith(("object", "typing.", "abc.", "torch.nn.", "enum."))


def _is_left_out(default: Any) -> bool:
    """Whether a field is declared with options that take it out of `__init__` or out of its order."""
    return type(default) is ast.Call and any(one.arg in ("init", "kw_only") for one in default.keywords)


class Calls(Expressions):
    """Calls into the program's own functions and classes."""

    # Functions

    def make_function(self, node: Any, frame: Frame) -> Function:
        """The function that a `def` or `lambda` makes."""
        home = frame if frame.owner is None or frame.function is not None else frame.scope
        scope = home if home is not None and (home.function is not None or home.scope is not None) else None
        if scope is None and frame.function is not None:
            scope = frame
        reader = scope
        while reader is not None and not reader.captured:
            reader.captured = True
            reader = reader.scope
        function = Function(getattr(node, "name", "<lambda>"), node, frame.space, scope)
        arguments = node.args
        positional = arguments.posonlyargs + arguments.args
        for parameter, default in zip(
            positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=False
        ):
            function.defaults[parameter.arg] = self.evaluate(default, frame)
        for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=False):
            if default is not None:
                function.defaults[parameter.arg] = self.evaluate(default, frame)
        if (frame.owner is not None and frame.function is None) or (
            frame.owner is not None and frame.names is frame.owner.members
        ):
            function.owner = frame.owner
        if frame.function is None and frame.owner is None and type(node) is not ast.Lambda:
            frame.space.functions.append(function)
        return function

    def decorated(self, function: Function, node: Any, frame: Frame) -> Any:
        """What the name of a decorated function is bound to."""
        value: Any = function
        for decorator in reversed(node.decorator_list):
            if type(value) is not Function:
                value = UNKNOWN
                break
            value = self._decorate(value, self.evaluate(decorator, frame), decorator, frame)
        return value

    def _decorate(self, function: Function, decorator: Any, node: Any, frame: Frame) -> Any:
        kind = type(decorator)
        if kind is Library:
            return self._library_decorator(function, decorator.path)
        if kind is Instance and decorator.library in (
            "torch.no_grad",
            "torch.enable_grad",
            "torch.inference_mode",
            "torch.set_grad_enabled",
        ):
            function.mode = (decorator.library.rpartition(".")[2], decorator.state.get("mode"))
            return function
        if (
            kind is Bound
            and type(decorator.receiver) is Function
            and decorator.method in ("setter", "getter", "deleter")
        ):
            if decorator.method == "setter":
                function.kind = "setter"
                decorator.receiver.attributes["setter"] = function
                return decorator.receiver
            return function
        if kind in (Function, Partial, Instance, Bound, Class) and not (
            kind is Instance and type(decorator.cls) is Library
        ):
            return self.call(decorator, [function], {}, node, frame)
        if kind is Some or (kind is Instance and decorator.library is None):
            return function
        function.mode = ("unknown", None)
        return function

    def _library_decorator(self, function: Function, path: str) -> Any:
        if path == "staticmethod":
            function.kind = "static"
        elif path == "classmethod":
            function.kind = "class"
        elif path in ("property", "abc.abstractproperty"):
            function.kind = "property"
        elif path == "functools.cached_property":
            function.kind = "cached"
        elif path == "contextlib.contextmanager":
            function.wrapper = "contextmanager"
        elif path in ("torch.no_grad", "torch.inference_mode", "torch.enable_grad"):
            function.mode = (path.rpartition(".")[2], True)
        elif path.endswith("once_differentiable"):
            function.once = True
        elif path not in _KEEPING_DECORATORS and not path.startswith(("pytest.", "click.", "typing.")):
            function.mode = ("unknown", None)
        return function

    def call(self, function: Any, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame) -> Any:
        """`function(*args, **keywords)`."""
        kind = type(function)
        if kind is Function:
            return self.call_function(function, args, keywords, node, frame)
        if kind is Library:
            return self.call_library(function.path, args, keywords, node, frame)
        if kind is Class:
            return self.instantiate(function, args, keywords, node, frame)
        if kind is Bound:
            if type(function.method) is Function:
                return self.call_function(function.method, [function.receiver, *args], keywords, node, frame)
            return self.call_method(function.receiver, function.method, args, keywords, node, frame)
        if kind is Instance:
            return self.call_method(function, "__call__", args, keywords, node, frame)
        if kind is Partial:
            merged = {**function.keywords, **keywords}
            return self.call(function.function, [*function.args, *args], merged, node, frame)
        if kind is OneOf:
            function = self.settle(function)
            if type(function) is not OneOf:
                return self.call(function, args, keywords, node, frame)
            return self.fork_values(
                function.values, lambda one: self.call(one, args, keywords, node, frame), frame
            )
        if type(function) is Unknown:
            # One of the methods of an object, it is not known which; with a tensor, rather one of its layers.
            method = not any(type(value) is Tensor for value in (*args, *keywords.values()))
            for one in function.either:
                if type(one) is Instance and (method or one.library is None):
                    self.open_up(one)
        return self.call_unknown([function, *args], keywords)

    def call_unknown(self, args: list[Any], keywords: dict[str, Any]) -> Any:
        """A call of something that is not known: what it is handed may differ afterwards."""
        for value in args:
            self.open_up(value.value if type(value) is Rest else value)
        for value in keywords.values():
            self.open_up(value)
        return FREE if all(map(_is_from_outside, (*args, *keywords.values()))) else UNKNOWN

    def call_library(
        self, path: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        raise NotImplementedError

    def call_function(
        self,
        function: Function,
        args: list[Any],
        keywords: dict[str, Any],
        node: Any,
        frame: Frame,
        owner: Any = None,
    ) -> Any:
        """Call a function of the program: its body is walked with these arguments."""
        function.called = True
        self.step()
        if function.active >= budget.DEPTH_OF_OPEN_RECURSION:
            known = any(type(value) is int for value in args)
            if not known or function.active >= budget.DEPTH_OF_RECURSION:
                return self.call_unknown([function, *args], keywords)
        if frame.depth >= budget.DEPTH_OF_CALLS:
            self.tell_limit("depth", function.name, depth=budget.DEPTH_OF_CALLS)
            return self.call_unknown([function, *args], keywords)
        if not function.open():
            return self.call_unknown([function, *args], keywords)
        inner = Frame({}, function.space, function.scope, frame, node)
        inner.time = self.count
        inner.function = function
        inner.owner = function.owner if function.owner is not None else owner
        self.bind_parameters(function, args, keywords, inner)
        if type(function.node) is ast.Lambda:
            before = (self.modes.grad_mode, self.modes.inference_mode)
            if function.mode is not None:
                self.enter_mode(*function.mode)
            function.active += 1
            try:
                return self.evaluate(function.node.body, inner)
            finally:
                function.active -= 1
                if function.mode is not None:
                    self.heap.put(self.modes, "grad_mode", before[0])
                    self.heap.put(self.modes, "inference_mode", before[1])
        if is_generator(function):
            if function.wrapper == "contextmanager":
                manager = Instance(
                    Library("contextlib.contextmanager"),
                    "contextlib.contextmanager",
                    self.serial(),
                    self.origin("call", node, frame),
                )
                manager.state["generator"] = self.suspended(inner, function.node.body, lambda: None)
                return manager
            iterator = self.suspended(inner, function.node.body, lambda: None)
            if function.mode is not None:
                iterator.generator = Suspended(self._in_mode(iterator.generator, function.mode))
            return iterator
        result = self.run_body(function, inner)
        if not inner.captured:
            self.heap.forget(inner.names)
        return result

    def _in_mode(self, generator: Any, mode: tuple[str, Any]) -> Any:
        """A decorated generator: the mode holds while it runs, not while it is suspended."""
        while True:
            before = (self.modes.grad_mode, self.modes.inference_mode)
            self.enter_mode(*mode)
            try:
                value = next(generator)
            except StopIteration:
                return
            finally:
                self.heap.put(self.modes, "grad_mode", before[0])
                self.heap.put(self.modes, "inference_mode", before[1])
            yield value

    def run_body(self, function: Function, inner: Frame) -> Any:
        """Walk the body of `function` in `inner`; the joined value of its returns."""
        heap = self.heap
        before = (self.modes.grad_mode, self.modes.inference_mode, self.modes.entered_by)
        if function.mode is not None:
            self.enter_mode(function.mode[0], function.mode[1])
            decorators = getattr(function.node, "decorator_list", None)
            if decorators:
                heap.put(
                    self.modes,
                    "entered_by",
                    self.origin("entered", decorators[0], inner, mode=function.mode[0]),
                )
        function.active += 1
        # Only where a path may return while others go on, states have to be joined.
        exits = inner.exits = Exits(heap.push()) if returns_within(function.node) else None
        try:
            return self._result_of_body(function, inner, exits)
        finally:  # not before the paths have joined: in all of them the mode ends with the call
            function.active -= 1
            if function.mode is not None:
                heap.put(self.modes, "grad_mode", before[0])
                heap.put(self.modes, "inference_mode", before[1])
                heap.put(self.modes, "entered_by", before[2])

    def _result_of_body(self, function: Function, inner: Frame, exits: Exits | None) -> Any:
        """Walk the statements of `function`, and join the paths that come out of them."""
        heap = self.heap
        try:
            signal = self.block(function.node.body, inner)
        except PathEnds:
            if exits is None:
                raise
            if not exits.taken:
                heap.keep()
                raise
            heap.undo()
            heap.push()
            heap.merge([state for _, _, state in exits.taken])
            heap.keep()
            return self.heap.joiner.all_of(tuple(value for _, value, _ in exits.taken))
        if exits is None:
            return inner.value if signal == RETURN else None
        values = [value for _, value, _ in exits.taken]
        if exits.taken:
            states = [state for _, _, state in exits.taken]
            if signal in (NORMAL, RETURN):
                states.append(heap.snapshot(exits.level))
                values.append(inner.value if signal == RETURN else None)
            else:
                heap.undo()
                heap.push()
            heap.merge(states)
            result = self.heap.joiner.all_of(tuple(values))
        else:
            result = inner.value if signal == RETURN else None
        heap.keep()
        return result

    def enter_mode(self, name: str, value: Any) -> None:
        """Switch the grad mode as the context manager `name` does."""
        put = self.heap.put
        if name == "no_grad":
            put(self.modes, "grad_mode", False)
        elif name == "enable_grad":
            put(self.modes, "grad_mode", True)
        elif name == "inference_mode":
            on = value is None or value is True
            put(self.modes, "grad_mode", False if on else (True if value is False else None))
            put(self.modes, "inference_mode", True if on else (False if value is False else None))
        elif name == "set_grad_enabled":
            put(self.modes, "grad_mode", value if type(value) is bool else None)
        elif name == "unknown":
            put(self.modes, "grad_mode", None if self.modes.grad_mode else self.modes.grad_mode)
            put(self.modes, "inference_mode", None)

    def bind_parameters(
        self, function: Function, args: list[Any], keywords: dict[str, Any], inner: Frame
    ) -> None:
        """Bind the parameters of `function` in its new frame."""
        names = inner.names
        arguments = function.node.args
        positional = arguments.posonlyargs + arguments.args
        rest: Any = MISSING
        for cut, value in enumerate(args):
            if type(value) is Rest:
                rest = self.heap.joiner.all_of(tuple(v.value if type(v) is Rest else v for v in args[cut:]))
                args = args[:cut]
                break
        unknown_keywords = "**" in keywords
        left = {key: value for key, value in keywords.items() if key != "**"} if keywords else {}
        for index, parameter in enumerate(positional):
            name = parameter.arg
            if index < len(args):
                names[name] = args[index]
            elif name in left:
                names[name] = left.pop(name)
            elif rest is not MISSING:
                names[name] = rest
            elif name in function.defaults and not unknown_keywords:
                names[name] = function.defaults[name]
            elif name in function.defaults:
                names[name] = self.join(function.defaults[name], UNKNOWN)
            else:
                names[name] = self.unknown_parameter(name, inner)
        if arguments.vararg is not None:
            names[arguments.vararg.arg] = Sequence("tuple", tuple(args[len(positional) :]), rest)
        for parameter in arguments.kwonlyargs:
            name = parameter.arg
            if name in left:
                names[name] = left.pop(name)
            elif name in function.defaults and not unknown_keywords:
                names[name] = function.defaults[name]
            else:
                names[name] = self.unknown_parameter(name, inner)
        if arguments.kwarg is not None:
            names[arguments.kwarg.arg] = Mapping(dict(left), UNKNOWN if unknown_keywords else MISSING)
        if positional and function.owner is not None and function.kind != "static":
            inner.receiver = names[positional[0].arg]

    def unknown_parameter(self, name: str, inner: Frame) -> Any:
        """A parameter that nobody passed: unknown; a device by its name, so that two uses are the same one."""
        if name in _DEVICE_NAMES:
            return Device("symbol", name)
        return FREE

    # Classes and objects

    def new_instance(self, cls: Any, library: str | None, node: Any, frame: Frame) -> Instance:
        """An object with nothing in it yet."""
        return Instance(
            cls,
            library,
            self.serial(),
            self.origin("made", node, frame, cls=getattr(cls, "name", None) or str(library)),
        )

    def instantiate(
        self, cls: Class, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        """`cls(*args, **keywords)`."""
        cls.made = True
        library = cls.library
        if library is not None and library.rpartition(".")[2] in ("Enum", "IntEnum", "StrEnum", "Flag"):
            return UNKNOWN
        if library == "typing.NamedTuple":
            return self._named_tuple(cls, args, keywords)
        found = cls.find("__new__")
        if type(found) is Function:
            self.call_unknown([UNKNOWN, *args], keywords)
            return UNKNOWN  # made in its own way
        instance = self.new_instance(cls, library, node, frame)
        if found is not MISSING or cls.opaque:
            instance.opened = True
        if library is not None:
            self.prepare_library_object(instance, frame)
        initial = cls.find("__init__")
        if type(initial) is Function:
            self.call_function(initial, [instance, *args], keywords, node, frame)
        elif cls.fields is not None or cls.find("__attrs__") is not MISSING:
            self._fill_fields(instance, cls, args, keywords, node, frame)
        elif library is not None:
            self.initialise_library_object(instance, library, args, keywords, node, frame)
        return instance

    def prepare_library_object(self, instance: Instance, frame: Frame) -> None:
        raise NotImplementedError

    def initialise_library_object(
        self,
        instance: Instance,
        library: str,
        args: list[Any],
        keywords: dict[str, Any],
        node: Any,
        frame: Frame,
    ) -> None:
        raise NotImplementedError

    def class_decorator(self, cls: Class, decorator: ast.expr, frame: Frame) -> None:
        """`@dataclass` gives a class its fields; other decorators are taken to keep the class as it is."""
        value = self.evaluate(decorator, frame)
        path = value.path if type(value) is Library else value.library if type(value) is Instance else ""
        if path in ("dataclasses.dataclass", "attr.s", "attrs.define", "attr.dataclass"):
            fields = self._fields_of(cls)
            cls.fields = fields or ()
            cls.opaque = cls.opaque or fields is None

    def _fields_of(self, cls: Class) -> tuple[tuple[str, Any], ...] | None:
        """The fields that a class declares, in order, with their defaults; None when they are not all seen."""
        fields: dict[str, Any] = {}
        for base in reversed(cls.lineage):
            if any(type(one) is not Class and not _without_fields(one) for one in base.bases):
                return None
            for statement in base.node.body:
                kind = type(statement)
                if kind is ast.AnnAssign and type(statement.target) is ast.Name:
                    words = {getattr(part, "attr", getattr(part, "id", "")) for part in ast.walk(statement)}
                    if "ClassVar" in words:
                        continue
                    if not words.isdisjoint(("InitVar", "KW_ONLY")) or _is_left_out(statement.value):
                        return None
                    fields[statement.target.id] = statement.value
                elif kind not in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef) and any(
                    type(part) is ast.AnnAssign for part in ast.walk(statement)
                ):
                    return None  # declared inside a block, perhaps
        return tuple(fields.items())

    def _fill_fields(
        self,
        instance: Instance,
        cls: Class,
        args: list[Any],
        keywords: dict[str, Any],
        node: Any,
        frame: Frame,
    ) -> None:
        known = [value for value in args if type(value) is not Rest]
        inner = Frame({}, cls.space, None, frame, node)
        for index, (name, default) in enumerate(cls.fields or ()):
            if index < len(known):
                value = known[index]
            elif name in keywords:
                value = keywords[name]
            elif default is None or "**" in keywords:
                value = self.unknown_parameter(name, inner)
            else:
                value = self._field_default(default, inner)
            self.set_attribute(instance, name, value, node, frame)
        after = cls.find("__post_init__")
        if type(after) is Function:
            self.call_function(after, [instance], {}, node, frame)

    def _field_default(self, default: ast.expr, frame: Frame) -> Any:
        if type(default) is ast.Call:
            function = self.evaluate(default.func, frame)
            if type(function) is Library and function.path.rpartition(".")[2] in ("field", "Factory", "ib"):
                for keyword in default.keywords:
                    if keyword.arg == "default":
                        return self.evaluate(keyword.value, frame)
                    if keyword.arg in ("default_factory", "factory"):
                        return self.call(self.evaluate(keyword.value, frame), [], {}, default, frame)
                return UNKNOWN
        return self.evaluate(default, frame)

    def _named_tuple(self, cls: Class, args: list[Any], keywords: dict[str, Any]) -> Any:
        fields = self._fields_of(cls)
        if fields is None:
            return UNKNOWN
        names = tuple(name for name, _ in fields)
        values = list(args)
        for name in names[len(values) :]:
            values.append(keywords.get(name, UNKNOWN))
        if any(type(value) is Rest for value in values):
            return UNKNOWN
        return Sequence("namedtuple", tuple(values[: len(names)]), MISSING, names)

    # Attributes

    def attribute(self, receiver: Any, name: str, node: Any, frame: Frame) -> Any:
        """`receiver.name`."""
        kind = type(receiver)
        if kind is Tensor:
            return self.tensor_attribute(receiver, name, node, frame)
        if kind is Instance:
            return self.instance_attribute(receiver, name, node, frame)
        if kind is Module:
            return self.name_of_module(receiver.space, name)
        if kind is Class:
            return self._class_attribute(receiver, name, node, frame)
        if kind is Super:
            return self._super_attribute(receiver, name)
        if kind is Function:
            if name in receiver.attributes:
                return receiver.attributes[name]
            if name in ("__name__", "__qualname__"):
                return receiver.name
            return Bound(receiver, name)
        if kind is Unknown:
            return self._symbol(name, node, frame) if receiver is FREE else UNKNOWN
        if kind is OneOf:
            return UNKNOWN
        return self.object_attribute(receiver, name, node, frame)

    def _symbol(self, name: str, node: Any, frame: Frame) -> Any:
        """An attribute of what comes from outside; `args.device` is the same device wherever it is written."""
        if name in _DEVICE_NAMES and type(node) is ast.Attribute:
            text = ast.unparse(node)
            symbols = frame.space.symbols
            if text not in symbols:
                symbols[text] = Device("symbol", text)
            return symbols[text]
        return FREE

    def tensor_attribute(self, tensor: Tensor, name: str, node: Any, frame: Frame) -> Any:
        raise NotImplementedError

    def object_attribute(self, receiver: Any, name: str, node: Any, frame: Frame) -> Any:
        raise NotImplementedError

    def library_object_attribute(self, instance: Instance, name: str, node: Any, frame: Frame) -> Any:
        raise NotImplementedError

    def instance_attribute(self, instance: Instance, name: str, node: Any, frame: Frame) -> Any:
        """An attribute of an object: what it holds, what its class holds, what its library class has."""
        cls = instance.cls
        member = cls.find(name) if type(cls) is Class else MISSING
        if type(member) is Function and member.kind == "property":
            return self.call_function(member, [instance], {}, node, frame)
        if type(cls) is Class and (_is_descriptor(member) or _answers_by_itself(cls)):
            return UNKNOWN
        value = instance.attributes.get(name, MISSING)
        if value is not MISSING:
            if type(value) is Lazy:
                value = self.fetch(value)
            return value
        if type(member) is Function and member.kind == "cached":
            value = self.call_function(member, [instance], {}, node, frame)
            self.heap.put(instance.attributes, name, value)
            return value
        if member is not MISSING:
            return self.bound(member, instance, cls)
        if name == "__class__":
            return cls
        if name == "__dict__":
            return Mapping(dict(instance.attributes), UNKNOWN if instance.opened else MISSING)
        if instance.library is not None:
            value = self.library_object_attribute(instance, name, node, frame)
            if value is not MISSING:
                return value
        if type(cls) is Class and type(cls.find("__getattr__")) is Function and not instance.opened:
            return self.call_function(cls.find("__getattr__"), [instance, name], {}, node, frame)
        if name in _DEVICE_NAMES:
            symbol = Device("symbol", f"{instance.name or 'self'}.{name}")
            self.heap.put(instance.attributes, name, symbol)
            return symbol
        return UNKNOWN

    def bound(self, member: Any, instance: Any, cls: Any) -> Any:
        """A class member as seen through an object."""
        if type(member) is Function:
            if member.kind == "static":
                return member
            return Bound(cls if member.kind == "class" else instance, member)
        return member

    def _class_attribute(self, cls: Class, name: str, node: Any, frame: Frame) -> Any:
        member = cls.find(name)
        if type(member) is Function and member.kind == "class":
            return Bound(cls, member)
        if member is not MISSING:
            return member
        if name in ("__name__", "__qualname__"):
            return cls.name
        if cls.library is not None:
            if name == "apply" and cls.library == "torch.autograd.Function":
                return Bound(cls, "apply")
            return Library(f"{cls.library}.{name}")
        return UNKNOWN

    def _super_attribute(self, parent: Super, name: str) -> Any:
        receiver = parent.receiver
        cls = receiver.cls if type(receiver) is Instance else receiver
        if type(cls) is not Class:
            return UNKNOWN
        if not isinstance(parent.cls, Class):
            return Bound(parent, name)
        member = cls.find(name, after=parent.cls)
        if member is not MISSING:
            return self.bound(member, receiver, cls)
        if cls.library is not None and type(receiver) is Instance:
            return Bound(parent, name)
        return Bound(parent, name) if name == "__init__" else UNKNOWN

    # Writing attributes

    def set_attribute(self, receiver: Any, name: str, value: Any, node: Any, frame: Frame) -> None:
        """`receiver.name = value`."""
        kind = type(receiver)
        if kind is Instance:
            cls = receiver.cls
            member = cls.find(name) if type(cls) is Class else MISSING
            own = cls.find("__setattr__") if type(cls) is Class else MISSING
            if type(own) is Function and not own.active:
                self.call_function(own, [receiver, name, value], {}, node, frame)
                return
            if _is_descriptor(member):
                self.open_up(receiver)
                return
            if type(member) is Function and member.kind == "property":
                setter = member.attributes.get("setter")
                if type(setter) is Function:
                    self.call_function(setter, [receiver, value], {}, node, frame)
                return
            if receiver.library is not None and self.set_library_attribute(
                receiver, name, value, node, frame
            ):
                return
            if type(value) is Tensor and type(node) is ast.Attribute:
                value.name = (
                    f"{receiver.name or 'self'}.{name}"
                    if type(node.value) is not ast.Name
                    else f"{node.value.id}.{name}"
                )
                self.note(value, self.origin("stored", node, frame, name=value.name))
            self.heap.put(receiver.attributes, name, value)
        elif kind is Tensor:
            self.set_tensor_attribute(receiver, name, value, node, frame)
        elif kind is Class:
            self.heap.put(receiver.members, name, value)
        elif kind is Module:
            self.heap.put(receiver.space.names, name, value)
        elif kind is Function:
            self.heap.put(receiver.attributes, name, value)
        elif kind is Library:
            self.replaced.add(f"{receiver.path}.{name}")
            if receiver.path.startswith("torch.nn.") and receiver.path != "torch.nn.functional":
                self.replaced.add(receiver.path)  # a layer with another forward is not the layer we know
        elif kind is OneOf:
            for one in receiver.values:
                if type(one) is Instance:
                    self.heap.put(one, "opened", True)
                    self.heap.put(one.attributes, name, UNKNOWN)
                elif type(one) is Unknown:
                    self.touch(one)
        elif kind is Unknown:
            self.touch(receiver)

    def set_library_attribute(
        self, instance: Instance, name: str, value: Any, node: Any, frame: Frame
    ) -> bool:
        raise NotImplementedError

    def set_tensor_attribute(self, tensor: Tensor, name: str, value: Any, node: Any, frame: Frame) -> None:
        raise NotImplementedError

    # Methods

    def call_method(
        self, receiver: Any, name: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        """`receiver.name(*args, **keywords)`."""
        kind = type(receiver)
        if kind is Tensor:
            if self.replaced and f"torch.Tensor.{name}" in self.replaced:
                return self.call_unknown([receiver, *args], keywords)
            return self.tensor_method(receiver, name, args, keywords, node, frame)
        if kind is Library:
            return self.call_library(f"{receiver.path}.{name}", args, keywords, node, frame)
        if kind is Instance:
            return self._instance_method(receiver, name, args, keywords, node, frame)
        if kind is Unknown:
            if name == "backward":
                self._backward_of_unknown(receiver, args, node, frame)
            if receiver.either and _changes(name):
                self.touch(receiver)
            if name == "enter_context":  # of an ExitStack: it may switch the grad mode
                self.enter_mode("unknown", None)
            result = self.call_unknown([receiver, *args], keywords)
            return receiver if receiver.either and name in _HANDS_OUT else result
        if kind is OneOf:
            return self.fork_values(
                receiver.values, lambda one: self.call_method(one, name, args, keywords, node, frame), frame
            )
        if kind is Super:
            return self._super_method(receiver, name, args, keywords, node, frame)
        if kind is Class and name == "apply" and receiver.library == "torch.autograd.Function":
            return self.apply_function(receiver, args, keywords, node, frame)
        if kind in (Class, Module, Function, Bound, Partial):
            if (
                kind is Bound or kind is Partial
            ):  # or what a library object holds: all its attributes pass for methods
                return self.call_unknown([receiver, *args], keywords)
            value = self.attribute(receiver, name, node, frame)
            if type(value) is Bound and type(value.method) is str:
                return UNKNOWN
            return self.call(value, args, keywords, node, frame)
        return self.object_method(receiver, name, args, keywords, node, frame)

    def tensor_method(
        self, tensor: Tensor, name: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        raise NotImplementedError

    def object_method(
        self, receiver: Any, name: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        raise NotImplementedError

    def apply_function(
        self, cls: Class, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        raise NotImplementedError

    def library_object_method(
        self,
        instance: Instance,
        name: str,
        args: list[Any],
        keywords: dict[str, Any],
        node: Any,
        frame: Frame,
    ) -> Any:
        raise NotImplementedError

    def _instance_method(
        self,
        instance: Instance,
        name: str,
        args: list[Any],
        keywords: dict[str, Any],
        node: Any,
        frame: Frame,
    ) -> Any:
        cls = instance.cls
        if name not in instance.attributes and type(cls) is Class:
            member = cls.find(name)
            if type(member) is Function and member.kind in ("", "static", "class"):
                first = [] if member.kind == "static" else [cls if member.kind == "class" else instance]
                return self.call_function(member, [*first, *args], keywords, node, frame)
            if member is not MISSING:
                return self.call(
                    self.instance_attribute(instance, name, node, frame), args, keywords, node, frame
                )
        elif name in instance.attributes:
            return self.call(
                self.instance_attribute(instance, name, node, frame), args, keywords, node, frame
            )
        if instance.library is not None:
            return self.library_object_method(instance, name, args, keywords, node, frame)
        if name in ("__setitem__", "__delitem__"):
            return None
        if name.startswith("__i") and name[3:5] in ("ad", "su", "mu"):
            return self._instance_method(instance, "__" + name[3:], args, keywords, node, frame)
        if type(cls) is Class and type(cls.find("__getattr__")) is Function:
            answer = self.instance_attribute(instance, name, node, frame)
            return self.call(answer, args, keywords, node, frame)
        own = type(cls) is Class and not cls.opaque
        self.call_unknown(args if own else [instance, *args], keywords)
        return UNKNOWN

    def _backward_of_unknown(self, receiver: Unknown, args: list[Any], node: Any, frame: Frame) -> None:
        """`loss.backward()` of what is not known: from here on it is a tensor that requires grad."""
        called = node.func if type(node) is ast.Call else None
        target = called.value if type(called) is ast.Attribute else None
        self.unknown_reach = True
        self.last_backward = self.serial()
        if args or receiver.either or type(target) is not ast.Name:
            self.unseen_backward = True
            return
        tensor = self.unknown_tensor(target, frame)
        tensor.requires, tensor.leaf, tensor.name = YES, NON_LEAF, target.id
        tensor.node = Node("", "opaque", (), (), None, tensor.origin, self.serial())
        self.bind(target.id, tensor, frame)

    def _super_method(
        self, parent: Super, name: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        receiver = parent.receiver
        if isinstance(parent.cls, Library):
            return self._beyond_library(receiver, parent.cls.path, name, args, keywords, node, frame)
        value = self._super_attribute(parent, name)
        if type(value) is Bound and type(value.method) is Function:
            return self.call(value, args, keywords, node, frame)
        if type(receiver) is Instance and receiver.library is not None:
            if name == "__init__":
                self.initialise_library_object(receiver, receiver.library, args, keywords, node, frame)
                return None
            if name == "__setattr__" and len(args) == 2 and type(args[0]) is str:
                self.set_attribute(receiver, args[0], args[1], node, frame)
                return None
            return self.library_object_method(receiver, name, args, keywords, node, frame)
        if name == "__init__":
            return None
        if type(value) is Function:
            return self.call(value, args, keywords, node, frame)
        self.call_unknown(args, keywords)
        return UNKNOWN

    def _beyond_library(
        self,
        receiver: Any,
        path: str,
        name: str,
        args: list[Any],
        keywords: dict[str, Any],
        node: Any,
        frame: Frame,
    ) -> Any:
        """`super(nn.Linear, self).name(...)`: what comes after a library class, for a layer nn.Module itself."""
        if name == "__init__" and path.startswith("torch.nn."):
            self.initialise_library_object(receiver, "torch.nn.Module", args, keywords, node, frame)
            return None
        return self.call_unknown([receiver, *args], keywords)

    def is_instance(self, value: Any, wanted: Any) -> bool | None:
        """What `isinstance(value, wanted)` gives; None when it is not known."""
        if type(wanted) is Sequence and wanted.rest is MISSING:
            answers = [self.is_instance(value, one) for one in wanted.items]
            if True in answers:
                return True
            return None if None in answers else False
        kind = type(value)
        if kind is OneOf:
            answers_set = {self.is_instance(one, wanted) for one in value.values}
            return answers_set.pop() if len(answers_set) == 1 else None
        if kind is Instance:
            if type(wanted) is Class:
                if type(value.cls) is Class:
                    return True if wanted in value.cls.lineage else None if value.cls.opaque else False
                return False
            if type(wanted) is Library:
                return self.library_is_instance(value, wanted.path)
            return None
        if type(wanted) is not Library:
            return None if type(wanted) is not Class else (False if kind not in (Unknown, Some) else None)
        name = wanted.path.rpartition(".")[2]
        if kind is Tensor:
            if name == "Parameter":
                return value.parameter if type(value.parameter) is bool else None
            if wanted.path in ("torch.Tensor", "torch.autograd.Variable"):
                return True
            return None if wanted.path.startswith("torch") else False
        python = {
            "list": "list",
            "tuple": "tuple",
            "set": "set",
            "dict": "dict",
            "str": "str",
            "int": "int",
            "float": "float",
            "bool": "bool",
        }
        own = (
            value.kind
            if kind is Sequence
            else "dict"
            if kind is Mapping
            else value.type
            if kind is Some
            else kind.__name__
        )
        if kind is Unknown or own in ("object", "number"):
            return None
        if kind is Sequence and own in ("size", "namedtuple"):
            own = "tuple"
        if name in python:
            return own == name or (name == "int" and own == "bool")
        if name in ("Sequence", "Iterable", "Collection"):
            return own in ("list", "tuple", "set", "dict", "str")
        if name in ("Mapping", "MutableMapping", "OrderedDict", "defaultdict"):
            return None if own == "dict" else False
        if kind is type(None) or own in python:
            return False
        return None

    def library_is_instance(self, instance: Instance, path: str) -> bool | None:
        raise NotImplementedError


__all__ = ["OPAQUE", "Calls", "Iterator"]
