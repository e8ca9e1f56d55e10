"""What becomes of gradients between one step and the next: cleared unused, never used, summed up, or of two modes."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from gradtrail.interp.estimators import ancestors
from gradtrail.interp.frames import Frame
from gradtrail.interp.graph import Pass
from gradtrail.interp.keeping import first_loop
from gradtrail.interp.models.optim import Built
from gradtrail.interp.replicas import Replicas
from gradtrail.interp.statements import comes_again
from gradtrail.interp.values import NO, YES, Instance, Origin, Tensor
from gradtrail.laws.optimizers import SCALE_MATTERS


class _Addend(NamedTuple):
    """A backward of a mean, and the batch that it is the mean over."""

    node: Any
    origin: Origin
    batch: Tensor


class _Behaviour(NamedTuple):
    """One call of a layer that is another one in evaluation."""

    training: Any
    mode: Origin | None
    given: Tensor


class Stepping(Replicas):
    """Follows the gradients of what the optimizers hold."""

    # Never a step

    def tell_never_stepped(self, frame: Frame) -> None:
        """Optimizers that got gradients in a loop and have not made one step."""
        if self.unseen_backward or self.limits_told:
            return
        for instance in self.optimizers.values():
            built = instance.state.get("built")
            if instance.serial in self.steppers or instance.opened or not isinstance(built, Built):
                continue
            held = [one for group in built.groups for one in group]
            reached = [one for one in held if one.serial in self.in_loops]
            if not built.complete or not reached or any(one.serial in self.moved for one in held):
                continue
            if any(_is_moved_by_hand(one, self.in_loops[one.serial]) for one in reached):
                continue
            skipped = self._skipped_step(instance)
            place, where = skipped if skipped is not None else (built.at.node, built.at.frame or frame)
            self.tell("never-stepped", place, where, None, certainty="wrong", skipped=skipped is not None,
                      trail=self.steps_of([built.at, self.in_loops[reached[0].serial]], frame),
                      optimizer=(instance.library or "").rpartition(".")[2])  # fmt: skip

    def tell_no_backward(self, frame: Frame) -> None:
        """Steps in a loop of a program in which no backward is ever called."""
        if self.unseen_backward or self.unknown_reach or self.limits_told or self.last_backward:
            return
        for instance in self.steppers.values():
            built = instance.state.get("built")
            step = self.steps_in_loops.get(instance.serial)
            if step is None or instance.opened or not isinstance(built, Built) or not built.complete:
                continue
            held = [one for group in built.groups for one in group]
            if held and all(one.grad is None and one.requires == YES and not one.many for one in held):
                where = step.frame or frame
                self.tell("step-without-backward", step.node, where, None, certainty="wrong",
                          trail=self.steps_of([built.at], frame), optimizer=(instance.library or "").rpartition(".")[2])  # fmt: skip

    def _skipped_step(self, instance: Instance) -> tuple[Any, Frame] | None:
        """The condition that has kept an optimizer's step from being made, where it is known."""
        for node, frame in self.skipped.values():
            if id(node) in self.taken:
                continue
            part: Any
            for part in (one for statement in node.body for one in ast.walk(statement)):
                if self._is_step(part, instance, frame):
                    return node.test, frame
        return None

    def tell_shared_parameters(self, frame: Frame) -> None:
        """Two optimizers that step the same parameters in a loop, while others get gradients and have none."""
        if self.unseen_backward or self.unknown_reach or self.limits_told or self.handed_over:
            return
        by_held: dict[frozenset[int], Built] = {}
        for instance in self.optimizers.values():
            built = instance.state.get("built")
            if instance.opened or not isinstance(built, Built) or not built.complete:
                return
            held = frozenset(one.serial for group in built.groups for one in group)
            first = by_held.setdefault(held, built)
            left_out = [one for one in self.trained_in_loops.values() if one.serial not in self.optimized]
            both = instance.serial in self.steppers and first.at.node is not built.at.node and held
            if both and left_out and all(one.requires == YES and one.parameter is True for one in left_out):
                where = built.at.frame or frame
                self.tell("optimizers-share", built.at.node, where, self.seen(left_out[0], built.at.node, where),
                          certainty="wrong", trail=self.steps_of([first.at], frame),
                          module=self._module_of(left_out, where),
                          optimizer=(instance.library or "").rpartition(".")[2])  # fmt: skip

    def _module_of(self, tensors: list[Tensor], frame: Frame) -> str:
        """How the code of `frame` may call the module whose parameters are just these; "" where there is none."""
        own = frame.receiver.attributes.values() if type(frame.receiver) is Instance else ()
        for value in (*frame.names.values(), *own, *frame.space.names.values()):
            if type(value) is Instance and value.registered:
                inside = {one.serial for _, one in self.parameters_of(value)[0]}
                if inside == {one.serial for one in tensors}:
                    return self.name_in(value, frame)
        return ""

    def tell_idle(self, frame: Frame) -> None:
        """Optimizers of which no backward reaches anything, while what it reaches is in none."""
        made = min((one.serial for one in self.optimizers.values()), default=0)
        trained = [
            one for one in self.trained_in_loops.values() if one.parameter is True or one.serial < made
        ]
        left_out = [one for one in trained if one.serial not in self.optimized | self.outside]
        if self.unseen_backward or self.unknown_reach or self.limits_told or not left_out:
            return
        for instance in self.optimizers.values():
            built = instance.state.get("built")
            if instance.opened or not isinstance(built, Built) or not built.complete:
                return
            held = [one for group in built.groups for one in group]
            idle = held and not any(
                one.serial in self.reached or one.many or one.either or one.part_of for one in held
            )
            if (
                idle
                and instance.serial in self.steppers
                and {one.requires for one in held} in ({YES}, {NO})
                and all(one.requires == YES for one in left_out)
            ):
                where = built.at.frame or frame
                # What was there when it was made may have been left out on purpose.
                later = [one for one in left_out if one.serial > instance.serial] or left_out
                first = min(later, key=lambda one: one.serial)
                reached = self.in_loops[first.serial]
                self.tell("optimizer-idle", built.at.node, where, self.seen(first, reached.node, where),
                          certainty="wrong", trail=self.steps_of([held[0].origin, reached], frame), number=len(later),
                          optimizer=(instance.library or "").rpartition(".")[2])  # fmt: skip

    # What a backward leaves

    def hear_backward(self, passed: Pass) -> None:
        """At a backward: what it adds to which gradients, in which mode the layers behind it were."""
        super().hear_backward(passed)
        self.backwards.add(id(passed.node))
        if not passed.accumulate:
            return
        if first_loop(passed.frame) is not None:
            origin = self.origin("backward-adds", passed.node, passed.frame)
            for leaf, sure in passed.reach.leaves.items():
                if sure:
                    self.in_loops.setdefault(leaf.serial, origin)
                    self.trained_in_loops[leaf.serial] = leaf
                    self.waiting[leaf.serial] = origin
        self._note_addend(passed)
        self._compare_modes(passed)

    def _note_addend(self, passed: Pass) -> None:
        root = passed.roots[0] if len(passed.roots) == 1 else None
        if root is None or not _is_mean(root.origin):
            batch = None
        else:
            batch = next((one for one in ancestors(root) if _is_batch(one)), None)
        for leaf, sure in passed.reach.leaves.items():
            known = self.addends.setdefault(leaf.serial, [])
            if not sure or root is None or batch is None:
                known.append(None)
            else:
                known.append(_Addend(passed.node, root.origin, batch))

    def note_cleared(self, tensors: list[Tensor], origin: Origin | None) -> None:
        """Gradients are cleared, at `origin` or by a step that has used them: what was added to them is gone."""
        if origin is not None:
            self._tell_thrown_away(tensors, origin)
        for tensor in tensors:
            self.addends.pop(tensor.serial, None)

    def _tell_thrown_away(self, tensors: list[Tensor], origin: Origin) -> None:
        """Gradients that each round of a loop clears, while only every few rounds make a step.

        Where there is one optimizer and one backward: with several, what one of them leaves may be cleared for another.
        """
        frame, added = origin.frame, [self.in_loops.get(one.serial) for one in tensors]
        if len(self.optimizers) != 1 or len(self.backwards) != 1 or frame is None or not frame.loops:
            return
        body, backward = frame.loops[-1][0].body, next(iter(added), None)
        if backward is None or None in added or backward.frame is not frame:
            return
        (instance,) = self.optimizers.values()
        steps = {
            id(one): part for one in body for part in ast.walk(one) if self._is_step(part, instance, frame)
        }
        every = [one for one in body if id(one) in steps]
        read = [one for one in body if one not in every and any(map(_is_gradient, ast.walk(one)))]
        always = [one.value for one in body if type(one) is ast.Expr]
        if (
            len(every) == 1
            and not read
            and type(every[0]) is ast.If
            and not every[0].orelse
            and comes_again(every[0].test)
            and any(one is origin.node for one in always)
            and any(one is backward.node for one in always)
        ):
            self.tell("cleared-before-step", origin.node, frame, None, certainty="wrong",
                      trail=self.steps_of([backward], frame), step=self.place(steps[id(every[0])], frame),
                      optimizer=(instance.library or "").rpartition(".")[2])  # fmt: skip

    def _is_step(self, part: Any, instance: Instance, frame: Frame) -> bool:
        """Whether a part of the program is a call of an optimizer's `step`."""
        calls = type(part) is ast.Call and type(part.func) is ast.Attribute and part.func.attr == "step"
        return calls and self.known_value(part.func.value, frame) is instance

    def hear_step(self, instance: Instance, held: list[Tensor], node: Any, frame: Frame) -> None:
        """At a step: gradients that are gone, or that are a sum of means."""
        super().hear_step(instance, held, node, frame)
        if first_loop(frame) is not None:
            self.steps_in_loops.setdefault(instance.serial, self.origin("step-taken", node, frame))
        self._tell_cleared(instance, held, node, frame)
        self._tell_sum_of_means(instance, held, node, frame)
        self._tell_unfrozen(instance, frame)
        self.moved.update(one.serial for one in held)
        for one in held:
            self.waiting.pop(one.serial, None)
        self.note_cleared(held, None)

    def _tell_cleared(self, instance: Instance, held: list[Tensor], node: Any, frame: Frame) -> None:
        cleared = self.modes.cleared
        built = instance.state.get("built")
        if type(cleared) is not tuple or not isinstance(built, Built) or not built.complete:
            return
        origin, serials = cleared
        added = [self.waiting.get(one.serial) for one in held]
        if not held or not all(one.serial in serials and one.grad is None for one in held):
            return
        first = next((one for one in added if one is not None), None)
        if first is not None and first.serial < origin.serial:
            steps = [first, self.origin("no-gradient", node, frame)]
            self.tell("cleared-before-step", origin.node, origin.frame or frame, None, certainty="wrong",
                      trail=self.steps_of(steps, frame), optimizer=(instance.library or "").rpartition(".")[2])  # fmt: skip

    def note_unfrozen(self, tensor: Tensor, node: Any, frame: Frame) -> None:
        """The program lets a parameter be trained that it had frozen."""
        self.unfrozen[tensor.serial] = (tensor, self.origin("flagged", node, frame, value=True))

    def _tell_unfrozen(self, instance: Instance, frame: Frame) -> None:
        """Parameters that were unfrozen, get gradients, and that no optimizer holds."""
        builts = [one.state.get("built") for one in self.optimizers.values()]
        if any(one.opened for one in self.optimizers.values()):
            return
        asked: set[Tensor] = set()  # of these the optimizer's own line is told
        for built in builts:
            if not isinstance(built, Built) or not built.complete:
                return
            for module in built.covers:
                asked.update(one for _, one in self.parameters_of(module)[0])
        left_out = [
            (tensor, origin)
            for tensor, origin in self.unfrozen.values()
            if tensor.requires == YES
            and type(tensor.grad) is Tensor
            and not tensor.many
            and tensor.serial not in self.optimized
            and tensor not in asked
            and tensor.serial not in self.outside
        ]
        built = instance.state.get("built")
        if left_out and isinstance(built, Built):
            tensor, origin = left_out[0]
            where = origin.frame or frame
            self.outside.update(one.serial for one, _ in left_out)
            self.tell("parameter-outside-optimizer", origin.node, where, self.seen(tensor, origin.node, where),
                      certainty="wrong", container="unfrozen", attribute="", number=len(left_out), module="",
                      made=self.place(built.at.node, built.at.frame or frame) if len(builts) == 1 else None,
                      optimizer=(instance.library or "").rpartition(".")[2])  # fmt: skip

    def _tell_sum_of_means(self, instance: Instance, held: list[Tensor], node: Any, frame: Frame) -> None:
        name = (instance.library or "").rpartition(".")[2]
        if name not in SCALE_MATTERS:
            return
        for tensor in held:
            known = self.addends.get(tensor.serial, [])
            if len(known) < 2 or None in known:
                continue
            first = known[0]
            batches = {one.batch.serial for one in known}
            alike = all(
                one.node is first.node and one.batch.origin.node is first.batch.origin.node for one in known
            )
            if not alike or len(batches) != len(known):
                continue
            of_one = first.batch.origin.kind != "batch"
            if of_one or _every_few(node, frame):
                where = first.origin.frame or frame
                self.tell("sum-of-means", first.node, where, self.seen(tensor, node, frame), certainty="wrong",
                          trail=self.steps_of([first.batch.origin, first.origin], frame), of_one=of_one,
                          parts=_parts(first.batch.origin, frame) if of_one else _every_few(node, frame))  # fmt: skip
                return

    def name_in(self, instance: Any, frame: Frame) -> str:
        """How the code of `frame` may call an object: by a name, or as an attribute of its own object; else ""."""
        if type(instance) is not Instance:
            return ""
        names = [name for name, value in frame.names.items() if value is instance]
        if not names and type(frame.receiver) is Instance:
            owned = frame.receiver.attributes.items()
            names = [f"self.{name}" for name, value in owned if value is instance and "self" in frame.names]
        if not names:
            names = [name for name, value in frame.space.names.items() if value is instance]
        return names[0] if names else ""

    # Layers of two modes

    def note_behaviour(self, module: Instance, given: Tensor) -> None:
        """A layer that is another one in evaluation is called."""
        if self.modes.grad_mode is True:
            mode = module.state.get("mode")
            known = self.behaviours.setdefault(module.serial, [])
            if len(known) < _MOST_CALLS:
                known.append(
                    _Behaviour(
                        module.attributes.get("training"), mode if isinstance(mode, Origin) else None, given
                    )
                )

    def _compare_modes(self, passed: Pass) -> None:
        begun = first_loop(passed.frame)
        calls = [(serial, one) for serial, known in self.behaviours.items() for one in known]
        self.behaviours = {}
        if begun is None:
            return
        for serial, (training, mode, given) in calls:
            if given.serial not in self.taken_for_roots or type(training) is not bool:
                continue
            key = (serial, id(passed.node), begun)
            if key not in self.trained_in_mode:
                self.trained_in_mode[key] = training
            elif (
                self.trained_in_mode[key] is True
                and training is False
                and mode is not None
                and mode.serial > begun
            ):
                called = getattr(mode.node, "func", None)
                model = self.known_value(getattr(called, "value", None), mode.frame or passed.frame)
                self.tell("evaluation-left-on", mode.node, mode.frame or passed.frame, None, certainty="wrong",
                          model=self.name_in(model, passed.frame),
                          trail=self.steps_of([mode, self.origin("trained", passed.node, passed.frame)], passed.frame))  # fmt: skip


