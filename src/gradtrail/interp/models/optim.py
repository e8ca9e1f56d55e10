"""`torch.optim`: what an optimizer is handed, and what its methods do to the tensors it holds."""

from __future__ import annotations

import ast
from typing import Any

from gradtrail.interp.frames import Frame, PathEnds
from gradtrail.interp.gradients import Mixed, Spent, state_of, version_of
from gradtrail.interp.models import registry
from gradtrail.interp.models.registry import argument
from gradtrail.interp.models.tensor import flag
from gradtrail.interp.values import (
    LEAF,
    MISSING,
    NO,
    UNKNOWN,
    YES,
    Array,
    Bound,
    Function,
    Instance,
    Iterator,
    Library,
    Mapping,
    OneOf,
    Sequence,
    Some,
    Tensor,
    Unknown,
)
from gradtrail.laws import optimizers
from gradtrail.laws.optimizers import OptimizerRefusal, ParamSeen, ParamsSeen

Args = list[Any]
Keywords = dict[str, Any]


class Built:
    """One construction: the groups that were handed over, as far as they are known."""

    __slots__ = ("at", "complete", "covers", "fused", "groups", "used_up")

    def __init__(self, at: Any = None) -> None:
        self.groups: list[list[Tensor]] = []
        self.complete = True
        self.used_up: list[Iterator] = []
        self.at = at
        self.covers: list[Instance] = []  # modules of which all parameters were asked for
        self.fused: bool | None = False  # a fused step writes parameters without counting it as a version


DECLARED = "gradtrail.optimizer."
"""Stands before the path of a class that the settings declare to be an optimizer."""


def is_optimizer(path: str) -> bool:
    """Whether a dotted library path names an optimizer: a class that derives from torch's."""
    if path.startswith("torch.optim."):
        return optimizers.optimizer(path.rpartition(".")[2]) is not None
    return path.startswith(DECLARED) or path in registry.OPTIMIZERS


def build(
    m: Any, name: str, instance: Instance, args: Args, keywords: Keywords, node: Any, frame: Frame
) -> None:
    """The constructor of an optimizer: its checks, in both worlds, and what it holds afterwards."""
    law = optimizers.optimizer(name)
    params = m.settle(argument(args, keywords, 0, "params", UNKNOWN))
    differentiable = keywords.get("differentiable", False)
    built = Built(m.origin("optimizer", _params_expression(node) or node, frame, optimizer=name))
    built.fused = flag(m.settle(keywords.get("fused")))
    whole, subjects = _seen_params(m, params, built, node, frame)
    built.covers = _modules_asked(m, params, _params_expression(node), frame)
    m.optimizers[instance.serial] = instance
    m.heap.put(instance.state, "built", built)
    m.heap.put(instance.state, "groups", _groups_value(built))
    m.heap.put(instance.attributes, "param_groups", _groups_value(built))
    _tell_remade(m, instance, built, name, keywords, node, frame)
    expression = _params_expression(node)
    if (law is None and not is_optimizer(instance.library or "")) or differentiable is not False:
        return
    found = optimizers.refusal(whole, False, name)
    where = expression if expression is not None else node
    if found is not None and found.raises:
        _refuse(m, found, subjects, params, name, node, where, frame, off_cpu=False)
    elsewhere, subjects_elsewhere = _seen_params(
        m, params, Built(), node, frame, elsewhere=True, again=(whole, subjects)
    )
    away = optimizers.refusal(elsewhere, False, name)
    if away is not None and away.raises:
        _refuse(m, away, subjects_elsewhere, params, name, node, where, frame, off_cpu=True)
    if whole.container == "unknown" or not built.complete:
        return
    _tell_names(m, whole, subjects, name, node, where, frame)


def _tell_names(
    m: Any, whole: ParamsSeen, subjects: dict[Any, Any], name: str, node: Any, where: Any, frame: Frame
) -> None:
    """Tuples are read as (name, parameter): a tensor that stands where the name belongs is never trained."""
    for index, item in enumerate(whole.items):
        value = subjects.get((index,))
        if item.kind == "named" and type(value) is Sequence and type(m.settle(value.items[0])) is Tensor:
            first = m.settle(value.items[0])
            m.tell(
                "optimizer-reads-name",
                where,
                frame,
                m.seen(first, where, frame),
                certainty="wrong",
                optimizer=name,
            )


