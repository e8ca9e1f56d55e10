"""`torch.nn.Module`: what it registers, what its methods do, and what a call of a layer amounts to."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from typing import Any

from gradtrail.interp.expressions import Rest
from gradtrail.interp.frames import Frame
from gradtrail.interp.loops import Supply, key_of
from gradtrail.interp.models import registry
from gradtrail.interp.operands import device_from, plain_value
from gradtrail.interp.trails import Trails
from gradtrail.interp.values import (
    ANY_LEAF,
    CPU,
    LEAF,
    MAYBE,
    MISSING,
    NO,
    NON_LEAF,
    UNKNOWN,
    YES,
    Class,
    Device,
    Dtype,
    Function,
    Instance,
    Library,
    Mapping,
    Node,
    OneOf,
    Saved,
    Sequence,
    Some,
    Tensor,
    Unknown,
    is_in_place,
)
from gradtrail.laws import dtypes, kept, modules, shapes
from gradtrail.laws.modules import ModuleLaw

MODULE_BASES = frozenset(
    (
        "torch.nn.Module", "pytorch_lightning.LightningModule", "lightning.LightningModule",
        "lightning.pytorch.LightningModule", "transformers.PreTrainedModel",
    )
)  # fmt: skip

_OF_TWO_MODES = ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "BatchNorm", "SyncBatchNorm")
"""Layers that are other ones in evaluation."""

DECLARED_MODULE = "gradtrail.module."
"""Stands before the path of a class that the settings declare to be a module."""

CONTAINERS = frozenset(("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"))


def is_module(value: Any) -> bool:
    """Whether a value is certainly an nn.Module."""
    if type(value) is not Instance or value.library is None:
        return False
    return value.library in _MODULE_PATHS or is_module_path(value.library)


def _may_be_module(value: Any) -> bool:
    """Whether a value that was not registered as a module may be one all the same: a layer of some library."""
    if type(value) is OneOf:
        return any(is_module(one) or _may_be_module(one) for one in value.values)
    if type(value) is Instance:
        if is_module(value) or type(value.cls) is not Class:
            return False
        return bool(value.cls.opaque) or (value.library is not None and _is_foreign(value.library))
    return type(value) is Unknown and value is not MISSING


def _is_foreign(path: str) -> bool:
    """Whether a dotted path leads into a library of which nothing is known."""
    head, dot, _ = path.partition(".")
    return bool(dot) and head != "torch" and head not in sys.stdlib_module_names


def _is_trained_leaf(tensor: Tensor) -> bool:
    """Whether a tensor is a leaf that requires grad, and no Parameter."""
    return tensor.requires == YES and tensor.leaf == LEAF and tensor.parameter is False


def is_module_path(path: str) -> bool:
    """Whether a dotted library path names a module class."""
    if path in _MODULE_PATHS:
        return True
    found = (
        path in MODULE_BASES
        or (path.startswith("torch.nn.") and modules.module(path.rpartition(".")[2]) is not None)
        or path.startswith(DECLARED_MODULE)
        or path in registry.MODULES
    )
    if found:
        _MODULE_PATHS.add(path)
    return found


_MODULE_PATHS: set[str] = set()
"""Paths that are known to name module classes; of others a library that is loaded later may say so."""


class Modules(Trails):
    """nn.Module and its kin."""

    # Making

    def new_parameter(self, node: Any, frame: Frame, kind: str = "parameter") -> Tensor:
        """A fresh Parameter on the default device."""
        tensor = self.new_tensor(self.origin(kind, node, frame))
        tensor.requires, tensor.leaf, tensor.parameter = YES, LEAF, True
        tensor.dtype, tensor.device, tensor.conj = self.modes.default_dtype, self.default_device(), False
        return tensor

    def make_layer(
        self,
        instance: Instance,
        name: str,
        args: list[Any],
        keywords: dict[str, Any],
        node: Any,
        frame: Frame,
    ) -> None:
        """The constructor of a class of torch.nn, by its law."""
        law = modules.module(name)
        if law is None:
            self.heap.put(instance, "opened", True)
            return
        self.heap.put(instance.attributes, "training", True)
        if name in CONTAINERS:
            self._fill_container(instance, name, args, node, frame)
            return
        values: dict[str, Any] = dict(law.defaults)
        for index, value in enumerate(args):
            if index < len(law.args):
                values[law.args[index]] = UNKNOWN if type(value) is Rest else value
        values.update({key: value for key, value in keywords.items() if key != "**"})
        if "**" in keywords:
            values = {key: self.join(value, UNKNOWN) for key, value in values.items()}
        for key, value in values.items():
            self.heap.put(instance.attributes, key, value)
        self.heap.put(instance.state, "law", law)
        self._make_parameters(instance, law, values, node, frame)
        for child, kind in law.children:
            inner = Instance(Library("torch.nn." + kind), "torch.nn." + kind, self.serial(), instance.origin)
            self._make_child(inner, kind, node, frame)
            self.register(instance, child, inner, "module")

    def _make_child(self, child: Instance, kind: str, node: Any, frame: Frame) -> None:
        law = modules.module(kind)
        self.heap.put(child.attributes, "training", True)
        if law is None or kind in CONTAINERS:
            child.opened = True
            return
        values: dict[str, Any] = {**law.defaults}
        for name in law.required:
            values[name] = UNKNOWN
        for key, value in values.items():
            child.attributes[key] = value
        child.state["law"] = law
        self._make_parameters(child, law, values, node, frame)

    def _make_parameters(
        self, instance: Instance, law: ModuleLaw, values: dict[str, Any], node: Any, frame: Frame
    ) -> None:
        for name, condition, shape in law.parameters:
            present = self._condition(condition, values)
            if present is False:
                self.heap.put(instance.attributes, name, None)
                continue
            for real in self._layered(name, values):
                parameter = self.new_parameter(node, frame, "module-parameter")
                parameter.name = None
                parameter.shape = _shape_from(shape, values)
                self._at_options(parameter, values)
                if present is None:
                    self.heap.put(instance, "opened", True)
                self.register(instance, real, parameter, "parameter")
        for name, condition, _ in law.buffers:
            if self._condition(condition, values) is False:
                self.heap.put(instance.attributes, name, None)
                continue
            given = values.get(name)
            if type(given) is Tensor:
                self.register(instance, name, given, "buffer")
                continue
            buffer = self.new_tensor(self.origin("buffer", node, frame))
            buffer.requires, buffer.leaf, buffer.device = NO, LEAF, self.default_device()
            buffer.dtype = "int64" if name == "num_batches_tracked" else self.modes.default_dtype
            self._at_options(buffer, values)
            self.register(instance, name, buffer, "buffer")

    def _at_options(self, tensor: Tensor, values: dict[str, Any]) -> None:
        device, dtype = values.get("device"), values.get("dtype")
        if device is not None:
            tensor.device = device_from(device)
        if type(dtype) is Dtype and tensor.dtype != "int64":
            tensor.dtype = dtype.name
        elif dtype is not None:
            tensor.dtype = None

    def _layered(self, name: str, values: dict[str, Any]) -> list[str]:
        """`weight_ih_l*` as one name for each layer and direction."""
        if "*" not in name:
            return [name]
        layers = values.get("num_layers", 1)
        count = layers if type(layers) is int and 0 < layers <= 16 else 1
        names = [name.replace("*", str(layer)) for layer in range(count)]
        if values.get("bidirectional") is True:
            names += [one + "_reverse" for one in names]
        return names

    def _condition(self, condition: str, values: dict[str, Any]) -> bool | None:
        if not condition:
            return True
        answers: list[bool | None] = []
        for word in condition.split("&"):
            if word == "same-dims":
                answers.append(values.get("kdim") is None and values.get("vdim") is None)
            elif word == "other-dims":
                answers.append(not (values.get("kdim") is None and values.get("vdim") is None))
            else:
                answers.append(self.truth(values.get(word)))
        if False in answers:
            return False
        return None if None in answers else True

    def _fill_container(
        self, instance: Instance, name: str, args: list[Any], node: Any, frame: Frame
    ) -> None:
        if name == "Sequential":
            values = list(args)
            first = self.settle(values[0]) if len(values) == 1 else None
            if type(first) is Mapping:
                for key, value in first.entries.items():
                    self.register(instance, str(key), value, "module")
                if first.rest is not MISSING:
                    self.heap.put(instance, "opened", True)
                return
            for index, value in enumerate(values):
                if type(value) is Rest:
                    self._extend_container(instance, name, (), value.value, node, frame)
                else:
                    self._add_item(instance, name, str(index), value, node, frame)
            return
        if not args:
            return
        value = self.settle(args[0])
        if name in ("ModuleDict", "ParameterDict"):
            self._update_dict(instance, name, value, node, frame)
            return
        found = self.items_of(value, node, frame)
        if found is None:
            self.heap.put(instance, "opened", True)
            self.heap.put(instance.state, "rest", UNKNOWN)
            return
        self._extend_container(instance, name, found[0], found[1], node, frame)

    def _update_dict(self, instance: Instance, name: str, value: Any, node: Any, frame: Frame) -> None:
        if type(value) is Mapping:
            for key, one in value.entries.items():
                self._add_item(instance, name, str(key), one, node, frame)
            if value.rest is not MISSING:
                self.heap.put(instance, "opened", True)
                self.heap.put(instance.state, "rest", value.rest)
        else:
            self.heap.put(instance, "opened", True)
            self.heap.put(instance.state, "rest", UNKNOWN)

    def _extend_container(
        self, instance: Instance, name: str, items: tuple[Any, ...], rest: Any, node: Any, frame: Frame
    ) -> None:
        start = len(instance.registered)
        for index, item in enumerate(items):
            self._add_item(instance, name, str(start + index), item, node, frame)
        if rest is not MISSING:
            if type(rest) is Instance and is_module(rest):
                self._add_item(instance, name, "*", rest, node, frame)
            else:
                self.heap.put(instance, "opened", True)
            self.heap.put(instance.state, "rest", rest)

    def _add_item(
        self, instance: Instance, container: str, key: str, value: Any, node: Any, frame: Frame
    ) -> None:
        value = self.settle(value)
        if container.startswith("Parameter"):
            if type(value) is Tensor and value.parameter is not True:
                value = self.wrap_parameter(value, node, frame)
            self.register(instance, key, value, "parameter" if type(value) is Tensor else "other")
            if type(value) is not Tensor:
                self.heap.put(instance, "opened", True)
        else:
            self.register(instance, key, value, "module")
            if not is_module(value):
                self.heap.put(instance, "opened", True)

    def wrap_parameter(self, value: Tensor, node: Any, frame: Frame, requires: int = YES) -> Tensor:
        """`nn.Parameter(value)`: a new leaf on the same memory, without history."""
        result = self.new_tensor(
            self.origin(
                "wrapped" if value.origin.kind != "created-no-grad" else "parameter", node, frame, (value,)
            )
        )
        if value.leaf != LEAF:
            self.note_cut(result.origin, (value,))
        result.requires, result.leaf, result.parameter = requires, LEAF, True
        result.dtype, result.device, result.shape, result.conj = (
            value.dtype,
            value.device,
            value.shape,
            value.conj,
        )
        result.storage = value.storage
        result.inference = value.inference
        result.many = value.many
        return result

    def register(self, instance: Instance, name: str, value: Any, kind: str) -> None:
        """Keep `value` under `name` as nn.Module does."""
        if type(value) is Instance:
            self.heap.put(value.state, "held", True)
        self.heap.put(instance.attributes, name, value)
        self.heap.put(instance.registered, name, kind)

    # Reading

    def own_parameters(self, module: Instance) -> list[tuple[str, Tensor]]:
        """The parameters registered on the module itself, by name."""
        found = []
        for name, kind in module.registered.items():
            if kind == "parameter":
                value = self.settle(module.attributes.get(name, MISSING))
                if type(value) is Tensor:
                    found.append((name, value))
        return found

    def submodules(
        self, module: Instance, prefix: str = "", seen: set[int] | None = None
    ) -> tuple[list[tuple[str, Instance]], bool]:
        """The module and all below it with their dotted names, each once; False if there may be more."""
        found: list[tuple[str, Instance]] = []
        return found, self._gather(module, prefix, set() if seen is None else seen, found)

    def _gather(
        self, module: Instance, prefix: str, seen: set[int], found: list[tuple[str, Instance]]
    ) -> bool:
        """Put a module and all below it into `found`; whether these are all."""
        if module.serial in seen:
            return True
        seen.add(module.serial)
        found.append((prefix, module))
        cls, attributes = module.cls, module.attributes
        of_program = type(cls) is Class
        complete = not module.opened and not (of_program and cls.opaque)
        for name, kind in module.registered.items():
            if kind != "module":
                continue
            child = attributes.get(name, MISSING)
            if type(child) is OneOf:
                child = self.settle(child)
            if type(child) is Instance and is_module(child):
                if not self._gather(child, f"{prefix}.{name}" if prefix else name, seen, found):
                    complete = False
            elif child is not None and child is not MISSING:
                complete = False
        complete = complete and module.state.get("example") is not True
        if complete and of_program:
            complete = not any(map(_may_be_module, attributes.values()))
        return complete

    def parameters_of(self, module: Instance) -> tuple[list[tuple[str, Tensor]], bool]:
        """All parameters with their dotted names, each once; False if there may be more."""
        found: list[tuple[str, Tensor]] = []
        seen: set[Tensor] = set()
        below, complete = self.submodules(module)
        for prefix, one in below:
            for name, value in self.own_parameters(one):
                if value not in seen:
                    seen.add(value)
                    found.append((f"{prefix}.{name}" if prefix else name, value))
        return found, complete

    def name_of(self, tensor: Tensor, node: Any, frame: Frame) -> str:
        """How the program calls a tensor; a parameter of a layer by the variable that holds the module."""
        if not tensor.name and tensor.origin.kind == "module-parameter":
            found = self._name_of_parameter(tensor, frame)
            if found:
                return found
        return super().name_of(tensor, node, frame)

    def _name_of_parameter(self, parameter: Tensor, frame: Frame) -> str:
        here: Frame | None = frame
        while here is not None:
            for name, value in _modules_in(here):
                for path, one in self.parameters_of(value)[0]:
                    if one is parameter:
                        steps = [f"[{step}]" if step.isdigit() else f".{step}" for step in path.split(".")]
                        return name + "".join(steps)
            here = here.scope
        return ""

    def unregistered_parameters(self, module: Instance) -> list[tuple[Instance, str, str, list[Tensor]]]:
        """Parameters that only a plain list, tuple or dict of a module holds: whose, in which attribute, of which kind."""
        below, _ = self.submodules(module)
        known = {id(one) for _, one in below}
        found = []
        for _, owner in below:
            for name, value in owner.attributes.items():
                value = self.settle(value)
                inner: tuple[Any, ...] = ()
                if type(value) is Sequence and value.kind in ("list", "tuple"):
                    inner = (*value.items, value.rest)
                elif type(value) is Mapping:
                    inner = (*value.entries.values(), value.rest)
                elif type(value) is Tensor and name not in owner.registered:
                    inner = (value,)
                parameters: list[Tensor] = []
                for one in map(self.settle, inner):
                    if type(one) is Tensor and (one.parameter is True or _is_trained_leaf(one)):
                        parameters.append(one)
                    elif type(one) is Instance and is_module(one) and id(one) not in known:
                        parameters += [each for _, each in self.parameters_of(one)[0]]
                registered = {id(each) for _, each in self.parameters_of(module)[0]}
                parameters = [each for each in parameters if id(each) not in registered]
                if parameters:
                    kind = {Mapping: "dict", Tensor: "tensor"}.get(type(value)) or value.kind
                    found.append((owner, name, kind, parameters))
        return found

    def name_of_object(self, module: Instance) -> str:
        """How the program calls a module, by the line that made it where it has no name."""
        return module.name or self._source(module.origin.node, module.origin.frame)

    def buffers_of(self, module: Instance) -> list[tuple[str, Tensor]]:
        """All buffers with their dotted names."""
        found = []
        for prefix, one in self.submodules(module)[0]:
            for name, kind in one.registered.items():
                value = one.attributes.get(name)
                if kind == "buffer" and type(value) is Tensor:
                    found.append((f"{prefix}.{name}" if prefix else name, value))
        return found

    def module_attribute(self, module: Instance, name: str, node: Any, frame: Frame) -> Any:
        """An attribute of a module that it does not hold itself: a method, or not known."""
        if name == "training":
            return True
        if name == "T_destination":
            return UNKNOWN
        if name in ("_modules", "_parameters", "_buffers"):
            return Unknown("its parts by name", (module,))
        recomputed = module.state.get(f"recomputed {name}")
        if recomputed is not None and callable(recomputed):
            return recomputed()
        if name == "device" and module.library in MODULE_BASES and module.library != "torch.nn.Module":
            symbol = Device("symbol", f"{module.name or 'self'}.device")
            self.heap.put(module.attributes, name, symbol)
            return symbol
        return MISSING

    def set_module_attribute(self, module: Instance, name: str, value: Any, node: Any, frame: Frame) -> bool:
        """`module.name = value` as nn.Module.__setattr__ does it; False when it is a plain attribute."""
        kind = module.registered.get(name)
        if module.state.get("begun") is True and (
            is_module(value) or (type(value) is Tensor and value.parameter is True)
        ):
            subject = self.seen(value, node, frame)
            self.refuse(
                "module-not-initialized", node, frame, subject, name=self._attribute_name(module, name, node),
                parameter=type(value) is Tensor,
            )  # fmt: skip
        if type(value) is Tensor and value.parameter is True:
            if value.name is None or "." not in value.name:
                value.name = self._attribute_name(module, name, node)
            if value.origin.kind == "module-parameter" and module.attributes.get(name) is not value:
                self.note(
                    value, self.origin("tied", node, frame, name=self._attribute_name(module, name, node))
                )
            self.register(module, name, value, "parameter")
            return True
        if is_module(value):
            if value.name is None:
                value.name = self._attribute_name(module, name, node)
            self.register(module, name, value, "module")
            return True
        if kind == "parameter":
            if type(value) is Tensor and value.parameter is False and not module.opened:
                self.refuse("assign-over-parameter", node, frame, self.seen(value, node, frame), name=name,
                            target=self._attribute_name(module, name, node))  # fmt: skip
            if value is None:
                self.heap.put(module.attributes, name, None)
                return True
        elif kind == "buffer" and (type(value) is Tensor or value is None):
            self.heap.put(module.attributes, name, value)
            return True
        elif kind == "module" and value is None:
            self.heap.put(module.attributes, name, None)
            return True
        if kind is not None:
            self.heap.put(module.registered, name, MISSING)
        own = type(module.cls) is Class and module.cls.find(name) is not MISSING
        if name == "requires_grad" and type(value) is bool and not own and not _is_self(node):
            target = self._source(node.value, frame) if type(node) is ast.Attribute else module.name or ""
            self.tell("flag-on-module", node, frame, None, certainty="wrong", value=value, name=target)
        if type(value) in (Sequence, Mapping) or (type(value) is Tensor and _is_trained_leaf(value)):
            origin = self.origin("stored", node, frame, name=self._attribute_name(module, name, node))
            self.heap.put(module.state, f"stored {name}", origin)
        if type(value) is Tensor:
            self._tensor_attribute(module, name, value, node, frame)
        return False

    def _attribute_name(self, module: Instance, name: str, node: Any) -> str:
        base = getattr(getattr(node, "value", None), "id", None)
        return f"{base or module.name or 'self'}.{name}"

    def _tensor_attribute(self, module: Instance, name: str, value: Tensor, node: Any, frame: Frame) -> None:
        """A tensor that is no Parameter becomes an attribute of a module: is a Parameter lost by it?"""
        if value.parameter is None or value.requires != YES:
            return
        lost = self._lost_parameter(value)
        if lost is None:
            return
        if value.leaf & LEAF == 0:
            self.tell("parameter-lost", node, frame, self.seen(value, node, frame), certainty="wrong",
                      name=self._attribute_name(module, name, node), op=(value.origin.fields or {}).get("op", ""))  # fmt: skip
        elif value.parameter == "cpu":
            self.tell("parameter-lost", node, frame, self.seen(value, node, frame), certainty="raises-off-cpu",
                      name=self._attribute_name(module, name, node), op=(value.origin.fields or {}).get("op", ""))  # fmt: skip

    def _lost_parameter(self, value: Tensor) -> Tensor | None:
        """The Parameter that a computed value was made from and that nothing else holds."""
        here: Tensor | None = value
        for _ in range(6):
            if here is None or here.origin.kind not in ("computed", "moved", "cast"):
                return None
            parents = [one for one in here.origin.parents if one.requires == YES]
            if len(parents) != 1:
                return None
            here = parents[0]
            if here.parameter is True:
                unheld = here.name is None and here.origin.kind in ("parameter", "wrapped")
                return here if unheld else None
            if here.name is not None:
                return None
        return None

    # Calling

    def m_call(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        if not self.calls_open:
            self.call_began = self.count
        self.calls_open += 1
        try:
            result = self._call_module(module, args, keywords, node, frame)
        finally:
            self.calls_open -= 1
        if self.modes.grad_mode is False:
            self.note_ungraded(module, result, node, frame)
        if self.calls_open == 0 and not any(
            type(one) is Tensor and one.requires & YES for one in (*args, *keywords.values())
        ):
            self.note_called(module, result, node, frame)
        return result

    def _call_module(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        self._check_made_here(module, node, frame)
        forward = module.cls.find("forward") if type(module.cls) is Class else MISSING
        if "forward" in module.attributes:
            forward = module.attributes["forward"]
        hooks = [one[:3] for one in module.state.get("hooks") or () if is_in_place(one[3])]
        for kind, hook, origin in hooks:
            if kind == "before":
                self.call(hook, [module, Sequence("tuple", tuple(args))], {}, origin.node, origin.frame)
        backward = next((origin for kind, _, origin in hooks if kind == "backward"), None)
        if backward is not None:
            args = [self._hooked(value, backward, node, frame) for value in args]
        if type(forward) is Function:
            result = self.call_function(forward, [module, *args], keywords, node, frame)
        elif forward is not MISSING:
            result = self.call(forward, args, keywords, node, frame)
        else:
            result = self.forward_of_layer(module, args, keywords, node, frame)
        for kind, hook, origin in hooks:
            if kind == "forward":
                given = self.call(
                    hook, [module, Sequence("tuple", tuple(args)), result], {}, origin.node, origin.frame
                )
                if given is not None and type(given) is not Unknown and type(given) is not OneOf:
                    result = given
        return result if backward is None else self._hooked(result, backward, node, frame)

    def _check_made_here(self, module: Instance, node: Any, frame: Frame) -> None:
        """A layer that this very forward has made, and that nothing keeps: it is another one in the next round."""
        if module.library is None or module.state.get("held") is True:
            return
        kind = module.library.rpartition(".")[2]
        drops = (
            kind in _DROPPING
            and module.attributes.get("training") is True
            and module.attributes.get("p") != 0
        )
        if not drops and not kind.startswith(_WITH_RANDOM_WEIGHTS):
            return
        here: Frame | None = frame
        while here is not None:
            function = here.function
            if function is not None and function.name == "forward" and type(function.owner) is Class:
                break
            here = here.caller
        if here is None or here.function is None or module.origin.serial < here.time:
            return
        made: Frame | None = module.origin.frame
        while made is not None and made is not here:
            made = made.caller
        if made is None:
            return  # by code that began before this forward: the rest of a generator, say
        if drops and _asks_for_training(here.function.node):
            return
        self.tell("made-in-forward", module.origin.node, module.origin.frame or frame, None, certainty="wrong",
                  cls=kind, drops=drops)  # fmt: skip

    def _hooked(self, value: Any, origin: Any, node: Any, frame: Frame) -> Any:
        """A full backward hook hands tensors on through a Function that returns a view."""
        if type(value) is Tensor and value.requires == YES and self.modes.grad_mode:
            result = self.apply("view_as", [value, value], {}, node, frame)
            if type(result) is Tensor:
                result.view_kind = "function"
                result.steps = (origin, *result.steps)
                return result
        return value

    def forward_of_layer(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        """The forward of a class of torch.nn."""
        name = (module.library or "").rpartition(".")[2]
        if name == "Sequential":
            return self._sequential(module, args, node, frame)
        law = module.state.get("law")
        if not isinstance(law, ModuleLaw) or (module.opened and not module.registered):
            return self.call_unknown(args, keywords)
        if name == "Identity":
            return args[0] if args else UNKNOWN
        given: dict[str, Any] = {}
        for index, value in enumerate(args):
            if type(value) is not Rest and index < len(law.call_args):
                given[law.call_args[index]] = value
        given.update(keywords)
        given = {name: self.settle(value) for name, value in given.items()}
        if name.startswith(_OF_TWO_MODES) and type(first := next(iter(given.values()), None)) is Tensor:
            self.note_behaviour(module, first)
        if law.call:
            passed = {}
            for parameter, source in law.passes:
                value = given.get(source, MISSING)
                if value is MISSING:
                    value = module.attributes.get(source, MISSING)
                if value is not MISSING:
                    passed[parameter] = value
            if name in ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"):
                passed.pop("running_mean", None)
                passed.pop("running_var", None)
            path = law.call if law.call.startswith("torch.") else "torch." + law.call
            row = self.row("", path)
            if row is None:
                return self.composite(module, law, given, node, frame)
            row, bound = self.chosen_row(row, [], passed, node, frame)
            if bound.doubt and not bound.tensors:
                return UNKNOWN
            outer, self.layer = self.layer, module
            try:
                result = self.apply_row(row, bound, node, frame)
            finally:
                self.layer = outer
            if type(result) is Tensor and law.shape not in ("?", "same") and result.shape is None:
                result.shape = self._layer_shape(law, module, given)
            return result
        return self.composite(module, law, given, node, frame)

    def _layer_shape(self, law: ModuleLaw, module: Instance, given: dict[str, Any]) -> Any:
        first = next((value for value in given.values() if type(value) is Tensor), None)
        if first is None or first.shape is None:
            return None
        rule, _, name = law.shape.partition(":")
        size = module.attributes.get(name)
        size = size if type(size) is int else None
        if rule == "last" and first.shape:
            return (*first.shape[:-1], size)
        if rule == "append":
            return (*first.shape, size)
        if rule == "channels" and len(first.shape) >= 3:
            return (first.shape[0], size, *(None for _ in first.shape[2:]))
        if rule == "same":
            return first.shape
        return None

    def composite(
        self, module: Instance, law: ModuleLaw, given: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        """A layer of several operations (LSTM, attention): recorded as one node that keeps something."""
        inputs = [value for value in given.values() if type(value) is Tensor]
        for value in given.values():
            if type(value) is Sequence:
                inputs.extend(item for item in value.items if type(item) is Tensor)
        if any(type(value) is Unknown for value in given.values()) and not inputs:
            return UNKNOWN
        parameters, complete = self.parameters_of(module)
        weights = [value for _, value in parameters]
        if (
            inputs
            and weights
            and weights[0].device is not None
            and inputs[0].device is not None
            and inputs[0].shape != ()
        ):
            self.check_same_device(inputs[0], weights[0], node, frame, law.name)
        requires = NO
        if self.modes.grad_mode is not False:
            for tensor in (*inputs, *weights):
                if tensor.requires == YES:
                    requires = YES
                    break
                requires |= tensor.requires
            if not complete and requires != YES:
                requires = MAYBE
            if self.modes.grad_mode is None and requires == YES:
                requires = MAYBE
        origin = self.origin(
            "computed", node, frame, tuple(dict.fromkeys((*inputs, *weights[:1]))), op=law.name
        )
        graph = None
        if requires & YES:
            edges: list[Any] = []
            for tensor in (*inputs, *weights):
                edge = tensor.node if tensor.node is not None else tensor if tensor.requires & YES else None
                if edge is not None:
                    edges.append(edge)
            if any(type(value) is Unknown for value in given.values()):
                edges.append(self.unseen(origin))
            graph = Node(
                law.name,
                "op" if requires == YES else "maybe",
                tuple(dict.fromkeys(edges)),
                (),
                True if law.frees else None,
                origin,
                self.serial(),
            )
            graph.saved = self._kept(module, law.name, given, requires)
        first = inputs[0] if inputs else None
        made: list[Tensor] = []

        def result(shape: Any) -> Tensor:
            tensor = self.new_tensor(origin)
            tensor.requires = requires
            tensor.leaf = LEAF if requires == NO else NON_LEAF if requires == YES else ANY_LEAF
            tensor.node = graph
            tensor.shape = shape
            tensor.result_of = law.name
            if weights:
                tensor.dtype, tensor.device = weights[0].dtype, weights[0].device
            elif first is not None:
                tensor.dtype, tensor.device = first.dtype, first.device
            made.append(tensor)
            return tensor

        shape = self._layer_shape(law, module, given)
        dims = first.shape if first is not None else None
        size = module.attributes.get("hidden_size")
        if law.kind == "recurrent" and law.outputs and dims is not None and len(dims) >= 2 and shape is None:
            plain = module.attributes.get("bidirectional") is False and not module.attributes.get("proj_size")
            shape = (*dims[:-1], size if plain and type(size) is int else None)
        value = _outputs(law.outputs, result, shape)
        if graph is not None:
            graph.results = tuple(made)
        return value

    def _kept(self, module: Instance, name: str, given: dict[str, Any], requires: int) -> tuple[Saved, ...]:
        """What a recurrent layer keeps for backward, by its law."""
        named = [(key, value) for key, value in self.own_parameters(module)]
        for key, value in given.items():
            items = value.items if type(value) is Sequence else (value,)
            named.extend((key, item) for item in items if type(item) is Tensor)
        found = []
        for what, needs in kept.kept(name):
            certain = not needs or any(
                kept.fits(need, key) and value.requires == YES for need in needs for key, value in named
            )
            for key, value in named:
                if kept.fits(what, key) and certain:
                    found.append(Saved(key, value, requires == YES))
        return tuple(found)

    def _sequential(self, module: Instance, args: list[Any], node: Any, frame: Frame) -> Any:
        value = args[0] if args else UNKNOWN
        if "rest" in module.state or (module.opened and not module.registered):
            self.call_unknown(args, {})
            for one in self.branches_below(module):
                if type(one.cls) is Class:
                    for name in [name for name in one.attributes if name not in one.registered]:
                        self.heap.put(one.attributes, name, UNKNOWN)  # its forward may have set it
            return UNKNOWN
        for name, kind in list(module.registered.items()):
            if kind == "module":
                child = module.attributes.get(name)
                value = self.call_method(child, "__call__", [value], {}, node, frame)
        return value

    def move_module(
        self,
        module: Instance,
        name: str,
        args: list[Any],
        keywords: dict[str, Any],
        node: Any,
        frame: Frame,
    ) -> Instance:
        """`.to()`, `.cuda()`, `.double()`: parameters and buffers are moved in place, the same objects stay."""
        device: Any = MISSING
        dtype: Any = MISSING
        if name in ("float", "double", "half", "bfloat16"):
            dtype = {"float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16"}[name]
        elif name == "cpu":
            device = CPU
        elif name in ("cuda", "xpu", "ipu"):
            device = device_from(args[0]) if args else None
            device = device or Device("other", name)
        else:
            for value in (*args, *keywords.values()):
                value = self.settle(value)
                if type(value) is Dtype:
                    dtype = value.name
                elif device_from(value) is not None:
                    device = device_from(value)
                elif type(value) is Tensor:
                    device, dtype = value.device, value.dtype
                elif type(value) is not bool and value is not None:
                    device, dtype = None, None
        moved = [value for _, value in self.parameters_of(module)[0]]
        moved += self.branch_parameters(module)
        for one in (module, *self.branches_below(module)):
            moved += [value for _, value in self.buffers_of(one)]
        placed = self.origin("placed", node, frame, device=device.told) if type(device) is Device else None
        for tensor in dict.fromkeys(moved):
            if device is not MISSING:
                self.heap.put(tensor, "device", device)
            if placed is not None:
                self.note(tensor, placed)
            floating = tensor.dtype is None or dtypes.can_require_grad(tensor.dtype)
            if dtype is not MISSING and floating:
                self.heap.put(tensor, "dtype", dtype)
        return module

    def branches_below(self, module: Instance) -> list[Instance]:
        """The modules that may be below a module: those of either branch, and items of unknown number."""
        found: dict[int, Instance] = {}
        work = [one for _, one in self.submodules(module)[0]]
        while work:
            one = work.pop()
            # `rest` stands for the items of a container whose number is not known.
            for value in (*one.attributes.values(), one.state.get("rest")):
                branches = value.values if type(value) is OneOf else (value,)
                for branch in branches:
                    sure = value is branch and value is not one.state.get("rest")
                    if is_module(branch) and not sure and branch.serial not in found:
                        found[branch.serial] = branch
                        work.extend(below for _, below in self.submodules(branch)[0])
        return [below for branch in found.values() for _, below in self.submodules(branch)[0]]

    def branch_parameters(self, module: Instance) -> list[Tensor]:
        """The parameters of the modules that may be below a module, and of lists of unknown length."""
        found = [value for one in self.branches_below(module) for _, value in self.own_parameters(one)]
        for _, one in self.submodules(module)[0]:
            rest = one.state.get("rest")
            if type(rest) is Tensor:
                found.append(rest)
        return found

    def _further(self, module: Instance, complete: bool, pair: bool = False) -> Any:
        """What stands for what a module may hold beside what is known: whoever walks it may change that."""
        if complete:
            return MISSING

        def make() -> Any:
            for tensor in self.branch_parameters(module):
                self._doubt(tensor)
            return Sequence("tuple", (Some("str"), UNKNOWN)) if pair else UNKNOWN

        return Supply(make)

    def set_flag(self, tensor: Tensor, value: Any, node: Any, frame: Frame, how: str) -> None:
        raise NotImplementedError


_DROPPING = frozenset(
    ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
)
_WITH_RANDOM_WEIGHTS = (
    "Linear",
    "Bilinear",
    "Conv",
    "Embedding",
    "RNN",
    "LSTM",
    "GRU",
    "MultiheadAttention",
    "Transformer",
)


def _asks_for_training(function: ast.AST) -> bool:
    return any(type(part) is ast.Attribute and part.attr == "training" for part in ast.walk(function))


def _is_self(node: Any) -> bool:
    """Whether an attribute is set by the object's own methods, which may well read it again."""
    return type(node) is ast.Attribute and type(node.value) is ast.Name and node.value.id == "self"


