"""Compares a row of `gradtrail.laws` with what torch does, field by field.

`Verdict(row).add(call)` looks at one call; `Verdict.finish()` looks at what only all calls together can say.
Both collect `problems`, sentences that name the field.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import torch

from gradtrail.laws import dtypes, grad_mode, operations, shapes
from gradtrail.laws.operations import Operation
from laws.measure import Call, Measured, Slot, can_grad, candidates, flat, measure, replaced, slots


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).rpartition(".")[2]


def arguments_of(call: Call, operation: Operation) -> dict[str, Any]:
    """The arguments of a call that are no tensors, by name: dtypes as words, sizes as tuples."""
    result: dict[str, Any] = {}
    for index, value in enumerate(call.args):
        name = operation.args[index] if index < len(operation.args) else operation.gathers
        if name and name == operation.gathers and not isinstance(value, (list, tuple)):
            result[name] = (*result.get(name, ()), value)
        else:
            result[name] = value
    result.update(call.kwargs)
    if "input" in result and "self" in operation.args:
        result["self"] = result.pop("input")
    # An index keeps its lists: `x[[0, 1]]` copies, `x[0, 1]` does not.
    return {name: value if name == "index" else _plain(value) for name, value in result.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, torch.dtype):
        return dtype_name(value)
    return tuple(_plain(item) for item in value) if isinstance(value, (list, tuple, torch.Size)) else value


def _is_basic(index: Any) -> bool:
    if isinstance(index, tuple):
        return all(_is_basic(item) or isinstance(item, int) for item in index)
    return index is None or index is Ellipsis or isinstance(index, slice)


def overload_of(operation: Operation, call: Call) -> Operation:
    """The row that holds for a call: the operation's own, or that of an overload."""
    if not operation.overloads:
        return operation
    given: dict[str, str] = {}
    for name, value in arguments_of(call, operation).items():
        inner = value[0] if name == operation.gathers and isinstance(value, tuple) and value else value
        if value is not None or name == "index":
            given[name] = value_kind(inner)
    return operation.overload(given)


def value_kind(value: Any) -> str:
    """The kind of an argument's value, as overloads tell them apart."""
    if isinstance(value, torch.Tensor):
        return "batch" if value.dim() > 2 else "matrix"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "dtype" if dtypes.canonical(value) == value else "text"
    if isinstance(value, int) and value == 1:
        return "one"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, tuple) and value and all(type(item) is int and item == 1 for item in value):
        return "ones"
    if _is_basic(value):
        return "basic"
    held = value if isinstance(value, tuple) else (value,)
    advanced = any(isinstance(item, (list, tuple, torch.Tensor)) for item in held)
    return "advanced" if advanced else "value"


FLAG_SETTERS = frozenset(("requires_grad_",))
"""What they return is the tensor itself, with another flag."""


