"""Custom autograd Functions: what `apply` gives, and what their backward will be handed."""

from __future__ import annotations

import ast
from typing import Any

from gradtrail.interp.frames import Frame
from gradtrail.interp.models import registry
from gradtrail.interp.module_methods import ModuleMethods
from gradtrail.interp.values import (
    ANY_LEAF,
    LEAF,
    MAYBE,
    MISSING,
    NO,
    NON_LEAF,
    UNKNOWN,
    YES,
    Class,
    Function,
    Instance,
    Library,
    Node,
    Origin,
    Saved,
    Sequence,
    Tensor,
    Unknown,
)
from gradtrail.laws import dtypes


class CustomFunctions(ModuleMethods):
    """`apply` of the program's own Functions."""

    def apply_function(
        self, cls: Class, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame
    ) -> Any:
        """`MyFunction.apply(...)`: forward runs without recording; its outputs belong to one node."""
        forward = cls.find("forward")
        backward = cls.find("backward")
        if type(forward) is not Function:
            return self.call_unknown(args, keywords)
        context = Instance(
            Library("torch.autograd.function.FunctionCtx"),
            "torch.autograd.function.FunctionCtx",
            self.serial(),
            self.origin("made", node, frame, cls="ctx"),
        )
        before = self.modes.grad_mode
        separate = type(cls.find("setup_context")) is Function
        self.heap.put(self.modes, "grad_mode", False)
        try:
            result = self.call_function(
                forward, args if separate else [context, *args], keywords, node, frame
            )
            if separate:
                self.call_function(
                    cls.find("setup_context"),
                    [context, Sequence("tuple", tuple(args)), result],
                    {},
                    node,
                    frame,
                )
        finally:
            self.heap.put(self.modes, "grad_mode", before)
        if type(backward) is Function:
            backward.called = True
        return self._function_outputs(cls, context, args, result, backward, node, frame)

    def _defined_at(self, cls: Class) -> Origin:
        """The first line of the definition of a class."""
        node = cls.node
        end = node.col_offset + len("class ") + len(cls.name)
        head = ast.Name(
            cls.name,
            lineno=node.lineno,
            col_offset=node.col_offset,
            end_lineno=node.lineno,
            end_col_offset=end,
        )
        return self.origin("made", head, Frame({}, cls.space, None, None, None))

    def _function_outputs(
        self,
        cls: Class,
        context: Instance,
        args: list[Any],
        result: Any,
        backward: Any,
        node: Any,
        frame: Frame,
    ) -> Any:
        inputs = [value for value in (self.settle(one) for one in args) if type(value) is Tensor]
        doubt = any(type(self.settle(one)) is Unknown for one in args)
        requires = NO
        if self.modes.grad_mode is not False:
            for tensor in inputs:
                requires = YES if YES in (tensor.requires, requires) else requires | tensor.requires
            if doubt and requires != YES:
                requires = MAYBE
            if self.modes.grad_mode is None and requires == YES:
                requires = MAYBE
        origin = self.origin("function", node, frame, tuple(inputs), op=cls.name)
        saved_values = [value for value in context.state.get("saved", ()) if type(value) is Tensor]
        outputs = list(result.items) if type(result) is Sequence else [result]
        made: list[Any] = []
        graph: Node | None = None
        if requires & YES:
            edges = tuple(
                dict.fromkeys(
                    edge
                    for edge in (one.node or (one if one.requires & YES else None) for one in inputs)
                    if edge is not None
                )
            )
            if doubt:
                edges = (*edges, self.unseen(origin))
            graph = Node(
                cls.name + "Backward",
                "op" if requires == YES else "maybe",
                edges,
                (),
                bool(saved_values) if context.state.get("saved") is not None else False,
                origin,
                self.serial(),
            )
            if type(backward) is Function and backward.once:
                graph.once = self.origin("once", backward.node.decorator_list[-1], frame)
                graph.once.frame = Frame({}, backward.space, None, None, None)
            if type(backward) is not Function and cls.find("vjp") is MISSING and not cls.opaque:
                graph.refusal, graph.origin = "function-no-backward", self._defined_at(cls)
            elif (
                type(backward) is Function
                and backward.open()
                and _gradient_count(backward.node)
                not in (
                    None,
                    *range(len(args), len(args) + 8),
                )
            ):
                graph.refusal = "function-gradient-count"
                last = max(
                    (part for part in ast.walk(backward.node) if type(part) is ast.Return),
                    key=lambda one: one.lineno,
                )
                graph.origin = self.origin("returned", last, Frame({}, backward.space, None, None, None))
        replaced: dict[Tensor, Tensor] = {}
        for output in outputs:
            output = self.settle(output)
            if type(output) is not Tensor:
                made.append(output)
                continue
            view_of = next((one for one in inputs if one is output or output.storage is one.storage), None)
            fresh = self.new_tensor(origin)
            fresh.dtype, fresh.device, fresh.shape = output.dtype, output.device, output.shape
            tracked = (
                requires if output.dtype is None or dtypes.can_require_grad(output.dtype) is not False else NO
            )
            if output in context.state.get("not_differentiable", ()):
                tracked = NO
            fresh.requires = tracked
            fresh.leaf = LEAF if tracked == NO else NON_LEAF if tracked == YES else ANY_LEAF
            fresh.node = graph if tracked & YES else None
            fresh.storage = output.storage
            if view_of is not None and view_of not in context.state.get("dirty", ()):
                fresh.base = view_of.base or view_of
                fresh.view_kind = "function" if tracked == YES else "ordinary"
                marker = output.origin if output is not view_of else origin
                fresh.steps = (marker, origin)
            replaced[output] = fresh
            made.append(fresh)
        if graph is not None:
            graph.saved = tuple(
                Saved("saved", replaced.get(value, value), requires == YES) for value in saved_values
            )
            graph.results = tuple(one for one in made if type(one) is Tensor)
            if type(backward) is Function:
                graph.function = (backward, context, len(made))
        if type(result) is Sequence:
            return Sequence(result.kind, tuple(made), result.rest, result.names)
        return made[0] if made else UNKNOWN


