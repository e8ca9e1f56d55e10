"""Optimizers: what their constructors take, and what they refuse.

Source: torch/optim/optimizer.py of 2.13, `Optimizer.__init__` and `add_param_group`, checked by
`tests/laws/test_optimizers.py`, which asks torch the same questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gradtrail.laws.messages import message


class OptimizerLaw(NamedTuple):
    """One class of torch.optim: positional names after self, keyword-only names, literal defaults.

    `differentiable` says whether the constructor has that argument (it switches the leaf test off);
    `closure` whether `step` needs one; `groups` whether parameter groups are accepted; `dims` the number
    of dimensions that every parameter must have, or None.
    """

    name: str
    args: tuple[str, ...]
    keywords: tuple[str, ...]
    defaults: dict[str, object]
    differentiable: bool
    closure: bool = False
    groups: bool = True
    dims: int | None = None


_SHARED: dict[str, object] = {
    "foreach": None,
    "maximize": False,
    "differentiable": False,
    "capturable": False,
    "fused": None,
    "weight_decay": 0,
    "momentum": 0,
    "amsgrad": False,
    "nesterov": False,
    "decoupled_weight_decay": False,
}
"""Defaults that most constructors share."""

_ROWS: dict[str, tuple[str, str, dict[str, object]]] = {
    "ASGD": (
        "params lr lambd alpha t0 weight_decay foreach maximize differentiable capturable",
        "",
        {"lr": 0.01, "lambd": 0.0001, "alpha": 0.75, "t0": 1000000.0},
    ),
    "Adadelta": (
        "params lr rho eps weight_decay foreach",
        "capturable maximize differentiable",
        {"lr": 1.0, "rho": 0.9, "eps": 1e-06},
    ),
    "Adafactor": (
        "params lr beta2_decay eps d weight_decay",
        "foreach maximize",
        {"lr": 0.01, "beta2_decay": -0.8, "eps": (None, 0.001), "d": 1.0, "weight_decay": 0.0},
    ),
    "Adagrad": (
        "params lr lr_decay weight_decay initial_accumulator_value eps foreach",
        "maximize differentiable fused",
        {"lr": 0.01, "lr_decay": 0, "initial_accumulator_value": 0, "eps": 1e-10},
    ),
    "Adam": (
        "params lr betas eps weight_decay amsgrad",
        "foreach maximize capturable differentiable fused decoupled_weight_decay",
        {"lr": 0.001, "betas": (0.9, 0.999), "eps": 1e-08},
    ),
    "AdamW": (
        "params lr betas eps weight_decay amsgrad",
        "maximize foreach capturable differentiable fused",
        {"lr": 0.001, "betas": (0.9, 0.999), "eps": 1e-08, "weight_decay": 0.01},
    ),
    "Adamax": (
        "params lr betas eps weight_decay foreach",
        "maximize differentiable capturable",
        {"lr": 0.002, "betas": (0.9, 0.999), "eps": 1e-08},
    ),
    "LBFGS": (
        "params lr max_iter max_eval tolerance_grad tolerance_change history_size line_search_fn",
        "",
        {
            "lr": 1,
            "max_iter": 20,
            "max_eval": None,
            "tolerance_grad": 1e-07,
            "tolerance_change": 1e-09,
            "history_size": 100,
            "line_search_fn": None,
        },
    ),
    "Muon": (
        "params lr weight_decay momentum nesterov ns_coefficients eps ns_steps adjust_lr_fn",
        "",
        {
            "lr": 0.001,
            "weight_decay": 0.1,
            "momentum": 0.95,
            "nesterov": True,
            "ns_coefficients": (3.4445, -4.775, 2.0315),
            "eps": 1e-07,
            "ns_steps": 5,
            "adjust_lr_fn": None,
        },
    ),
    "NAdam": (
        "params lr betas eps weight_decay momentum_decay decoupled_weight_decay",
        "foreach maximize capturable differentiable",
        {"lr": 0.002, "betas": (0.9, 0.999), "eps": 1e-08, "momentum_decay": 0.004},
    ),
    "Optimizer": ("params defaults", "", {}),
    "RAdam": (
        "params lr betas eps weight_decay decoupled_weight_decay",
        "foreach maximize capturable differentiable",
        {"lr": 0.001, "betas": (0.9, 0.999), "eps": 1e-08},
    ),
    "RMSprop": (
        "params lr alpha eps weight_decay momentum centered capturable foreach maximize differentiable",
        "",
        {"lr": 0.01, "alpha": 0.99, "eps": 1e-08, "centered": False},
    ),
    "Rprop": (
        "params lr etas step_sizes",
        "capturable foreach maximize differentiable",
        {"lr": 0.01, "etas": (0.5, 1.2), "step_sizes": (1e-06, 50)},
    ),
    "SGD": (
        "params lr momentum dampening weight_decay nesterov",
        "maximize foreach differentiable fused",
        {"lr": 0.001, "dampening": 0},
    ),
    "SparseAdam": (
        "params lr betas eps maximize",
        "",
        {"lr": 0.001, "betas": (0.9, 0.999), "eps": 1e-08},
    ),
}

_cache: dict[str, OptimizerLaw | None] = {}


def optimizer(name: str) -> OptimizerLaw | None:
    """The law of a class of torch.optim by its name ("Adam"), or None when there is none."""
    if name not in _cache:
        row = _ROWS.get(name)
        _cache[name] = None if row is None else _law(name, row)
    return _cache[name]


def _law(name: str, row: tuple[str, str, dict[str, object]]) -> OptimizerLaw:
    args, keywords = tuple(row[0].split()), tuple(row[1].split())
    everything = (*args, *keywords)
    defaults = {word: _SHARED[word] for word in everything if word in _SHARED}
    defaults.update(row[2])
    return OptimizerLaw(
        name,
        args,
        keywords,
        defaults,
        "differentiable" in everything,
        closure=name == "LBFGS",
        groups=name != "LBFGS",
        dims=2 if name == "Muon" else None,
    )


def names() -> tuple[str, ...]:
    """The names of all classes with a law."""
    return tuple(_ROWS)


class ParamSeen(NamedTuple):
    """One element of what is handed to an optimizer.

    `kind` is "tensor", "named" (a tuple: a name and a value), "group" (a dict), "other" (certainly none of
    these) or "unknown". For a tensor: whether it is a leaf, whether it retains its gradient, how many
    dimensions it has (None: not known), and `identity`, equal for one and the same tensor (None: not
    known). For a named one `value` is the second item; for a group `params` is what stands under "params"
    (None: that key is missing).
    """

    kind: str
    leaf: bool | None = None
    retains_grad: bool | None = False
    identity: object = None
    dims: int | None = None
    value: ParamSeen | None = None
    params: ParamsSeen | None = None


class ParamsSeen(NamedTuple):
    """What is handed over: its elements in order, and what holds them.

    `container` is "iterable", "set", "tensor" (a bare tensor, its facts in `items[0]`), "not-iterable" or
    "unknown". `complete` is False when there may be more elements than the ones listed.
    """

    items: tuple[ParamSeen, ...] = ()
    container: str = "iterable"
    complete: bool = True


class OptimizerRefusal(NamedTuple):
    """What torch says: the key of its message, the error, the stable text, and which element it is about.

    `path` goes from the outermost element inwards (group, element); () when it is about the whole.
    `raises` is False for a warning.
    """

    key: str
    error: str
    text: str
    path: tuple[int, ...] = ()
    raises: bool = True


def _refuse(key: str, path: tuple[int, ...] = (), raises: bool = True) -> OptimizerRefusal:
    entry = message(key)
    return OptimizerRefusal(key, entry.error, entry.piece, path, raises)


def refusal(
    params: ParamsSeen | Sequence[ParamSeen],
    differentiable: bool = False,
    optimizer_name: str = "Adam",
    held: frozenset[object] = frozenset(),
) -> OptimizerRefusal | None:
    """What an optimizer says to `params`: the first refusal in torch's order of checks, or a warning.

    `held` are the identities of what stands in its groups already.

    Only what is certain is refused: elements of which too little is known are passed over, so torch may
    raise over one of them first, but raise it will. None when nothing is certain.
    """
    seen = params if isinstance(params, ParamsSeen) else ParamsSeen(tuple(params))
    if seen.container == "tensor":
        return _refuse("optimizer-bare-tensor")
    if seen.container == "not-iterable":
        return _refuse("optimizer-not-iterable")
    if not seen.items:
        return _refuse("optimizer-empty") if seen.complete and seen.container != "unknown" else None
    first = seen.items[0].kind
    if first == "unknown":
        return None
    if first == "group":
        return _refuse_groups(seen, differentiable, optimizer_name, held)
    whole = seen._replace(container="iterable")  # `list(params)` has made a list of a set by now
    found = _refuse_group(whole, differentiable, ()) or _of_class(whole, optimizer_name, 1, ())
    return found or _duplicate(whole, ())


def _refuse_groups(
    seen: ParamsSeen, differentiable: bool, optimizer_name: str, held: frozenset[object]
) -> OptimizerRefusal | None:
    """The checks for a list of dicts, group after group."""
    warning: OptimizerRefusal | None = None
    before = set(held)
    named_before: bool | None = None
    for index, group in enumerate(seen.items):
        if group.kind == "unknown":
            return warning
        if group.kind != "group":
            return _refuse("optimizer-group-not-dict", (index,))
        if group.params is None:
            return _refuse("optimizer-group-without-params", (index,))
        inside = group.params
        if inside.container == "tensor":
            inside = inside._replace(container="iterable")
        found = _refuse_group(inside, differentiable, (index,))
        if found is not None:
            return found
        warning = warning or _duplicate(inside, (index,))
        named = any(item.kind == "named" for item in inside.items)
        certain = bool(inside.items) and inside.items[0].kind != "unknown"
        if named_before is not None and certain and named != named_before:
            return _refuse("optimizer-groups-names", (index,))
        named_before = named if certain else None
        own = {_identity(item) for item in inside.items} - {None}
        if own & before:
            return _refuse("optimizer-two-groups", (index,))
        before |= own
    first = seen.items[0].params
    found = _of_class(first or ParamsSeen(), optimizer_name, len(seen.items), (0,))
    return found or warning


def _refuse_group(seen: ParamsSeen, differentiable: bool, path: tuple[int, ...]) -> OptimizerRefusal | None:
    """The checks of one group's "params", in torch's order."""
    if seen.container == "set":
        return _refuse("optimizer-set-in-group", path)
    if seen.container == "not-iterable":
        return _refuse("optimizer-not-iterable", path)
    kinds = [item.kind for item in seen.items]
    if "named" in kinds and any(kind not in ("named", "unknown") for kind in kinds):
        return _refuse("optimizer-names-missing", path)
    for index, item in enumerate(seen.items):
        tensor = item.value if item.kind == "named" else item
        if tensor is None or tensor.kind == "unknown":
            continue
        if tensor.kind != "tensor":
            return _refuse("optimizer-not-tensor", (*path, index))
        if not differentiable and tensor.leaf is False and tensor.retains_grad is False:
            return _refuse("non-leaf-optimizer", (*path, index))
    return None


def _of_class(seen: ParamsSeen, name: str, groups: int, path: tuple[int, ...]) -> OptimizerRefusal | None:
    """What single classes check after the base class has."""
    if name == "LBFGS" and groups > 1:
        return _refuse("optimizer-lbfgs-groups")
    if name == "Muon":
        for index, item in enumerate(seen.items):
            tensor = item.value if item.kind == "named" else item
            if tensor is not None and tensor.kind == "tensor" and tensor.dims not in (None, 2):
                return _refuse("optimizer-muon-dims", (*path, index))
    return None


def _identity(item: ParamSeen) -> object:
    tensor = item.value if item.kind == "named" else item
    return None if tensor is None or tensor.kind != "tensor" else tensor.identity


def _duplicate(seen: ParamsSeen, path: tuple[int, ...]) -> OptimizerRefusal | None:
    """The warning about one tensor twice in a group; its step is applied twice."""
    known: set[object] = set()
    for index, item in enumerate(seen.items):
        identity = _identity(item)
        if identity is not None and identity in known:
            return _refuse("optimizer-duplicate", (*path, index), raises=False)
        known.add(identity)
    return None


SCALE_MATTERS = ("SGD", "ASGD")
"""Optimizers whose step is as long as the gradient is large. The others divide by a measure of the gradient's own
size, so that twice the gradient makes much the same step."""
