"""Random torch programs as source text, and what each of them is made of.

A program is written statement by statement. The writer keeps to names that are bound and shapes that
fit, so that what torch refuses is refused by a law of autograd and not by a slip. Every name has one
kind all its life, which is a shape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hypothesis import strategies as st

KINDS = {"vector": "(4,)", "matrix": "(2, 2)", "pair": "(2,)", "number": "()"}
"""The kinds of values, and the shape of each."""

LEAST_STATEMENTS = 3
MOST_STATEMENTS = 14
DEEPEST = 2
"""How deep blocks are nested."""


class Program(NamedTuple):
    """Source text, and the names of what was used to write it."""

    source: str
    used: tuple[str, ...]


class Form(NamedTuple):
    """An expression or a statement with holes: `{a}` and `{b}` are values of the kinds `takes`.

    `gives` is the kind of the result, "" for a statement.
    """

    name: str
    text: str
    takes: tuple[str, ...]
    gives: str = ""


def _elementwise() -> list[Form]:
    texts = {
        "mul": "{a} * {b}",
        "add": "{a} + {b}",
        "sub": "{a} - {b}",
        "div": "{a} / ({b} + 3)",
        "mul number": "{a} * 2",
        "add number": "{a} + 1",
        "rsub": "1 - {a}",
        "neg": "-{a}",
        "pow": "{a} ** 2",
        "exp": "torch.exp({a} * 0.1)",
        "sigmoid": "torch.sigmoid({a})",
        "tanh": "{a}.tanh()",
        "relu": "torch.relu({a})",
        "sin": "{a}.sin()",
        "abs": "{a}.abs()",
        "clamp": "{a}.clamp(0, 1)",
        "round": "{a}.round()",
        "where": "torch.where({a} > 0, {a}, {b})",
        "maximum": "torch.maximum({a}, {b})",
        "clone": "{a}.clone()",
        "detach": "{a}.detach()",
        "data": "{a}.data",
        "detach clone": "{a}.detach().clone()",
        "zeros_like": "torch.zeros_like({a})",
        "ones_like grad": "torch.ones_like({a}, requires_grad=True)",
        "contiguous": "{a}.contiguous()",
        "plus": "+{a}",
        "dropout": "F.dropout({a}, training=False)",
        "compare": "({a} > 0).float()",
        "long": "{a}.long().float()",
        "double float": "{a}.double().float()",
        "cpu": "{a}.cpu()",
        "to float": "{a}.to(torch.float32)",
        "to cpu": '{a}.to("cpu")',
        "to copy": "{a}.to(torch.float32, copy=True)",
        "float": "{a}.float()",
        "view_as": "{a}.view_as({a})",
        "tensor of list": "torch.tensor({a}.tolist())",
        "parameter": "nn.Parameter({a})",
        "as_tensor": "torch.as_tensor({a})",
        "require after": "({a} * 0.5).detach().requires_grad_()",
        "from numpy": "torch.from_numpy({a}.detach().numpy())",
        "opaque": "opaque({a})",
        "conditional": "{a} if flag() else {b}",
        "conditional known": "{a} if KNOWN else {b}",
        "deepcopy": "copy.deepcopy({a})",
        "list of": "[{a}, {b}][0]",
        "dict of": '{{"first": {a}, "second": {b}}}["second"]',
        "variable": "torch.autograd.Variable({a})",
        "leaky module": "nn.LeakyReLU()({a})",
        "identity module": "nn.Identity()({a})",
    }
    return [
        Form(name, text, (kind, kind) if "{b}" in text else (kind,), kind)
        for name, text in texts.items()
        for kind in KINDS
    ]


EXPRESSIONS: tuple[Form, ...] = (
    *_elementwise(),
    *(
        Form(f"new {kind}", f"torch.rand({shape}, requires_grad=True)", (), kind)
        for kind, shape in KINDS.items()
    ),
    *(Form(f"constant {kind}", f"torch.rand({shape})", (), kind) for kind, shape in KINDS.items()),
    *(Form("sum", "{a}.sum()", (kind,), "number") for kind in KINDS),
    *(Form("mean", "{a}.mean()", (kind,), "number") for kind in KINDS),
    *(Form("expand number", f"{{a}}.expand({shape})", ("number",), kind) for kind, shape in KINDS.items()),
    Form("view", "{a}.view(2, 2)", ("vector",), "matrix"),
    Form("reshape", "{a}.reshape(4)", ("matrix",), "vector"),
    Form("flatten", "{a}.flatten()", ("matrix",), "vector"),
    Form("flatten vector", "{a}.flatten()", ("vector",), "vector"),
    Form("transpose", "{a}.t()", ("matrix",), "matrix"),
    Form("permute", "{a}.permute(1, 0)", ("matrix",), "matrix"),
    Form("select", "{a}[0]", ("matrix",), "pair"),
    Form("select number", "{a}[1]", ("vector",), "number"),
    Form("slice", "{a}[1:3]", ("vector",), "pair"),
    Form("slice all", "{a}[:]", ("vector",), "vector"),
    Form("column", "{a}[:, 1]", ("matrix",), "pair"),
    Form("index tensor", "{a}[torch.tensor([0, 1])]", ("vector",), "pair"),
    Form("unbind", "{a}.unbind()[1]", ("matrix",), "pair"),
    Form("chunk", "{a}.chunk(2)[0]", ("vector",), "pair"),
    Form("split", "torch.split({a}, 2)[1]", ("vector",), "pair"),
    Form("max values", "{a}.max(dim=1).values", ("matrix",), "pair"),
    Form("max all", "{a}.max()", ("vector",), "number"),
    Form("argmax", "{a}.argmax().float()", ("vector",), "number"),
    Form("sort", "torch.sort({a})[0]", ("vector",), "vector"),
    Form("cumsum", "{a}.cumsum(0)", ("vector",), "vector"),
    Form("matmul", "{a} @ {b}", ("matrix", "matrix"), "matrix"),
    Form("matmul pair", "{a} @ {b}", ("matrix", "pair"), "pair"),
    Form("dot", "{a} @ {b}", ("vector", "vector"), "number"),
    Form("cat", "torch.cat([{a}, {b}])", ("pair", "pair"), "vector"),
    Form("stack", "torch.stack([{a}, {b}])", ("pair", "pair"), "matrix"),
    Form("outer", "torch.outer({a}, {b})", ("pair", "pair"), "matrix"),
    Form("softmax", "torch.softmax({a}, dim=0)", ("vector",), "vector"),
    Form("log_softmax", "F.log_softmax({a}, dim=0)", ("vector",), "vector"),
    Form("mse", "F.mse_loss({a}, {b})", ("vector", "vector"), "number"),
    Form("norm", "{a}.norm()", ("vector",), "number"),
    Form("item", "torch.tensor({a}.item())", ("number",), "number"),
    Form("mixed", "{a} * {b}", ("vector", "number"), "vector"),
    Form("comprehension", "sum([row * 2 for row in {a}])", ("matrix",), "pair"),
    Form("grad", "torch.autograd.grad({a}.sum(), [{b}], allow_unused=True)[0]", ("vector", "vector"), ""),
)

STATEMENTS: tuple[Form, ...] = (
    *(
        Form(name, text, (kind, kind) if "{b}" in text else (kind,))
        for kind in KINDS
        for name, text in {
            "add_": "{a}.add_(1)",
            "add_ other": "{a}.add_({b})",
            "mul_": "{a}.mul_(0.5)",
            "mul_ other": "{a}.mul_({b})",
            "iadd": "{a} += {b}",
            "imul": "{a} *= 0.5",
            "zero_": "{a}.zero_()",
            "fill_": "{a}.fill_(0.5)",
            "copy_": "{a}.copy_({b})",
            "clamp_": "{a}.clamp_(0, 1)",
            "data add_": "{a}.data.add_(1)",
            "detach add_": "{a}.detach().add_(1)",
            "detach_": "{a}.detach_()",
            "requires_grad_": "{a}.requires_grad_()",
            "requires_grad_ off": "{a}.requires_grad_(False)",
            "requires_grad on": "{a}.requires_grad = True",
            "requires_grad off": "{a}.requires_grad = False",
            "retain_grad": "{a}.retain_grad()",
            "numpy": "{a}.numpy()",
            "detach numpy": "{a}.detach().numpy()",
            "np.array": "np.array({a})",
            "sum backward": "{a}.sum().backward()",
            "square backward": "({a} ** 2).sum().backward()",
            "backward retain": "{a}.sum().backward(retain_graph=True)",
            "backward": "{a}.backward()",
            "backward given": "{a}.backward(torch.ones_like({a}))",
            "dropped": "{a}.detach()",
            "opaque call": "opaque({a})",
            "adam": "torch.optim.Adam([{a}, {b}], lr=0.1)",
            "make optimizer": "optimizer = torch.optim.SGD([{a}], lr=0.1)",
            "pickle": "torch.save({a}, io.BytesIO())",
            "manual step": "with torch.no_grad():\n    {a} -= 0.1 * torch.ones_like({a})",
        }.items()
    ),
    Form("setitem", "{a}[0] = {b}", ("vector", "number")),
    Form("setitem row", "{a}[1] = {b}", ("matrix", "pair")),
    Form("setitem slice", "{a}[:2] = {b}", ("vector", "pair")),
    Form("setitem mask", "{a}[{a} > 0] = 0.5", ("vector",)),
    Form("write row", "{a}[0].mul_(2)", ("matrix",)),
    Form("write rows", "for row in {a}:\n    row.mul_(2)", ("matrix",)),
    Form("write view", "{a}.view(2, 2).add_(1)", ("vector",)),
    Form("step", "optimizer.step()", ()),
    Form("zero_grad", "optimizer.zero_grad()", ()),
    Form("net train", "net({a}).sum().backward()", ("vector",)),
    Form("net freeze", "net.requires_grad_(False)", ()),
    Form("net thaw", "net.requires_grad_(True)", ()),
    Form("net freeze weights", "for p in net.lin.parameters():\n    p.requires_grad = False", ()),
    Form("net zero_grad", "net.zero_grad()", ()),
    Form("net optimizer", "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)", ()),
    Form("net eval", "net.eval()", ()),
    Form("net copy", "net = copy.deepcopy(net)", ()),
    Form("net assign", "net.w = {a}", ("vector",)),
    Form("net parameter", "net.w = nn.Parameter({a})", ("vector",)),
    Form("grad mode off", "torch.set_grad_enabled(False)", ()),
    Form("grad mode on", "torch.set_grad_enabled(True)", ()),
)

SCENES: tuple[Form, ...] = tuple(
    Form(f"scene {name}", text, ("vector",))
    for name, text in {
        "loss twice": "loss = ({a} ** 2).sum()\nloss.backward()\nloss.backward()",
        "loss kept": "loss = ({a} ** 2).sum()\nloss.backward(retain_graph=True)\nloss.backward()",
        "linear twice": "loss = ({a} + 1).sum()\nloss.backward()\nloss.backward()",
        "result written": "h = torch.exp({a})\nh += 1\nreveal(h)\nh.sum().backward()",
        "input written": "h = {a} * 1.0\nz = h**2\nh.zero_()\nz.sum().backward()",
        "nothing saved": "h = {a} + 1\nh *= 2\nreveal(h)\nh.sum().backward()",
        "quiet view": "with torch.no_grad():\n    v = {a}.view(-1)\nreveal(v)\nv.mul_(2)",
        "inference saved": "with torch.inference_mode():\n    c = torch.ones(4)\nreveal({a} * c)",
        "inference added": "with torch.inference_mode():\n    c = torch.ones(4)\nreveal({a} + c)",
        "inference written": "with torch.inference_mode():\n    c = torch.ones(4)\nc.add_(1)",
        "pieces": "first, second = ({a} * 2).chunk(2)\nreveal(second)\nfirst.mul_(2)",
        "rows": "for row in {a}.view(2, 2):\n    reveal(row)\n    row.add_(1)",
        "carried": "h = torch.zeros(4)\nfor _ in range(2):\n    h = torch.tanh(h + {a})\n"
        "    h.sum().backward()",
        "cut each round": "h = torch.zeros(4)\nfor _ in range(2):\n    h = torch.tanh(h.detach() + {a})\n"
        "    reveal(h)\n    h.sum().backward()",
        "detached view": "{a}[0].detach_()",
        "optimized result": "torch.optim.SGD([{a} * 2], lr=0.1)",
        "optimized leaf": "p = {a}.detach().requires_grad_()\n"
        "optimizer = torch.optim.SGD([p], lr=0.1)\nreveal(p)",
        "step between": "p = {a}.detach().requires_grad_()\no = torch.optim.SGD([p], lr=0.1)\n"
        "first, second = (p**2).sum(), (p**3).sum()\n"
        "first.backward()\no.step()\nreveal(p)\nsecond.backward()",
        "copied result": "copy.deepcopy({a} * 2)",
        "second derivative": "p = {a}.detach().requires_grad_()\n"
        "(g,) = torch.autograd.grad((p**3).sum(), p, create_graph=flag())\ng.sum().backward()",
        "gradient kept": "h = {a} * 2\nh.retain_grad()\nh.sum().backward()\nreveal(h.grad)",
        "slots": "s = torch.zeros(4)\ns[0] = {a}[1]\nreveal(s)\ns.sum().backward()",
        "running total": "total = 0\nfor _ in range(3):\n    total = total + {a}.sum()\n"
        "reveal(total)\ntotal.backward()",
        "generator": "def batches():\n    with torch.no_grad():\n        yield {a} * 2\n\n\n"
        "for batch in batches():\n    reveal(batch)\n    reveal({a} * batch)",
    }.items()
)
"""Short stories that random statements would seldom tell: most of what torch refuses takes several steps."""

# A loop of unknown length has several rounds: so the interpreter takes it, as faults of later rounds count.
BLOCKS = (
    "if flag():",
    "if not flag():",
    "if KNOWN:",
    "if not KNOWN:",
    "for _ in range(1):",
    "for _ in range(2):",
    "for _ in range(3):",
    "for _ in range(5 + flag()):",
    "rounds = 0\nwhile rounds < 5 or flag():\n    rounds += 1",
    "with torch.no_grad():",
    "with torch.enable_grad():",
    "with torch.inference_mode():",
    "with torch.set_grad_enabled(flag()):",
    "try:",
)

PREAMBLE = """\
import copy
import io

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