def _tell_remade(
    m: Any, instance: Instance, built: Built, name: str, keywords: Keywords, node: Any, frame: Frame
) -> None:
    """The same optimizer is made once more, for the same tensors, after a single step of the one before."""
    before, options = m.made_before.get(id(node), (None, None))
    m.made_before[id(node)] = (instance, dict(keywords))
    if (
        before is None
        or options != keywords
        or name in _WITHOUT_STATE
        or (name == "SGD" and not _is_given(keywords.get("momentum")))
    ):
        return
    earlier = before.state.get("built")
    same = (
        isinstance(earlier, Built) and earlier.complete and built.complete and earlier.groups == built.groups
    )
    here: Frame | None = frame
    while here is not None and not here.loops:
        here = here.caller
    if same and built.groups and before.state.get("stepped") == 1 and here is not None:
        m.tell("optimizer-remade", node, frame, None, certainty="wrong", optimizer=name)


_WITHOUT_STATE = ("LBFGS",)


def _is_given(value: Any) -> bool:
    return type(value) in (int, float) and value != 0


def _modules_asked(m: Any, params: Any, expression: Any, frame: Frame) -> list[Instance]:
    """The modules whose `parameters()` an expression asks for, or the one that wrote down what it names."""
    from gradtrail.interp.modules import is_module

    written = getattr(params, "origin", None)
    places = [(expression, frame)]
    if written is not None and written.frame is not None:
        places.append((written.node, written.frame))
    found: list[Instance] = []
    for place, where in places:
        for part in ast.walk(place) if isinstance(place, ast.AST) else ():
            if type(part) is not ast.Call or type(part.func) is not ast.Attribute:
                continue
            if part.func.attr in ("parameters", "named_parameters"):
                module = m.known_value(part.func.value, where)
                if is_module(module) and module not in found:
                    found.append(module)
    return found


def _params_expression(node: Any) -> Any:
    if getattr(node, "args", None):
        return node.args[0]
    return next((keyword.value for keyword in getattr(node, "keywords", ()) if keyword.arg == "params"), None)


def _refuse(
    m: Any,
    found: OptimizerRefusal,
    subjects: dict[Any, Any],
    params: Any,
    name: str,
    node: Any,
    where: Any,
    frame: Frame,
    off_cpu: bool,
) -> None:
    subject = subjects.get(found.path, params)
    fields: dict[str, Any] = {"optimizer": name}
    if type(subject) is Tensor:
        seen = m.seen(subject, where, frame)
    else:
        holder = subject
        if getattr(subject, "origin", None) is None and found.path:
            holder = _holder(subjects, found.path, params)
        seen = m.seen(holder, where, frame)
        fields["type"] = _type_word(subject)
    trail: tuple[Any, ...] = ()
    if found.key == "optimizer-empty":
        hidden = _hidden_modules(m, subjects.get(("module",)), frame)
        if hidden is not None:
            fields["attribute"], fields["container"], fields["holds"] = hidden[0], hidden[2], hidden[3]
            trail = (hidden[1],)
        elif type(params) is Iterator and params.used_by is not None:
            trail = m.steps_of([params.origin, params.used_by], frame)
    if found.key == "optimizer-two-groups":
        twice, *paths = _twice(subjects, found.path, subject)
        seen = m.seen(twice, where, frame)
        trail = m.steps_of(_written_down(subjects, paths, params), frame)
    elif found.key == "non-leaf-optimizer" and found.path:
        trail = m.steps_of(_written_down(subjects, [found.path], params), frame)
    at = _on_the_line_of_the_call(_element_node(where, found.path, frame), node)
    m.refuse(found.key, at, frame, seen, off_cpu=off_cpu, trail=trail, **fields)


def _holder(subjects: dict[Any, Any], path: tuple[int, ...], params: Any) -> Any:
    """The innermost container around an element that has no origin of its own."""
    for length in range(len(path) - 1, 0, -1):
        outer = subjects.get(path[:length])
        if type(outer) is Mapping:
            inner = outer.entries.get("params")
            return inner if getattr(inner, "origin", None) is not None else outer
        if getattr(outer, "origin", None) is not None:
            return outer
    return params


def _written_down(subjects: dict[Any, Any], paths: list[tuple[int, ...]], params: Any) -> list[Any]:
    """Where the containers around some elements were written down."""
    origins = [getattr(_holder(subjects, path, params), "origin", None) for path in paths]
    return [origin for origin in origins if origin is not None and hasattr(origin.node, "lineno")]


