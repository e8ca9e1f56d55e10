"""What an operation does to autograd's facts: one row for each, parsed when it is first asked for.

A row is a string in one of the files under `laws/tables`. Its grammar:

    (PARAMETERS) RESULT [NODE] [saves WHAT...] [WORD...] [key=value...]

    PARAMETERS  names with commas, in the order in which torch binds them, the tensor first as `self`;
                after a lone `*` they are keyword-only.
                `other`        takes a tensor
                `weight?`      takes a tensor or None, and is None when left out
                `tensors*`     takes a list or tuple of tensors
                `size...`      takes any number of positional values, or one tuple of them
                `tensors...*`  takes any number of positional tensors
                `other!`       a tensor through which nothing is recorded: requiring grad changes nothing
                `dim:`         takes something else, and must be given
                `keepdim=False` takes something else, with its default (a Python literal)
    RESULT      one of `RESULTS`
    NODE        the name of `grad_fn` in torch 2.13; without its number (`SumBackward`) where the number
                depends on the overload; left out where it varies or where the operation is composite
    saves       what the node keeps for backward and torch checks there: `self@other` is "self is kept
                when other requires grad", `self@other|weight` "... when other or weight does",
                `result` alone "whenever a graph is recorded". The word `copy` is something private that
                cannot be written from outside, and that backward frees all the same.
    WORD        `composite`: several nodes; `saves` holds only what is kept in every call that was measured
                `varies`: one node, and `saves` likewise (which branch is taken depends on the values)
                `method`: only Tensor has it; `attribute`: likewise, without a call; `function`: only
                the module has it; none of the three: both a method and a function of torch
    key=value   outputs=values,indices!   names of several results, "!" for one that is never differentiable
                outputs=many              a tuple of any length
                same=WORD                 when the very same tensor comes back (`SAME_WHEN`)
                writes=self,out           arguments written in place
                gradient=zero|no|unimplemented   the default is yes, and no for a result "plain", "python" or
                "none"
                frees=yes|no              when `saves` is not the whole truth
                dtype=KEY shape=KEY lazy=KEY
                overloads=dim:max.dim     with the argument `dim` given, the row "max.dim" holds instead;
                                          `dim@tensor:maximum` only if that argument is a tensor
                                          (or another of `VALUE_KINDS`); the first that fits counts
                otherwise=view|maybe-view what a "maybe-same" gives if not the tensor itself (default new)

Rows are checked on torch by `tests/laws`, by grad mode and by which inputs require grad.

What `RESULTS` mean: "new" a fresh tensor; "view" always shares storage, in a new tensor object; "views"
a tuple (or list) of views; "maybe-view" a view or a copy; "maybe-same" the same tensor object or a new
one; "same" the tensor itself, not written; "written" in place: writes `writes` and returns `self`;
"detached" a view of the data without history; "plain" a new tensor that never requires grad; "python"
no tensor comes back; "none" returns None; "cut" in place: the tensor itself comes back, without its history.

What `same_when` means ("maybe-same" gives the very same object when ...):
    same-device-and-dtype   nothing is to be converted, and copy=True is not given
    same-dtype              the dtype is the one asked for (`float`, `double`, `type_as`, ...)
    on-cpu, on-cuda         the tensor is on that device already
    contiguous              it is contiguous in the memory format asked for
    same-shape              it has the shape asked for (`broadcast_tensors`, `broadcast_to` never)
    enough-dimensions       it has as many dimensions as asked for (`atleast_2d`, `flatten` of a vector)
    real                    it is not complex
    not-conj, not-neg       the lazy bit is not set
    not-training            `training` is False, or p is 0
    strided                 it is dense already
    pinned, coalesced       it is in that state already
    always                  whatever is passed
"""

from __future__ import annotations

from gradtrail.laws.dtypes import canonical

RESULTS = (
    "new",
    "view",
    "views",
    "maybe-view",
    "maybe-same",
    "same",
    "written",
    "alias",
    "detached",
    "plain",
    "python",
    "none",
    "cut",
)
"""The kinds of results, told apart in the docstring of this module."""

