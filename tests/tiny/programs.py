"""Random programs for tiny and torch: straight lines of small statements over a few named tensors.

A name keeps its shape all its life. Statements may be refused; the programs go on after that.
"""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

SHAPES = {"v": "4", "m": "2, 2", "p": "2", "n": ""}
"""The kinds of tensors by the first letter of their names, and the shape of each."""

NAMES = {kind: (f"{kind}0", f"{kind}1", f"{kind}2") for kind in SHAPES}


class Form(NamedTuple):
    """A statement with holes: `{v}`, `{m}`, ... are names of that kind, `{=v}` the name that is bound."""

    name: str
    text: str


def _for_each_kind(forms: dict[str, str]) -> list[Form]:
    return [
        Form(
            name,
            text.replace("{a}", f"{{{kind}}}").replace("{=a}", f"{{={kind}}}").replace("{b}", f"{{{kind}}}"),
        )
        for name, text in forms.items()
        for kind in SHAPES
    ]


EXPRESSIONS = {
    "add": "{a} + {b}",
    "sub": "{a} - {b}",
    "mul": "{a} * {b}",
    "div": "{a} / {b}",
    "add number": "{a} + 1",
    "sub number": "{a} - 0.5",
    "rsub": "1 - {a}",
    "mul number": "{a} * 2",
    "div number": "{a} / 2",
    "rdiv": "2 / {a}",
    "neg": "-{a}",
    "square": "{a} ** 2",
    "cube": "{a}.pow(3)",
    "power": "{a}.abs() ** {b}",
    "rpow": "2 ** {a}",
    "exp": "({a} * 0.1).exp()",
    "log": "{a}.log()",
    "sqrt": "{a}.sqrt()",
    "sigmoid": "torch.sigmoid({a})",
    "tanh": "{a}.tanh()",
    "relu": "F.relu({a})",
    "sin": "{a}.sin()",
    "cos": "torch.cos({a})",
    "abs": "abs({a})",
    "clamp": "{a}.clamp(0, 1)",
    "round": "{a}.round()",
    "sign": "{a}.sign()",
    "reciprocal": "{a}.reciprocal()",
    "where": "torch.where({a} > 0.5, {a}, {b})",
    "mask product": "{a} * ({b} > 0.5)",
    "clone": "{a}.clone()",
    "detach": "{a}.detach()",
    "data": "{a}.data",
    "same": "{a}",
    "zeros_like": "torch.zeros_like({a})",
    "ones_like": "torch.ones_like({a}, requires_grad=True)",
    "contiguous": "{a}.contiguous()",
    "to same": "{a}.to('cpu')",
    "to copy": "{a}.to({a}.dtype, copy=True)",
    "there and back": "{a}.double().to(D)",
    "integers": "{a}.long().to(D)",
    "view_as": "{a}.view_as({a})",
    "parameter": "nn.Parameter({a})",
    "fresh leaf": "{a}.detach().clone().requires_grad_()",
    "fresh leaf sharing": "{a}.detach().requires_grad_()",
    "tensor of list": "torch.tensor({a}.tolist(), dtype=D)",
    "from numpy": "torch.from_numpy({a}.detach().numpy())",
    "deepcopy": "copy.deepcopy({a})",
    "gradient": "({a}.grad if {a}.grad is not None else {a}).detach().clone()",
    "double function": "Double.apply({a})",
    "square function": "Square.apply({a})",
    "returning function": "Same.apply({a})",
    "checkpoint": "checkpoint(lambda t: (t * t).exp(), {a} * 0.1, use_reentrant=False)",
    "autograd.grad": "torch.autograd.grad({b}.sum(), {a}, allow_unused=True)[0] + 0",
    "second derivative": "torch.autograd.grad(({b} ** 3).sum(), {b}, create_graph=True)[0] + 0 + 0",
    "second of relu": "torch.autograd.grad({b}.relu().sum(), {b}, create_graph=True)[0] + 0 + 0",
    "checkpoint's second": "torch.autograd.grad(checkpoint(lambda t: t**3, {b}, use_reentrant=False).sum(), {b},"
    " create_graph=True)[0] + 0 + 0",
    "reentrant": "checkpoint(lambda t: (t * t).exp(), {a} * 0.1, use_reentrant=True)",
    "greater": "torch.max({a}, {b})",
    "set back": "torch.zeros(3, dtype=D).unsqueeze(0)[0, 0] + {a}",
    "second of sigmoid": "torch.autograd.grad({b}.sigmoid().tanh().sum(), {b}, create_graph=True)[0] + 0 + 0",
}

