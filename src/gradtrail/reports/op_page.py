"""The page of an operation: what its row in `gradtrail.laws.operations` says, in sentences."""

from __future__ import annotations

from gradtrail.laws.messages import message
from gradtrail.laws.node_names import told_node
from gradtrail.laws.operations import Operation
from gradtrail.laws.text import Text, say, text
from gradtrail.reports.cells import padded, wrap
from gradtrail.reports.cells import width as cells

_COMES_BACK = {
    "new": "a new tensor, with storage of its own",
    "view": "a view: a new tensor object on the same storage",
    "views": "several views: new tensor objects on the same storage",
    "maybe-view": "a view or a copy, whichever torch can make",
    "maybe-same": "the very same tensor {when}; else {otherwise}",
    "same": "the very same tensor",
    "written": "the same tensor, written in place",
    "alias": "new tensor objects on the same storage, which torch does not treat as views",
    "detached": "a new tensor object on the same storage, without history",
    "plain": "a new tensor that never requires grad",
    "python": "a Python value, no tensor",
    "none": "nothing (None)",
    "cut": "the same tensor, its history taken away in place",
}

_OTHERWISE = {"new": "a new tensor", "view": "a view of it", "maybe-view": "a view of it or a copy"}

_ARGUMENT_KINDS = {
    "tensor": "a tensor as `{argument}`",
    "matrix": "a tensor of at most two dimensions as `{argument}`",
    "batch": "a tensor of three or more dimensions as `{argument}`",
    "dtype": "a dtype as `{argument}`",
    "text": "a string as `{argument}`",
    "true": "`{argument}` true",
    "false": "`{argument}` false",
    "number": "a number as `{argument}`",
    "one": "the number 1 as `{argument}`",
    "ones": "only ones as `{argument}`",
    "basic": "a basic index as `{argument}`",
    "advanced": "an advanced index as `{argument}`",
    "value": "a value as `{argument}`",
    "": "the argument `{argument}`",
}

_SAME_WHEN = {
    "same-device-and-dtype": "when neither device nor dtype changes, and copy=True is not given",
    "same-dtype": "when it has that dtype already",
    "on-cpu": "when it is on the CPU already",
    "on-cuda": "when it is on that device already",
    "contiguous": "when it is contiguous in that memory format already",
    "same-shape": "when it has that shape already",
    "enough-dimensions": "when it has as many dimensions already",
    "real": "when it is not complex",
    "not-conj": "when its conjugate bit is not set",
    "not-neg": "when its negative bit is not set",
    "not-training": "when `training` is False or `p` is 0",
    "strided": "when it is dense already",
    "pinned": "when it is pinned already",
    "coalesced": "when it is coalesced already",
    "always": "whatever is passed",
}

_REFUSES = {
    "numpy": (
        ("a tensor that requires grad while grad mode is on, unless force=True", "numpy-requires-grad"),
        ("a tensor that is not on the CPU, unless force=True", "numpy-off-cpu"),
    ),
    "backward": (
        ("a tensor that does not require grad", "backward-no-grad-fn"),
        ("a tensor of several elements, when `gradient` is not given", "backward-non-scalar"),
        ("a graph whose saved tensors an earlier backward has freed", "backward-twice"),
    ),
    "detach_": (("a view", "detach-view-in-place"),),
    "requires_grad_": (
        ("requires_grad=False on a computed tensor that requires grad", "flag-of-non-leaf"),
        ("a tensor of integers or bools", "requires-grad-integer-method"),
    ),
    "retain_grad": (("a tensor that does not require grad", "retain-grad-of-untracked"),),
    "register_hook": (("a tensor that does not require grad", "hook-of-untracked"),),
}
"""What the operations that are asked for most refuse, with the key of torch's message."""

LABELS = (
    "gives back", "outputs", "requires grad", "leaf", "grad_fn", "saves", "backward", "writes", "refuses", "with",
)  # fmt: skip
"""The heads of the page's rows."""

_FRAGMENTS = ("numpy-off-cpu", "backward-no-grad-fn")
"""Messages whose stable piece does not stand at their beginning."""

