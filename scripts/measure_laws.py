"""Measure operations on torch and print draft rows for the tables of `gradtrail.laws`.

    python scripts/measure_laws.py mul sum nn.functional.relu     print the rows of these
    python scripts/measure_laws.py --all                          print a row for every operator of torch's
    database
    python scripts/measure_laws.py --missing                      ... that has no row yet

A draft is a proposal: read it before it goes into a table. Parameter names come from torch's own list
of native functions or from the Python signature, everything else is measured.
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable
from typing import Any

sys.path[:0] = [
    os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), folder)
    for folder in ("tests", "src")
]

import torch  # noqa: E402
import torchgen  # noqa: E402

from gradtrail.laws import dtypes, shapes  # noqa: E402
from laws import samples  # noqa: E402
from laws.measure import Call, Measured, can_grad, candidates, measure, slots  # noqa: E402

NATIVE = os.path.join(
    os.path.dirname(torchgen.__file__), "packaged", "ATen", "native", "native_functions.yaml"
)

Signature = "tuple[list[str], list[str], dict[str, str], str]"


def native_functions() -> dict[str, list[str]]:
    """The schemas of torch's native functions by base name, without the out variants."""
    result: dict[str, list[str]] = {}
    with open(NATIVE, encoding="utf-8") as file:
        for line in file:
            match = re.match(r"- func: ([\w]+)(?:\.(\w+))?\((.*)\) -> (.*)", line.strip())
            if match and "!)" not in match[3].split("*,")[-1] and "Dimname" not in match[3]:
                result.setdefault(match[1], []).append(match[3])
    return result


def split_parameters(schema: str) -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]]:
    """(type, name, default) of the positional and the keyword-only parameters."""
    depth, parts, current = 0, [], ""
    for character in schema:
        depth += character in "(["
        depth -= character in ")]"
        if character == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    if current.strip():
        parts.append(current.strip())
    positional: list[tuple[str, str, str]] = []
    keywords: list[tuple[str, str, str]] = []
    into = positional
    for part in parts:
        if part == "*":
            into = keywords
            continue
        kind, _, rest = part.rpartition(" ")
        name, _, default = rest.partition("=")
        if name in ("layout", "pin_memory", "out", "out_dtype"):
            continue
        into.append((kind, name, default))
    return positional, keywords


def literal(default: str) -> str:
    """A schema's default as the grammar spells it."""
    if default in ("True", "False", "None") or re.fullmatch(r"-?[\d.]+(e-?\d+)?", default):
        return default
    if default == "[]":
        return "()"
    if default in ("Mean", "Sum"):
        return {"Mean": "'mean'", "Sum": "'sum'"}[default]
    if default.startswith('"') or default.startswith("'"):
        return "'" + default.strip("\"'") + "'"
    return "None"


def from_schemas(schemas: list[str]) -> str:
    """The parameters of a row from the schemas of all overloads."""
    overloads = [split_parameters(schema) for schema in schemas]
    overloads.sort(key=lambda pair: -len(pair[0]))
    order: list[str] = []
    kinds: dict[str, str] = {}
    defaults: dict[str, str] = {}
    for positional, _ in overloads:
        for kind, name, default in positional:
            if name not in order:
                order.append(name)
            if name not in kinds or "Tensor" in kind:
                kinds[name] = kind
            if default:
                defaults[name] = literal(default)
    for name in order:
        if any(name not in [item[1] for item in positional] for positional, _ in overloads):
            defaults.setdefault(name, "None")
    keywords: dict[str, tuple[str, str]] = {}
    for _, words in overloads:
        for kind, name, default in words:
            if name not in order:
                keywords.setdefault(
                    name, (kind, literal(default) if default else "None" if "?" in kind else "")
                )
    parts = [spelled(kinds[name], name, defaults.get(name, "")) for name in order]
    only = list(order[1:])
    if len(only) == 1 and re.search(r"int\[\d*\]|SymInt\[\d*\]|Tensor\[\]", kinds[only[0]], re.I):
        last = parts[-1]
        parts[-1] = last.rstrip(":") + "..." if last.endswith(":") else last
    if keywords:
        parts += ["*", *(spelled(kind, name, default) for name, (kind, default) in keywords.items())]
    return ", ".join(parts)


def spelled(kind: str, name: str, default: str) -> str:
    """One parameter in the grammar of rows."""
    if re.search(r"Tensor(\([^)]*\))?\??\[\]", kind):
        return name + "*"
    if "Tensor" in kind:
        return name + "?" if default == "None" or "?" in kind else name
    return f"{name}={default}" if default else name + ":"