STATEMENTS = {
    "add_": "{a}.add_(1)",
    "add_ other": "{a}.add_({b})",
    "iadd": "{a} += {b}",
    "isub": "{a} -= 0.5",
    "imul": "{a} *= 0.5",
    "mul_ other": "{a}.mul_({b})",
    "idiv": "{a} /= 2",
    "exp_": "{a}.sin_()",
    "tanh_": "{a}.tanh_()",
    "relu_": "{a}.relu_()",
    "sigmoid_": "{a}.sigmoid_()",
    "pow_": "{a}.pow_(2)",
    "clamp_": "{a}.clamp_(0, 1)",
    "zero_": "{a}.zero_()",
    "fill_": "{a}.fill_(0.5)",
    "fill_ tensor": "{a}.fill_({n})",
    "copy_": "{a}.copy_({b})",
    "set all": "{a}[...] = {b}",
    "mask set": "{a}[{a} > 0.5] = 0.25",
    "data add_": "{a}.data.add_(1)",
    "detach add_": "{a}.detach().add_(1)",
    "detach_": "{a}.detach_()",
    "requires_grad_": "{a}.requires_grad_()",
    "requires_grad_ off": "{a}.requires_grad_(False)",
    "requires_grad on": "{a}.requires_grad = True",
    "requires_grad off": "{a}.requires_grad = False",
    "retain_grad": "{a}.retain_grad()",
    "hook": "{a}.register_hook(lambda g: g * 2)",
    "numpy": "{a}.numpy()",
    "array": "np.array({a})",
    "backward of sum": "{a}.sum().backward()",
    "backward of square": "({a} ** 2).sum().backward()",
    "backward retain": "{a}.sum().backward(retain_graph=True)",
    "backward": "{a}.backward()",
    "backward given": "{a}.backward(torch.ones_like({a}))",
    "backward graph": "({a} ** 3).sum().backward(create_graph=True)",
    "grad": "torch.autograd.grad({a}.sum(), {b})",
    "grad kept": "torch.autograd.grad({a}.sum(), [{b}, {n}], retain_graph=True, allow_unused=True)",
    "backward to": "({a} ** 2).sum().backward(inputs=[{b}])",
    "backward to kept": "({a} * {b}).sum().backward(inputs=[{b}, {n}], retain_graph=True)",
    "hook of other shape": "{a}.register_hook(lambda g: g.sum())",
    "hook taken back": "{a}.register_hook(lambda g: g * 3).remove()",
    "set own grad": "{a}.grad = {a}",
    "set other grad": "{a}.grad = {b}.float()",
    "dirty function": "AddOne.apply({a})",
    "written twice": "for _ in range(2):\n    {a} += {b}",
    "drop grad": "{a}.grad = None",
    "set grad": "{a}.grad = {b}.detach()",
    "set data": "{a}.data = {b}.data.clone()",
    "sgd": "torch.optim.SGD([{a}], lr=0.1).step()",
    "momentum": "torch.optim.SGD([{a}], lr=0.1, momentum=0.9, weight_decay=0.1).step()",
    "adam": "torch.optim.Adam([{a}, {b}], lr=0.1).step()",
    "set parameter": "net.weight = {a}",
    "quiet add_": "with torch.no_grad():\n    {a}.add_(1)",
    "quiet result": "with torch.no_grad():\n    {=a} = {a} * {b}",
    "quiet view": "with torch.no_grad():\n    {=a} = {a}.view_as({a})",
    "mode off": "torch.set_grad_enabled(False)",
    "mode on": "torch.set_grad_enabled(True)",
}

