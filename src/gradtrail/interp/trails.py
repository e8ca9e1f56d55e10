"""Trails: from origins, which the machine keeps while it works, to the steps that a person reads."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from gradtrail.interp.events import Seen, Step, shortened
from gradtrail.interp.frames import Frame
from gradtrail.interp.graph import Graph
from gradtrail.interp.values import (
    CPU,
    LEAF_ELSEWHERE,
    LEAF_ON_CPU,
    NO,
    NON_LEAF,
    NON_LEAF_ELSEWHERE,
    NON_LEAF_ON_CPU,
    YES,
    Bound,
    Function,
    Instance,
    Iterator,
    Mapping,
    Origin,
    Sequence,
    Tensor,
)
from gradtrail.laws import operations
from gradtrail.laws.text import Text, text

LONGEST_TRAIL = 7
_LONGEST_NAME = 40

SENTENCES: dict[str, str] = {
    "created": "a leaf: you created it",
    "created-no-grad": "created here, without requires_grad",
    "created-on-cpu": "created here, on the CPU",
    "number": "`{op}` gives a Python number, which carries no gradient",
    "sampled": "`{op}` draws values, which carry no gradient to the distribution",
    "integers": "`{op}` gives {dtype} values, which carry no gradient",
    "parameter": "a parameter: a leaf that requires grad",
    "wrapped": "nn.Parameter makes it a new leaf",
    "buffer": "a buffer of the module made here",
    "module-parameter": "a parameter of the module made here",
    "computed": "`{op}` returns a new tensor, computed from the ones before",
    "moved": "`{op}` to another device or dtype returns a new, computed tensor",
    "cast": "`{op}` converts to another dtype: a new, computed tensor",
    "put": "`{op}` puts it on `{device}`",
    "placed": "moved to `{device}` with its module",
    "keeps": "`{op}` keeps it for backward",
    "detached": "`{op}` gives a tensor without history",
    "flagged": "requires_grad is set to {value} here",
    "stored": "kept as `{name}`",
    "appended": "kept in a list here",
    "dropped": "`{op}` returns a new tensor, and nobody keeps it: `{name}` stays as it was",
    "written-down": "written down here",
    "rebased": "`{op}` writes it in place and gives it a new `grad_fn`",
    "written": "`{op}` writes it in place",
    "stepped": "`step` writes every parameter of this optimizer in place",
    "loaded": "load_state_dict writes the parameters in place",
    "backward": "this backward frees the graph",
    "backward-added": "this backward adds to them",
    "backward-adds": "this backward computes gradients",
    "no-gradient": "this step finds no gradient",
    "trained": "the next round trains in this mode",
    "mode": "`{mode}` is called here",
    "replaced": "from here on the name stands for another module",
    "mixed": "the values that it follows are averaged into it here",
    "shared": "from here on both share one memory",
    "cleared": "gradients are cleared here",
    "step-taken": "this step uses the gradients",
    "gradient": "a gradient, as the backward leaves it",
    "plain-gradient": "a gradient without history: this backward runs without create_graph=True",
    "no-grad": "made while grad mode is off",
    "grad-off": "grad mode is switched off here, and stays off",
    "inference": "made in inference mode",
    "call": "`{name}` is called here",
    "call-of-nameless": "called here",
    "made": "made here",
    "batch": "a batch of the loader",
    "frozen": "requires_grad is switched off here",
    "array": "comes from numpy with dtype {dtype}",
    "function": "the output of a custom Function",
    "recomputed": "`{name}` is computed anew from other parameters",
    "cut": "`{op}` gives values that carry no gradient",
    "zero": "the derivative of `{op}` is zero everywhere",
    "checkpointed": "a reentrant checkpoint runs under no_grad and is tied to the graph only by its inputs",
    "entered": "`{mode}` begins here",
    "once": "this backward is declared not differentiable",
    "generator": "a generator of the module's parameters",
    "used": "used up here: nothing is left in it",
    "tied": "the same Parameter also becomes `{name}`",
    "returned": "returned here",
    "grad-on": "grad mode is on in `{name}`",
    "layer": "the layer that does this is made here",
    "child": "raised here, in the child process",
    "optimizer": "handed to {optimizer} here",
    "copied": "a copy, a leaf of its own",
    "hooked": "the backward hook makes the module's output a view",
    "iterated": "iterating over a tensor gives its rows, each a view",
    "unknown": "a tensor from here",
    "read": "`{name}`",
}


def sentence(origin: Origin) -> Text:
    """What happened at an origin."""
    template = SENTENCES[origin.kind]
    fields = {key: value for key, value in (origin.fields or {}).items() if "{" + key + "}" in template}
    if "op" in fields:
        fields["op"] = _symbol(origin.node) or operations.public_name(fields["op"])
    return text(template, **fields)


def _symbol(node: Any) -> str:
    """How the program writes an operator; empty for anything else."""
    kind = type(node)
    if kind is ast.AugAssign:
        return f"{_SYMBOLS[type(node.op)]}="
    if kind is ast.Subscript:
        return "[...]" if type(node.ctx) is ast.Load else "[...] ="
    return _SYMBOLS.get(type(node.op), "") if kind is ast.BinOp or kind is ast.UnaryOp else ""


_SYMBOLS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.USub: "-", ast.Invert: "~",
}  # fmt: skip


class Trails(Graph):
    """Builds what a rule is told about a tensor."""

    def seen(self, value: Any, node: Any, frame: Frame, story: str = "grad") -> Seen:
        """The tensor `value` as it is known at `node`, with the part of its past that `story` asks for.

        Stories: "grad" (how it came to require grad and to be computed), "no-grad" (where the gradient
        was lost), "dtype", "device", "shape", "inference".
        """
        if type(value) is Tensor:
            if story == "no-grad":
                origins = _lost(value, self.optimized)
            else:
                origins = _chain(value, _CHOICES[story])
            origins = [_told_in(story, origin, value) for origin in origins if _belongs(story, origin)]
            return Seen(
                self.name_of(value, node, frame), _facts(value, self.optimized), self.steps_of(origins, frame)
            )
        if type(value) is Instance:
            return Seen(value.name or self._source(node, frame), {}, self.steps_of([value.origin], frame))
        if type(value) in (Sequence, Mapping) and value.origin is not None:
            return Seen(self._source(node, frame), {}, self.steps_of([value.origin], frame))
        if type(value) is Iterator and value.origin is not None:
            return Seen(self._source(node, frame), {"of": value.of}, self.steps_of([value.origin], frame))
        return Seen(self._source(node, frame), {}, ())

    def name_of(self, tensor: Tensor, node: Any, frame: Frame) -> str:
        """How the program calls a tensor."""
        return tensor.name or self._source(tensor.origin.node, tensor.origin.frame or frame)

    def _source(self, node: Any, frame: Frame) -> str:
        if type(node) is ast.AugAssign:
            node = node.target
        code = frame.space.source.segment(self.place(node, frame))
        code = " ".join(code.split())
        if len(code) <= _LONGEST_NAME:
            return code
        if type(node) is ast.Call:
            called = " ".join(frame.space.source.segment(frame.space.source.place(node.func)).split())
            if len(called) <= _LONGEST_NAME:
                return called + "(...)"
        return code[: _LONGEST_NAME - 3] + "..."

    def step_of(self, origin: Origin, frame: Frame) -> Step:
        """The step of one origin."""
        return Step(self.place(origin.node, origin.frame), origin.kind, sentence(origin), origin.serial)

    def recording_step(self, frame: Frame) -> tuple[Step, ...]:
        """That grad mode is on in the function of `frame`, if nothing in it calls backward."""
        function = frame.function
        if (
            function is None
            or function.mode is not None
            or type(function.node) is ast.Lambda
            or _trains(function.node)
        ):
            return ()
        place = self.place(function.node, frame)
        place = place._replace(end_row=place.row, end_column=place.column + len("def ") + len(function.name))
        return (Step(place, "grad-on", text(SENTENCES["grad-on"], name=function.name), frame.time),)

    def return_step(self, function: Any) -> tuple[Step, ...]:
        """Where a function of the program that is called back hands out its value."""
        function = function.method if type(function) is Bound else function
        if type(function) is not Function or type(function.node) is ast.Lambda or not function.open():
            return ()
        returns = [
            one for one in ast.walk(function.node) if type(one) is ast.Return and one.value is not None
        ]
        return tuple(
            Step(function.space.source.place(one), "returned", text(SENTENCES["returned"]), self.serial())
            for one in returns[-1:]
        )

    def steps_of(self, origins: Iterable[Origin], frame: Frame) -> tuple[Step, ...]:
        """The steps of `origins`, with the calls that lead from `frame` to them; one a line, in order of time."""
        here: set[int] = set()
        above: Frame | None = frame
        while above is not None:
            here.add(id(above))
            above = above.caller
        steps: list[Step] = []
        for origin in origins:
            steps.extend(self._layer_steps(origin))
            steps.extend(self._calls_to(origin, frame, here))
            steps.append(self.step_of(origin, frame))
        return _shortened(steps)

    def _calls_to(self, origin: Origin, frame: Frame, here: set[int]) -> list[Step]:
        """The calls that lead to an origin from one of the frames `here`, the outermost first.

        One that is made in the function of `frame` itself tells most.
        """
        calls: list[Step] = []
        inner: Frame | None = origin.frame
        while inner is not None and id(inner) not in here:
            if _is_part(inner):
                inner = inner.scope
                continue
            outer = inner.caller
            if outer is None or inner.call is None or not hasattr(inner.call, "lineno"):
                break
            if isinstance(inner.call, ast.stmt):
                break  # a class or function that is looked at without a call of it
            kind = "further-call"
            if outer is frame or (_is_part(outer) and outer.scope is frame):
                kind = "call"
            elif _class_made(inner):
                kind = "construction"
            calls.append(Step(self.place(inner.call, outer), kind, _call_of(inner), origin.serial))
            inner = outer
        calls.reverse()
        return calls

    def _layer_steps(self, origin: Origin) -> list[Step]:
        """Where a layer was made whose options matter for what it did: in place, or without reduction."""
        layer = (origin.fields or {}).get("layer")
        if layer is None or not (
            layer.attributes.get("inplace") is True or layer.attributes.get("reduction") == "none"
        ):
            return []
        made = layer.origin
        return [Step(self.place(made.node, made.frame), "layer", text(SENTENCES["layer"]), made.serial)]


def _is_part(frame: Frame) -> bool:
    """Whether a frame is that of a comprehension, which belongs to the function around it."""
    scope = frame.scope
    return scope is not None and frame.function is scope.function and frame.call is scope.call


def _call_of(frame: Frame) -> Text:
    """That the function of a frame is called."""
    function = frame.function
    if function is None or type(function.node) is ast.Lambda:
        return text(SENTENCES["call-of-nameless"])
    return text(SENTENCES["call"], name=_class_made(frame) or function.name)


def _class_made(frame: Frame) -> str:
    """The name of the class whose object a frame sets up; empty for any other frame."""
    function = frame.function
    if function is None or function.name != "__init__" or function.owner is None:
        return ""
    return str(function.owner.name)


def _trains(node: Any) -> bool:
    """Whether a function calls `backward` itself; remembered on the node."""
    known = getattr(node, "gradtrail_trains", None)
    if known is None:
        known = any(
            type(part) is ast.Attribute and part.attr in ("backward", "step") for part in ast.walk(node)
        )
        node.gradtrail_trains = known
    return bool(known)


def _shortened(steps: list[Step]) -> tuple[Step, ...]:
    """One step for each line, the telling one; at most `LONGEST_TRAIL`, the ends kept."""
    kept: dict[tuple[str, int], list[Step]] = {}
    for step in steps:
        here = kept.setdefault((step.place.filename, step.place.row), [])
        if step.kind in ("rebased", "written") and any(one.kind in ("rebased", "written") for one in here):
            continue
        if any(one.kind == step.kind for one in here):
            if step.kind not in _WEAK:
                here[:] = [one for one in here if one.kind != step.kind]
                here.append(step)
        elif step.kind in _WEAK:
            if not here:
                here.append(step)
        else:
            here[:] = [one for one in here if one.kind not in _WEAK]
            here.append(step)
    result = [step for here in kept.values() for step in here]
    result.sort(key=lambda step: step.time)
    return tuple(shortened(result, LONGEST_TRAIL))


_WEAK = ("call", "further-call", "construction", "stored")


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


def _lost(tensor: Tensor, optimized: set[int]) -> list[Origin]:
    """Why nothing behind `tensor` requires grad: where gradients were cut off, parameters frozen, data made."""
    cuts: list[Origin] = []
    frozen: list[Origin] = []
    data: list[Origin] = []
    held: list[Origin] = []
    work, seen = [tensor], {tensor.serial}
    while work and len(seen) < 400:
        here = work.pop()
        origin = here.origin
        if here is not tensor and here.requires & YES:
            continue
        recorded = any(parent.requires & YES for parent in origin.parents)
        if recorded or origin.kind in ("checkpointed", "entered", "plain-gradient"):
            cuts.extend(here.steps)
        frozen.extend(step for step in here.steps if step.kind == "frozen")
        layer = (origin.fields or {}).get("layer")
        if here.serial in optimized and here is not tensor:
            held.append(origin)
        if origin.kind in ("computed", "created-no-grad", "array", "moved", "batch") and layer is None:
            data.append(origin)
        for parent in origin.parents:
            if parent.serial not in seen:
                seen.add(parent.serial)
                work.append(parent)
    chosen = {origin.serial: origin for origin in (*cuts[:4], *_one_a_line(frozen)[:2])}
    if not cuts:
        for origin in held[:2]:
            chosen[origin.serial] = origin
        lines = _one_a_line(sorted(data, key=lambda one: one.serial))
        made = [one for one in lines if one.serial < tensor.origin.serial]
        for origin in (*made[:2], *made[-2:]):
            chosen[origin.serial] = origin
    chosen[tensor.origin.serial] = tensor.origin
    return [chosen[serial] for serial in sorted(chosen)]


def _one_a_line(origins: list[Origin]) -> list[Origin]:
    found: dict[tuple[int, int], Origin] = {}
    for origin in origins:
        found.setdefault((id(origin.frame.space), origin.node.lineno), origin)
    return list(found.values())


def _source_of_dtype(tensor: Tensor) -> Tensor | None:
    return next(
        (one for one in tensor.origin.parents if one.dtype == tensor.dtype and one is not tensor), None
    )


def _source_of_device(tensor: Tensor) -> Tensor | None:
    return next(
        (one for one in tensor.origin.parents if one.device is tensor.device and one is not tensor), None
    )


def _source_of_shape(tensor: Tensor) -> Tensor | None:
    for one in tensor.origin.parents:
        if one.shape == tensor.shape and one is not tensor and one.requires == YES:
            return one
    return None


def _source_of_inference(tensor: Tensor) -> Tensor | None:
    return next((one for one in tensor.origin.parents if one.inference is True and one is not tensor), None)


def _belongs(story: str, origin: Origin) -> bool:
    """Whether what happened at an origin matters to a story: a move with its module does to that of the device."""
    return origin.kind != "placed" or story == "device"


def _told_in(story: str, origin: Origin, tensor: Tensor) -> Origin:
    """An origin as a story tells it: of what was made on the CPU and has stayed there, it says so."""
    if story == "device" and origin.kind in _CREATED and tensor.device is CPU:
        return Origin("created-on-cpu", origin.node, origin.frame, None, origin.parents, origin.serial)
    if (
        story == "device"
        and origin is tensor.origin
        and origin.kind != "created"
        and tensor.device is not None
    ):
        op = (origin.fields or {}).get("op", "")
        if op in ("to", "cuda", "cpu", "xpu"):
            fields = {"op": op, "device": tensor.device.told}
            return Origin("put", origin.node, origin.frame, fields, origin.parents, origin.serial)
    return origin


_CREATED = ("created", "created-no-grad")

_CHOICES: dict[str, Callable[[Tensor], Tensor | None]] = {
    "grad": _source_of_grad,
    "dtype": _source_of_dtype,
    "device": _source_of_device,
    "shape": _source_of_shape,
    "inference": _source_of_inference,
}


def _facts(tensor: Tensor, optimized: set[int]) -> dict[str, Any]:
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
        "trained": tensor.parameter is True or tensor.serial in optimized,
    }