class Verdict:
    """The judgement on one row; `problems` holds what disagrees."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.problems: list[str] = []
        self.calls = 0
        self.recorded = 0
        self.zeros: list[bool] = []
        self.freed: list[bool] = []
        self.saw_view: set[bool] = set()
        self.saw_same: set[bool] = set()
        self.saw_many: set[int] = set()
        self.always: dict[tuple[str, str], bool] = {}
        self.nodes: set[str] = set()
        self.unlisted_gradient = False
        self.rules_spoke: set[str] = set()

    def problem(self, field: str, text: str) -> None:
        """Note a disagreement once."""
        sentence = f"{field}: {text}"
        if sentence not in self.problems:
            self.problems.append(sentence)

    # one call

    def add(self, call: Call, deep: bool = True) -> None:
        """Judge a call; the forward's refusals are no disagreement."""
        operation = self.operation
        arguments = arguments_of(call, operation)
        found = slots(call, operation.args, operation.gathers)
        if not self._binds(call, found, arguments):
            return
        possible = [name for name in candidates(found) if name not in operation.untracked]
        self._untracked(call, found)
        plain = {name: value for name, value in arguments.items() if not isinstance(value, torch.Tensor)}
        runs = (
            [frozenset(possible)]
            + [frozenset([name]) for name in possible if len(possible) > 1]
            + [frozenset()]
        )
        for needs in dict.fromkeys(runs):
            try:
                measured = measure(call, found, needs, gradients=deep)
            except Exception:
                continue
            self.calls += 1
            self._facts(measured, call, found, True, possible)
            self._rules(measured, call, found, plain)
            if deep and needs:
                self._saves(measured, found, plain, possible)
        with torch.no_grad():
            try:
                measured = measure(call, found, frozenset(possible), gradients=False)
            except Exception:
                return
            self._facts(measured, call, found, False, possible)

    def _untracked(self, call: Call, found: list[Slot]) -> None:
        """Nothing is recorded through an `untracked` parameter (torch may refuse it as well)."""
        for name in self.operation.untracked:
            needs = frozenset([name])
            try:
                measured = measure(call, found, needs, gradients=False)
            except Exception:
                continue
            for result in measured.results:
                if result.requires_grad and result.same_as != name:
                    self.problem("untracked", f"the result requires grad when {name} does")

    def _binds(self, call: Call, found: list[Slot], arguments: dict[str, Any]) -> bool:
        operation = self.operation
        known = (*operation.args, *operation.keywords)
        for slot in found:
            if slot.name not in known:
                self.problem("args", f"{slot.name} is passed and is no parameter")
                return False
            if operation.takes(slot.name) == "none":
                self.problem("tensors", f"{slot.name} takes a tensor")
            many = len(slot.path) > 2
            if many and operation.takes(slot.name) == "one":
                self.problem("tensors", f"{slot.name} takes a list of tensors")
        for name in operation.required:
            if name not in arguments and name != operation.gathers:
                self.problem("required", f"{name} was not passed")
        for name in arguments:
            if name not in known:
                self.problem("args", f"{name!r} is passed and is no parameter")
        return True

    def _facts(
        self, measured: Measured, call: Call, found: list[Slot], grad_enabled: bool, possible: list[str]
    ) -> None:
        operation = self.operation
        self._container(measured)
        if not measured.results or operation.result in ("python", "none"):
            if measured.results and operation.result == "python":
                self.problem("result", "a tensor comes back")
            self._written(measured)
            return
        self._written(measured)
        first = measured.results[0]
        empty = any(slot.tensor.numel() == 0 for slot in found)
        self._kind(measured, empty)
        own_name = first.same_as or first.shares_with or (found[0].name if found else "")
        ordered = sorted(found, key=lambda slot: slot.name != own_name)
        inputs = [
            grad_mode.InputFacts(
                slot.name in measured.needs and can_grad(slot.tensor),
                not (slot.name in measured.needs and can_grad(slot.tensor)),
            )
            for slot in ordered
            if slot.name not in operation.untracked
        ]
        for index, result in enumerate(measured.results):
            if operation.outputs and operation.outputs != ("many",):
                if index >= len(operation.outputs):
                    break
                if operation.outputs[index].endswith("!"):
                    if result.requires_grad:
                        self.problem("outputs", f"{operation.outputs[index]} requires grad")
                    continue
            if index and len(measured.needs) != len(possible):
                break  # one result of several need not depend on each input
            if operation.name in FLAG_SETTERS:
                break
            said = grad_mode.result_facts(
                operation,
                inputs,
                grad_enabled,
                False,
                bool(result.same_as),
                dtypes.can_require_grad(result.dtype),
                (bool(result.shares_with) and not result.same_as and not empty) or None,
            )
            self._compare_facts(said, result, measured, grad_enabled, empty)
        node = "" if empty else first.node
        if operation.gradient == "no":
            node = ""
        if node and grad_enabled and measured.needs and (not first.same_as or operation.result == "written"):
            self.nodes.add(node)
            if operation.node and not _node_fits(operation.node, node):
                self.problem("node", f"{node}, not {operation.node}")

    def _compare_facts(
        self, said: Any, result: Any, measured: Measured, grad_enabled: bool, empty: bool
    ) -> None:
        actual = (result.requires_grad, result.is_leaf, bool(result.node))
        for name, one, other in zip(("requires_grad", "leaf", "grad_fn"), said, actual, strict=False):
            if one is not None and one != other and not empty:
                state = "on" if grad_enabled else "off"
                needs = ",".join(sorted(measured.needs)) or "nothing"
                self.problem("facts", f"{name} is {other} with grad mode {state} when {needs} requires grad")

    def _container(self, measured: Measured) -> None:
        operation = self.operation
        if operation.result == "python":
            return
        if operation.result == "none":
            if measured.container != "none":
                self.problem("result", f"{measured.container} comes back")
            return
        if measured.container == "other" and operation.outputs == ("many",):
            return  # an empty tuple
        if measured.container in ("none", "other"):
            self.problem("result", f"{measured.container} comes back")
        elif not operation.outputs:
            if measured.container != "tensor":
                self.problem("outputs", f"{len(measured.results)} results")
        elif operation.outputs == ("many",):
            self.saw_many.add(len(measured.results) if measured.container != "tensor" else -1)
        elif len(measured.results) != len(operation.outputs):
            self.problem("outputs", f"{len(measured.results)} results")

    def _written(self, measured: Measured) -> None:
        if measured.written != frozenset(self.operation.writes):
            self.problem("writes", f"writes {', '.join(sorted(measured.written)) or 'nothing'}")

    def _kind(self, measured: Measured, empty: bool) -> None:
        kind = self.operation.result
        for result in measured.results if kind == "views" else measured.results[:1]:
            same, shares = bool(result.same_as), bool(result.shares_with) and not result.same_as
            self.saw_same.add(same)
            if not empty:
                self.saw_view.add(shares)
            fits = {
                "new": not same and not shares,
                "alias": not same and (shares or empty),
                "plain": not same and not shares,
                "view": not same and (shares or empty),
                "views": not same and (shares or empty),
                "detached": not same and (shares or empty),
                "maybe-view": not same,
                "maybe-same": True,
                "same": same,
                "written": same,
                "cut": same,
            }[kind]
            if not fits:
                what = "the tensor itself" if same else "a view" if shares else "a new tensor"
                self.problem("result", f"{what} comes back, the row says {kind}")

    def _rules(self, measured: Measured, call: Call, found: list[Slot], plain: dict[str, Any]) -> None:
        if not measured.results:
            return
        operation = self.operation
        first = measured.results[0]
        given = [tuple(slot.tensor.shape) for slot in found]
        said = shapes.shape_of(operation.shape, given, {**operation.defaults, **plain})
        if said is not None:
            self.rules_spoke.add("shape")
            fits = len(said) == len(first.shape) and all(
                a in (None, b) for a, b in zip(said, first.shape, strict=False)
            )
            if not fits:
                self.problem("shape", f"{first.shape}, the rule {operation.shape} says {said} for {given}")
        operands: list[tuple[str | None, bool | None, bool]] = []
        for slot in found:
            operands.append((dtype_name(slot.tensor.dtype), slot.tensor.dim() == 0, False))
        for name, value in plain.items():
            if operation.takes(name) != "none" and isinstance(value, (bool, int, float, complex)):
                operands.append((dtypes.python_number_dtype(type(value).__name__), None, True))
        dtype = dtypes.dtype_of(operation.dtype, operands, plain)
        if dtype is not None:
            self.rules_spoke.add("dtype")
            if dtype != first.dtype:
                self.problem(
                    "dtype", f"{first.dtype}, the rule {operation.dtype} says {dtype} for {operands}"
                )

    def _saves(
        self, measured: Measured, found: list[Slot], plain: dict[str, Any], possible: list[str]
    ) -> None:
        operation = self.operation
        if measured.failure and operation.gradient == "unimplemented":
            self.recorded += 1
            if "implemented" not in measured.failure:
                self.problem("gradient", measured.failure[:60])
            return
        if operation.gradient == "unimplemented" and measured.frees is not None:
            self.problem("gradient", "backward works")
        if measured.failure and operation.gradient == "yes" and "not implemented" in measured.failure:
            self.unlisted_gradient = True
        if measured.frees is None or not measured.results or not any(slot.tensor.numel() for slot in found):
            return
        if measured.results[0].same_as and operation.result == "maybe-same":
            return
        self.recorded += 1
        if measured.zero is not None:
            self.zeros.append(measured.zero)
        saved = set(measured.saved)
        for result in measured.results:
            saved.discard(result.same_as)
        present = {slot.name for slot in found}
        numbers = {name for name, value in plain.items() if isinstance(value, (int, float, complex))}
        needs = measured.needs
        said, frees = set(), False
        for what, wanted in operation.saves:
            if not wanted or needs & set(wanted):
                if what in present or what.startswith("result"):
                    said.add(what)
                frees = frees or what == "copy" or what.startswith("result") or what in present | numbers
        if operation.exact_saves:
            if said != saved:
                self.problem(
                    "saves",
                    f"{_names(saved)} when {_names(set(needs))} requires grad, the row says {_names(said)}",
                )
            if operation.frees == bool(operation.saves) and frees != measured.frees:
                self.problem("frees", f"{measured.frees} when {_names(set(needs))} requires grad")
        elif not said <= saved:
            self.problem(
                "saves", f"not always {_names(said - saved)} when {_names(set(needs))} requires grad"
            )
        if needs == frozenset(possible):
            for what, need in [(what, need) for what in present | {"result"} for need in possible]:
                if what not in saved and not any(what + "0" == each for each in saved):
                    self.always[what, need] = False
            self.freed.append(bool(measured.frees))
        if len(needs) == 1:
            need = next(iter(needs))
            results = {
                ("result" if measured.container == "tensor" else f"result{index}")
                for index in range(len(measured.results))
            }
            for what in present | results:
                if any(result.same_as == what for result in measured.results):
                    continue
                key = (what, need)
                self.always[key] = self.always.get(key, True) and what in saved

    # all calls together

    def finish(self) -> list[str]:
        """What only all calls together can say; returns all problems."""
        operation = self.operation
        if operation.gradient == "zero" and self.zeros and not all(self.zeros):
            self.problem("gradient", "not always zero")
        if operation.gradient == "yes" and self.zeros and all(self.zeros):
            self.problem("gradient", "always zero")
        if operation.gradient == "yes" and self.unlisted_gradient and not self.zeros:
            self.problem("gradient", "not implemented")
        if not operation.exact_saves and len(operation.tensors) <= 8:
            said = {
                (what, need)
                for what, needs in operation.saves
                for need in needs or [key[1] for key in self.always]
            }
            for (what, need), always in self.always.items():
                if always and (what, need) not in said:
                    self.problem("saves", f"always {what} when {need} requires grad")
        derived = bool(operation.saves)
        told = not operation.exact_saves or operation.frees != derived
        if self.freed and told and operation.frees != all(self.freed):
            self.problem("frees", f"{sorted(set(self.freed))}")
        if operation.result == "maybe-view" and len(self.saw_view) == 1:
            self.problem("result", f"{'always' if True in self.saw_view else 'never'} a view")
        if operation.outputs == ("many",) and self.saw_many == {-1}:
            self.problem("outputs", "one tensor")
        seen = self.nodes if operation.exact_saves else set()
        if not operation.node and len(seen) == 1 and len(self.zeros) + self.recorded > 4:
            self.problem("node", f"always {next(iter(self.nodes))}")
        return self.problems