_MOST_CALLS = 20


def _is_gradient(part: ast.AST) -> bool:
    """Whether a part of the program is a `.grad`, which it may use without a step."""
    return type(part) is ast.Attribute and part.attr == "grad"


def _is_mean(origin: Origin) -> bool:
    """Whether a loss is the mean over its batch, as it comes from the function that gives it."""
    fields = origin.fields or {}
    op = fields.get("op", "")
    if op == "mean":
        return True
    if op not in _MEAN_LOSSES:
        return False
    layer = fields.get("layer")
    if layer is not None:
        return bool(layer.attributes.get("reduction") == "mean")
    keywords = getattr(origin.node, "keywords", [])
    return all(
        one.arg != "reduction" or (type(one.value) is ast.Constant and one.value.value == "mean")
        for one in keywords
    ) and all(one.arg is not None for one in keywords)


_MEAN_LOSSES = frozenset(
    (
        "nn.functional.mse_loss", "nn.functional.l1_loss", "nn.functional.cross_entropy", "nn.functional.nll_loss",
        "nn.functional.smooth_l1_loss", "nn.functional.huber_loss", "nn.functional.binary_cross_entropy",
        "nn.functional.binary_cross_entropy_with_logits",
    )
)  # fmt: skip


def _is_batch(tensor: Tensor) -> bool:
    """Whether a tensor is one of the pieces of a batch, or a batch of a loader."""
    origin = tensor.origin
    return tensor.requires == NO and (
        origin.kind == "batch" or (origin.fields or {}).get("op") in ("chunk", "split", "tensor_split")
    )