_NEVER_REQUIRES = ("plain", "detached")
_NO_TENSOR = ("python", "none")


def spellings(name: str) -> tuple[str, ...]:
    """The names under which an operation may have its row: `torch.Tensor.mul_` has it under `mul_`."""
    bare = name.removesuffix("()")
    for prefix in ("torch.Tensor.", "Tensor.", "torch."):
        bare = bare.removeprefix(prefix)
    if bare.startswith("F."):
        bare = "nn.functional." + bare[2:]
    last = bare.removeprefix("nn.functional.")
    return tuple(dict.fromkeys((bare, "nn.functional." + last, last)))


def render(operation: Operation, width: int = 80) -> str:
    """The page of `operation`."""
    lines = _hanging(operation.name + "(", ", ".join(_signature(operation)) + ")", width)
    lines.append("")
    before = ""
    told = facts(operation)
    room = max(14, *(cells(say(label)) for label, _ in told))
    for label, sentence in told:
        head = "" if label == before else say(label)
        lines += _hanging("  " + padded(head, room) + "  ", str(sentence), width)
        before = label
    return "\n".join(lines) + "\n"


def _hanging(head: str, words: str, width: int) -> list[str]:
    pieces = wrap(words, max(24, width - cells(head)))
    return [head + pieces[0], *(" " * cells(head) + piece for piece in pieces[1:])]


def facts(operation: Operation) -> list[tuple[str, Text]]:
    """What the row says, as pairs of a label and a sentence."""
    told = [("gives back", _comes_back(operation))]
    told += [("outputs", one) for one in _outputs(operation)]
    if operation.result not in _NO_TENSOR:
        told += [("requires grad", _requires_grad(operation)), ("leaf", _leaf(operation))]
        told += [("grad_fn", one) for one in _node(operation)]
    told += [("saves", one) for one in _saves(operation)]
    if operation.frees:
        told.append(("backward", text("frees what is saved, unless it is called with retain_graph=True")))
    told += [("writes", one) for one in _writes(operation)]
    told += [("refuses", one) for one in _refuses(operation)]
    told += [("with", one) for one in _overloads(operation)]
    return told


def _signature(operation: Operation) -> list[str]:
    parts = [_argument(operation, name) for name in operation.args]
    if operation.gathers in operation.args:
        parts = ["*" + part if part.startswith(operation.gathers) else part for part in parts]
    if operation.keywords:
        parts += ["*", *(_argument(operation, name) for name in operation.keywords)]
    return parts


def _argument(operation: Operation, name: str) -> str:
    if name in operation.defaults and name != operation.gathers:
        return f"{name}={operation.defaults[name]!r}"
    return name


def _comes_back(operation: Operation) -> Text:
    template = _COMES_BACK[operation.result]
    if "{when}" in template:
        when, otherwise = _SAME_WHEN[operation.same_when], _OTHERWISE[operation.otherwise]
        return text(template, when=text(when), otherwise=text(otherwise))
    return text(template)


def _refuses(operation: Operation) -> list[Text]:
    return [
        text(
            "{what}: {said}", what=text(what), said=("... " if key in _FRAGMENTS else "") + message(key).piece
        )
        for what, key in _REFUSES.get(operation.name, ())
    ]


def _outputs(operation: Operation) -> list[Text]:
    if not operation.outputs:
        return []
    if operation.outputs == ("many",):
        return [text("a tuple of any length")]
    names = ", ".join(name.rstrip("!") for name in operation.outputs)
    never = ", ".join(name[:-1] for name in operation.outputs if name.endswith("!"))
    if never:
        return [text("{names}; never differentiable: {never}", names=names, never=never)]
    return [text("{names}", names=names)]


def _requires_grad(operation: Operation) -> Text:
    if operation.result in _NEVER_REQUIRES or operation.result == "cut":
        return text("no")
    if operation.result == "same":
        return text("as the tensor itself")
    inputs = _inputs(operation)
    if operation.result == "written":
        if operation.gradient == "no":
            return text("as before")
        return text("as before; or because grad mode is on and {inputs} requires grad", inputs=inputs)
    if operation.gradient == "no" or not inputs:
        return text("no")
    if operation.result == "maybe-same":
        return text(
            "the same tensor: as it is; a new one: when grad mode is on and {inputs} requires grad",
            inputs=inputs,
        )
    return text("when grad mode is on and {inputs} requires grad", inputs=inputs)