SAME_WHEN = (
    "same-device-and-dtype",
    "same-dtype",
    "on-cpu",
    "on-cuda",
    "contiguous",
    "same-shape",
    "enough-dimensions",
    "real",
    "not-conj",
    "not-neg",
    "not-training",
    "strided",
    "pinned",
    "coalesced",
    "always",
)
"""When a "maybe-same" operation gives back the very same tensor, explained above."""

GRADIENTS = ("yes", "zero", "no", "unimplemented")
"""Whether a gradient flows: "zero" has a grad_fn and a gradient of zeros, "unimplemented" has a grad_fn
(mostly named NotImplemented) whose backward raises RuntimeError."""

UNREAD: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "nn.functional.multi_head_attention_forward": (
        "use_separate_proj_weight",
        ("in_proj_weight",),
        ("q_proj_weight", "k_proj_weight", "v_proj_weight"),
    ),
}
"""Of operations with a switch: its name, and the arguments that are not read when it is on, and when it is off."""

DTYPES = (
    "same",
    "promote",
    "bool",
    "int64",
    "float",
    "promote-float",
    "real",
    "complex",
    "sum",
    "arg:dtype",
    "of-second",
    "?",
)
"""Rule keys of `gradtrail.laws.dtypes.dtype_of`; the name of a dtype is one as well."""

VALUE_KINDS = (
    "tensor",
    "matrix",
    "batch",
    "dtype",
    "text",
    "true",
    "false",
    "number",
    "one",
    "ones",
    "basic",
    "advanced",
    "value",
)
"""How an argument's value is told apart for overloads: "matrix" is a tensor known to have at most two dimensions,
"batch" one known to have three or more, "tensor" any; "true" and "false" the constants, "text" a str, "number" an
int or float, "one" the number 1, "ones" that or a tuple of nothing else, "basic" an index that makes a view (a
slice, None, an ellipsis, a tuple of these and of ints), "advanced" one that copies (a list, or a tuple that holds a
list or a tensor), "value" anything else."""

HOMES = ("both", "method", "attribute", "function")
"""Where an operation is found: on Tensor and in torch, only on Tensor, as a property of it, only in a
module."""

LAZY = ("", "conj", "neg", "resolve", "resolve-conj", "resolve-neg")

_WITHOUT_GRADIENT = ("plain", "python", "none", "detached", "cut")


class Operation:
    """What one operation does; see the docstring of `gradtrail.laws.operations` for every field."""

    __slots__ = (
        "args",
        "defaults",
        "dtype",
        "exact_saves",
        "frees",
        "gathers",
        "gradient",
        "home",
        "keywords",
        "lazy",
        "name",
        "node",
        "otherwise",
        "outputs",
        "overloads",
        "required",
        "result",
        "same_when",
        "saves",
        "shape",
        "tensors",
        "untracked",
        "writes",
    )

    name: str
    args: tuple[str, ...]
    keywords: tuple[str, ...]
    defaults: dict[str, object]
    required: tuple[str, ...]
    tensors: tuple[str, ...]
    result: str
    same_when: str
    outputs: tuple[str, ...]
    node: str
    saves: tuple[tuple[str, tuple[str, ...]], ...]
    frees: bool
    exact_saves: bool
    writes: tuple[str, ...]
    gradient: str
    dtype: str
    shape: str
    lazy: str
    overloads: tuple[tuple[str, str, str], ...]
    gathers: str  # the parameter that takes any number of positional values, or ""
    home: str  # one of HOMES
    untracked: tuple[str, ...]  # parameters through which nothing is recorded
    otherwise: str  # what a "maybe-same" gives if not the tensor itself: "new", "view" or "maybe-view"

    def __repr__(self) -> str:
        """The name, and what comes back."""
        return f"<Operation {self.name}: {self.result}>"

    def takes(self, argument: str) -> str:
        """How `argument` takes tensors: "one", "many" (a list of them) or "none"."""
        if argument in self.tensors:
            return "one"
        return "many" if argument + "*" in self.tensors else "none"

    def overload(self, given: dict[str, str]) -> Operation:
        """The operation that a call amounts to; its arguments are to be bound anew by that row.

        `given` maps the names of the arguments that were passed (and are not None) to the kind of the
        value, one of `VALUE_KINDS`. `x.max()`, `x.max(dim=1)` and `x.max(y)` are three
        operations under one name. Raises RowError when the row names an overload that has no row.
        """
        for argument, kind, name in self.overloads:
            if argument in given and _is_kind(given[argument], kind):
                found = operation(name)
                if found is None:
                    raise RowError(self.name, "no row for its overload " + name)
                return found
        return self