SCENES = {
    "result written": "r = {a}.exp()\nr.mul_(2)\nr.sum().backward()",
    "part of result written": "r = torch.tanh({a} * 1)\nr[...] = 0.5\nr.sum().backward()",
    "input written": "c = {a} * 1\nr = c**2\nc.add_(1)\nr.sum().backward()",
    "factor written": "r = {a} * {b}\n{b}.add_(1)\nr.sum().backward()",
    "quietly written": "r = {a} ** 2\nwith torch.no_grad():\n    {a}.add_(1)\nr.sum().backward()",
    "data written": "r = {a} ** 2\n{a}.data.add_(1)\nr.sum().backward()",
    "nothing kept": "r = {a} + 1\nr *= 2\nr.sum().backward()",
    "loss twice": "r = ({a} * 3).sum()\nr.backward()\nr.backward()",
    "sum twice": "r = ({a} + 1).sum()\nr.backward()\nr.backward()",
    "loss kept": "r = ({a}.sigmoid() * {b}).sum()\nr.backward(retain_graph=True)\nr.backward()",
    "graph shared": "r = {a}.tanh()\nr.sum().backward()\n(r * 2).sum().backward()",
    "grad twice": "r = ({a} ** 2).sum()\ntorch.autograd.grad(r, {a})\nr.backward()",
    "grad then step": "r = ({a} ** 2).sum()\n{=a} = {a} - torch.autograd.grad(r, {a})[0]",
    "penalty": "(g,) = torch.autograd.grad(({a} ** 3).sum(), {a}, create_graph=True)\n(g * {b}).sum().backward()",
    "third derivative": "g = {a}\nfor _ in range(2):\n"
    "    (g,) = torch.autograd.grad((g.exp() * {a}).sum(), {a}, create_graph=True)\ng.sum().backward()",
    "retained": "r = {a} * 2\nr.retain_grad()\nr.mul_({b})\n(r ** 2).sum().backward()\n{=a} = r.grad + 0",
    "step between": "o = torch.optim.SGD([{a}], lr=0.1)\nr = ({a} ** 2).sum()\n({a} ** 3).sum().backward()\n"
    "o.step()\nr.backward()",
    "training": "o = torch.optim.Adam([{a}], lr=0.1)\nfor _ in range(3):\n    o.zero_grad()\n"
    "    (({a} - {b}) ** 2).sum().backward()\n    o.step()",
    "carried": "r = torch.zeros_like({a})\nfor _ in range(2):\n    r = torch.tanh(r + {a})\n    r.sum().backward()",
    "carried apart": "r = torch.zeros_like({a})\nfor _ in range(2):\n    r = torch.tanh(r.detach() + {a})\n"
    "    r.sum().backward()",
    "function result written": "r = Same.apply({a} * 1)\nr.add_(1)",
    "function input written": "c = {a} * 1\nr = Square.apply(c)\nc.add_(1)\nr.sum().backward()",
    "copied result": "copy.deepcopy({a} * 2)",
    "optimized result": "torch.optim.Adam([{a} * 2], lr=0.1)",
    "written after view": "r = {a} * 1\nq = r[...]\nr.mul_(2)\n(q ** 2).sum().backward()",
    "view written": "r = {a} * 1\nq = r.view_as(r)\nq.mul_({b})\n(r * q).sum().backward()",
    "plain view written": "r = torch.zeros(4, dtype=D).view(2, 2)[0, 1:]\nfor _ in range(2):\n    r += {n}\nr.sum().backward()",
    "kept detached": "r = {a} * 1\nq = r.sin()\nr.detach_()\nq.sum().backward()",
    "gradient to a view": "r = torch.zeros_like({a})\nr[...] += {a}\nr[...] *= 2\nr.sum().backward(inputs=[{b}])",
    "quiet view written": "with torch.no_grad():\n    q = {a}.view_as({a})\nq.mul_(2)",
    "checkpoint written": "r = {a} * 1\nq = checkpoint(torch.exp, r, use_reentrant=False)\nr.add_(1)\n"
    "q.sum().backward()",
}
"""Short stories that single statements would seldom tell: most refusals take several steps."""