def _twice(subjects: dict[tuple[int, ...], Any], path: tuple[int, ...], subject: Any) -> tuple[Any, ...]:
    """The tensor that an earlier group holds already, and its paths in both groups, where they are known."""
    earlier: dict[Tensor, tuple[int, ...]] = {}
    for known, value in subjects.items():
        if type(value) is Tensor and known and type(known[0]) is int and known[0] < path[0]:
            earlier.setdefault(value, known)
    for known, value in subjects.items():
        if known and known[0] == path[0] and type(value) is Tensor and value in earlier:
            return value, earlier[value], known
    return (subject,)


def _on_the_line_of_the_call(element: Any, call: Any) -> Any:
    """The element where it stands on the line that the traceback names, else what is called.

    Python gives a call that takes several lines the line where the name of the function ends."""
    function = getattr(call, "func", None)
    line = getattr(function, "end_lineno", None)
    return function if line is not None and element.lineno != line else element


def _element_node(where: Any, path: tuple[int, ...], frame: Frame) -> Any:
    """The element itself where the list is written out in the call."""
    import ast

    node = where
    for index in path:
        if (
            type(node) in (ast.List, ast.Tuple)
            and index < len(node.elts)
            and not any(type(one) is ast.Starred for one in node.elts)
        ):
            node = node.elts[index]
            if type(node) is ast.Dict:
                for key, value in zip(node.keys, node.values, strict=False):
                    if type(key) is ast.Constant and key.value == "params":
                        node = value
                        break
        else:
            break
    return node if hasattr(node, "lineno") else where


def _hidden_modules(m: Any, module: Any, frame: Frame) -> Any:
    """Where a module keeps modules, or Parameters, in a plain list, so that its parameters are not found."""
    if type(module) is not Instance:
        return None
    from gradtrail.interp.modules import is_module

    for name, value in module.attributes.items():
        values = (
            value.items
            if type(value) is Sequence
            else tuple(value.entries.values())
            if type(value) is Mapping
            else ()
        )
        held = (*values, value.rest) if type(value) is Sequence else values
        modules = any(is_module(one) for one in held)
        if modules or any(type(one) is Tensor and one.parameter is True for one in held):
            origin = module.state.get(f"stored {name}")
            if origin is not None:
                kind = "list" if type(value) is Sequence else "dict"
                return (name, m.step_of(origin, frame), kind, "Module" if modules else "Parameter")
    return None


def _type_word(value: Any) -> str:
    kind = type(value)
    if kind is Iterator:
        return str(value.of)
    if kind is Instance:
        return value.library.rpartition(".")[2] if value.library else getattr(value.cls, "name", "object")
    if kind is Sequence:
        return str(value.kind)
    if kind is Mapping:
        return "dict"
    if kind is Some:
        return str(value.type)
    if kind is Bound or kind is Function:
        return "method"
    return "ndarray" if kind is Array else kind.__name__


def _seen_params(
    m: Any, params: Any, built: Built, node: Any, frame: Frame, elsewhere: bool = False, again: Any = None
) -> tuple[ParamsSeen, dict[Any, Any]]:
    """What is handed to the constructor, as the laws take it; the values by path beside it."""
    subjects: dict[Any, Any] = {}
    if again is not None:
        return _in_other_world(again[0], again[1]), again[1]
    kind = type(params)
    if kind is Tensor:
        subjects[()] = params
        return ParamsSeen((_seen(params),), "tensor"), subjects
    if kind is Unknown or kind is OneOf or (kind is Some and params.type == "object"):
        built.complete = False
        return ParamsSeen((), "unknown", False), subjects
    if kind in (int, float, bool, type(None)) or kind is Bound or kind is Function:
        subjects[()] = params
        return ParamsSeen((), "not-iterable"), subjects
    if kind is Instance:
        from gradtrail.interp.modules import is_module

        subjects[()] = params
        iterable = type(params.cls) is not Library and params.cls.find("__iter__") is not MISSING
        containers = (
            "torch.nn.Sequential",
            "torch.nn.ModuleList",
            "torch.nn.ParameterList",
            "torch.nn.ModuleDict",
            "torch.nn.ParameterDict",
        )
        if is_module(params) and not iterable and params.library not in containers:
            return ParamsSeen((), "not-iterable"), subjects
        if params.library not in containers:
            built.complete = False
            return ParamsSeen((), "unknown", False), subjects
    found = m.items_of(params, node, frame)
    if found is None:
        built.complete = False
        return ParamsSeen((), "unknown", False), subjects
    items, rest = found
    if type(params) is Iterator and params.of == "Module.parameters":
        subjects[("module",)] = (
            (params.origin.fields or {}).get("module") if params.origin is not None else None
        )
    container = "set" if kind is Sequence and params.kind == "set" else "iterable"
    seen = []
    group: list[Tensor] = []
    for index, item in enumerate(items):
        item = m.settle(item)
        seen.append(_seen_item(m, item, (index,), subjects, group, built, node, frame))
    built.groups.insert(0, group) if group else None
    if rest is not MISSING:
        built.complete = False
        rest = m.settle(rest)
        if type(rest) is Tensor or type(rest) is Instance or type(rest) is Iterator:
            seen.append(_seen_item(m, rest, (len(items),), subjects, group, built, node, frame))
    return ParamsSeen(tuple(seen), container, rest is MISSING), subjects


