"""Methods of torch.nn.Module and of its containers."""

from __future__ import annotations

from typing import Any

from gradtrail.interp.frames import Frame
from gradtrail.interp.modules import CONTAINERS, Modules
from gradtrail.interp.values import (
    BOOL,
    INT,
    MISSING,
    UNKNOWN,
    Instance,
    Iterator,
    Library,
    Mapping,
    Origin,
    Sequence,
    Some,
    Tensor,
    Unknown,
)

_HOOKS = {
    "register_forward_hook": "forward", "register_forward_pre_hook": "before",
    "register_full_backward_hook": "backward", "register_full_backward_pre_hook": "backward",
    "register_backward_hook": "old",
}  # fmt: skip


class ModuleMethods(Modules):
    """What a module does when its methods are called."""

    def module_method(
        self, module: Instance, name: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        """A method that nn.Module itself (or a layer) has."""
        handler = _METHODS.get(name)
        if handler is not None:
            return handler(self, module, args, keywords, node, frame)
        if name in _HOOKS:
            handle = self.new_handle(node, frame)
            hook = args[0] if args else keywords.get("hook")
            one = (_HOOKS[name], hook, self.origin("hooked", node, frame), handle)
            self.heap.put(module.state, "hooks", (*(module.state.get("hooks") or ()), one))
            return handle
        if name in (
            "to",
            "cuda",
            "cpu",
            "float",
            "double",
            "half",
            "bfloat16",
            "type",
            "xpu",
            "ipu",
            "to_empty",
        ):
            return self.move_module(module, name, args, keywords, node, frame)
        return self._container_method(module, name, args, keywords, node, frame)

    def m_parameters(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        found, complete = self.parameters_of(module)
        origin = self.origin("generator", node, frame, module=module)
        return Iterator(
            tuple(value for _, value in found), self._further(module, complete), "Module.parameters", origin
        )

    def m_named_parameters(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        found, complete = self.parameters_of(module)
        pairs = tuple(Sequence("tuple", (name, value)) for name, value in found)
        rest = self._further(module, complete, pair=True)
        return Iterator(pairs, rest, "Module.named_parameters", self.origin("generator", node, frame))

    def m_buffers(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        return Iterator(tuple(value for _, value in self.buffers_of(module)), MISSING, "Module.buffers")

    def m_named_buffers(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        return Iterator(tuple(Sequence("tuple", (n, v)) for n, v in self.buffers_of(module)), MISSING)

    def m_children(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        found = [module.attributes.get(name) for name, kind in module.registered.items() if kind == "module"]
        rest = self._further(module, self.submodules(module)[1])
        return Iterator(tuple(found), rest, "Module.children")

    def m_named_children(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        found = [
            Sequence("tuple", (name, module.attributes.get(name)))
            for name, kind in module.registered.items()
            if kind == "module"
        ]
        return Iterator(tuple(found), self._further(module, self.submodules(module)[1], pair=True))

    def m_modules(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        found, complete = self.submodules(module)
        return Iterator(tuple(one for _, one in found), self._further(module, complete), "Module.modules")

    def m_named_modules(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        found, complete = self.submodules(module)
        pairs = tuple(Sequence("tuple", (name, one)) for name, one in found)
        return Iterator(pairs, self._further(module, complete, pair=True))

    def m_mode(self, training: bool | None) -> Any:
        def run(
            machine: Modules,
            module: Instance,
            args: list[Any],
            keywords: dict[str, Any],
            node: Any,
            frame: Frame,
        ) -> Any:
            on = training
            if on is None:
                given = args[0] if args else keywords.get("mode", True)
                on = given if type(given) is bool else None
            below = [one for _, one in machine.submodules(module)[0]]
            origin = machine.origin("mode", node, frame, mode="train()" if on else "eval()")
            if on is not None and module.attributes.get("training") is (not on):
                machine.evaluating += -1 if on else 1
            for one in (*below, *machine.branches_below(module)):
                machine.heap.put(one.attributes, "training", BOOL if on is None else on)
                machine.heap.put(one.state, "mode", origin if on is not None else UNKNOWN)
            return module

        return run

    def m_requires_grad(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        value = args[0] if args else keywords.get("requires_grad", True)
        known = [parameter for _, parameter in self.parameters_of(module)[0]]
        for parameter in (*known, *self.branch_parameters(module)):
            self.set_flag(parameter, value, node, frame, "requires_grad_")
        return module

    def m_zero_grad(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        self.clear_gradients(
            [value for _, value in self.parameters_of(module)[0]] + self.branch_parameters(module),
            keywords.get("set_to_none", args[0] if args else True),
            self.origin("cleared", node, frame),
        )
        return None

    def clear_gradients(self, tensors: list[Tensor], to_none: Any, origin: Origin) -> None:
        """`zero_grad()` at `origin`."""
        self.note_cleared(tensors, origin)
        for tensor in tensors:
            if type(tensor.grad) is Tensor:
                self.heap.put(tensor.grad, "spent", None)
            self.heap.put(
                tensor, "grad", None if to_none is True else tensor.grad if to_none is False else UNKNOWN
            )
        self.heap.put(self.modes, "cleared", (origin, frozenset(tensor.serial for tensor in tensors)))

    def m_state_dict(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        found, complete = self.parameters_of(module)
        keep = keywords.get("keep_vars") is True
        entries: dict[Any, Any] = {}
        for name, value in (*found, *self.buffers_of(module)):
            entries[name] = value if keep else self.detached(value, node, frame, "state_dict")
        return Mapping(entries, MISSING if complete else UNKNOWN)

    def m_load_state_dict(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        tensors = [value for _, value in self.parameters_of(module)[0]] + [
            value for _, value in self.buffers_of(module)
        ]
        strict = keywords.get("strict", args[1] if len(args) > 1 else True)
        if keywords.get("assign") is True:
            for _, one in self.submodules(module)[0]:
                for name, old in self.own_parameters(one):
                    fresh = self.wrap_parameter(old, node, frame, old.requires)
                    fresh.device, fresh.dtype = None, None
                    fresh.storage = self.new_storage()
                    self.heap.put(one.attributes, name, fresh)
            for tensor in self.branch_parameters(module):
                self._doubt(tensor)
            return UNKNOWN
        self.tell_own_state(module, self.settle(args[0] if args else keywords.get("state_dict")), node, frame)
        for tensor in tensors:
            self.bump(tensor, node, frame, "load_state_dict", certain=strict is True)
        for tensor in self.branch_parameters(module):
            self.bump(tensor, node, frame, "load_state_dict", certain=False)
        return UNKNOWN

    def m_register_buffer(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        name = args[0] if args else keywords.get("name")
        value = self.settle(args[1] if len(args) > 1 else keywords.get("tensor", UNKNOWN))
        if type(name) is str:
            if type(value) is Tensor and value.name is None:
                value.name = f"self.{name}"
            self.register(module, name, value, "buffer")
        else:
            self.heap.put(module, "opened", True)
        return None

    def m_register_parameter(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        name = args[0] if args else keywords.get("name")
        value = self.settle(args[1] if len(args) > 1 else keywords.get("param", UNKNOWN))
        if type(value) is Tensor and value.parameter is False:
            self.refuse(
                "register-parameter",
                node,
                frame,
                self.seen(value, node, frame),
                name=name if type(name) is str else "?",
            )
        if type(name) is str:
            if type(value) is Tensor and value.name is None:
                value.name = f"self.{name}"
            self.register(module, name, value, "parameter")
        else:
            self.heap.put(module, "opened", True)
        return None

    def m_add_module(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        name = args[0] if args else keywords.get("name")
        value = self.settle(args[1] if len(args) > 1 else keywords.get("module", UNKNOWN))
        if type(name) is str:
            self.register(module, name, value, "module")
        else:
            known = module.state.get("rest", MISSING)
            self.heap.put(module.state, "rest", self.join(known, value))
            self.heap.put(module, "opened", True)
        return None

    def m_apply(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        function = args[0] if args else keywords.get("fn")
        for _, one in self.submodules(module)[0]:
            self.call(function, [one], {}, node, frame)
        for tensor in self.branch_parameters(module):
            self._doubt(tensor)
        return module

    def m_untold(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        """A method by which anything may be done to the module."""
        self.open_up(module)
        return module

    def m_get(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        name = args[0] if args else None
        value: Any = module
        if type(name) is not str:
            return Unknown("some part", (module,))
        for part in name.split("."):
            if part:
                value = self.attribute(self.settle(value), part, node, frame)
        return value

    def m_same(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        return module

    def m_forward(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        return self.forward_of_layer(module, args, keywords, node, frame)

    def m_none(
        self, module: Instance, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        return None

    def container_items(self, module: Instance) -> tuple[list[tuple[str, Any]], Any]:
        """The entries of a container by key, and what stands for further ones."""
        entries = [(name, module.attributes.get(name)) for name in module.registered if name != "*"]
        rest = module.state.get("rest", MISSING)
        if rest is MISSING and module.opened:
            rest = UNKNOWN
        return entries, rest

    def _container_method(
        self, module: Instance, name: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        kind = (module.library or "").rpartition(".")[2]
        if kind not in CONTAINERS:
            return self.call_unknown(args, keywords)
        entries, rest = self.container_items(module)
        first = self.settle(args[0]) if args else UNKNOWN
        if name == "append":
            self._extend_container(module, kind, (first,), MISSING, node, frame)
            return module
        if name == "extend":
            found = self.items_of(first, node, frame)
            if found is None:
                self.heap.put(module, "opened", True)
            else:
                self._extend_container(module, kind, found[0], found[1], node, frame)
            return module
        if name == "insert":
            self.heap.put(module, "opened", True)
            return module
        if name == "update":
            self._update_dict(module, kind, first, node, frame)
            return None
        if name == "items":
            return Iterator(
                tuple(Sequence("tuple", pair) for pair in entries),
                MISSING if rest is MISSING else Sequence("tuple", (Some("str"), rest)),
            )
        if name == "keys":
            return Iterator(tuple(key for key, _ in entries), MISSING if rest is MISSING else Some("str"))
        if name == "values":
            return Iterator(tuple(value for _, value in entries), rest)
        if name == "__len__":
            return len(entries) if rest is MISSING else INT
        if name == "__contains__":
            return first in [key for key, _ in entries] if type(first) is str and rest is MISSING else BOOL
        if name == "__getitem__":
            return self._item(module, kind, first, entries, rest)
        if name == "__setitem__":
            value = self.settle(args[1]) if len(args) > 1 else UNKNOWN
            if type(first) is int:
                key = str(first if first >= 0 else len(entries) + first)
                self._add_item(module, kind, key, value, node, frame)
            elif type(first) is str:
                self._add_item(module, kind, first, value, node, frame)
            else:
                self.heap.put(module, "opened", True)
            return None
        if name in ("__delitem__", "pop", "clear"):
            self.heap.put(module, "opened", True)
            return UNKNOWN
        return self.call_unknown(args, keywords)

    def _item(self, module: Instance, kind: str, key: Any, entries: list[tuple[str, Any]], rest: Any) -> Any:
        values = [value for _, value in entries]
        if type(key).__name__ == "SliceValue":
            part = key.known()
            result = Instance(
                module.cls if type(module.cls) is Library else Library(module.library or ""),
                module.library,
                self.serial(),
                module.origin,
            )
            result.attributes["training"] = module.attributes.get("training", True)
            if part is None or rest is not MISSING:
                result.opened = True
                return result
            for index, value in enumerate(values[part]):
                self.register(result, str(index), value, "module")
            return result
        if type(key) is int and rest is MISSING:
            return values[key] if -len(values) <= key < len(values) else UNKNOWN
        if type(key) is str and kind.endswith("Dict"):
            for name, value in entries:
                if name == key:
                    return value
            return UNKNOWN if rest is MISSING else rest
        if type(key) is Unknown or type(key) is Some:
            known = [value for value in (*values, rest) if value is not MISSING]
            return self.heap.joiner.all_of(tuple(known)) if known else UNKNOWN
        return UNKNOWN


_METHODS: dict[str, Any] = {
    "__call__": ModuleMethods.m_call, "forward": ModuleMethods.m_forward, "parameters": ModuleMethods.m_parameters,
    "named_parameters": ModuleMethods.m_named_parameters, "buffers": ModuleMethods.m_buffers,
    "named_buffers": ModuleMethods.m_named_buffers, "children": ModuleMethods.m_children,
    "named_children": ModuleMethods.m_named_children, "modules": ModuleMethods.m_modules,
    "named_modules": ModuleMethods.m_named_modules, "train": ModuleMethods.m_mode(None, None),  # type: ignore[arg-type]
    "eval": ModuleMethods.m_mode(None, False),  # type: ignore[arg-type]
    "requires_grad_": ModuleMethods.m_requires_grad, "zero_grad": ModuleMethods.m_zero_grad,
    "state_dict": ModuleMethods.m_state_dict, "load_state_dict": ModuleMethods.m_load_state_dict,
    "register_buffer": ModuleMethods.m_register_buffer, "register_parameter": ModuleMethods.m_register_parameter,
    "add_module": ModuleMethods.m_add_module, "register_module": ModuleMethods.m_add_module,
    "apply": ModuleMethods.m_apply, "_apply": ModuleMethods.m_untold,
    "get_parameter": ModuleMethods.m_get, "get_submodule": ModuleMethods.m_get, "get_buffer": ModuleMethods.m_get,
    "share_memory": ModuleMethods.m_same, "compile": ModuleMethods.m_none, "extra_repr": ModuleMethods.m_none,
    "__init__": ModuleMethods.m_none, "set_submodule": ModuleMethods.m_none, "reset_parameters": ModuleMethods.m_none,
    "flatten_parameters": ModuleMethods.m_none,
}  # fmt: skip
