"""Trails: from origins, which the machine keeps while it works, to the steps that a person reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradtrail.interp.events import Seen, Step
from gradtrail.interp.frames import Frame
from gradtrail.interp.graph import Graph
from gradtrail.interp.values import (
    LEAF_ON_CPU,
    LEAF_ELSEWHERE,
    NO,
    NON_LEAF,
    NON_LEAF_ELSEWHERE,
    NON_LEAF_ON_CPU,
    YES,
    Instance,
    Origin,
    Tensor,
)
from gradtrail.laws.text import Text, text
from gradtrail.source.place import Place

LONGEST_TRAIL = 7

SENTENCES: dict[str, str] = {
    "created": "a leaf: you created it",
    "created-no-grad": "created here, without requires_grad",
    "integers": "`{op}` gives {dtype} values, which carry no gradient",
    "parameter": "a parameter: a leaf that requires grad",
    "wrapped": "nn.Parameter makes it a new leaf",
    "module-parameter": "a parameter of the module made here",
    "computed": "`{op}` returns a new tensor, computed from the ones before",
    "moved": "`{op}` to another device or dtype returns a new, computed tensor",
    "cast": "`{op}` converts to another dtype: a new, computed tensor",
    "detached": "`{op}` gives a tensor without history",
    "flagged": "requires_grad is set to {value} here",
    "stored": "kept as `{name}`",
    "appended": "kept in a list here",
    "dropped": "`{op}` returns a new tensor, and nobody keeps it: `{name}` stays as it was",
    "written": "`{op}` writes it in place",
    "stepped": "`step` writes every parameter of this optimizer in place",
    "loaded": "load_state_dict writes the parameters in place",
    "backward": "this backward frees the graph",
    "gradient": "a gradient, as the backward leaves it",
    "no-grad": "made while grad mode is off",
    "grad-off": "grad mode is switched off here, and stays off",
    "inference": "made in inference mode",
    "call": "called here",
    "made": "made here",
    "batch": "a batch of the loader",
    "frozen": "requires_grad is switched off here",
    "array": "comes from numpy with dtype {dtype}",
    "function": "the output of a custom Function",
    "recomputed": "`{name}` is computed anew from other parameters",
    "cut": "`{op}` gives values that carry no gradient",
    "checkpointed": "a reentrant checkpoint runs under no_grad and is tied to the graph only by its inputs",
    "hooked": "the backward hook makes the module's output a view",
    "iterated": "iterating over a tensor gives its rows, each a view",
    "unknown": "a tensor from here",
    "read": "`{name}`",
}


def sentence(origin: Origin) -> Text:
    """What happened at an origin."""
    template = SENTENCES[origin.kind]
    return text(template, **{key: value for key, value in (origin.fields or {}).items() if "{" + key + "}" in template})


class Trails(Graph):
    """Builds what a rule is told about a tensor."""

    def seen(self, value: Any, node: Any, frame: Frame, story: str = "grad") -> Seen:
        """The tensor `value` as it is known at `node`, with the part of its past that `story` asks for.

        Stories: "grad" (how it came to require grad and to be computed), "no-grad" (where the gradient
        was lost), "dtype", "device", "shape", "inference".
        """
        if type(value) is Tensor:
            origins = _chain(value, _CHOICES[story])
            return Seen(self.name_of(value, node, frame), _facts(value), self.steps_of(origins, frame))
        if type(value) is Instance:
            return Seen(value.name or self._source(node, frame), {}, self.steps_of([value.origin], frame))
        return Seen(self._source(node, frame), {}, ())

    def name_of(self, tensor: Tensor, node: Any, frame: Frame) -> str:
        """How the program calls a tensor."""
        return tensor.name or self._source(tensor.origin.node, tensor.origin.frame or frame)

    def _source(self, node: Any, frame: Frame) -> str:
        code = frame.space.source.segment(self.place(node, frame))
        code = " ".join(code.split())
        return code if len(code) <= 40 else code[:37] + "..."

    def step_of(self, origin: Origin, frame: Frame) -> Step:
        """The step of one origin."""
        return Step(self.place(origin.node, origin.frame), origin.kind, sentence(origin))

    def steps_of(self, origins: Iterable[Origin], frame: Frame) -> tuple[Step, ...]:
        """The steps of `origins` in order, with the calls that lead from `frame` to them; one a line."""
        here: set[int] = set()
        above: Frame | None = frame
        while above is not None:
            here.add(id(above))
            above = above.caller
        steps: list[Step] = []
        for origin in origins:
            steps.append(self.step_of(origin, frame))
            caller = origin.frame
            while caller is not None and id(caller) not in here:
                if caller.caller is None or caller.call is None or not hasattr(caller.call, "lineno"):
                    break
                steps.append(Step(self.place(caller.call, caller.caller), "call", text(SENTENCES["call"])))
                caller = caller.caller
        return _shortened(steps)


def _shortened(steps: list[Step]) -> tuple[Step, ...]:
    """One step for each line, the telling one; at most `LONGEST_TRAIL`, the ends kept."""
    kept: dict[tuple[str, int], Step] = {}
    for step in steps:
        key = (step.place.filename, step.place.row)
        known = kept.get(key)
        if known is None or (known.kind in ("call", "stored") and step.kind not in ("call", "stored")):
            kept[key] = step
    result = list(kept.values())
    if len(result) > LONGEST_TRAIL:
        plain = [step for step in result if step.kind in ("call", "stored", "appended")]
        while len(result) > LONGEST_TRAIL and len(plain) > 2:
            result.remove(plain.pop(len(plain) // 2))
    if len(result) > LONGEST_TRAIL:
        result = [*result[:2], *result[-(LONGEST_TRAIL - 2) :]]
    return tuple(result)


def _chain(tensor: Tensor, choose: Callable[[Tensor], Tensor | None]) -> list[Origin]:
    """The origins that led to `tensor`, earliest first."""
    found: list[Origin] = []
    seen: set[int] = set()
    here: Tensor | None = tensor
    while here is not None and here.serial not in seen and len(found) < 40:
        seen.add(here.serial)
        found.extend(reversed(here.steps))
        here = choose(here)
    found.reverse()
    return found


def _source_of_grad(tensor: Tensor) -> Tensor | None:
    """The tensor that made a result require grad."""
    for parent in tensor.origin.parents:
        if parent.requires == YES and parent is not tensor:
            return parent
    for parent in tensor.origin.parents:
        if parent.requires & YES and parent is not tensor:
            return parent
    return None


def _source_of_cut(tensor: Tensor) -> Tensor | None:
    """The tensor whose gradient was lost on the way: a parent that had one, else the first parent."""
    if any(parent.requires & YES for parent in tensor.origin.parents):
        return None
    best: Tensor | None = None
    for parent in tensor.origin.parents:
        if parent is not tensor and (best is None or _has_cut(parent)):
            best = parent
            if _has_cut(parent):
                break
    return best


def _has_cut(tensor: Tensor, depth: int = 0) -> bool:
    if depth > 12:
        return False
    for parent in tensor.origin.parents:
        if parent.requires & YES or _has_cut(parent, depth + 1):
            return True
    return False


def _source_of_dtype(tensor: Tensor) -> Tensor | None:
    return next((one for one in tensor.origin.parents if one.dtype == tensor.dtype and one is not tensor), None)


def _source_of_device(tensor: Tensor) -> Tensor | None:
    return next((one for one in tensor.origin.parents if one.device is tensor.device and one is not tensor), None)


def _source_of_shape(tensor: Tensor) -> Tensor | None:
    for one in tensor.origin.parents:
        if one.shape == tensor.shape and one is not tensor and one.requires == YES:
            return one
    return None


def _source_of_inference(tensor: Tensor) -> Tensor | None:
    return next((one for one in tensor.origin.parents if one.inference is True and one is not tensor), None)


_CHOICES: dict[str, Callable[[Tensor], Tensor | None]] = {
    "grad": _source_of_grad,
    "no-grad": _source_of_cut,
    "dtype": _source_of_dtype,
    "device": _source_of_device,
    "shape": _source_of_shape,
    "inference": _source_of_inference,
}


def _facts(tensor: Tensor) -> dict[str, Any]:
    leaf = tensor.leaf
    if leaf & NON_LEAF == 0:
        told = "yes"
    elif leaf & (LEAF_ON_CPU | LEAF_ELSEWHERE) == 0:
        told = "no"
    elif leaf & LEAF_ELSEWHERE == 0 and leaf & NON_LEAF_ON_CPU == 0:
        told = "no-off-cpu"
    else:
        told = "maybe"
    return {
        "requires": {NO: "no", YES: "yes"}.get(tensor.requires, "maybe"),
        "leaf": told,
        "dtype": tensor.dtype,
        "device": tensor.device.name if tensor.device is not None else None,
        "parameter": tensor.parameter,
        "made-kind": tensor.origin.kind,
        "made-by": (tensor.origin.fields or {}).get("op", ""),
        "elsewhere": bool(leaf & NON_LEAF_ELSEWHERE),
        "shape": tensor.shape,
        "steps": tuple(origin.kind for origin in tensor.steps),
    }