def _inputs(operation: Operation) -> str:
    """The tensors of which one must require grad, as words."""
    named = [name for name in operation.tensors if not name.endswith("*")]
    lists = [say("one of `{name}`", name=name[:-1]) for name in operation.tensors if name.endswith("*")]
    return _joined([*([_listed(named, "or")] if named else []), *lists], "or")


def _leaf(operation: Operation) -> Text:
    if operation.result in _NEVER_REQUIRES or operation.result == "cut":
        return text("yes, for it does not require grad")
    if operation.result == "same":
        return text("as the tensor itself")
    if operation.gradient == "no" and operation.result != "written":
        return (
            text("the same tensor: as it is; a new one: yes")
            if operation.result == "maybe-same"
            else text("yes")
        )
    if operation.result == "written":
        if operation.gradient == "no":
            return text("as before")
        return text(
            "no, once it requires grad; torch refuses to write a leaf that requires grad in grad mode"
        )
    if operation.result == "maybe-same":
        return text("the same tensor: as it is; a new one: only when it does not require grad")
    return text("only when it does not require grad")


def _node(operation: Operation) -> list[Text]:
    if operation.gradient == "unimplemented":
        return [text("NotImplemented: torch has no formula for its gradient, and backward raises")]
    told = []
    if operation.node:
        told.append(text("{node} where the result requires grad", node=told_node(operation.node)))
    elif not operation.exact_saves:
        told.append(text("several nodes: it is composed of other operations"))
    if operation.gradient == "zero":
        told.append(text("the gradient that it passes on is zero everywhere"))
    return told


def _saves(operation: Operation) -> list[Text]:
    told = [_saved(operation, what, needs) for what, needs in operation.saves]
    if told and not operation.exact_saves:
        told.append(text("perhaps more, depending on what is passed"))
    if told or operation.result in (*_NO_TENSOR, *_NEVER_REQUIRES, "same", "cut"):
        return told
    return [text("nothing") if operation.exact_saves and not operation.frees else text("not known")]


def _saved(operation: Operation, what: str, needs: tuple[str, ...]) -> Text:
    kept = f"`{what}`"
    if what == "copy":
        kept = say("a copy of its own")
    elif what == "result":
        kept = say("its result")
    elif what.startswith("result") and what[6:].isdigit() and int(what[6:]) < len(operation.outputs):
        kept = say("its result `{name}`", name=operation.outputs[int(what[6:])].rstrip("!"))
    if needs:
        return text("{kept}, when {needs} requires grad", kept=kept, needs=_listed(list(needs), "or"))
    return text("{kept}, when it is recorded for backward", kept=kept)


def _writes(operation: Operation) -> list[Text]:
    optional = [name for name in operation.writes if name == "out"]
    always = [name for name in operation.writes if name != "out"]
    told = [text("{names}, in place", names=_listed(always, "and"))] if always else []
    if optional:
        told.append(text("`out`, when it is given"))
    return told


def _overloads(operation: Operation) -> list[Text]:
    return [
        text(
            "{kind}: it is `{name}`",
            kind=text(_ARGUMENT_KINDS.get(kind, _ARGUMENT_KINDS[""]), argument=argument),
            name=name,
        )
        for argument, kind, name in operation.overloads
    ]


def _listed(names: list[str], word: str) -> str:
    quoted = [f"`{name}`" for name in names]
    return _joined(quoted, word)


def _joined(parts: list[str], word: str) -> str:
    if len(parts) < 2:
        return "".join(parts)
    listed = parts[0]
    for part in parts[1:-1]:
        listed = say("{some}, {more}", some=listed, more=part)
    if word == "or":
        return say("{some} or {more}", some=listed, more=parts[-1])
    return say("{some} and {more}", some=listed, more=parts[-1])