def from_python(function: Any, tensor_names: set[str], list_names: set[str]) -> str | None:
    """The parameters of a row from a Python signature."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    parts: list[str] = []
    star = False
    for index, (name, parameter) in enumerate(signature.parameters.items()):
        if name in ("out", "layout", "pin_memory"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        shown = "self" if name == "input" and index == 0 else name
        if parameter.kind is parameter.VAR_POSITIONAL:
            parts.append(shown + ("...*" if name in list_names or name in tensor_names else "..."))
            star = True
            continue
        note = str(parameter.annotation)
        if name in list_names:
            parts.append(shown + "*")
        elif name in tensor_names or "Tensor" in note:
            parts.append(shown + ("" if parameter.default is parameter.empty else "?"))
        elif parameter.default is parameter.empty:
            parts.append(shown + ":")
        else:
            parts.append(f"{shown}={python_literal(parameter.default)}")
    return ", ".join(parts)


def python_literal(value: Any) -> str:
    """A default from a Python signature, as the grammar spells it."""
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, str):
        return repr(value)
    return "()" if value in ((), []) else "None"


def names_of(parameters: str) -> tuple[tuple[str, ...], str]:
    """The positional names in a row's parameters, and the one that gathers the rest."""
    positional: list[str] = []
    gathers = ""
    for part in parameters.split(", "):
        if part == "*":
            break
        name = part.partition("=")[0].rstrip("*?:.")
        positional.append(name)
        if "..." in part:
            gathers = name
    return tuple(positional), gathers


def resolve(name: str) -> Any:
    """The public function of a name such as "nn.functional.relu", or the Tensor method."""
    found: Any = torch
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if found is not None else getattr(torch.Tensor, name, None)


def parameters_of(name: str, sample_calls: Iterable[Call]) -> str:
    """The drafted parameters of an operation."""
    function = resolve(name)
    calls = list(sample_calls)
    native = native_functions()
    candidates_of_native = [
        name.replace("nn.functional.", ""),
        name.replace("linalg.", "linalg_").replace("fft.", "fft_").replace("special.", "special_"),
    ]
    if inspect.isfunction(function):
        tensor_names, list_names = _tensors_by_position(function, calls)
        drafted = from_python(function, tensor_names, list_names)
        if drafted:
            return drafted
    for candidate in candidates_of_native:
        if candidate in native:
            return re.sub(r"^input\b", "self", from_schemas(native[candidate]))
    return "self"


def _tensors_by_position(function: Any, calls: list[Call]) -> tuple[set[str], set[str]]:
    order = list(inspect.signature(function).parameters)
    tensor_names: set[str] = set()
    list_names: set[str] = set()
    for call in calls:
        for index, value in [*enumerate(call.args), *call.kwargs.items()]:
            name = order[min(index, len(order) - 1)] if isinstance(index, int) else index
            if isinstance(value, torch.Tensor):
                tensor_names.add(name)
            elif isinstance(value, (list, tuple)) and any(isinstance(item, torch.Tensor) for item in value):
                list_names.add(name)
    return tensor_names, list_names


def arguments_of(call: Call, names: tuple[str, ...], gathers: str) -> dict[str, Any]:
    """The plain arguments of a call by name, dtypes as words."""
    result: dict[str, Any] = {}
    for index, value in enumerate(call.args):
        name = names[index] if index < len(names) else gathers
        if name == gathers and gathers and not isinstance(value, (list, tuple, torch.Tensor)):
            result[name] = (*result.get(name, ()), value)
        elif not isinstance(value, torch.Tensor):
            result[name] = value
    for key, value in call.kwargs.items():
        if not isinstance(value, torch.Tensor):
            result[key] = str(value).split(".")[-1] if isinstance(value, torch.dtype) else value
    for key, value in result.items():
        if isinstance(value, torch.Size):
            result[key] = tuple(value)
    return result