OTHERS = (
    Form("rows written", "r = {m} * 1\nfor row in r:\n    row.mul_(2)"),
    Form("pieces", "r, q = ({v} * 2).chunk(2)\nr.mul_(2)"),
    Form("pieces then whole", "r = {v} * 2\nq, _ = r.split(2)\nr.mul_(2)\nq.sum().backward()"),
    Form("slots", "r = torch.zeros(4, dtype=D)\nr[0] = {n}\nr[1:3] = {p}\n(r ** 2).sum().backward()"),
    Form("column kept", "r = {m} * 1\nq = r[:, 0] ** 2\nr[:, 1] = {p}\nq.sum().backward()"),
    Form("two layers", "r = net(net({m}).tanh()).sum()\nr.backward()\nr.backward()"),
    Form(
        "layers stepped",
        "o = torch.optim.SGD(net.parameters(), lr=0.1)\nr = net(net({m}).tanh())\n"
        "r.sum().backward(retain_graph=True)\no.step()\nr.sum().backward()",
    ),
    Form("view", "{=m} = {v}.view(2, 2)"),
    Form("reshape", "{=v} = {m}.reshape(4)"),
    Form("flatten", "{=v} = {m}.flatten()"),
    Form("t", "{=m} = {m}.t()"),
    Form("T", "{=m} = {m}.T"),
    Form("transpose", "{=m} = {m}.transpose(0, 1)"),
    Form("permute", "{=m} = {m}.permute(1, 0)"),
    Form("view of transposed", "{=v} = {m}.t().view(4)"),
    Form("row", "{=p} = {m}[0]"),
    Form("column", "{=p} = {m}[:, 1]"),
    Form("element", "{=n} = {v}[2]"),
    Form("element of matrix", "{=n} = {m}[1, 0]"),
    Form("slice", "{=p} = {v}[1:3]"),
    Form("step slice", "{=p} = {v}[::2]"),
    Form("whole slice", "{=v} = {v}[:]"),
    Form("ellipsis", "{=m} = {m}[...]"),
    Form("index", "{=p} = {v}[torch.tensor([0, 3])]"),
    Form("index twice", "{=p} = {v}[torch.tensor([1, 1])]"),
    Form("index list", "{=p} = {m}[[0, 1], [1, 0]]"),
    Form("unbind", "{=p} = {m}.unbind()[1]"),
    Form("unbind columns", "{=p} = {m}.unbind(1)[0]"),
    Form("chunk", "{=p} = {v}.chunk(2)[0]"),
    Form("split", "{=p} = torch.split({v}, 2)[1]"),
    Form("unpack", "{=p}, _ = {m}"),
    Form("unsqueeze", "{=m} = {p}.unsqueeze(0) * {m}"),
    Form("squeeze", "{=p} = {p}.unsqueeze(1).squeeze(1)"),
    Form("expand", "{=m} = {p}.expand(2, 2)"),
    Form("expand number", "{=v} = {n}.expand(4)"),
    Form("cat", "{=v} = torch.cat([{p}, {p}])"),
    Form("stack", "{=m} = torch.stack([{p}, {p}], dim=1)"),
    Form("sum", "{=n} = {m}.sum()"),
    Form("sum rows", "{=p} = {m}.sum(0)"),
    Form("sum keepdim", "{=m} = {m} / {m}.sum(dim=1, keepdim=True)"),
    Form("mean", "{=n} = {v}.mean()"),
    Form("mean columns", "{=p} = {m}.mean(dim=1)"),
    Form("max", "{=n} = {v}.max()"),
    Form("max values", "{=p} = {m}.max(dim=1).values"),
    Form("min values", "{=p} = {m}.min(0)[0]"),
    Form("mm", "{=m} = {m} @ {m}"),
    Form("mv", "{=p} = {m} @ {p}"),
    Form("vm", "{=p} = {p} @ {m}"),
    Form("dot", "{=n} = {v} @ {v}"),
    Form("addmm", "{=m} = torch.addmm({p}, {m}, {m})"),
    Form("linear", "{=m} = F.linear({m}, {m}, {p})"),
    Form("layer", "{=m} = net({m})"),
    Form("layer of vector", "{=p} = net({p})"),
    Form("softmax", "{=m} = {m}.softmax(1)"),
    Form("log_softmax", "{=m} = F.log_softmax({m}, dim=0)"),
    Form("cross_entropy", "{=n} = F.cross_entropy({m}, torch.tensor([1, 0]))"),
    Form("mse", "{=n} = F.mse_loss({v}, {v})"),
    Form("mse none", "{=p} = F.mse_loss({p}, {p}, reduction='none')"),
    Form("broadcast", "{=m} = {m} * {p}"),
    Form("broadcast number", "{=v} = {v} + {n}"),
    Form("mixed types", "{=v} = {v} * {n}.double()"),
    Form("set element", "{v}[0] = {n}"),
    Form("set number", "{v}[1] = 0.5"),
    Form("set row", "{m}[1] = {p}"),
    Form("set column", "{m}[:, 0] = {p}"),
    Form("set slice", "{v}[:2] = {p}"),
    Form("set index", "{v}[torch.tensor([0, 2])] = {p}"),
    Form("add to row", "{m}[0] += {p}"),
    Form("write row", "{m}[0].mul_(2)"),
    Form("write view", "{v}.view(2, 2).add_({m})"),
    Form("write transposed", "{m}.t().mul_({p})"),
    Form("write rows", "for row in {m}:\n    row.mul_(2)"),
    Form("write expanded", "{p}.expand(2, 2).add_(1)"),
    Form("quiet row", "with torch.no_grad():\n    {=p} = {m}[0]"),
    Form("quiet write row", "with torch.no_grad():\n    {m}[0] = 1.0"),
    Form("enabled", "with torch.no_grad(), torch.enable_grad():\n    {=v} = {v} * 2"),
    Form("decorated", "{=v} = torch.no_grad()(lambda t: t * 2)({v})"),
    Form("buffer", "{=v} = torch.zeros(4, dtype=D)"),
    Form("net backward", "net({m}).sum().backward()"),
    Form("net step", "torch.optim.SGD(net.parameters(), lr=0.1).step()"),
    Form("net freeze", "net.requires_grad_(False)"),
    Form("net thaw", "net.requires_grad_(True)"),
    Form("net zero", "net.zero_grad()"),
    Form("net weight", "{=m} = net.weight"),
    Form("integers in place", "torch.arange(2).add_({p})"),
    Form("integers that require grad", "torch.arange(2).requires_grad_()"),
    Form("parameter of integers", "nn.Parameter(torch.arange(2))"),
    Form("wrong shapes", "{m} + torch.ones(3, dtype=D)"),
    Form("wrong product", "{m} @ torch.ones(3, 3, dtype=D)"),
    Form("wrong gradient", "{v}.backward({p})"),
    Form("float index", "{v}[{p}]"),
    Form("too far", "{v}[9]"),
    Form("no optimizer", "torch.optim.SGD([], lr=0.1)"),
    Form("number in optimizer", "torch.optim.SGD([{v}, 1.0], lr=0.1)"),
    Form("bare tensor in optimizer", "torch.optim.Adam({v})"),
    Form("not numpy", "torch.from_numpy({v})"),
    Form("out", "torch.mm({m}, {m}, out=torch.zeros(2, 2, dtype=D))"),
)