def _node_fits(said: str, actual: str) -> bool:
    actual = actual.rpartition("::")[2]
    return actual == said or (not said[-1].isdigit() and re.sub(r"\d+$", "", actual) == said)


def _names(names: set[str]) -> str:
    return ",".join(sorted(names)) or "nothing"


def check_defaults(operation: Operation, calls: list[Call]) -> list[str]:
    """Each default must change nothing when it is passed by name in a call that leaves it out.

    Torch may refuse it in some calls (`keepdim` without `dim`), but not in all.
    """
    refused: dict[str, bool] = {}
    elsewhere = {operation.gathers}
    for _, _, name in operation.overloads:
        row = operations.operation(name)
        elsewhere.update(row.defaults if row is not None and name.startswith(operation.name + ".") else ())
    problems: list[str] = []
    for call in [each._replace(function=public(operation, each)) for each in calls]:
        before = _outcome(call)
        if before is None:
            continue
        arguments = arguments_of(call, operation)
        for name, value in operation.defaults.items():
            if name in arguments or name in elsewhere or value is None:
                continue
            after = _outcome(Call(call.function, call.args, {**call.kwargs, name: value}))
            refused[name] = refused.get(name, True) and after is None
            if after is not None and not _equal(before, after, operation.name not in UNDEFINED):
                problems.append(f"defaults: {name}={value!r} is not what torch takes when it is left out")
    return problems + [f"defaults: {name} is refused" for name, always in refused.items() if always]