def _seen_item(
    m: Any,
    item: Any,
    path: tuple[int, ...],
    subjects: dict[Any, Any],
    group: list[Tensor],
    built: Built,
    node: Any,
    frame: Frame,
) -> ParamSeen:
    kind = type(item)
    subjects[path] = item
    if kind is Tensor:
        m.optimized.add(item.serial)
        group.append(item)
        return _seen(item)
    if kind is Mapping:
        return _seen_group(m, item, path, subjects, built, node, frame)
    if (
        kind is Sequence
        and item.kind in ("tuple", "namedtuple")
        and item.rest is MISSING
        and len(item.items) >= 2
    ):
        second = m.settle(item.items[1])
        if type(second) is Tensor:
            group.append(second)
        return ParamSeen(
            "named",
            value=_seen(second)
            if type(second) is Tensor
            else ParamSeen("unknown" if type(second) is Unknown else "other"),
        )
    if kind is Unknown or kind is OneOf or (kind is Some and item.type == "object"):
        built.complete = False
        return ParamSeen("unknown")
    return ParamSeen("other")


def _seen(tensor: Tensor) -> ParamSeen:
    leaf = True if tensor.leaf & 2 == 0 else False if tensor.leaf & 1 == 0 else None
    retains = tensor.retains if type(tensor.retains) is bool else None
    return ParamSeen(
        "tensor",
        leaf,
        retains,
        tensor if not tensor.many else None,
        None if tensor.shape is None else len(tensor.shape),
    )


def _seen_group(
    m: Any,
    item: Mapping,
    path: tuple[int, ...],
    subjects: dict[Any, Any],
    built: Built,
    node: Any,
    frame: Frame,
) -> ParamSeen:
    value = m.settle(item.entries.get("params", MISSING))
    if value is MISSING:
        built.complete = False
        return ParamSeen("group", params=None if item.rest is MISSING else ParamsSeen((), "unknown", False))
    if type(value) is Tensor:
        first = (*path, 0)
        subjects[first] = value
        built.groups.append([value])
        return ParamSeen("group", params=ParamsSeen((_seen(value),), "tensor"))
    spent = (
        type(value) is Iterator
        and value.generator is None
        and value.position == 1 << 30
        and value.used_by is not None
    )
    if spent and value.items:
        built.used_up.append(value)
    found = m.items_of(value, node, frame) if type(value) in (Sequence, Iterator, Instance) else None
    if found is None:
        built.complete = False
        return ParamSeen("group", params=ParamsSeen((), "unknown", False))
    group: list[Tensor] = []
    seen = [
        _seen_item(m, m.settle(one), (*path, index), subjects, group, built, node, frame)
        for index, one in enumerate(found[0])
    ]
    built.groups.append(group)
    if found[1] is not MISSING:
        built.complete = False
        rest = m.settle(found[1])
        if type(rest) is Tensor:
            seen.append(_seen_item(m, rest, (*path, len(seen)), subjects, group, built, node, frame))
    container = "set" if type(value) is Sequence and value.kind == "set" else "iterable"
    return ParamSeen("group", params=ParamsSeen(tuple(seen), container, found[1] is MISSING))


def _in_other_world(whole: ParamsSeen, subjects: dict[Any, Any]) -> ParamsSeen:
    """The same elements with the leaf facts of a machine whose device is not the CPU."""

    def moved(item: ParamSeen, path: tuple[int, ...]) -> ParamSeen:
        value = subjects.get(path)
        if item.kind == "tensor" and type(value) is Tensor:
            leaf = True if value.leaf & 8 == 0 else False if value.leaf & 4 == 0 else None
            return item._replace(leaf=leaf)
        if item.kind == "group" and item.params is not None:
            inner = tuple(moved(one, (*path, index)) for index, one in enumerate(item.params.items))
            return item._replace(params=item.params._replace(items=inner))
        return item

    return whole._replace(items=tuple(moved(item, (index,)) for index, item in enumerate(whole.items)))