FORMS = (
    *_for_each_kind({name: f"{{=a}} = {text}" for name, text in EXPRESSIONS.items()}),
    *_for_each_kind(STATEMENTS),
    *_for_each_kind(SCENES),
    *OTHERS,
)

BY_NAME: dict[str, list[Form]] = {}
for _form in FORMS:
    BY_NAME.setdefault(_form.name, []).append(_form)


class Program(NamedTuple):
    """Statements, the type of the numbers, what the first tensors are, and what was used."""

    statements: tuple[str, ...]
    dtype: str
    starts: tuple[str, ...]
    used: tuple[str, ...]


STARTS = {
    "plain": "",
    "plain view": "[...]",
    "leaf": ".requires_grad_()",
    "computed": ".requires_grad_() * 1",
    "view": ".requires_grad_().clone()[...]",
}
"""What a tensor is when a program begins."""

NUMBERS = ((0.5, -1.25, 2.0, 0.75), (1.5, 0.3, -0.6, 2.5), (0.9, 1.1, 0.2, -2.0))


def beginning(program: Program) -> list[str]:
    """The statements that make the first tensors."""
    lines, starts = [], iter(program.starts)
    for kind, sizes in SHAPES.items():
        for name, numbers in zip(NAMES[kind], NUMBERS, strict=True):
            count = {"v": 4, "m": 4, "p": 2, "n": 1}[kind]
            made = f"torch.tensor({list(numbers[:count])}, dtype=D).reshape({sizes or '()'})"
            made = made.replace(".reshape(4)", "").replace(".reshape(2)", "")
            lines.append(f"{name} = {made}" + STARTS[next(starts)])
    return lines


@st.composite
def programs(draw: st.DrawFn, most: int = 12) -> Program:
    """A program of a few statements."""
    statements, used = [], []
    for _ in range(draw(st.integers(1, most))):
        name = draw(st.sampled_from(sorted(BY_NAME)))
        form = draw(st.sampled_from(BY_NAME[name]))
        text = form.text
        for kind in SHAPES:
            for hole in (f"{{={kind}}}", f"{{{kind}}}"):
                while hole in text:
                    text = text.replace(hole, draw(st.sampled_from(NAMES[kind])), 1)
        statements.append(text)
        used.append(name)
    dtype = draw(st.sampled_from(("float64", "float32")))
    starts = tuple(draw(st.sampled_from(tuple(STARTS))) for kind in SHAPES for _ in NAMES[kind])
    return Program(tuple(statements), dtype, starts, tuple(used))