POSITIONAL = frozenset(
    "hsplit vsplit dsplit tensor_split scatter to to.other where __getitem__.number __getitem__.basic"
    " __getitem__.tensor __setitem__ __contains__ apply_ map_ map2_".split()
)
"""Rows with a parameter that has no name in torch, or several by its kind (`sections` or `indices`)."""

UNDEFINED = frozenset("new_empty new_empty_strided empty_like".split())
"""Operations whose values are whatever the memory held."""


def public(operation: Operation, call: Call) -> Any:
    """The function that a user calls, where the call goes through a wrapper of torch's own tests."""
    name = operation.name
    if getattr(call.function, "__name__", "") != "<lambda>":
        return call.function
    for owner, path in ((torch, name), (torch.Tensor, name)):
        found: Any = owner
        for part in path.split("."):
            found = getattr(found, part, None)
        if callable(found):
            return found
    return call.function


def check_names(operation: Operation, call: Call) -> list[str]:
    """Positional arguments after the first may be passed by their names."""
    call = call._replace(function=public(operation, call))
    before = _outcome(call)
    if before is None or operation.gathers or len(call.args) < 2 or operation.name in POSITIONAL:
        return []
    names = operation.args[1 : len(call.args)]
    by_name = {
        "input" if name == "self" else name: value for name, value in zip(names, call.args[1:], strict=False)
    }
    after = _outcome(Call(call.function, call.args[:1], {**call.kwargs, **by_name}))
    if after is None or not _equal(before, after, operation.name not in UNDEFINED):
        return [f"args: {', '.join(names)} are not torch's names"]
    return []


def _outcome(call: Call) -> list[torch.Tensor] | None:
    torch.manual_seed(5)
    found = slots(call, ())
    feed = iter([slot.tensor.detach().clone() for slot in found])
    args, kwargs = replaced(call.args, feed), replaced(call.kwargs, feed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return flat(call.function(*args, **kwargs))
        except Exception:
            return None


def _equal(one: list[torch.Tensor], other: list[torch.Tensor], values: bool = True) -> bool:
    return len(one) == len(other) and all(
        a.shape == b.shape
        and a.dtype == b.dtype
        and (not values or a.layout != torch.strided or torch.equal(torch.nan_to_num(a), torch.nan_to_num(b)))
        for a, b in zip(one, other, strict=False)
    )