def _is_moved_by_hand(tensor: Tensor, backward: Origin) -> bool:
    """Whether the program has written a tensor itself since a backward, perhaps along its gradient."""
    writes = tensor.storage.writes
    return type(tensor.storage.version) is not int or (bool(writes) and writes[-1].serial > backward.serial)


def _every_few(node: Any, frame: Frame) -> str:
    """The number in the condition with a remainder that a call stands under: `4` of `if (i + 1) % 4 == 0`."""
    whole = frame.function.node if frame.function is not None else frame.space.tree
    part: Any
    for part in ast.walk(whole):
        counts = (
            [one for one in ast.walk(part.test) if type(one) is ast.BinOp] if type(part) is ast.If else []
        )
        number = next((one.right for one in counts if type(one.op) is ast.Mod), None)
        if number is not None and any(one is node for statement in part.body for one in ast.walk(statement)):
            return ast.unparse(number)
    return ""


def _parts(batch: Origin, frame: Frame) -> str:
    """The number of the parts that `chunk` makes, as it is written in `frame`, where the step is; "" where it is not known."""
    node, here = batch.node, batch.frame
    op = (batch.fields or {}).get("op")
    if op == "split" and here is frame and type(node) is ast.Call:
        return f"len({ast.unparse(node)})"
    if op != "chunk" or type(node) is not ast.Call or here is None:
        return ""
    number: Any = next((one.value for one in node.keywords if one.arg == "chunks"), None)
    position = 1 if ast.unparse(node.func) == "torch.chunk" else 0
    if number is None and len(node.args) > position:
        number = node.args[position]
    while type(number) is ast.Name and here is not frame and here.caller is not None:
        number, here = _handed(number.id, here), here.caller
    if type(number) is ast.Constant or (type(number) in (ast.Name, ast.Attribute) and here is frame):
        return ast.unparse(number)
    return ""


def _handed(name: str, frame: Frame) -> Any:
    """What the call of a function was handed for an argument, where the call is plain."""
    function, call = frame.function, frame.call
    if function is None or type(call) is not ast.Call or type(function.node) is ast.Lambda:
        return None
    names = [one.arg for one in (*function.node.args.posonlyargs, *function.node.args.args)]
    names = names[1:] if names[:1] == ["self"] else names
    given = [one.value for one in call.keywords if one.arg == name]
    if not given and name in names and names.index(name) < len(call.args):
        given = [call.args[names.index(name)]]
    return given[0] if given and type(given[0]) is not ast.Starred else None