def _is_kind(given: str, wanted: str) -> bool:
    return wanted in ("", given, *_SPECIAL_KINDS.get(given, ()))


_SPECIAL_KINDS = {
    "matrix": ("tensor",),
    "batch": ("tensor",),
    "one": ("number", "ones"),
    "ones": ("basic",),
}
"""The wider kinds that a value of a special kind is of as well."""


class RowError(ValueError):
    """A row that does not follow the grammar; `name` is the operation's."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"row {name!r}: {problem}")
        self.name = name


def _literal(name: str, word: str) -> object:
    """The Python literal that `word` spells: a number, a quoted string, True, False, None or ()."""
    simple: dict[str, object] = {"None": None, "True": True, "False": False, "()": ()}
    if word in simple:
        return simple[word]
    if len(word) > 1 and word[0] == word[-1] == "'":
        return word[1:-1]
    try:
        return float(word) if "." in word or "e" in word else int(word)
    except ValueError:
        raise RowError(name, f"{word!r} is no literal") from None


class _Parser:
    """Reads one row into an Operation."""

    def __init__(self, name: str, row: str) -> None:
        self.name = name
        self.row = row
        self.operation = Operation()

    def fail(self, problem: str) -> RowError:
        return RowError(self.name, f"{problem} in {self.row!r}")

    def read(self) -> Operation:
        end = self.row.find(")")
        while end != -1 and self.row[end + 1 : end + 2] not in (" ", ""):
            end = self.row.find(")", end + 1)
        if not self.row.startswith("(") or end == -1:
            raise self.fail("no parameters")
        words = self.row[end + 1 :].split()
        if not words:
            raise self.fail("no result")
        self.start()
        self.parameters(self.row[1:end])
        self.operation.result = self.one_of(words[0], RESULTS, "result")
        self.words(words[1:])
        self.finish()
        return self.operation

    def start(self) -> None:
        result = self.operation
        result.name = self.name
        result.same_when = ""
        result.outputs = ()
        result.node = ""
        result.saves = ()
        result.exact_saves = True
        result.writes = ()
        result.dtype = "?"
        result.shape = "?"
        result.lazy = ""
        result.overloads = ()
        result.gradient = ""
        result.gathers = ""
        result.home = "both"
        result.otherwise = "new"
        self.frees = ""

    def one_of(self, word: str, allowed: tuple[str, ...], what: str) -> str:
        if word not in allowed:
            raise self.fail(f"{word!r} is no {what}")
        return word

    def parameters(self, inside: str) -> None:
        positional: list[str] = []
        keywords: list[str] = []
        tensors: list[str] = []
        required: list[str] = []
        untracked: list[str] = []
        defaults: dict[str, object] = {}
        into = positional
        for part in inside.split(", ") if inside else ():
            if part == "*":
                into = keywords
                continue
            spelled = part.rstrip("!")
            if spelled != part:
                untracked.append(spelled.rstrip("?*"))
            name, equals, default = spelled.partition("=")
            if "..." in name:
                name = name.replace("...", "")
                self.operation.gathers = name.rstrip("*?:")
                if name.isidentifier():
                    positional.append(name)
                    defaults[name] = ()
                    continue
            if equals:
                defaults[name] = _literal(self.name, default)
            elif name[-1:] == "?" or name[-2:] == "?*":
                tensors.append(name.replace("?", ""))
                name = name.rstrip("?*")
                defaults[name] = None
            elif name[-1:] == "*":
                tensors.append(name)
                name = name[:-1]
                required.append(name)
            elif name[-1:] == ":":
                name = name[:-1]
                required.append(name)
            else:
                tensors.append(name)
                required.append(name)
            if not name.isidentifier() or name in positional or name in keywords:
                raise self.fail(f"bad parameter {part!r}")
            into.append(name)
        result = self.operation
        result.args, result.keywords = tuple(positional), tuple(keywords)
        result.untracked = tuple(untracked)
        result.tensors, result.defaults, result.required = tuple(tensors), defaults, tuple(required)

    def words(self, words: list[str]) -> None:
        saves: list[tuple[str, tuple[str, ...]]] = []
        saving = False
        for word in words:
            key, equals, value = word.partition("=")
            if equals:
                saving = False
                self.pair(key, value)
            elif word == "NotImplemented":
                self.operation.node, self.operation.gradient = word, "unimplemented"
            elif word == "saves":
                saving = True
            elif word in ("composite", "varies"):
                saving = False
                self.operation.exact_saves = False
            elif word in HOMES:
                saving = False
                self.operation.home = word
            elif saving:
                what, _, needs = word.partition("@")
                saves.append((what, tuple(needs.split("|")) if needs else ()))
            elif word[0].isupper() and not self.operation.node:
                self.operation.node = word
            else:
                raise self.fail(f"{word!r} has no meaning")
        self.operation.saves = tuple(saves)

    def pair(self, key: str, value: str) -> None:
        result = self.operation
        if key == "outputs":
            result.outputs = tuple(value.split(","))
        elif key == "same":
            result.same_when = self.one_of(value, SAME_WHEN, "time of sameness")
        elif key == "writes":
            result.writes = tuple(value.split(","))
        elif key == "gradient":
            result.gradient = self.one_of(value, GRADIENTS, "gradient")
        elif key == "frees":
            self.frees = self.one_of(value, ("yes", "no"), "answer")
        elif key == "dtype":
            result.dtype = value if canonical(value) == value else self.one_of(value, DTYPES, "dtype rule")
        elif key == "shape":
            result.shape = value
        elif key == "lazy":
            result.lazy = self.one_of(value, LAZY, "lazy bit")
        elif key == "otherwise":
            result.otherwise = self.one_of(value, ("view", "maybe-view"), "result")
        elif key == "overloads":
            result.overloads = tuple(self.overload_of(part) for part in value.split(","))
        else:
            raise self.fail(f"{key!r} is no key")

    def overload_of(self, part: str) -> tuple[str, str, str]:
        argument, colon, name = part.partition(":")
        if not colon:
            raise self.fail(f"bad overload {part!r}")
        argument, _, kind = argument.partition("@")
        if kind:
            self.one_of(kind, VALUE_KINDS, "kind of value")
        return argument, kind, name

    def finish(self) -> None:
        result = self.operation
        known = result.args + result.keywords
        for what, needs in result.saves:
            if what not in known and what != "copy" and not what.startswith("result"):
                raise self.fail(f"saves {what!r}, which is no parameter")
            for need in needs:
                if need not in known:
                    raise self.fail(f"{need!r} is no parameter")
        for written in result.writes:
            if written not in known:
                raise self.fail(f"writes {written!r}, which is no parameter")
        if (result.result == "maybe-same") != bool(result.same_when):
            raise self.fail("`same=` belongs to maybe-same, and only there")
        if result.result == "written" and not result.writes:
            result.writes = ("self",) if "self" in known else result.args[:1]
        result.gradient = result.gradient or ("no" if result.result in _WITHOUT_GRADIENT else "yes")
        result.frees = self.frees == "yes" if self.frees else bool(result.saves)


def parse(name: str, row: str) -> Operation:
    """The operation that `row` describes.

    Raises RowError, which names the row, when the row does not follow the grammar.
    """
    return _Parser(name, row).read()


_cache: dict[str, Operation | None] = {}
_methods: dict[str, Operation | None] = {}
_rows: dict[str, str] | None = None
_aliases: dict[str, str] = {}


def _table() -> dict[str, str]:
    """All rows by name; read once."""
    global _rows  # noqa: PLW0603 - read once, on first need
    if _rows is None:
        from gradtrail.laws.tables import ALIASES, rows

        _rows = rows()
        _aliases.update(ALIASES)
    return _rows


def row_of(name: str) -> str | None:
    """The row that is written down for `name` itself, or None."""
    return _table().get(name)


def alias_of(name: str) -> str:
    """The name of the row that an alias stands for, or "" when `name` is no alias."""
    _table()
    return _aliases.get(name, "")


def _renamed(operation: Operation, name: str) -> Operation:
    result = Operation()
    for field in Operation.__slots__:
        setattr(result, field, getattr(operation, field))
    result.name = name
    return result


def _find(name: str) -> Operation | None:
    row = row_of(name)
    if row is not None:
        return parse(name, row)
    other = _aliases.get(name)
    if other is not None:
        found = operation(other)
        return None if found is None else _renamed(found, name)
    if name.endswith("_") and not name.startswith("_"):
        return _in_place(name)
    return None


def _in_place(name: str) -> Operation | None:
    """The in-place form of an operation whose row says all that is needed.

    The tensor is `result` afterwards, so a kept `result` is a kept `self`; a kept `self` is a private
    copy of what it was (torch/csrc/autograd/generated: `self.clone()`), which nobody can write any more.
    """
    other = _aliases.get(name[:-1])
    if other is not None:
        found = operation(other + "_")
        return None if found is None else _renamed(found, name)
    base = operation(name[:-1])
    if base is None or base.result not in ("new", "view", "plain") or base.outputs or not base.args:
        return None
    result = _renamed(base, name)
    result.result, result.overloads, own = "written", (), base.args[0]
    result.writes = (own,)
    result.node = base.node.rstrip("0123456789")  # the in-place node is often another overload's
    result.saves = tuple(("copy" if what == own else what, needs) for what, needs in base.saves)
    result.dtype = "same"
    if base.result != "view":
        result.shape = "same" if base.shape in ("same", "broadcast") else "?"
    return result


def operation(name: str) -> Operation | None:
    """The row of a Tensor method or torch function by its public name ("mul", "mul_", "__getitem__").

    None when there is no row: nothing is known about it.
    """
    try:
        return _cache[name]
    except KeyError:
        found = _cache[name] = _find(name)
        return found


def public_name(name: str) -> str:
    """What an operation is called by those who use it: `pow` for the row of its overload "pow.number"."""
    base = name.removeprefix("Tensor.")
    whole, _, overload = base.rpartition(".")
    return whole if overload and whole and operation(whole) is not None else base


def method(name: str) -> Operation | None:
    """The row of a Tensor method, where it differs from the function of the same name.

    `x.where(condition, y)` and `torch.where(condition, x, y)` bind their arguments in another order.
    """
    try:
        return _methods[name]
    except KeyError:
        found = _methods[name] = operation("Tensor." + name) or operation(name)
        return found


def function(path: str) -> Operation | None:
    """The row of a public function by its dotted path ("torch.nn.functional.cross_entropy").

    A method by its class ("torch.Tensor.mul") is found as well. None when there is no row.
    """
    if not path.startswith("torch."):
        return None
    if path.startswith("torch.Tensor."):
        return method(path[len("torch.Tensor.") :])
    name = path[len("torch.") :]
    if path.startswith("torch.nn.functional."):
        bare = path[len("torch.nn.functional.") :]
        return operation("nn.functional." + bare)
    found = operation(name)
    if found is None and path.startswith("torch.functional."):
        return operation(path[len("torch.functional.") :])
    return None if found is not None and found.home in ("method", "attribute") else found


def names() -> tuple[str, ...]:
    """The names of all rows, aliases included, in order."""
    return tuple(sorted({*_table(), *_aliases}))


def is_loss(name: str) -> bool:
    """Whether an operation is one of torch's loss functions, which all are named so."""
    return name.startswith("nn.functional.") and (
        "loss" in name or "cross_entropy" in name or name.endswith("kl_div")
    )
