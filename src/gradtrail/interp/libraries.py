"""Libraries: from a dotted path to its model, and the objects of library classes."""

from __future__ import annotations

import ast
from typing import Any

from gradtrail.interp.events import Seen
from gradtrail.interp.expressions import AVAILABLE, Rest
from gradtrail.interp.frames import Frame
from gradtrail.interp.grad_modes import MODES, GradModes
from gradtrail.interp.gradients import Spent, state_of
from gradtrail.interp.models import data as data_models
from gradtrail.interp.models import numpy as numpy_models
from gradtrail.interp.models import optim as optim_models
from gradtrail.interp.models import python as python_models
from gradtrail.interp.models import registry
from gradtrail.interp.models import tensor as tensor_models
from gradtrail.interp.models.torch_functions import Copying, Making
from gradtrail.interp.modules import DECLARED_MODULE, is_module, is_module_path
from gradtrail.interp.values import (
    ANY_LEAF,
    BOOL,
    CPU,
    FLOAT,
    HARMLESS,
    INT,
    LEAF,
    MAYBE,
    MISSING,
    NO,
    NON_LEAF,
    NUMBER,
    OPAQUE,
    STR,
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
    Node,
    OneOf,
    Range,
    Sequence,
    Some,
    Tensor,
    Unknown,
)
from gradtrail.laws import dtypes, factories, modules, operations
from gradtrail.laws.distributions import WRAPPING

_ALIASES = {
    "torch.nn.parameter.Parameter": "torch.nn.Parameter",
    "torch.autograd.function.Function": "torch.autograd.Function",
    "torch.autograd.grad_mode.no_grad": "torch.no_grad",
    "torch.autograd.no_grad": "torch.no_grad",
    "torch.autograd.enable_grad": "torch.enable_grad",
    "torch.autograd.inference_mode": "torch.inference_mode",
    "torch.autograd.set_grad_enabled": "torch.set_grad_enabled",
    "torch.autograd.variable.Variable": "torch.autograd.Variable",
    "torch.nn.DataParallel": "torch.nn.DataParallel",
    "torch.utils.data.dataloader.DataLoader": "torch.utils.data.DataLoader",
    "torch.utils.data.dataset.TensorDataset": "torch.utils.data.TensorDataset",
    "torch.utils.data.dataset.Dataset": "torch.utils.data.Dataset",
    "torch.func.grad": "torch.func.grad",
    "torch.multiprocessing.spawn.spawn": "torch.multiprocessing.spawn",
}

_CANONICAL: dict[str, str] = {}
"""Paths that have been looked up before; a pure function's memory."""

_IMPLIED = {
    "torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "np": "numpy", "plt": "matplotlib.pyplot",
    "optim": "torch.optim", "DataLoader": "torch.utils.data.DataLoader", "Variable": "torch.autograd.Variable",
    "numpy": "numpy", "TensorDataset": "torch.utils.data.TensorDataset", "Dataset": "torch.utils.data.Dataset",
}  # fmt: skip
"""What a name means that a pasted snippet uses and never binds."""

_SPECIAL_ATTRIBUTES = {"torch.pi": 3.141592653589793, "torch.inf": float("inf"), "torch.nan": float("nan"),
                       "math.pi": 3.141592653589793, "numpy.pi": 3.141592653589793, "torch.__version__": STR}  # fmt: skip

_PURE = frozenset(
    """detach to cuda cpu float double half long int bool bfloat16 type type_as reshape view clone contiguous squeeze
    unsqueeze permute transpose flatten clamp t""".split()
)
"""Methods whose only effect is their result."""


_MODES_TO_ENTER = MODES - {"torch.set_grad_enabled"}
"""Grad modes that do nothing until they are entered."""

_LARGEST_OF_MATH = 1000
"""Up to here the functions of `math` that count combinations are worked out; above, their numbers have no use."""


