"""With-blocks of libraries: grad mode, inference mode, devices, autocast."""

from __future__ import annotations

from typing import Any

from gradtrail.interp.custom_functions import CustomFunctions
from gradtrail.interp.frames import Frame, PathEnds
from gradtrail.interp.models import registry
from gradtrail.interp.values import (
    HARMLESS,
    UNKNOWN,
    Class,
    Device,
    Function,
    Instance,
    Library,
    OneOf,
    Unknown,
)

MODES = frozenset(("torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.set_grad_enabled"))


class GradModes(CustomFunctions):
    """Entering and leaving with-blocks."""

    def enter(self, manager: Any, node: Any, frame: Frame) -> Any:
        """`with manager:` begins; the value that `as` binds."""
        manager = self.settle(manager)
        if type(manager) is OneOf:
            modes = {one.library for one in manager.values if type(one) is Instance and one.library in MODES}
            off = modes <= {"torch.no_grad", "torch.inference_mode"} and len(modes) > 1
            self.modes_before.append((self.modes.grad_mode, self.modes.inference_mode))
            if modes:
                self.enter_mode("unknown", None)
                if off and all(type(one) is Instance and one.library in modes for one in manager.values):
                    self.heap.put(self.modes, "grad_mode", False)
            return UNKNOWN
        if type(manager) is Instance:
            if manager.library in MODES:
                before = (
                    manager.state["before"]
                    if manager.library == "torch.set_grad_enabled"
                    else (self.modes.grad_mode, self.modes.inference_mode)
                )
                set_by = self.modes.set_by if manager.library != "torch.set_grad_enabled" else None
                self.heap.put(
                    manager.state,
                    "entered",
                    (*manager.state.get("entered", ()), (*before, set_by, self.modes.entered_by)),
                )
                self.enter_mode(manager.library.rpartition(".")[2], manager.state.get("mode"))
                self.heap.put(self.modes, "set_by", None)
                self.heap.put(
                    self.modes,
                    "entered_by",
                    self.origin("entered", node, frame, mode=manager.library.rpartition(".")[2]),
                )
                return manager
            if manager.library == "contextlib.contextmanager":
                generator = manager.state["generator"].generator
                try:
                    return next(generator, None)
                except PathEnds:
                    return UNKNOWN
            cls = manager.cls
            if type(cls) is Class and type(cls.find("__enter__")) is Function:
                return self.call_method(manager, "__enter__", [], {}, node, frame)
            if manager.library in (
                "torch.autograd.set_detect_anomaly",
                "torch.autograd.detect_anomaly",
                "torch.autocast",
                "torch.cuda.amp.autocast",
                "torch.amp.autocast",
            ):
                if "autocast" in manager.library:
                    self.heap.put(self.modes, "autocast", True)
                return manager
        if type(manager) is Library and manager.path in MODES:
            self.refuse("no-grad-not-called", node, frame, None, name=manager.path)
        if type(manager) is Device:
            frame_device = self.modes.default_device
            self.heap.put(self.modes, "default_device", manager)
            self.devices_before.append(frame_device)
            return manager
        if type(manager) is Unknown and manager is not HARMLESS:
            # An unknown manager may switch the grad mode.
            self.heap.put(self.modes, "grad_mode", None if self.modes.grad_mode else self.modes.grad_mode)
        return UNKNOWN

    def exit(self, manager: Any, node: Any, frame: Frame) -> None:
        """`with manager:` ends."""
        manager = self.settle(manager)
        if type(manager) is OneOf and self.modes_before:
            grad_mode, inference_mode = self.modes_before.pop()
            self.heap.put(self.modes, "grad_mode", grad_mode)
            self.heap.put(self.modes, "inference_mode", inference_mode)
        if type(manager) is Instance:
            if manager.library in MODES:
                self.restore_modes(manager)
            elif "autocast" in (manager.library or ""):
                self.heap.put(self.modes, "autocast", False)
            elif "__exit__" in registry.OBJECT_METHODS.get(manager.library or "", {}):
                self.call_method(manager, "__exit__", [], {}, node, frame)
            elif manager.library == "contextlib.contextmanager":
                next(manager.state["generator"].generator, None)
            elif type(manager.cls) is Class and type(manager.cls.find("__exit__")) is Function:
                self.call_method(manager, "__exit__", [None, None, None], {}, node, frame)
        elif type(manager) is Device and self.devices_before:
            self.heap.put(self.modes, "default_device", self.devices_before.pop())
        elif type(manager) is Unknown and manager is not HARMLESS:
            self.heap.put(
                self.modes, "grad_mode", True if self.modes.grad_mode is None else self.modes.grad_mode
            )

    def _mode_method(self, mode: Instance, name: str, args: list[Any], node: Any, frame: Frame) -> Any:
        """A grad mode that is entered by hand, or wraps a function."""
        if name == "__enter__":
            return self.enter(mode, node, frame)
        if name == "__exit__":
            return self.exit(mode, node, frame)
        wrapped = self.settle(args[0]) if args else UNKNOWN
        if type(wrapped) is not Function:
            return self.call_unknown(args, {})
        function = wrapped.copy()
        function.mode = ((mode.library or "").rpartition(".")[2], mode.state.get("mode"))
        return function

    def restore_modes(self, manager: Any) -> None:
        """Leave a grad mode, also on a way out of the middle of its block."""
        if type(manager) is Instance and manager.library in MODES and manager.state.get("entered"):
            *rest, (grad, inference, set_by, entered_by) = manager.state["entered"]
            put = self.heap.put
            put(manager.state, "entered", tuple(rest))
            put(self.modes, "grad_mode", grad)
            put(self.modes, "inference_mode", inference)
            put(self.modes, "set_by", set_by)
            put(self.modes, "entered_by", entered_by)