KNOWN = True
"""

FORWARDS = (
    "return self.lin(x) * self.w",
    "return torch.relu(self.lin(x)) + self.w",
    "return self.w * x",
    "return self.lin(x.detach())",
    "x = x * self.w\n        return torch.sigmoid(x)",
)

ATTRIBUTES = (
    "nn.Parameter(torch.ones(4))",
    "nn.Parameter(torch.ones(4), requires_grad=False)",
    "torch.ones(4)",
    "torch.ones(4, requires_grad=True)",
    "nn.Parameter(torch.ones(4)) * 0.5",
    "nn.Parameter(torch.ones(4)).float()",
)

Draw = Callable[[st.SearchStrategy[object]], object]

FUNCTIONS = ("f0", "f1")


def number(draw: Draw, least: int, most: int) -> int:
    """A number of the range, both ends included."""
    return int(str(draw(st.integers(least, most))))


class Writer:
    """Writes the statements of one scope. `names` are those that are bound, by kind."""

    def __init__(
        self, draw: Draw, names: dict[str, str], used: list[str], functions: tuple[str, ...]
    ) -> None:
        self.draw = draw
        self.names = dict(names)
        self.used = used
        self.functions = functions
        self.lines: list[str] = []

    def pick(self, choices: object) -> str:
        """One of the choices."""
        return str(self.draw(st.sampled_from(choices)))  # type: ignore[arg-type]

    def number(self, least: int, most: int) -> int:
        """A number of the range, both ends included."""
        return number(self.draw, least, most)

    def form(self, forms: tuple[Form, ...]) -> Form:
        """One of the forms: first its name, so that a name with many kinds is not drawn more often."""
        name = self.pick(sorted({form.name for form in forms}))
        alike = [form for form in forms if form.name == name]
        return alike[self.number(0, len(alike) - 1)]

    def operand(self, kind: str) -> str:
        """A bound name of the kind; a new tensor when there is none."""
        bound = [name for name, other in self.names.items() if other == kind]
        return self.pick(bound) if bound else f"torch.rand({KINDS[kind]})"

    def filled(self, form: Form) -> str:
        """The text of the form with names in its holes."""
        self.used.append(form.name)
        holes = dict(zip("ab", (self.operand(kind) for kind in form.takes), strict=False))
        return form.text.format(**holes)

    def write(self, text: str, depth: int) -> None:
        """Add lines at a depth."""
        self.lines += ["    " * depth + line for line in text.split("\n")]

    def bind(self, depth: int) -> None:
        """Bind a name, new or old, to the result of an expression, and reveal it."""
        form = self.form(EXPRESSIONS)
        if self.functions and self.number(0, 7) == 0:
            form = Form(
                "call function", f"{self.pick(self.functions)}({{a}}, {{b}})", ("vector", "vector"), "vector"
            )
        elif self.number(0, 11) == 0:
            form = Form("call net", "net({a})", ("vector",), "vector")
        text = self.filled(form)
        if not form.gives:
            self.write(text, depth)
            return
        name = self.target(form.gives)
        self.write(f"{name} = {text}", depth)
        self.names[name] = form.gives
        if self.draw(st.booleans()):
            self.write(f"reveal({name})", depth)

    def target(self, kind: str) -> str:
        """A name to bind: one of the kind that is there already, or a new one."""
        bound = [name for name, other in self.names.items() if other == kind and "." not in name]
        if bound and self.draw(st.booleans()):
            return self.pick(bound)
        return f"{kind[0]}{len(self.names)}"

    def statement(self, depth: int) -> None:
        """Write one statement, or a block."""
        choice = self.number(0, 9)
        if choice <= 4:
            self.bind(depth)
        elif choice <= 7 or depth >= DEEPEST:
            kinds = set(self.names.values())
            self.guarded(self.form(tuple(form for form in STATEMENTS if kinds.issuperset(form.takes))), depth)
        elif choice <= 8 and depth == 0:
            self.guarded(self.form(SCENES), depth)
        else:
            self.block(depth)

    def guarded(self, form: Form, depth: int) -> None:
        """Write a statement, half of the time so that the program goes on when torch refuses it."""
        text = self.filled(form)
        if self.number(0, 1):
            self.write(text, depth)
        else:
            self.write("try:", depth)
            self.write(text, depth + 1)
            self.write("except Exception:\n    pass", depth)

    def block(self, depth: int) -> None:
        """Write a block. What it binds anew is out of use after it."""
        head = self.pick(BLOCKS)
        self.used.append(head)
        self.write(head, depth)
        loop = "for " in head or "while " in head
        self.body(depth + 1, loop)
        if head.startswith("if") and self.draw(st.booleans()):
            self.write("else:", depth)
            self.body(depth + 1, loop=False)
        if head == "try:":
            self.write("except (RuntimeError, TypeError, ValueError):", depth)
            self.body(depth + 1, loop=False)

    def body(self, depth: int, loop: bool) -> None:
        """Write the statements of a block."""
        before = dict(self.names)
        for _ in range(self.number(1, 3)):
            self.statement(depth)
        if loop and self.number(0, 3) == 0:
            leave = self.pick(("break", "continue"))
            self.used.append(leave)
            self.write(f"if flag():\n    {leave}", depth)
            self.statement(depth)
        self.names = before

    def reveal_all(self, depth: int) -> None:
        """Reveal every name that is bound."""
        for name in self.names:
            self.write(f"reveal({name})", depth)


def function(draw: Draw, name: str, used: list[str]) -> str:
    """The definition of a function of two vectors that gives a vector."""
    writer = Writer(draw, {"a": "vector", "b": "vector"}, used, ())
    for _ in range(writer.number(1, 3)):
        writer.statement(1)
    if writer.number(0, 2) == 0:
        writer.write(f"if flag():\n    return {writer.operand('vector')}", 1)
    writer.write(f"return {writer.operand('vector')}", 1)
    decorator = writer.pick(("", "", "", "@torch.no_grad()\n", "@torch.enable_grad()\n"))
    return f"{decorator}def {name}(a, b):\n    global net, optimizer\n" + "\n".join(writer.lines) + "\n"


def module(draw: Draw, used: list[str]) -> str:
    """The definition of a module class, and one object of it called `net`."""
    attribute = str(draw(st.sampled_from(ATTRIBUTES)))
    forward = str(draw(st.sampled_from(FORWARDS)))
    used += [f"attribute {attribute}", f"forward {FORWARDS.index(forward)}"]
    return (
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        f"        self.w = {attribute}\n"
        "        self.lin = nn.Linear(4, 4)\n\n"
        "    def forward(self, x):\n"
        f"        {forward}\n\n\n"
        "net = Net()\n"
    )


@st.composite
def programs(draw: Draw) -> Program:
    """A program: a function or two, a module, a few statements, and everything revealed at the end."""
    used: list[str] = []
    functions = FUNCTIONS[: number(draw, 0, 2)]
    parts = [PREAMBLE, *(function(draw, name, used) for name in functions), module(draw, used)]
    writer = Writer(draw, {"net.w": "vector", "w": "vector", "x": "vector"}, used, functions)
    writer.write("w = torch.rand(4, requires_grad=True)\nx = torch.rand(4)", 0)
    writer.write("optimizer = torch.optim.SGD([w], lr=0.1)", 0)
    for _ in range(writer.number(LEAST_STATEMENTS, MOST_STATEMENTS)):
        writer.statement(0)
    writer.reveal_all(0)
    return Program("\n\n".join(parts) + "\n\n" + "\n".join(writer.lines) + "\n", tuple(used))


ALL_NAMES = frozenset(
    [form.name for form in (*EXPRESSIONS, *STATEMENTS, *SCENES)]
    + [*BLOCKS, "break", "continue", "call function", "call net"]
    + [f"attribute {attribute}" for attribute in ATTRIBUTES]
    + [f"forward {i}" for i in range(len(FORWARDS))]
)
"""Every name that `Program.used` can hold."""