def _groups_value(built: Built) -> Any:
    groups = tuple(
        Mapping(
            {
                "params": Sequence("list", tuple(group), MISSING if built.complete else UNKNOWN),
                "lr": Some("float"),
            },
            UNKNOWN,
        )
        for group in built.groups
    )
    return Sequence("list", groups, MISSING if built.complete else UNKNOWN)


def tensors_of(instance: Instance) -> list[Tensor]:
    """The tensors that an optimizer holds."""
    built = instance.state.get("built")
    return [tensor for group in built.groups for tensor in group] if isinstance(built, Built) else []


def optimizer_method(
    m: Any, instance: Instance, name: str, args: Args, keywords: Keywords, node: Any, frame: Frame
) -> Any:
    """A method of an optimizer."""
    if name == "step":
        return _step(m, instance, args, keywords, node, frame)
    if name == "zero_grad":
        to_none = argument(args, keywords, 0, "set_to_none", True)
        m.clear_gradients(tensors_of(instance), to_none, m.origin("cleared", node, frame))
        return None
    if name == "add_param_group":
        built = instance.state.get("built")
        if isinstance(built, Built) and args and type(args[0]) is Mapping:
            fresh = Built(built.at)
            fresh.groups = [list(group) for group in built.groups]
            fresh.used_up, fresh.complete = list(built.used_up), built.complete
            before = [one for group in built.groups for one in group]
            subjects: dict[Any, Any] = {(-1, index): one for index, one in enumerate(before)}
            seen = _seen_group(m, args[0], (0,), subjects, fresh, node, frame)
            # A branch that is only possible may be walked more often than it is taken.
            held = frozenset(_seen(one).identity for one in before if not m.arms) - {None}
            found = optimizers.refusal(ParamsSeen((seen,)), False, held=held)
            if found is not None and found.raises:
                _refuse(
                    m,
                    found,
                    subjects,
                    args[0],
                    (instance.library or "").rpartition(".")[2],
                    node,
                    node,
                    frame,
                    off_cpu=False,
                )
            m.heap.put(instance.state, "built", fresh)
            m.heap.put(instance.attributes, "param_groups", _groups_value(fresh))
        return None
    if name in ("state_dict",):
        return Mapping({}, UNKNOWN)
    if name in ("load_state_dict", "train", "eval", "register_step_post_hook", "register_step_pre_hook"):
        return None
    return m.call_unknown(args, keywords)


def _tell_skipped(m: Any, instance: Instance, node: Any, frame: Frame) -> None:
    """At a step: tensors that do not require grad and that nobody froze, and groups without a tensor."""
    built = instance.state.get("built")
    if not isinstance(built, Built):
        return
    name = (instance.library or "").rpartition(".")[2]
    for tensor in tensors_of(instance):
        plain = (
            tensor.parameter is False and tensor.requires == NO and tensor.leaf == LEAF and not tensor.many
        )
        if (
            plain
            and tensor.grad is None
            and not any(step.kind in ("frozen", "flagged") for step in tensor.steps)
        ):
            seen = m.seen(tensor, node, frame, "no-grad")
            at = built.at if tensor.origin.kind == "detached" else tensor.origin
            m.tell("optimizer-skips", at.node, at.frame, seen, certainty="wrong", optimizer=name, trail=(m.step_of(built.at, frame),),
                   op=(tensor.origin.fields or {}).get("op", ""))  # fmt: skip
    for iterator in built.used_up:
        assert iterator.origin is not None
        steps = m.steps_of([iterator.origin, iterator.used_by, built.at], frame)
        m.tell("optimizer-empty-group", iterator.origin.node, iterator.origin.frame, None, certainty="wrong", optimizer=name, trail=steps,
               of=iterator.of)  # fmt: skip