class Libraries(Making, Copying, GradModes):
    """Calls into libraries."""

    def canonical(self, path: str) -> str:
        """The public path of a name: aliases and inner modules of torch taken away."""
        if path in self.given.modules:
            return DECLARED_MODULE + path
        if path in self.given.optimizers:
            return optim_models.DECLARED + path
        found = _CANONICAL.get(path)
        if found is None:
            found = _CANONICAL[path] = self._public(path)
        return found

    def _public(self, path: str) -> str:
        registry.load(path)
        found = _ALIASES.get(path) or registry.ALIASES.get(path)
        if found is not None:
            return found
        if path.startswith("torch.nn.modules."):
            return "torch.nn." + path.rpartition(".")[2]
        if path.startswith("torch.optim.") and path.count(".") > 2 and path.rpartition(".")[2][:1].isupper():
            return "torch.optim." + path.rpartition(".")[2]
        if path.startswith("torch.nn.parallel.distributed."):
            return "torch.nn.parallel." + path.rpartition(".")[2]
        return path

    def builtin(self, name: str, frame: Frame) -> Any:
        """A name that the program does not bind: a builtin, or what a pasted snippet takes for granted."""
        if name == "__name__":
            return "__main__" if frame.space.main else frame.space.name
        if name in python_models.BUILTINS:
            return Library(name)
        if name in python_models.EXCEPTIONS:
            return Library(name)
        if name == "reveal" and self.on_reveal is not None:
            return Library("gradtrail.reveal")
        if name in ("__file__", "__doc__"):
            return STR
        if name in _IMPLIED and not self._binds(name, frame):
            return Library(_IMPLIED[name])
        if name == "self" and frame.receiver is not MISSING:
            return frame.receiver
        return UNKNOWN

    def _binds(self, name: str, frame: Frame) -> bool:
        return name in frame.space.names

    def library_attribute(self, path: str, node: Any, frame: Frame) -> Any:
        """A name inside a library: a dtype, a constant, or a path to go on with."""
        if path in _SPECIAL_ATTRIBUTES:
            return _SPECIAL_ATTRIBUTES[path]
        head, _, name = path.rpartition(".")
        if name == "__name__" and head.rpartition(".")[2][:1].isupper():
            return head.rpartition(".")[2]
        if (
            head == "torch" and dtypes.canonical(name) is not None and name not in ("bool",)
        ) or path == "torch.bool":
            return Dtype(dtypes.canonical(name))
        return Library(self.canonical(path))

    def call_library(
        self, path: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        """A call of a library function or class by its dotted path."""
        path = self.canonical(path)
        if self.replaced and path in self.replaced:
            return self.call_unknown(args, keywords)
        handler = registry.CALLS.get(path)
        if handler is not None:
            if not args and path in python_models.NEED_ARGUMENT:
                return self.call_unknown(args, keywords)
            return handler(self, args, keywords, node, frame, path)
        head = path.partition(".")[0]
        if path.endswith(".__init__") and args and type(args[0]) is Instance and args[0].library is not None:
            self.initialise_library_object(args[0], args[0].library, args[1:], keywords, node, frame)
            return None
        if optim_models.is_optimizer(path):
            return self._make_optimizer(path, args, keywords, node, frame)
        if head == "torch":
            return self._call_torch(path, args, keywords, node, frame)
        if head == "numpy":
            result = numpy_models.numpy_call(self, path, args, keywords, node, frame)
            return numpy_models.with_sources(result, (*args, *keywords.values()))
        if head in ("matplotlib", "pylab"):
            return numpy_models.plotting_call(self, path.rpartition(".")[2], args, keywords, node, frame)
        if head == "seaborn":
            return numpy_models.plotting_call(self, path.rpartition(".")[2], args, keywords, node, frame)
        if head == "sklearn":
            return numpy_models.sklearn_call(self, path, args, keywords, node, frame)
        if head == "math":
            return self._math(path, args, node, frame)
        if head in ("time",):
            return FLOAT
        if head in ("random",):
            return (
                FLOAT
                if path in ("random.random", "random.uniform", "random.gauss")
                else INT
                if path.endswith(("randint", "randrange"))
                else UNKNOWN
            )
        if head in python_models.EXCEPTIONS:
            return OPAQUE
        if path.endswith((".raises", ".suppress", ".assertRaises", ".assertRaisesRegex")):
            return Library(path)
        if head in python_models.HARMLESS or path in python_models.BUILTINS:
            return HARMLESS
        if is_module_path(path):
            return self._make_module(path, args, keywords, node, frame)
        return self.call_unknown(args, keywords)

    def _math(self, path: str, args: list[Any], node: Any, frame: Frame) -> Any:
        import math

        function = getattr(math, path.partition(".")[2], None)
        if callable(function) and args and all(type(one) in (int, float) for one in args):
            if function in (math.factorial, math.comb, math.perm) and max(args) > _LARGEST_OF_MATH:
                return INT
            try:
                return function(*args)
            except (ValueError, OverflowError, TypeError):
                return FLOAT
        return INT if path in ("math.ceil", "math.floor") else FLOAT

    def _call_torch(
        self, path: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        name = path.rpartition(".")[2]
        if path.startswith("torch.nn.") and path.count(".") == 2 and modules.module(name) is not None:
            return self._make_module(path, args, keywords, node, frame)
        if path.startswith("torch.nn.init."):
            return self._initialise(name, args, keywords, node, frame)
        if path.startswith("torch.nn.utils."):
            return self._nn_utils(path, name, args, keywords, node, frame)
        if factories.factory(path) is not None:
            return self.make(path, args, keywords, node, frame)
        if path.startswith("torch.Tensor."):
            return (
                self.call_method(self.settle(args[0]), name, args[1:], keywords, node, frame)
                if args
                else UNKNOWN
            )
        if path.startswith("torch.distributions.") and name == "kl_divergence":
            return self._divergence(args, keywords, node, frame)
        if path.startswith("torch.distributions."):
            return self._distribution(name, args, keywords, node, frame)
        if operations.function(path) is not None:
            return self._apply_function_row(path, args, keywords, node, frame)
        if path.startswith("torch.optim.lr_scheduler."):
            return OPAQUE
        if path.startswith(
            (
                "torch.distributed.",
                "torch.cuda.",
                "torch.backends.",
                "torch.profiler.",
                "torch.utils.tensorboard.",
            )
        ):
            return UNKNOWN
        if path == "torch.Generator":
            return OPAQUE
        if is_module_path(path):
            return self._make_module(path, args, keywords, node, frame)
        if path.startswith("torch.utils.data."):
            return UNKNOWN
        return self.call_unknown(args, keywords)

    def _make_optimizer(
        self, path: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        name = path.rpartition(".")[2]
        instance = Instance(Library(path), path, self.serial(), self.origin("made", node, frame, cls=name))
        optim_models.build(self, name, instance, args, keywords, node, frame)
        return instance

    def _apply_function_row(
        self, path: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        """`torch.mul(a, b)`, `F.cross_entropy(...)`."""
        name = path.rpartition(".")[2]
        if any(type(one) is Rest for one in args):
            args = [one.value if type(one) is Rest else one for one in args]
            value = self.apply(name, args, keywords, node, frame, path)
            return value if type(value) is not Tensor else self._doubted(value)
        return self.apply(name, args, keywords, node, frame, path)

    def _doubted(self, value: Tensor) -> Tensor:
        value.shape = None
        return value

    def _make_module(
        self, path: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        instance = Instance(
            Library(path), path, self.serial(), self.origin("made", node, frame, cls=path.rpartition(".")[2])
        )
        self.initialise_library_object(instance, path, args, keywords, node, frame)
        return instance

    def _initialise(
        self, name: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        """`nn.init.normal_(tensor)`: writes in place under no_grad."""
        value = self.settle(args[0] if args else keywords.get("tensor", UNKNOWN))
        if type(value) is Tensor and name.endswith("_"):
            self.bump(value, node, frame, name)
        return value

    def _nn_utils(
        self, path: str, name: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        from gradtrail.laws import parametrize

        if name in ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm"):
            self._check_clipping(self.settle(args[0] if args else keywords.get("parameters")), node, frame)
            result = self.new_tensor(self.origin("computed", node, frame, (), op=name))
            result.requires, result.leaf, result.shape = NO, LEAF, ()
            return result
        law = parametrize.parametrization(path)
        module = self.settle(args[0]) if args else UNKNOWN
        if law is not None and is_module(module):
            given = args[1] if len(args) > 1 else keywords.get(law.name_argument, "weight")
            self._parametrize(module, law, given if type(given) is str else "weight", node, frame)
            return module
        if name == "parameters_to_vector" and args:
            found = self.items_of(args[0], node, frame)
            if found is not None:
                return self.apply("cat", [Sequence("list", found[0], found[1])], {}, node, frame, "torch.cat")
        if name == "vector_to_parameters":
            return None
        return self.call_unknown(args, keywords)

    def _check_clipping(self, given: Any, node: Any, frame: Frame) -> None:
        """What is clipped: nothing, where the iterator was used up; or too late, where the step has been taken."""
        if type(given) is Iterator and given.used_by is not None and given.origin is not None:
            steps = self.steps_of([given.origin, given.used_by], frame)
            self.tell("clip-of-nothing", node, frame, None, certainty="wrong", trail=steps, of=given.of)
        found = (
            self.items_of(given, node, frame) if type(given) in (Iterator, Sequence) else ([given], MISSING)
        )
        if found is None or found[1] is not MISSING:
            return
        tensors = [one for one in map(self.settle, found[0]) if type(one) is Tensor]
        if tensors and all(
            one.leaf & LEAF == 0 and one.retains is False and not one.either for one in tensors
        ):
            seen = self.seen(tensors[0], node, frame)
            self.tell("clip-of-nothing", node, frame, seen, certainty="wrong", of="computed")
            return
        if tensors and all(one.grad is None for one in tensors):
            earlier = next(
                (self.in_loops[one.serial] for one in tensors if one.serial in self.in_loops), None
            )
            if earlier is not None:
                steps = self.steps_of([earlier], frame)
                self.tell("clip-of-nothing", node, frame, None, certainty="wrong", trail=steps, of="")
        states = [state_of(one.grad) for one in tensors]
        if states and all(type(state) is Spent for state in states):
            steps = self.steps_of([state.step for state in states[:1] if state is not None], frame)
            self.tell("clip-after-step", node, frame, None, certainty="wrong", trail=steps)

    def _parametrize(self, module: Instance, law: Any, name: str, node: Any, frame: Frame) -> None:
        """`weight_norm(layer)`: the name holds a computed tensor from here on."""
        old = module.attributes.get(name)
        if type(old) is not Tensor:
            self.heap.put(module, "opened", True)
            return
        fresh = self.new_parameter(node, frame, "parameter")
        fresh.dtype, fresh.device, fresh.shape, fresh.requires = (
            old.dtype,
            old.device,
            old.shape,
            old.requires,
        )
        fresh.name = f"{module.name or 'module'}.{name} (original)"
        self.heap.put(module.registered, name, MISSING)
        self.register(module, law.parameters[0].replace("{name}", name).replace(".", "_"), fresh, "parameter")
        for extra in law.parameters[1:]:
            other = self.new_parameter(node, frame, "parameter")
            other.requires = old.requires
            self.register(module, extra.replace("{name}", name).replace(".", "_"), other, "parameter")

        def computed() -> Tensor:
            result = self.new_tensor(self.origin("recomputed", node, frame, (fresh,), name=name))
            result.requires = fresh.requires
            result.leaf = NON_LEAF if fresh.requires == YES else LEAF if fresh.requires == NO else ANY_LEAF
            result.dtype, result.device, result.shape = fresh.dtype, fresh.device, fresh.shape
            if fresh.requires & YES:
                result.node = Node("", "op", (fresh,), (), None, result.origin, self.serial())
            result.name = f"{module.name or 'module'}.{name}"
            return result

        if law.recomputed == "on-read":
            self.heap.put(module.state, f"recomputed {name}", computed)
            self.heap.put(module.attributes, name, MISSING)
        else:
            self.heap.put(module.attributes, name, computed())
            self.heap.put(module.state, f"recompute {name}", computed)

    def _distribution(
        self, name: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        """`Normal(mean, std)`: keeps its parameters; what is asked of it later is computed from them."""
        result = Instance(
            Library("torch.distributions"),
            "torch.distributions",
            self.serial(),
            self.origin("made", node, frame, cls=name),
        )
        values = [self.settle(one) for one in (*args, *keywords.values())]
        inner = [one for value in values if type(value) is Instance for one in value.state.get("tensors", ())]
        result.state["tensors"] = tuple(value for value in values if type(value) is Tensor) + tuple(inner)
        result.state["doubt"] = any(type(value) is Unknown for value in values)
        inside = values[0].state.get("family") if values and type(values[0]) is Instance else None
        result.state["family"] = inside if name in WRAPPING else name
        return result

    def _divergence(self, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame) -> Any:
        """`kl_divergence(p, q)`: computed from the parameters of both."""
        both = [self.settle(one) for one in (*args, *keywords.values())]
        if not all(type(one) is Instance and one.library == "torch.distributions" for one in both):
            return self.call_unknown(args, keywords)
        together = Instance(both[0].cls, "torch.distributions", self.serial(), both[0].origin)
        together.state["tensors"] = tuple(
            tensor for one in both for tensor in one.state.get("tensors", ()) if type(tensor) is Tensor
        )
        together.state["doubt"] = any(one.state.get("doubt") for one in both)
        return self._distribution_method(together, "kl_divergence", [], node, frame)

    def _distribution_method(
        self, instance: Instance, name: str, args: list[Any], node: Any, frame: Frame
    ) -> Any:
        tensors = instance.state.get("tensors", ())
        if name in {"sample", "sample_n"}:
            family = instance.state.get("family")
            result = self.new_tensor(self.origin("sampled", node, frame, tensors, op=name, cls=family))
            self.note_cut(result.origin, tensors)
            result.requires, result.leaf = NO, LEAF
            result.device = tensors[0].device if tensors else None
            return result
        if name in (
            "rsample",
            "log_prob",
            "entropy",
            "kl_divergence",
            "cdf",
            "icdf",
            "mean",
            "stddev",
            "variance",
            "probs",
            "logits",
            "loc",
            "scale",
            "perplexity",
            "mode",
        ):
            given = tuple(self.settle(one) for one in args)
            inputs = [*tensors, *(one for one in given if type(one) is Tensor)]
            requires = NO
            if self.modes.grad_mode is not False and name != "mode":
                for tensor in inputs:
                    requires = YES if YES in (tensor.requires, requires) else requires | tensor.requires
                if instance.state.get("doubt") and requires != YES:
                    requires = MAYBE
            origin = self.origin("computed", node, frame, tuple(inputs), op=name)
            result = self.new_tensor(origin)
            requires = (
                MAYBE if requires == YES and name in ("entropy", "mean", "variance", "stddev") else requires
            )
            result.requires = requires
            result.leaf = LEAF if requires == NO else NON_LEAF if requires == YES else ANY_LEAF
            result.device = tensors[0].device if tensors else None
            if requires & YES:
                edges = tuple(
                    dict.fromkeys(
                        edge
                        for edge in (one.node or (one if one.requires & YES else None) for one in inputs)
                        if edge is not None
                    )
                )
                if instance.state.get("doubt"):
                    edges = (*edges, self.unseen(origin))
                result.node = Node(
                    name, "op" if requires == YES else "maybe", edges, (), None, origin, self.serial()
                )
            return result
        return UNKNOWN

    # Objects of library classes

    def prepare_library_object(self, instance: Instance, frame: Frame) -> None:
        """Before `__init__` of a project class that derives from a library class."""
        library = instance.library or ""
        if is_module_path(library):
            instance.attributes["training"] = True
            known = (
                type(instance.cls) is Class
                and not instance.cls.opaque
                and not instance.cls.built_otherwise
                and type(instance.cls.find("__init__")) is Function
            )
            instance.state["begun"] = known  # until Module.__init__ has run, nothing can be registered
        elif library.partition(".")[0] not in ("torch", "object", "abc", "typing", "enum"):
            instance.opened = True

    def initialise_library_object(
        self,
        instance: Instance,
        library: str,
        args: list[Any],
        keywords: dict[str, Any],
        node: Any,
        frame: Frame,
    ) -> None:
        """The constructor of a library class."""
        library = self.canonical(library)
        name = library.rpartition(".")[2]
        if instance.state.get("begun"):
            self.heap.put(instance.state, "begun", False)
        if library in ("torch.nn.Module",):
            self.heap.put(instance.attributes, "training", True)
        elif library.startswith("torch.nn.") and modules.module(name) is not None:
            self.make_layer(instance, name, args, keywords, node, frame)
        elif is_module_path(library):
            self.heap.put(instance.attributes, "training", True)
            if "Pretrained" in name or "PreTrained" in name:
                self.heap.put(instance, "opened", True)
        elif optim_models.is_optimizer(library):
            optim_models.build(self, name, instance, args, keywords, node, frame)
        elif library.startswith("torch.utils.data."):
            return
        elif library.partition(".")[0] not in ("object", "abc"):
            self.heap.put(instance, "opened", True)

    def library_object_attribute(self, instance: Instance, name: str, node: Any, frame: Frame) -> Any:
        """An attribute of an object of a library class that it does not hold; MISSING if there is none."""
        library = instance.library or ""
        if is_module(instance):
            value = self.module_attribute(instance, name, node, frame)
            return value if value is not MISSING else Bound(instance, name) if _is_method(name) else UNKNOWN
        if library == "torch.distributions":
            if name in ("mean", "stddev", "variance", "probs", "logits", "loc", "scale"):
                return self._distribution_method(instance, name, [], node, frame)
            return Bound(instance, name)
        if library.startswith("matplotlib"):
            return instance
        if library == "torch.autograd.function.FunctionCtx":
            if name in ("saved_tensors", "saved_variables"):
                return Sequence("tuple", tuple(instance.state.get("saved", ())))
            return (
                UNKNOWN
                if name
                not in ("save_for_backward", "mark_dirty", "mark_non_differentiable", "set_materialize_grads")
                else Bound(instance, name)
            )
        if name == "module" and "module" in instance.attributes:
            return instance.attributes["module"]
        return Bound(instance, name)

    def set_library_attribute(
        self, instance: Instance, name: str, value: Any, node: Any, frame: Frame
    ) -> bool:
        """`object.name = value` for a library class; False when it is an ordinary attribute."""
        if is_module(instance):
            return self.set_module_attribute(instance, name, value, node, frame)
        return False

    def library_object_method(
        self,
        instance: Instance,
        name: str,
        args: list[Any],
        keywords: dict[str, Any],
        node: Any,
        frame: Frame,
    ) -> Any:
        """A method that comes from a library class."""
        library = instance.library or ""
        handler = registry.OBJECT_METHODS.get(library, {}).get(name)
        if handler is not None:
            return handler(self, [instance, *args], keywords, node, frame, name)
        if library in MODES and name in ("__enter__", "__exit__", "__call__"):
            return self._mode_method(instance, name, args, node, frame)
        if library in ("torch.nn.parallel.DistributedDataParallel", "torch.nn.DataParallel"):
            if name in ("__call__", "forward"):
                return data_models.forward_of_ddp(self, instance, args, keywords, node, frame)
            if name == "no_sync":
                return OPAQUE
            return self.module_method(instance, name, args, keywords, node, frame)
        if is_module(instance):
            if name == "__call__":
                for key, compute in list(instance.state.items()):
                    if key.startswith("recompute ") and callable(compute):
                        self.heap.put(instance.attributes, key[len("recompute ") :], compute())
            return self.module_method(instance, name, args, keywords, node, frame)
        if library.startswith("torch.optim.") or optim_models.is_optimizer(library):
            return optim_models.optimizer_method(self, instance, name, args, keywords, node, frame)
        if library == "torch.distributions":
            return self._distribution_method(instance, name, args, node, frame)
        if library.startswith("matplotlib"):
            return numpy_models.plotting_call(self, name, args, keywords, node, frame)
        if library == "numpy.random.Generator":
            return numpy_models.generator_method(self, name, args, keywords, node, frame)
        if library == "sklearn.base.BaseEstimator":
            return numpy_models.estimator_method(self, name, args, keywords, node, frame, instance)
        if library == "contextlib.contextmanager" or library in MODES:
            return UNKNOWN
        if library == "torch.utils.data.DataLoader" and name == "__iter__":
            return Iterator((), data_models.batches(self, instance, node, frame), "loader")
        if library.startswith("torch.autograd.Function"):
            return UNKNOWN
        return self.call_unknown(args, keywords)

    def library_is_instance(self, instance: Instance, path: str) -> bool | None:
        """`isinstance(object, library class)`."""
        path = self.canonical(path)
        own = instance.library
        if own is None:
            return (
                None
                if (type(instance.cls) is Class and instance.cls.opaque) or instance.opened
                else path == "object"
            )
        if own == path:
            return True
        if path == "torch.nn.Module":
            return True if is_module(instance) else None
        if is_module(instance) and path.startswith("torch.nn."):
            name, target = own.rpartition(".")[2], path.rpartition(".")[2]
            if target in ("Module",):
                return True
            return (
                None
                if target.startswith("_")
                or (name == "Module" and type(instance.cls) is Class and instance.cls.opaque)
                else False
            )
        return None

    def iterator_of(self, value: Any, node: Any, frame: Frame) -> Any:
        """What a loop over `value` asks for its items, where the program says it with a method; else `value`."""
        cls = value.cls if type(value) is Instance else None
        if type(cls) is not Class or type(cls.find("__iter__")) is not Function:
            return value
        return self.settle(self.call_method(value, "__iter__", [], {}, node, frame))

    def iterate_object(self, value: Any, node: Any, frame: Frame) -> tuple[tuple[Any, ...], Any] | None:
        """Iteration over a tensor, a loader, a container module, or an object with `__iter__`."""
        kind = type(value)
        if kind is Tensor:
            rows = self.apply("unbind", [value], {}, node, frame)
            if type(rows) is Sequence:
                return rows.items, rows.rest
            return None
        if kind is Array:
            return (), value.item()
        if kind is Instance:
            if value.library == "torch.utils.data.DataLoader":
                return (), data_models.batches(self, value, node, frame)
            if (value.library or "").startswith("matplotlib"):
                return (), value
            cls = value.cls
            if type(cls) is Class and type(cls.find("__iter__")) is Function:
                result = self.iterator_of(value, node, frame)
                if result is value:
                    made = (
                        self.call_method(value, "__next__", [], {}, node, frame)
                        if cls.find("__next__") is not MISSING
                        else UNKNOWN
                    )
                    return (), made
                return self.items_of(result, node, frame)
            if is_module(value):
                name = (value.library or "").rpartition(".")[2]
                if name in ("Sequential", "ModuleList", "ParameterList"):
                    entries, rest = self.container_items(value)
                    return tuple(one for _, one in entries), rest
                if name in ("ModuleDict", "ParameterDict"):
                    entries, rest = self.container_items(value)
                    return tuple(key for key, _ in entries), MISSING if rest is MISSING else STR
            if type(cls) is Class and type(cls.find("__getitem__")) is Function:
                return (), self.call_method(value, "__getitem__", [INT], {}, node, frame)
        if kind is Range:
            return (), INT
        return None

    def object_attribute(self, receiver: Any, name: str, node: Any, frame: Frame) -> Any:
        """An attribute of a list, a device, a dtype, an array or another plain value."""
        kind = type(receiver)
        if kind is Sequence and name in receiver.names:
            return receiver.items[receiver.names.index(name)]
        if kind is Device:
            return STR if name == "type" and receiver.kind != "cpu" else "cpu" if name == "type" else UNKNOWN
        if kind is Array:
            if name == "T":
                return Array(receiver.dtype)
            if name == "shape":
                return (
                    Sequence("tuple", (), INT)
                    if receiver.shape is None
                    else Sequence("tuple", tuple(INT if s is None else s for s in receiver.shape))
                )
            if name in ("size", "ndim"):
                return INT
            return Bound(receiver, name)
        if kind is Dtype:
            if name in ("is_floating_point", "is_complex") and receiver.name is not None:
                kinds = {"is_floating_point": "floating", "is_complex": "complex"}
                return dtypes.category(receiver.name) == kinds[name]
            return BOOL if name.startswith("is_") else UNKNOWN
        if kind is Some and receiver.type == "object":
            return OPAQUE
        if kind is int or kind is float:
            return NUMBER if name in ("real", "imag") else Bound(receiver, name)
        return Bound(receiver, name)

    def object_method(
        self, receiver: Any, name: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        """A method of a value that is neither a tensor nor an object of a class."""
        if type(receiver) is Array:
            result = numpy_models.array_method(self, receiver, name, args, keywords, node, frame)
            return numpy_models.with_sources(result, (receiver, *args))
        return python_models.object_method(self, receiver, name, args, keywords, node, frame)

    # Tensors

    def tensor_method(
        self, tensor: Tensor, name: str, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        """A method of a tensor."""
        handler = registry.TENSOR_METHODS.get(name)
        if handler is not None:
            return handler(self, [tensor, *args], keywords, node, frame, name)
        if tensor.attributes is not None and name in tensor.attributes:
            return self.call(tensor.attributes[name], args, keywords, node, frame)
        return self.apply(name, [tensor, *args], keywords, node, frame)

    def tensor_attribute(self, tensor: Tensor, name: str, node: Any, frame: Frame) -> Any:
        """An attribute of a tensor."""
        if tensor.base is not None:
            self.refresh(tensor)
        handler = registry.TENSOR_ATTRIBUTES.get(name)
        if handler is not None:
            return handler(self, tensor, node, frame)
        row = operations.operation(name)
        if row is not None and row.home == "attribute":
            return self.apply(name, [tensor], {}, node, frame)
        if tensor.attributes is not None and name in tensor.attributes:
            return tensor.attributes[name]
        return Bound(tensor, name) if row is not None or name in registry.TENSOR_METHODS else UNKNOWN

    def set_tensor_attribute(self, tensor: Tensor, name: str, value: Any, node: Any, frame: Frame) -> None:
        """`tensor.name = value`."""
        if name in ("data", "grad", "_grad"):
            self.doubt_kin(tensor)
        if name == "requires_grad":
            self.set_flag(tensor, value, node, frame, "=")
        elif name == "data":
            value = self.settle(value)
            if type(value) is Tensor:
                self.note_share(tensor, value, self.origin("shared", node, frame))
                self.note_mix(tensor, (value,), True, node, frame)
                for field in ("dtype", "device", "shape"):
                    self.heap.put(tensor, field, getattr(value, field))
            else:
                for field in ("dtype", "device", "shape"):
                    self.heap.put(tensor, field, None)
        elif name in ("grad", "_grad"):
            self.heap.put(tensor, "grad", value)
            self.handed_over = self.handed_over or value is not None
            if value is not None:
                self.reached.add(tensor.serial)
        else:
            if tensor.attributes is None:
                tensor.attributes = {}
            self.heap.put(tensor.attributes, name, value)
            if name in ("require_grad", "required_grad", "requires_grad_"):
                self.tell(
                    "flag-misspelt", node, frame, self.seen(tensor, node, frame), certainty="wrong", name=name
                )

    def set_flag(self, tensor: Tensor, value: Any, node: Any, frame: Frame, how: str) -> None:
        """`tensor.requires_grad = value` or `tensor.requires_grad_(value)`."""
        put = self.heap.put
        self.doubt_kin(tensor)
        if tensor.parameter is True and value is True and tensor.requires == NO:
            self.rearranged += 1
            self.note_unfrozen(tensor, node, frame)
        if type(value) is not bool:
            put(tensor, "requires", MAYBE)
            if tensor.leaf != LEAF:
                put(tensor, "leaf", ANY_LEAF)
            return
        certain_non_leaf = tensor.leaf & LEAF == 0 and tensor.requires == YES
        if (
            value
            and tensor.inference is True
            and self.modes.inference_mode is False
            and tensor.requires == NO
        ):
            self.refuse("inference-requires-grad", node, frame, self.seen(tensor, node, frame, "inference"))
        if certain_non_leaf and (not value or how == "="):
            self.refuse("flag-of-non-leaf", node, frame, self.seen(tensor, node, frame), value=value, how=how)
        if certain_non_leaf:
            return
        if value and tensor.dtype is not None and dtypes.can_require_grad(tensor.dtype) is False:
            self.refuse(
                "requires-grad-integer",
                node,
                frame,
                self.seen(tensor, node, frame, "dtype"),
                dtype=tensor.dtype,
            )
        wanted = YES if value else NO
        if tensor.requires == wanted and tensor.leaf == LEAF:
            return
        origin = self.origin("flagged" if value else "frozen", node, frame, value=value)
        if value and tensor.requires != NO and tensor.leaf != LEAF:
            put(tensor, "requires", YES)  # a non-leaf that requires grad stays one
        else:
            put(tensor, "requires", wanted)
            put(tensor, "leaf", LEAF)
            put(tensor, "node", None)
        self.note(tensor, origin)

    def to_numpy(self, tensor: Tensor, node: Any, frame: Frame, how: str) -> Any:
        """The tensor is converted to an array."""
        tensor_models.refuse_numpy(self, tensor, node, frame, how)
        return Array(tensor.dtype, tensor.shape)

    def call_statement(self, node: Any, frame: Frame) -> None:
        """A method call whose result nobody takes: for a pure method of a tensor, nothing happens."""
        result = self.evaluate(node, frame)
        name = node.func.attr
        if type(result) is Instance and result.library in _MODES_TO_ENTER and result.library.endswith(name):
            self.tell("mode-dropped", node, frame, None, certainty="wasteful", mode=result.library)
        if name not in _PURE or type(result) is not Tensor or self._is_shown(node, frame):
            return
        receiver = self._receiver(node.func.value, frame)
        if type(receiver) is not Tensor:
            return
        origin = self.origin(
            "dropped", node, frame, op=name, name=self.name_of(receiver, node.func.value, frame)
        )
        self.note(receiver, origin)
        same = result is receiver
        if not same or type(node.func.value).__name__ in ("Name", "Attribute", "Subscript"):
            subject = self.seen(receiver, node, frame)
            if isinstance(node.func.value, (ast.Name, ast.Attribute, ast.Subscript)):
                subject = Seen(self._source(node.func.value, frame), subject.facts, subject.trail)
            arguments = "..." if node.args or node.keywords else ""
            self.tell("result-dropped", node, frame, subject, certainty="wasteful", op=name, same=same, arguments=arguments,
                      off_cpu=result.same_on_cpu is receiver)  # fmt: skip

    def _is_shown(self, node: Any, frame: Frame) -> bool:
        """Whether the value of a statement is shown, as at the end of a notebook's cell."""
        source = frame.space.source
        if frame.function is not None or not (source.cells or source.is_repaired or "%%" in source.text):
            return False
        from gradtrail.source.showing import is_shown

        return is_shown(source, frame.space.tree.body, node)

    def known_value(self, node: Any, frame: Frame) -> Any:
        """The value of a name or attribute, looked up without evaluating anything anew; MISSING for other code."""
        return self._receiver(node, frame)

    def _receiver(self, node: Any, frame: Frame) -> Any:
        """The value of a name or attribute, looked up without evaluating anything anew."""
        import ast

        if type(node) is ast.Name:
            return self.settle(self.look_up(node.id, frame))
        if type(node) is ast.Attribute and type(node.value) is ast.Name:
            owner = self.settle(self.look_up(node.value.id, frame))
            if type(owner) is Instance:
                return self.settle(owner.attributes.get(node.attr, MISSING))
        return MISSING


def _is_method(name: str) -> bool:
    """Names that every module answers to with a method."""
    return name in _MODULE_METHODS or name.startswith("register_")


_MODULE_METHODS = frozenset(
    """parameters named_parameters buffers named_buffers children named_children modules named_modules train eval
    requires_grad_ zero_grad state_dict load_state_dict apply to cuda cpu float double half bfloat16 type forward
    add_module get_parameter get_submodule get_buffer share_memory __call__ append extend insert items keys values
    update pop""".split()
)


@registry.calls("gradtrail.reveal")
def _reveal(m: Any, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame, path: str) -> Any:
    """`reveal(value)` in a test: the value is told, and comes back."""
    value = m.settle(args[0]) if args else UNKNOWN
    if m.on_reveal is not None:
        m.on_reveal(value, node, frame)
    return value


__all__ = ["AVAILABLE", "CPU", "Libraries", "Mapping", "OneOf"]
