"""The autograd graph: what a backward walks, frees and refuses."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any, NamedTuple

from gradtrail.interp.frames import Frame
from gradtrail.interp.gradients import Mixed, Spent, state_of
from gradtrail.interp.tensors import Tensors
from gradtrail.interp.values import (
    ANY_LEAF,
    LEAF,
    MAYBE,
    MISSING,
    NO,
    NON_LEAF,
    UNKNOWN,
    YES,
    AtLeast,
    Function,
    Node,
    Origin,
    Saved,
    Sequence,
    Tensor,
    is_in_place,
)
from gradtrail.laws import operations, shapes


class Reach:
    """What a backward from some tensors comes to.

    `nodes` and `leaves` map what is reached to whether that is certain; `complete` is False where
    the walk met something that is not known, so that what is not listed may be reached all the same.
    """

    __slots__ = ("complete", "joined", "leaves", "nodes")

    def __init__(self) -> None:
        self.nodes: dict[Node, bool] = {}
        self.joined: list[
            Node
        ] = []  # the joins that are certainly come to, each with all its branches tracked
        self.leaves: dict[Tensor, bool] = {}
        self.complete = True


class Pass(NamedTuple):
    """One backward: from which tensors, what it reaches, and how it was called.

    `accumulate` is False where the gradients are handed out and not added to `.grad`.
    """

    roots: tuple[Tensor, ...]
    reach: Reach
    retain: bool | None
    create: bool | None
    accumulate: bool
    node: Any
    frame: Frame


def reach(
    roots: list[Any],
    certain: bool = True,
    joins: dict[tuple[int, bool], Reach] | None = None,
    ends: Collection[Node] = (),
) -> Reach:
    """Walk the graph from `roots` (edges: nodes and leaf tensors), not beyond the nodes `ends`.

    `joins` remembers what lies behind the joined nodes that were walked already.
    """
    joins = {} if joins is None else joins
    found = Reach()
    work: list[tuple[Any, bool]] = [(root, certain) for root in roots]
    while work:
        edge, sure = work.pop()
        if type(edge) is Tensor:
            if edge.requires != YES or edge.leaf != LEAF:
                found.complete = False
                sure = False
            if found.leaves.get(edge) in (True, sure):
                continue
            found.leaves[edge] = sure
            continue
        if edge in ends:
            continue
        if edge.kind == "opaque":
            found.complete = False
        known = found.nodes.get(edge)
        sure = sure and edge.kind not in ("maybe",)
        if known is True or known is sure:
            continue
        found.nodes[edge] = sure
        if edge.kind == "join":
            if sure and edge.name and edge not in found.joined:
                found.joined.append(edge)
            behind = joins.get((edge.serial, sure))
            if behind is None:
                behind = joins[edge.serial, sure] = _behind_join(edge, sure, joins)
            found.complete = found.complete and behind.complete
            for node in behind.nodes:
                found.nodes.setdefault(node, False)
            for leaf, everywhere in behind.leaves.items():
                if found.leaves.get(leaf) is not True:
                    found.leaves[leaf] = everywhere
            continue
        if edge.kind == "maybe":
            found.complete = False
        work.extend((one, sure) for one in edge.edges)
    return found


def _behind_join(edge: Node, sure: bool, joins: dict[tuple[int, bool], Reach]) -> Reach:
    """A value that came by one of several branches: certain is what all of them come to."""
    found = Reach()
    joins[edge.serial, sure] = found  # a join never lies behind itself, but a walk must end
    ways = [reach([one], sure, joins) for one in edge.edges]
    found.complete = bool(edge.name) and all(
        way.complete for way in ways
    )  # unnamed: a branch has no gradient
    for way in ways:
        for node in way.nodes:
            found.nodes[node] = False
        for leaf, certain in way.leaves.items():
            everywhere = bool(edge.name) and certain and all(other.leaves.get(leaf) for other in ways)
            found.leaves[leaf] = everywhere
            found.complete = found.complete and everywhere
    return found


def _has_zero_derivative(node: Node) -> bool:
    """Whether what is behind a node gets a gradient of zeros."""
    op = (node.origin.fields or {}).get("op", "")
    row = operations.operation(op) if op else None
    return node.kind == "op" and row is not None and row.gradient == "zero"


def _as_zero(origin: Origin) -> Origin:
    return Origin("zero", origin.node, origin.frame, origin.fields, origin.parents, origin.serial)


class Graph(Tensors):
    """Backward passes."""

    def backward(
        self,
        roots: list[Tensor],
        node: Any,
        frame: Frame,
        gradients: Any = None,
        retain: bool | None = False,
        create: bool | None = False,
        inputs: list[Tensor] | None = None,
        accumulate: bool = True,
        allow_unused: bool | None = False,
    ) -> Reach:
        """One backward pass; with `inputs`, only along the ways that lead to them.

        Raises PathEnds, told as a refusal, where torch certainly raises.
        """
        for root in roots:
            self._check_root(root, gradients, node, frame)
        edges = [root.node if root.node is not None else root for root in roots if root.requires & YES]
        whole = reach(edges, all(root.requires == YES for root in roots))
        walked = whole
        if inputs is not None:
            self._check_inputs(inputs, whole, roots, allow_unused, node, frame)
            walked = _towards(whole, inputs)
        self.unknown_reach = self.unknown_reach or not whole.complete
        self._note_roots(roots)
        self._execute(walked, roots, node, frame, partial=inputs is not None)
        self._call_functions(walked, create, node, frame)
        self.hear_backward(Pass(tuple(roots), whole, retain, create, accumulate, node, frame))
        origin = self.origin("backward", node, frame)
        if retain is not True:
            for graph_node, sure in walked.nodes.items():
                if graph_node.frees is False or graph_node.kind in ("join", "opaque"):
                    continue
                if graph_node.freed is None or (graph_node.freed is UNKNOWN and sure):
                    self.heap.put(
                        graph_node,
                        "freed",
                        origin if sure and retain is False and graph_node.frees else UNKNOWN,
                    )
        if accumulate:
            zero = self._only_zeros(walked, edges)
            for leaf, sure in walked.leaves.items():
                if leaf not in zero:
                    self.reached.add(leaf.serial)
                self.set_gradient(leaf, sure, create, node, frame)
                self._call_hooks(leaf, create, node, frame)
            for graph_node, sure in walked.nodes.items():
                for result in graph_node.results:
                    if result.node is graph_node and sure:
                        self._call_hooks(result, create, node, frame)
                    if result.retains is True and result.node is graph_node:
                        self.set_gradient(result, sure, create, node, frame)
            for root in roots:
                if root.retains is True:
                    self.set_gradient(root, True, create, node, frame)
        return whole

    def _only_zeros(self, walked: Reach, edges: list[Any]) -> frozenset[Tensor]:
        """The leaves to which all ways lead through an operation whose derivative is zero everywhere."""
        zeros = {one for one, sure in walked.nodes.items() if sure and _has_zero_derivative(one)}
        if not zeros:
            return frozenset()
        for one in zeros:
            self.note_cut(_as_zero(one.origin), one.origin.parents)
        others = reach(edges, ends=zeros)
        if not others.complete:
            return frozenset()
        return frozenset(leaf for leaf, sure in walked.leaves.items() if sure and leaf not in others.leaves)

    def hear_backward(self, passed: Pass) -> None:
        """A backward goes on: what the floors above want to know of it."""

    def _note_roots(self, roots: list[Tensor]) -> None:
        """What the roots of a backward were made of, across what carries no gradient."""
        work, seen = list(roots), {root.serial for root in roots}
        self.taken_for_roots.update(dict.fromkeys(seen, self.count))
        while work:
            if len(seen) > _MOST_BEHIND_ROOTS:
                self.roots_cut_off = True
                return
            here = work.pop()
            self.behind_roots.update(step.serial for step in here.steps)
            # What one of several is taken for, each of them may be taken for.
            taken = max(here.origin.serial, self.taken_for_roots.get(here.serial, 0))
            for parent, time in (
                *((one, step.serial) for step in here.steps for one in step.parents),
                *((one, taken) for one in here.either),
            ):
                self.taken_for_roots[parent.serial] = max(self.taken_for_roots.get(parent.serial, 0), time)
                if parent.serial not in seen:
                    seen.add(parent.serial)
                    work.append(parent)

    def _call_functions(self, walked: Reach, create: bool | None, node: Any, frame: Frame) -> None:
        """The backward of each custom Function on the way, with gradients like its outputs."""
        custom = [one for one, sure in walked.nodes.items() if sure and one.function is not None]
        for one in sorted(custom, key=lambda each: -each.serial):
            function, context, number = one.function
            gradients = []
            for result in (*one.results, *([None] * number))[:number]:
                gradient = self.new_tensor(self.origin("gradient", node, frame))
                gradient.requires, gradient.leaf = (NO, LEAF) if create is False else (MAYBE, ANY_LEAF)
                if result is not None:
                    gradient.shape, gradient.dtype, gradient.device = (
                        result.shape,
                        result.dtype,
                        result.device,
                    )
                gradients.append(gradient)
            before = self.modes.grad_mode
            self.heap.put(self.modes, "grad_mode", create)
            given = self.settle(self.call(function, [context, *gradients], {}, node, frame))
            self.heap.put(self.modes, "grad_mode", before)
            values = given.items if type(given) is Sequence and given.rest is MISSING else (given,)
            if all(value is None for value in values) and type(function) is Function and one.edges:
                returns = [part for part in ast.walk(function.node) if type(part) is ast.Return]
                place = returns[0] if len(returns) == 1 else function.node
                where = Frame({}, function.space, None, None, None)
                self.tell("function-passes-nothing", place, where, None, certainty="wrong", function=one.name,
                          trail=(self.step_of(one.origin, frame),))  # fmt: skip

    def _call_hooks(self, tensor: Tensor, create: bool | None, node: Any, frame: Frame) -> None:
        """Hooks on a tensor are handed its gradient."""
        for hook, handle in tensor.hooks:
            if not is_in_place(handle):
                continue
            gradient = self.new_tensor(self.origin("gradient", node, frame))
            gradient.requires, gradient.leaf = (NO, LEAF) if create is False else (MAYBE, ANY_LEAF)
            gradient.shape, gradient.dtype, gradient.device = tensor.shape, tensor.dtype, tensor.device
            before = self.modes.grad_mode
            self.heap.put(self.modes, "grad_mode", bool(create) if create is not None else None)
            self.call(hook, [gradient], {}, node, frame)
            self.heap.put(self.modes, "grad_mode", before)

    def set_gradient(self, tensor: Tensor, sure: bool, create: bool | None, node: Any, frame: Frame) -> None:
        """A backward has added to the gradient of `tensor`."""
        if tensor.node is not None:
            self.reached.add(tensor.serial)
        if type(tensor.grad) is Tensor:
            self._add_to_gradient(tensor, tensor.grad, sure, node, frame)
            return
        gradient = self.new_tensor(self.origin(gradient_kind(create), node, frame))
        gradient.requires, gradient.leaf = (NO, LEAF) if create is False else (MAYBE, ANY_LEAF)
        gradient.shape, gradient.dtype, gradient.device = tensor.shape, tensor.dtype, tensor.device
        self.heap.put(tensor, "grad", gradient if sure else self.join(gradient, tensor.grad))

    def _add_to_gradient(self, tensor: Tensor, gradient: Tensor, sure: bool, node: Any, frame: Frame) -> None:
        """What a step has used already is mixed with what this backward adds."""
        state = state_of(gradient)
        if type(state) is not Spent:
            return
        if not sure:
            self.heap.put(gradient, "spent", UNKNOWN)
            return
        cleared = self.modes.cleared
        others = None
        if (
            type(cleared) is tuple
            and cleared[0].serial > state.step.serial
            and tensor.serial not in cleared[1]
        ):
            others = cleared[0]
        mixed = Mixed(state.version, state.step, self.origin("backward-added", node, frame), others)
        self.heap.put(gradient, "spent", mixed)

    def _check_root(self, root: Tensor, gradients: Any, node: Any, frame: Frame) -> None:
        if root.requires == NO:
            off = self.modes.set_by if self.modes.grad_mode is False else None
            trail = self.steps_of([off], frame) if off is not None else ()
            self.refuse(
                "backward-no-grad-fn",
                node,
                frame,
                self.seen(root, node, frame, "no-grad"),
                trail=trail,
                mode_off=off is not None,
            )
        if gradients is None and root.requires == YES and shapes.numel(root.shape) == "many":
            self.refuse(
                "backward-non-scalar",
                node,
                frame,
                self.seen(root, node, frame, "shape"),
                shape=_shape_text(root.shape),
            )

    def _check_inputs(
        self,
        inputs: list[Tensor],
        whole: Reach,
        roots: list[Tensor],
        allow_unused: bool | None,
        node: Any,
        frame: Frame,
    ) -> None:
        for tensor in inputs:
            if tensor.requires == NO:
                self.refuse("grad-input-not-tracked", node, frame, self.seen(tensor, node, frame, "no-grad"))
        if allow_unused is not False or not whole.complete or any(root.requires != YES for root in roots):
            return
        for index, tensor in enumerate(inputs):
            if tensor.requires != YES or tensor.many or tensor.same_on_cpu is not None:
                continue
            reached = tensor.node in whole.nodes if tensor.node is not None else tensor in whole.leaves
            if not reached and tensor not in roots:
                self.refuse(
                    "grad-unused",
                    node,
                    frame,
                    self.seen(tensor, node, frame),
                    (self.seen(roots[0], node, frame),),
                    index=index,
                )

    def _execute(self, walked: Reach, roots: list[Tensor], node: Any, frame: Frame, partial: bool) -> None:
        """Torch runs the nodes made last first; the first that cannot run raises."""
        for graph_node in sorted(walked.nodes, key=lambda one: -one.serial):
            sure = walked.nodes[graph_node]
            if not sure:
                continue
            if graph_node.once is not None and graph_node.freed == "differentiated":
                trail = self.steps_of([graph_node.once, graph_node.origin], frame)
                self.refuse(
                    "once-differentiable",
                    node,
                    frame,
                    self.seen(roots[0], node, frame),
                    trail=trail,
                    function=graph_node.name,
                )
            if type(graph_node.freed) is Origin and graph_node.frees:
                self._refuse_freed(graph_node, roots, node, frame)
            refusal = "checkpoint-reentrant-grad" if partial and graph_node.whole else graph_node.refusal
            if refusal:
                trail = (self.step_of(graph_node.origin, frame),)
                self.refuse(
                    refusal,
                    node,
                    frame,
                    self.seen(roots[0], node, frame),
                    trail=trail,
                    function=graph_node.name,
                )
            for saved in graph_node.saved:
                if saved.modified():
                    self._refuse_modified(graph_node, saved, roots, node, frame)
        search = _Culprits()
        for joined in walked.joined:
            culprit = search.behind(joined)
            if culprit is None:
                continue
            graph_node, modified = culprit
            if modified is None:
                self._refuse_freed(graph_node, roots, node, frame)
            else:
                self._refuse_modified(graph_node, modified, roots, node, frame)

    def _refuse_freed(self, graph_node: Node, roots: list[Tensor], node: Any, frame: Frame) -> None:
        same_place = graph_node.freed.node is node
        if same_place and (self.again or self.arms > self.arms_of_loop):
            return  # another of those that a value stands for, or a branch that not every round has to take
        carried = [step for result in graph_node.results for step in result.steps[1:]]
        origins = [graph_node.origin, *carried, graph_node.freed]
        name, in_tuple = _carried(roots, graph_node.results, frame)
        self.refuse(
            "backward-twice", node, frame, self.seen(roots[0], node, frame), trail=self.steps_of(origins, frame),
            op=graph_node.origin.fields.get("op", graph_node.name) if graph_node.origin.fields else graph_node.name,
            same_place=same_place,
            row=graph_node.origin.node.lineno,
            carried=name,
            carried_in_tuple=in_tuple,
        )  # fmt: skip

    def _refuse_modified(
        self, graph_node: Node, saved: Saved, roots: list[Tensor], node: Any, frame: Frame
    ) -> None:
        now = saved.storage.version
        since = (now.number if type(now) is AtLeast else now) - saved.version
        writes = list(saved.storage.writes[-since:])
        told = {id(step.node) for step in saved.tensor.steps}
        origin = graph_node.origin
        keeps = Origin("keeps", origin.node, origin.frame, origin.fields, origin.parents, origin.serial)
        self.refuse(
            "saved-modified", node, frame, self.seen(saved.tensor, node, frame),
            trail=self.steps_of([keeps, *(write for write in writes if id(write.node) not in told)], frame),
            op=graph_node.origin.fields.get("op", graph_node.name) if graph_node.origin.fields else graph_node.name,
            which=saved.name, written_by=(writes[0].fields or {}).get("op", "") if writes else "",
        )  # fmt: skip

    def steps_of(self, origins: list[Origin], frame: Frame) -> tuple[Any, ...]:
        raise NotImplementedError

    def gradients_of(
        self,
        roots: list[Tensor],
        inputs: list[Tensor],
        create: bool | None,
        walked: Reach,
        node: Any,
        frame: Frame,
    ) -> list[Tensor]:
        """The gradients that autograd.grad hands out."""
        results = []
        behind = (*roots, *inputs) if create is not False else ()
        once = [one for one in walked.nodes if one.once is not None and walked.nodes[one]] if create else []
        for tensor in inputs:
            gradient = self.new_tensor(self.origin(gradient_kind(create), node, frame, behind))
            gradient.shape, gradient.dtype, gradient.device = tensor.shape, tensor.dtype, tensor.device
            gradient.requires, gradient.leaf = (NO, LEAF) if create is False else (MAYBE, ANY_LEAF)
            if create is True and _depends(walked, tensor):
                gradient.requires, gradient.leaf = YES, NON_LEAF
            if create is not False:
                edges = tuple(root.node for root in roots if root.node is not None)
                gradient.node = Node("", "opaque", edges, (), None, gradient.origin, self.serial())
                self._differentiated(once, gradient, edges)
            results.append(gradient)
        return results

    def _differentiated(self, once: list[Node], gradient: Tensor, edges: tuple[Any, ...]) -> None:
        """A gradient that passed through a once_differentiable backward, and whose incoming gradient
        itself requires grad: a second backward through it raises."""
        for function in once:
            if _incoming_requires_grad(function, edges):
                blocked = Node(function.name, "op", (), (), None, function.origin, self.serial())
                blocked.once = function.once
                blocked.freed = "differentiated"
                gradient.node = Node("", "op", (blocked, *edges), (), None, gradient.origin, self.serial())
                gradient.requires, gradient.leaf = YES, 10
                return


class _Culprits:
    """Finds nodes that certainly cannot run: freed before, or with a saved tensor written since.

    What lies behind a join is remembered, because many ways may lead to one.
    """

    def __init__(self) -> None:
        self._reached: dict[tuple[int, bool], Reach] = {}
        self._found: dict[int, tuple[Node, Saved | None] | None] = {}

    def behind(self, joined: Node, depth: int = 0) -> tuple[Node, Saved | None] | None:
        """The culprit of the first of several branches, if each of them has one: then the join raises for certain."""
        if joined.serial in self._found:
            return self._found[joined.serial]
        first = self._found[joined.serial] = None
        for edge in joined.edges:
            culprit = self._among(reach([edge], True, self._reached), depth)
            if culprit is None:
                return None
            first = first or culprit
        self._found[joined.serial] = first
        return first

    def _among(self, walked: Reach, depth: int) -> tuple[Node, Saved | None] | None:
        for graph_node in sorted(walked.nodes, key=lambda one: -one.serial):
            if not walked.nodes[graph_node]:
                continue
            if type(graph_node.freed) is Origin and graph_node.frees:
                return graph_node, None
            for saved in graph_node.saved:
                if saved.modified():
                    return graph_node, saved
        for joined in walked.joined if depth < _DEEPEST_JOIN else ():
            culprit = self.behind(joined, depth + 1)
            if culprit is not None:
                return culprit
        return None


_DEEPEST_JOIN = 6


def _depends(walked: Reach, tensor: Tensor) -> bool:
    """Whether the gradient of `tensor` certainly requires grad itself: something that an operation on
    the way has kept, and that its derivative is computed from, requires grad."""
    edge = tensor.node if tensor.node is not None else tensor
    for node, sure in walked.nodes.items():
        on_the_way = sure and edge in node.edges and node.name in _KEPT_FACTORS
        if on_the_way and any(saved.sure and saved.tensor.requires == YES for saved in node.saved):
            return True
    return False


_KEPT_FACTORS = frozenset(
    (
        "MulBackward0",
        "PowBackward0",
        "ExpBackward0",
        "SinBackward0",
        "CosBackward0",
        "TanhBackward0",
        "SigmoidBackward0",
    )
)
"""Nodes whose derivative is computed from what they keep, so that it requires grad when that does."""


def _incoming_requires_grad(function: Node, edges: tuple[Any, ...]) -> bool:
    """Whether a node behind `function` multiplies by a tensor that requires grad."""
    for node, sure in reach(list(edges)).nodes.items():
        if (
            sure
            and function in node.edges
            and any(saved.sure and saved.tensor.requires == YES for saved in node.saved)
        ):
            return True
    return False


def _towards(whole: Reach, inputs: list[Tensor]) -> Reach:
    """The part of `whole` that lies on ways to `inputs`."""
    found = Reach()
    found.complete = whole.complete
    goals: set[Any] = {tensor.node if tensor.node is not None else tensor for tensor in inputs}
    found.leaves = {leaf: sure for leaf, sure in whole.leaves.items() if leaf in goals}
    leads: dict[Any, bool] = dict.fromkeys(goals, True)
    for node in sorted(whole.nodes, key=lambda one: one.serial):
        if any(leads.get(edge) for edge in node.edges):
            leads[node] = True
            found.nodes[node] = whole.nodes[node]
    return found


def gradient_kind(create: bool | None) -> str:
    """The kind of origin of a gradient, by whether it is sure that create_graph was off."""
    return "plain-gradient" if create is False else "gradient"


def _shape_text(shape: tuple[int | None, ...] | None) -> str:
    if shape is None:
        return "?"
    return (
        "("
        + ", ".join("?" if size is None else str(size) for size in shape)
        + ("," if len(shape) == 1 else "")
        + ")"
    )


def _carried(roots: list[Tensor], results: tuple[Tensor, ...], frame: Frame) -> tuple[str, bool]:
    """The name of the one among `results` of a freed node that `roots` were computed from; "" if not known.

    Of a tuple that the results stand in, the name of the tuple, and True.
    """
    seen = {tensor.serial for tensor in roots}
    work = list(roots)
    while work and len(seen) < _MOST_ANCESTORS:
        for parent in work.pop(0).origin.parents:
            if any(parent is one for one in results):
                return (parent.name, False) if parent.name else (_name_of_tuple(parent, frame), True)
            if parent.serial not in seen:
                seen.add(parent.serial)
                work.append(parent)
    return (results[0].name or "") if len(results) == 1 else "", False


def _name_of_tuple(tensor: Tensor, frame: Frame) -> str:
    """The variable that holds, in a tuple or list, what the line that made a tensor makes."""
    for name, value in frame.names.items():
        if type(value) is Sequence:
            items = (*value.items, value.rest)
            if any(type(one) is Tensor and one.origin.node is tensor.origin.node for one in items):
                return name
    return ""


_MOST_ANCESTORS = 400
_MOST_BEHIND_ROOTS = 2_000
