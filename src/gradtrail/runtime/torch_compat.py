"""Every touch of torch that is private, or that differs between releases: each a named capability that is tried before use.

`TORCH` stands for the torch that the program has imported. Nothing here imports it.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from typing import Any


class Torch:
    """The torch of the running program.

    A capability that this release has not is answered by None or by nothing at all, never by an error.
    """

    def __init__(self) -> None:
        self._whole: Any = None

    @property
    def module(self) -> Any:
        """`torch` itself; None until the program has imported it whole."""
        if self._whole is None:
            module = sys.modules.get("torch")
            if hasattr(module, "Tensor") and hasattr(module, "optim"):
                self._whole = module
        return self._whole

    @property
    def version(self) -> str:
        """The release, as in "2.13.0"; empty without torch."""
        return str(getattr(self.module, "__version__", ""))

    def is_tensor(self, value: object) -> bool:
        """Whether a value is a tensor. The kind of the object is asked, not what it claims to be."""
        module = self.module
        return module is not None and issubclass(type(value), module.Tensor)

    def is_module(self, value: object) -> bool:
        """Whether a value is a module."""
        module = self.module
        return module is not None and issubclass(type(value), module.nn.Module)

    def is_optimizer(self, value: object) -> bool:
        """Whether a value is an optimizer of torch."""
        module = self.module
        return module is not None and issubclass(type(value), module.optim.Optimizer)

    @cached_property
    def has_accelerator(self) -> bool:
        """Whether the machine has a device beside its CPU. `torch.accelerator` is there from 2.6 on."""
        known = getattr(self.module, "accelerator", None) or self.module.cuda
        return bool(known.is_available())

    def rank(self) -> int | None:
        """The rank of this process; None where there is no process group, or torch was built without."""
        distributed: Any = sys.modules.get("torch.distributed")
        try:
            return int(distributed.get_rank()) if distributed.is_initialized() else None
        except (AttributeError, RuntimeError, ValueError):
            return None

    @cached_property
    def sequence_number(self) -> Callable[[], int] | None:
        """The counter of this thread's autograd nodes: the number that the next node gets."""
        try:
            from torch._C._autograd import _get_sequence_nr
        except ImportError:
            return None
        counter: Callable[[], int] = _get_sequence_nr
        return counter

    @property
    def has_compiled(self) -> bool:
        """Whether the program has called torch.compile."""
        compiler = sys.modules.get("torch._dynamo.eval_frame")
        return any(getattr(compiler, "cached_backends", {}).values())

    def is_spared_by_compile(self, package: str) -> bool:
        """Have torch.compile leave the code of a package alone: it would count its frames, and may trace them. False: it cannot."""
        for rules in ("trace_rules", "skipfiles"):  # the second until 2.1
            try:
                importlib.import_module(f"torch._dynamo.{rules}").add(package)
            except Exception:
                continue
            return True
        return False

    def quietly(self) -> Any:
        """A context in which what we ask of tensors is seen by no mode and no subclass of the program's."""
        unseen = self.module._C.DisableTorchFunction()
        if not self._dispatch_modes():
            return unseen
        return _both(unseen, self._without_dispatch_modes())

    @cached_property
    def _dispatch_modes(self) -> Callable[[], int]:
        """How many modes of the program's see what is dispatched."""
        counter: Callable[[], int] = getattr(self.module._C, "_len_torch_dispatch_stack", lambda: 0)
        return counter

    @cached_property
    def _without_dispatch_modes(self) -> Callable[[], AbstractContextManager[Any]]:
        try:
            from torch.utils._python_dispatch import _disable_current_modes
        except ImportError:
            return nullcontext
        without: Callable[[], AbstractContextManager[Any]] = _disable_current_modes
        return without


@contextmanager
def _both(one: AbstractContextManager[Any], other: AbstractContextManager[Any]) -> Iterator[None]:
    with one, other:
        yield


TORCH = Torch()


def record_for_torchrun(error: Exception) -> None:
    """Have torchrun's summary name an error, as `torch.distributed.elastic`'s `record` does around a main function.

    Nothing is done where torchrun does not ask for it, the program has not imported torch, or has recorded it by itself.
    """
    path = os.environ.get("TORCHELASTIC_ERROR_FILE")
    if not path or TORCH.module is None or os.path.exists(path):
        return
    try:
        from torch.distributed.elastic.multiprocessing.errors import get_error_handler
    except ImportError:
        return
    trace = error.__traceback__
    try:
        raise error
    except Exception:
        error.__traceback__ = trace
        get_error_handler().record_exception(error)


def number_of(node: Any) -> int | None:
    """The sequence number of a node of the graph; None where it has none, as the accumulator of a leaf."""
    try:
        number = node._sequence_nr()
    except (AttributeError, RuntimeError):
        return None
    return number if isinstance(number, int) and 0 <= number < _ACCUMULATORS else None


_ACCUMULATORS = 1 << 62
"""AccumulateGrad has the greatest number there is, for the engine to run it first."""


def name_of(node: Any) -> str:
    """The name of a node, as in `grad_fn`: "MulBackward0"."""
    try:
        return str(node.name()).rpartition("::")[2]
    except (AttributeError, RuntimeError, TypeError):
        return type(node).__name__


def variable_of(node: Any) -> Any:
    """The leaf that a node accumulates into; None for other nodes."""
    return getattr(node, "variable", None)


def parents_of(node: Any) -> Iterator[Any]:
    """The nodes that a backward goes on to."""
    for parent, _ in getattr(node, "next_functions", ()):
        if parent is not None:
            yield parent


FREED, MODIFIED, KEPT = "freed", "modified", "kept"


def saved_of(node: Any) -> Iterator[tuple[str, str, int | None]]:
    """What a node saved for backward: the name, whether it is FREED, MODIFIED or KEPT, and where its memory begins.

    Reading an attribute `_saved_...` raises for what was freed or written since; the raw one still knows the memory.
    """
    for name in dir(node):
        if name.startswith("_saved_"):
            yield name[7:], _state(node, name), _memory(node, name)
    if "saved_tensors" in dir(type(node)):
        yield "saved_tensors", _state(node, "saved_tensors"), None


def _state(node: Any, name: str) -> str:
    try:
        getattr(node, name)
    except RuntimeError as error:
        said = str(error)
        return FREED if "second time" in said else MODIFIED if "modified by an inplace" in said else KEPT
    except Exception:
        return KEPT
    return KEPT


def _memory(node: Any, name: str) -> int | None:
    try:
        raw = getattr(node, name.replace("_saved_", "_raw_saved_", 1))
        return memory_of(raw.data)
    except Exception:
        return None


def memory_of(tensor: Any) -> int | None:
    """Where the memory of a tensor begins; None where it has none that can be told."""
    try:
        return int(tensor.untyped_storage().data_ptr()) or None
    except Exception:
        return None