def _gradient_count(node: Any) -> int | None:
    """How many gradients a backward returns, when every return says so by itself."""
    counts = set()
    for part in ast.walk(node):
        if type(part) is ast.Return:
            value = part.value
            if value is None or type(value) in (
                ast.Call,
                ast.Name,
                ast.Starred,
                ast.IfExp,
                ast.Attribute,
                ast.Subscript,
            ):
                return None
            if type(value) is ast.Tuple:
                if any(type(one) is ast.Starred for one in value.elts):
                    return None
                counts.add(len(value.elts))
            elif type(value) in (ast.BinOp, ast.UnaryOp) and not _may_join_tuples(value):
                counts.add(1)
            else:
                return None
    return counts.pop() if len(counts) == 1 else None


def _may_join_tuples(value: ast.expr) -> bool:
    """Whether an operation may put tuples together rather than compute one gradient."""
    return any(
        type(part) in (ast.Tuple, ast.List, ast.GeneratorExp, ast.ListComp)
        or (type(part) is ast.Call and getattr(part.func, "id", "") in ("tuple", "list", "sum"))
        for part in ast.walk(value)
    )


@registry.method("torch.autograd.function.FunctionCtx", "save_for_backward")
def _save_for_backward(
    m: Any, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame, path: str
) -> Any:
    m.heap.put(args[0].state, "saved", tuple(m.settle(one) for one in args[1:]))
    return None


@registry.method(
    "torch.autograd.function.FunctionCtx", "mark_dirty", "mark_non_differentiable", "set_materialize_grads"
)
def _mark(m: Any, args: list[Any], keywords: dict[str, Any], node: Any, frame: Frame, path: str) -> Any:
    if path != "set_materialize_grads":
        key = "dirty" if path == "mark_dirty" else "not_differentiable"
        m.heap.put(args[0].state, key, tuple(m.settle(one) for one in args[1:]))
    return None