def draft(
    name: str, calls_by_dtype: list[tuple[torch.dtype, list[Call]]], parameters: str = ""
) -> str | None:
    """A row for an operation, from what its sample calls do."""
    everything = [call for _, calls in calls_by_dtype for call in calls]
    parameters = parameters or PARAMETERS.get(name) or parameters_of(name, everything)
    names, gathers = names_of(parameters)
    facts = Facts(names, gathers)
    for dtype, calls in calls_by_dtype:
        step = max(1, len(calls) // DEEP)
        for index, call in enumerate(calls):
            if index == 0:
                facts.name_outputs(call)
            if index < DEEP:
                facts.mixed(call)
            facts.add(
                call,
                deep=index % step == 0 and dtype.is_floating_point == calls_by_dtype[0][0].is_floating_point,
            )
    return facts.row(parameters)


def home(name: str) -> str:
    """The word of the grammar for where an operation is found, or ""."""
    bare = name.rpartition(".")[2]
    function = resolve_function(name)
    if "." in name or not hasattr(torch.Tensor, bare):
        return "" if function is None else " function"
    return "" if function is not None else " method"


def resolve_function(name: str) -> Any:
    """The function torch.NAME, or None."""
    found: Any = torch
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


DEEP = 10

PARAMETERS = {
    "view": "self, size...",
    "expand": "self, size...",
    "where": "self, condition, other",
    "__getitem__": "self, index",
    "__radd__": "self, other",
    "__rmul__": "self, other",
    "__rand__": "self, other",
    "__ror__": "self, other",
    "__rxor__": "self, other",
    "max": "self, dim=None, keepdim=False",
    "min": "self, dim=None, keepdim=False",
    "split": "self, split_size_or_sections:, dim=0",
    "new_zeros": "self, size...",
    "contiguous": "self, memory_format=None",
    "squeeze": "self, dim=None",
    "std": "self, dim=None, unbiased=True, keepdim=False, *, correction=None",
    "T": "self",
    "expand_as": "self, other",
    "sum_to_size": "self, size...",
    "add": "self, other, *, alpha=1",
    "sub": "self, other, *, alpha=1",
    "rsub": "self, other, *, alpha=1",
    "div": "self, other, *, rounding_mode=None",
    "bernoulli": "self, p=None, *, generator=None",
    "tensor_split": "self, tensor_indices_or_sections:, dim=0",
    "tensordot": "a, b, dims=2",
    "stft": "self, n_fft:, hop_length=None, win_length=None, window?, center=True, pad_mode='reflect',"
    " normalized=False, onesided=None, return_complex=None",
    "lerp": "self, end, weight",
    "pow": "self, exponent",
    "nan_to_num": "self, nan=None, posinf=None, neginf=None",
    "clamp": "self, min?, max?",
    "repeat_interleave": "self, repeats, dim=None, *, output_size=None",
    "masked_fill": "self, mask, value",
    "index_fill": "self, dim:, index, value",
    "unsafe_split": "self, split_size:, dim=0",
    "scatter": "self, dim:, index, src?, *, value=None, reduce=None",
    "searchsorted": "sorted_sequence, self, *, out_int32=False, right=False, side=None, sorter?",
    "argsort": "self, dim=-1, descending=False, stable=False",
    "sort": "self, dim=-1, descending=False, *, stable=False",
    "round": "self, *, decimals=0",
}
"""Parameters where torch's list of native functions does not say what Python binds."""


class Facts:
    """Collects what the calls of one operation do, and words the row."""

    def __init__(self, names: tuple[str, ...], gathers: str) -> None:
        self.names, self.gathers = names, gathers
        self.measured: list[tuple[list[str], dict[str, Measured]]] = []
        self.shape_rules: dict[str, int] = dict.fromkeys(shapes._RULES, 0)
        self.dtype_rules: dict[str, int] = dict.fromkeys(dtypes_rules(), 0)
        self.kinds: Counter[str] = Counter()
        self.plain: list[bool] = []
        self.outputs: Counter[int] = Counter()
        self.containers: Counter[str] = Counter()
        self.differentiable: dict[int, bool] = {}
        self.written: Counter[str] = Counter()
        self.failures: list[str] = []
        self.output_names: tuple[str, ...] = ()

    def name_outputs(self, call: Call) -> None:
        """Remember the field names of a named tuple of results."""
        try:
            value = call.function(*call.args, **call.kwargs)
        except Exception:
            return
        if isinstance(value, tuple):
            self.output_names = getattr(type(value), "__match_args__", ()) or getattr(value, "_fields", ())

    def mixed(self, call: Call) -> None:
        """Rules must also hold when the tensors differ in dtype."""
        found = slots(call, self.names, self.gathers)
        if len(found) < 2 or not all(slot.tensor.dtype == torch.float64 for slot in found):
            return
        first = found[0].tensor

        def other(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                return value.to(torch.float32) if value is first else value
            if isinstance(value, (list, tuple)):
                return type(value)(other(item) for item in value)
            return value

        changed = Call(
            call.function,
            tuple(map(other, call.args)),
            {key: other(value) for key, value in call.kwargs.items()},
        )
        found = slots(changed, self.names, self.gathers)
        try:
            everything = measure(changed, found, frozenset(), gradients=False)
        except Exception:
            return
        self.rules(changed, found, everything)

    def add(self, call: Call, deep: bool) -> None:
        """Take in what one call does."""
        found = slots(call, self.names, self.gathers)
        possible = candidates(found)
        try:
            everything = measure(call, found, frozenset(possible), gradients=deep)
        except Exception as error:
            self.failures.append(str(error)[:80])
            return
        self.outputs[len(everything.results)] += 1
        self.containers[everything.container] += 1
        self.rules(call, found, everything)
        for result in everything.results[:1]:
            self.kinds["same" if result.same_as else "view" if result.shares_with else "new"] += 1
        for name in everything.written:
            self.written[name] += 1
        if possible:
            for index, result in enumerate(everything.results):
                self.differentiable[index] = self.differentiable.get(index, False) or result.requires_grad
            self.plain.append(not any(result.requires_grad for result in everything.results))
        if deep and possible and any(can_grad(slot.tensor) for slot in found):
            singles = (
                {name: measure(call, found, frozenset([name])) for name in possible}
                if len(possible) > 1
                else {possible[0]: everything}
            )
            if any(slot.tensor.numel() for slot in found):
                self.measured.append((possible, {**singles, "": everything}))

    def rules(self, call: Call, found: list[Any], measured: Measured) -> None:
        """Drop the shape and dtype rules that this call refutes."""
        if not measured.results:
            return
        plain = arguments_of(call, self.names, self.gathers)
        given = [tuple(slot.tensor.shape) for slot in found]
        for rule in list(self.shape_rules):
            try:
                said = shapes.shape_of(rule, given, plain)
            except Exception:
                said = (-9,)
            if said is None:
                continue
            actual = measured.results[0].shape
            fits = len(said) == len(actual) and all(
                one in (None, other) for one, other in zip(said, actual, strict=False)
            )
            if not fits:
                del self.shape_rules[rule]
            else:
                self.shape_rules[rule] += 1 + (None not in said)
        operands: list[tuple[str | None, bool | None, bool]] = [
            (str(slot.tensor.dtype).split(".")[-1], slot.tensor.dim() == 0, False) for slot in found
        ]
        for key, value in [*enumerate(call.args), *call.kwargs.items()]:
            name = self.names[key] if isinstance(key, int) and key < len(self.names) else key
            if name in ("other", "exponent", "value", "self") and isinstance(value, (int, float, complex)):
                word = dtypes.python_number_dtype(type(value).__name__)
                operands.append((word, None, True))
        for rule in list(self.dtype_rules):
            said = dtypes.dtype_of(rule, operands, plain)
            if said is None:
                continue
            if said != measured.results[0].dtype:
                del self.dtype_rules[rule]
            else:
                self.dtype_rules[rule] += 1

    def row(self, parameters: str) -> str | None:
        """The row in the grammar of the tables, or None when no call could be run."""
        if not self.outputs:
            return None
        words = [f"({parameters})", self.result()]
        node = self.node()
        if node:
            words.append(node)
        saves, exact, frees = self.saves()
        if saves:
            words += ["saves", *saves]
        if not exact:
            words.append("composite")
        if frees != bool(saves):
            words.append("frees=" + ("yes" if frees else "no"))
        count = self.outputs.most_common(1)[0][0]
        if words[1] not in ("views",) and (count > 1 or self.containers.most_common(1)[0][0] != "tensor"):
            many = len(self.outputs) > 1
            named = self.output_names
            shown = [
                (named[index] if index < len(named) else f"output{index}")
                + ("" if self.differentiable.get(index) else "!")
                for index in range(count)
            ]
            words.append("outputs=" + ("many" if many else ",".join(shown)))
        if self.written and words[1] != "written":
            words.append("writes=" + ",".join(self.written))
        if self.zero():
            words.append("gradient=zero")
        rule = self.best(
            self.dtype_rules, ("same", "bool", "int64", "promote", "float", "promote-float", "real", "sum")
        )
        if rule:
            words.append("dtype=" + rule)
        many_tensors = sum(part.rstrip("?").isidentifier() for part in parameters.split(", ")) > 1
        order = ("broadcast", "same") if many_tensors else ("same", "reduce", "scalar")
        rule = self.best(self.shape_rules, order)
        if rule in order or rule in ("matmul", "loss", "scalar", "of-second"):
            words.append("shape=" + {"like": "same"}.get(rule, rule))
        return " ".join(words)

    def best(self, rules: dict[str, int], order: tuple[str, ...]) -> str:
        """The rule that said most and was never wrong."""
        alive = {rule: count for rule, count in rules.items() if count}
        if not alive:
            return ""
        best = max(alive.values())
        ranked = [rule for rule in alive if alive[rule] >= best * 0.7]
        return min(ranked, key=lambda rule: order.index(rule) if rule in order else len(order))

    def result(self) -> str:
        """The kind of result."""
        kinds = self.kinds
        if self.containers.most_common(1)[0][0] == "other":
            return "python"
        if self.containers.most_common(1)[0][0] == "none":
            return "none"
        if kinds["same"] and self.written.get("self"):
            return "written"
        if (self.plain and all(self.plain)) or not self.plain:
            return "detached" if kinds["view"] else "plain"
        if kinds["same"] and not kinds["view"] and not kinds["new"]:
            return "same"
        if kinds["same"]:
            return "maybe-same same=?"
        if kinds["view"] and kinds["new"]:
            return "maybe-view"
        if kinds["view"]:
            return "view" if set(self.containers) == {"tensor"} else "views"
        return "new"

    def node(self) -> str:
        """The name of the node, without its number where that varies."""
        found: Counter[str] = Counter()
        for _, runs in self.measured:
            found.update(
                measured.results[0].node
                for measured in runs.values()
                if measured.results and measured.results[0].node and not measured.results[0].same_as
            )
        if len(found) == 1:
            return next(iter(found))
        stems = {re.sub(r"\d+$", "", node) for node in found}
        return stems.pop() if len(stems) == 1 else ""

    def zero(self) -> bool:
        """Whether every gradient was zero."""
        seen = [
            measured.zero
            for _, runs in self.measured
            for measured in runs.values()
            if measured.zero is not None
        ]
        return bool(seen) and all(seen)

    def saves(self) -> tuple[list[str], bool, bool]:
        """What is saved and when, whether that is exact, and whether backward frees."""
        usable = [(possible, runs) for possible, runs in self.measured if runs[""].frees is not None]
        usable = [pair for pair in usable if pair[1][""].results]
        if not usable:
            return [], True, False
        frees = all(runs[""].frees for _, runs in usable)
        needs_by_what: dict[str, set[str]] = {}
        exact = True
        everything = set.union(*(set(runs[""].saved) for _, runs in usable))
        for what in sorted(everything):
            said: list[set[str]] = []
            for possible, runs in usable:
                if what not in list(runs[""].saved):
                    if what in possible or what.startswith("result"):
                        said.append(set())
                    continue
                singles = {name for name, single in runs.items() if name and what in single.saved}
                if len(possible) == 1:
                    singles = {possible[0]}
                said.append(singles)
            common = set.intersection(*said)
            if any(one != said[0] for one in said):
                exact = False
            if common:
                needs_by_what[what] = common
        for possible, runs in usable:
            for single, run in runs.items():
                needs_now = {single} if single else set(possible)
                met = any(needs & needs_now for needs in needs_by_what.values())
                exact = exact and (not run.results or run.frees is None or run.frees == met)
        possible_all = set.intersection(*(set(possible) for possible, _ in usable))
        words = []
        for what, needs in needs_by_what.items():
            ordered = [name for name in self.names if name in needs] + sorted(needs - set(self.names))
            words.append(what if needs >= possible_all else what + "@" + "|".join(ordered))
        if frees and not words:
            words.append("copy")
        return words, exact, frees


def dtypes_rules() -> tuple[str, ...]:
    """The dtype rules to try."""
    from gradtrail.laws.operations import DTYPES

    return tuple(rule for rule in DTYPES if rule != "?")


def draft_entry(name: str, limit: int) -> str | None:
    """The draft of an operator of torch's database."""
    entries = samples.entries().get(name, [])
    calls_by_dtype = []
    for entry in entries:
        for dtype in samples.dtypes_of(entry):
            if calls_by_dtype and dtype in (torch.float32, torch.complex64):
                continue
            calls_by_dtype.append((dtype, list(samples.calls(entry, dtype, limit))))
    if not any(calls for _, calls in calls_by_dtype):
        return None
    row = draft(name, calls_by_dtype)
    return row + home(name) if row else row


def main(arguments: list[str]) -> int:
    """Run; the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--limit", type=int, default=25)
    options = parser.parse_args(arguments)
    names = options.names
    if options.all or options.missing:
        names = sorted(samples.entries())
    if options.missing:
        from gradtrail.laws.operations import row_of

        names = [name for name in names if row_of(name) is None]
    for name in names:
        row = draft_entry(name, options.limit)
        print(f'    "{name}": "{row}",' if row else f"    # {name}: no sample could be run", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