def _tell_outside(m: Any, instance: Instance, node: Any, frame: Frame) -> None:
    """At a step: parameters of the modules that this optimizer was made for which no optimizer holds."""
    built = instance.state.get("built")
    if not isinstance(built, Built) or not built.complete:
        return
    for module in built.covers:
        inside = [one for _, one in m.parameters_of(module)[0]]
        _tell_left_out(m, instance, built, module, inside, None, "", node, frame)
        replaced = module.state.get("replaced")
        if type(replaced) is tuple:
            now = [one for _, one in m.parameters_of(replaced[0])[0]]
            _tell_left_out(m, instance, built, replaced[0], now, replaced[1], "module", node, frame)
        for owner, name, kind, parameters in m.unregistered_parameters(module):
            stored = owner.state.get(f"stored {name}")
            if stored is not None:
                _tell_left_out(m, instance, built, module, parameters, stored, kind, node, frame, name)


def _tell_left_out(
    m: Any,
    instance: Instance,
    built: Built,
    module: Instance,
    parameters: list[Tensor],
    stored: Any,
    kind: str,
    node: Any,
    frame: Frame,
    name: str = "",
) -> None:
    left_out = [
        one
        for one in parameters
        if one.requires == YES
        and type(one.grad) is Tensor
        and not one.many
        and one.serial not in m.optimized
        and one.serial not in m.outside
    ]
    if not left_out:
        return
    m.outside.update(one.serial for one in left_out)
    at = stored if stored is not None else built.at
    m.tell("parameter-outside-optimizer", at.node, at.frame, m.seen(left_out[0], node, frame), certainty="wrong",
           trail=m.steps_of([built.at], frame), container=kind, attribute=name, number=len(left_out),
           module=m.name_of_object(module), optimizer=(instance.library or "").rpartition(".")[2])  # fmt: skip


def _tell_mixed(m: Any, instance: Instance, node: Any, frame: Frame) -> None:
    """At a step: gradients that the step before has used already, and to which a backward has added since."""
    mixed = [(one, state) for one in tensors_of(instance) if type(state := state_of(one.grad)) is Mixed]
    if not mixed:
        return
    tensor, state = mixed[0]
    at = state.cleared or state.backward
    trail = m.steps_of([*([state.cleared] if state.cleared else []), state.step, state.backward], frame)
    m.tell("gradient-mixed", at.node, at.frame, m.seen(tensor, node, frame), certainty="wrong", trail=trail,
           left_out=state.cleared is not None)  # fmt: skip


_SEVERAL_STEPS = 2
"""From here on the steps of an optimizer are not counted any more."""


def _step(m: Any, instance: Instance, args: Args, keywords: Keywords, node: Any, frame: Frame) -> Any:
    """`step()`: the closure, then an in-place write of every tensor that has a gradient."""
    closure = argument(args, keywords, 0, "closure")
    result = None
    law = optimizers.optimizer((instance.library or "").rpartition(".")[2])
    missing = law is not None and law.closure and closure is None and not args
    if law is not None and missing and type(instance.cls) is Library and not m.choices:
        m.refuse("optimizer-closure-missing", node, frame, m.seen(instance, node, frame), optimizer=law.name)
    if closure is not None:
        before = m.modes.grad_mode
        m.heap.put(m.modes, "grad_mode", True)
        try:
            result = m.call(closure, [], {}, node, frame)
        except PathEnds:
            m.heap.put(m.modes, "grad_mode", before)
            raise
        m.heap.put(m.modes, "grad_mode", before)
    _tell_skipped(m, instance, node, frame)
    built = instance.state.get("built")
    m.steppers[instance.serial] = instance
    _tell_mixed(m, instance, node, frame)
    _tell_outside(m, instance, node, frame)
    m.hear_step(instance, tensors_of(instance), node, frame)
    before = instance.state.get("stepped", 0)
    taken = min(before + 1, _SEVERAL_STEPS) if type(before) is int and closure is None else UNKNOWN
    m.heap.put(instance.state, "stepped", taken)
    step = m.origin("step-taken", node, frame)
    fused = built.fused if type(built) is Built else None
    for tensor in tensors_of(instance):
        if tensor.grad is None:
            continue
        if tensor.inference is True and not m.modes.inference_mode:
            m.refuse("inference-in-place", node, frame, m.seen(tensor, node, frame, "inference"), op="step")
        if type(tensor.grad) is Tensor and tensor.requires == YES:
            version = version_of(tensor.grad)
            m.heap.put(tensor.grad, "spent", UNKNOWN if version is None else Spent(version, step))
        if fused is True:
            continue
        certain = fused is False and type(tensor.grad) is Tensor and tensor.requires == YES
        m.bump(tensor, node, frame, "step", certain=certain)
    return result


__all__ = ["Library", "build", "optimizer_method", "tensors_of"]