def _outputs(text: str, result: Any, shape: Any) -> Any:
    """The value that `output,(h,c)` describes."""
    if not text:
        return result(shape)
    if text == "output,(h,c)":
        return Sequence("tuple", (result(shape), Sequence("tuple", (result(None), result(None)))))
    if text == "h,c":
        return Sequence("tuple", (result(shape), result(shape)))
    names = text.split(",")
    return Sequence("tuple", tuple(result(shape if index == 0 else None) for index in range(len(names))))


def _shape_from(text: str, values: dict[str, Any]) -> Any:
    if not text:
        return None
    sizes: list[int | None] = []
    for name in text.split(","):
        value = values.get(name)
        if name == "normalized_shape":
            plain = plain_value(value)
            if type(plain) is tuple:
                return tuple(size if type(size) is int else None for size in plain)
            return (plain if type(plain) is int else None,)
        sizes.append(value if type(value) is int else None)
    return tuple(sizes)


__all__ = ["Modules", "is_module", "is_module_path", "key_of", "shapes"]


def _modules_in(frame: Frame) -> Iterable[tuple[str, Instance]]:
    """The modules that the code of a frame can call by a name, or by an attribute of an object that has one."""
    for name, value in frame.names.items():
        if type(value) is Instance and is_module(value):
            yield name, value
        elif type(value) is Instance:
            for attribute, held in value.attributes.items():
                if type(held) is Instance and is_module(held):
                    yield f"{name}.{attribute}", held
