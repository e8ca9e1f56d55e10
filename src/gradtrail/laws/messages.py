"""What torch says when a law of autograd is broken: the error type and the piece of text that stays.

Texts change between releases; only the stable piece is kept here, and matched. Every entry whose
provenance is "tested" is raised on torch by `tests/laws/test_messages.py`.
"""

from __future__ import annotations

from typing import NamedTuple


class Message(NamedTuple):
    """One of torch's refusals.

    `error` is the exception's type, `piece` the stable part of its text ("" when the text is Python's or
    varies), `law` a word for the law it speaks of, `provenance` how it is known: "tested RELEASE", "tested
    RELEASE on a stand-in device", "read RELEASE" (in torch's source).
    """

    key: str
    error: str
    piece: str
    law: str
    provenance: str = "tested 2.13"


_ROWS: dict[str, tuple[str, ...]] = {
    # optimizers
    "non-leaf-optimizer": ("ValueError", "can't optimize a non-leaf Tensor", "optimizers update leaves"),
    "optimizer-empty": ("ValueError", "optimizer got an empty parameter list", "optimizers need parameters"),
    "optimizer-not-tensor": ("TypeError", "optimizer can only optimize Tensors", "optimizers need tensors"),
    "optimizer-not-iterable": ("TypeError", "object is not iterable", "optimizers need tensors"),
    "optimizer-bare-tensor": (
        "TypeError",
        "params argument given to the optimizer should be an iterable of Tensors or dicts",
        "optimizers need tensors",
    ),
    "optimizer-group-not-dict": ("TypeError", "param_group must be a dict", "optimizers need tensors"),
    "optimizer-group-without-params": ("KeyError", "params", "optimizers need parameters"),
    "optimizer-set-in-group": ("TypeError", "organized in ordered collections", "optimizers need an order"),
    "optimizer-names-missing": (
        "ValueError",
        "all optimizer params should be with/without names",
        "names belong to all or none",
    ),
    "optimizer-groups-names": (
        "ValueError",
        "all optimizer param groups should be with/without names",
        "names belong to all or none",
    ),
    "optimizer-two-groups": (
        "ValueError",
        "some parameters appear in more than one parameter group",
        "a parameter belongs to one group",
    ),
    "optimizer-duplicate": (
        "UserWarning",
        "optimizer contains a parameter group with duplicate parameters",
        "a parameter belongs to one group",
    ),
    "optimizer-lbfgs-groups": (
        "ValueError",
        "LBFGS doesn't support per-parameter options",
        "LBFGS has one group",
    ),
    "optimizer-muon-dims": ("ValueError", "Muon only supports 2D parameters", "Muon needs matrices"),
    "optimizer-closure-missing": (
        "TypeError",
        "missing 1 required positional argument: 'closure'",
        "LBFGS needs a closure",
    ),
    "optimizer-dense-gradients": (
        "RuntimeError",
        "SparseAdam does not support dense gradients",
        "SparseAdam needs sparse gradients",
    ),
    # numpy
    "numpy-requires-grad": (
        "RuntimeError",
        "Can't call numpy() on Tensor that requires grad",
        "numpy has no gradients",
    ),
    "numpy-off-cpu": (
        "TypeError",
        "device type tensor to numpy",
        "numpy lives on the CPU",
        "tested 2.13 on a stand-in device",
    ),
    "numpy-sparse": ("TypeError", "layout tensor to numpy", "numpy is dense"),
    "numpy-conj": (
        "RuntimeError",
        "Can't call numpy() on Tensor that has conjugate bit set",
        "numpy has no lazy bits",
    ),
    "numpy-neg": (
        "RuntimeError",
        "Can't call numpy() on Tensor that has negative bit set",
        "numpy has no lazy bits",
    ),
    "numpy-dtype": ("TypeError", "Got unsupported ScalarType", "numpy has not every dtype"),
    "dlpack-requires-grad": (
        "BufferError",
        "Can't export tensors that require gradient",
        "numpy has no gradients",
    ),
    "array-times-tensor": (
        "TypeError",
        "unsupported operand type(s) for",
        "operators do not mix arrays and tensors",
    ),
    "from-numpy-of-tensor": ("TypeError", "expected np.ndarray (got Tensor)", "from_numpy takes arrays"),
    # in place
    "leaf-in-place": (
        "RuntimeError",
        "a leaf Variable that requires grad is being used in an in-place operation",
        "leaves are not written in place",
    ),
    "leaf-view-in-place": (
        "RuntimeError",
        "a view of a leaf Variable that requires grad is being used in an in-place operation",
        "leaves are not written in place",
    ),
    "leaf-in-place-function": (
        "RuntimeError",
        "a leaf Variable that requires grad has been used in an in-place operation",
        "leaves are not written in place",
    ),
    "multi-view-in-place": (
        "RuntimeError",
        "This view is the output of a function that returns multiple views",
        "one of several views is not written in place",
    ),
    "no-grad-view-in-place": (
        "RuntimeError",
        "is being modified inplace with grad mode enabled",
        "a view made under no_grad is not written with grad mode on",
    ),
    "function-view-in-place": (
        "RuntimeError",
        "was created inside a custom Function",
        "a view from a custom Function is not written in place",
    ),
    "saved-modified": (
        "RuntimeError",
        "modified by an inplace operation",
        "saved tensors are not written before backward",
    ),
    "expanded-in-place": (
        "RuntimeError",
        "unsupported operation: more than one element of the written-to tensor refers to a single memory"
        " location",
        "expanded tensors are not written in place",
    ),
    "out-requires-grad": (
        "RuntimeError",
        "functions with out=... arguments don't support automatic differentiation",
        "out= has no gradient",
    ),
    "detach-view-in-place": (
        "RuntimeError",
        "Can't detach views in-place",
        "views are not detached in place",
    ),
    # backward
    "backward-twice": (
        "RuntimeError",
        "Trying to backward through the graph a second time",
        "backward frees the graph",
    ),
    "backward-no-grad-fn": (
        "RuntimeError",
        "does not require grad and does not have a grad_fn",
        "backward starts at a tensor with a graph",
    ),
    "gradient-missing": (
        "AttributeError",
        "'NoneType' object has no attribute",
        "gradients are kept at leaves",
    ),
    "backward-non-scalar": (
        "RuntimeError",
        "grad can be implicitly created only for scalar outputs",
        "backward starts at one number",
    ),
    "backward-gradient-shape": (
        "RuntimeError",
        "Mismatch in shape: grad_output[0]",
        "a gradient has its tensor's shape",
    ),
    "backward-off-dtype": (
        "RuntimeError",
        "grad can be implicitly created only for real scalar outputs",
        "a loss is real",
    ),
    "grad-unused": (
        "RuntimeError",
        "appears to not have been used in the graph",
        "a gradient needs a path",
    ),
    "grad-input-not-tracked": (
        "RuntimeError",
        "One of the differentiated Tensors does not require grad",
        "a gradient needs a tracked input",
    ),
    "derivative-missing": ("RuntimeError", "is not implemented", "some operations have no derivative"),
    "hook-of-untracked": (
        "RuntimeError",
        "cannot register a hook on a tensor that doesn't require gradient",
        "hooks need a gradient",
    ),
    "retain-grad-of-untracked": (
        "RuntimeError",
        "can't retain_grad on Tensor that has requires_grad=False",
        "retain_grad needs a gradient",
    ),
    # flags
    "flag-of-non-leaf": (
        "RuntimeError",
        "you can only change requires_grad flags of leaf variables",
        "only a leaf's flag can be changed",
    ),
    "requires-grad-integer": (
        "RuntimeError",
        "can require gradients",
        "gradients need floating point or complex numbers",
    ),
    "requires-grad-integer-method": (
        "RuntimeError",
        "only Tensors of floating point dtype can require gradients",
        "gradients need floating point or complex numbers",
    ),
    "deepcopy-non-leaf": (
        "RuntimeError",
        "Only Tensors created explicitly by the user",
        "only leaves are deep-copied",
    ),
    "no-grad-not-called": (
        "TypeError",
        "object does not support the context manager protocol",
        "a grad mode is called before it is entered",
    ),
    # modules
    "assign-over-parameter": ("TypeError", "as parameter", "a parameter is replaced by a parameter"),
    "register-parameter": ("TypeError", "object to parameter", "a parameter is registered as a Parameter"),
    "register-non-leaf-parameter": (
        "ValueError",
        "Model parameters must be created explicitly",
        "a parameter is a leaf",
    ),
    "module-not-initialized": (
        "AttributeError",
        "cannot assign parameters before Module.__init__() call",
        "a module is initialized before its attributes",
    ),
    # devices, dtypes
    "device-mismatch": (
        "RuntimeError",
        "Expected all tensors to be on the same device",
        "tensors of one operation share a device",
        "read 2.13",
    ),
    "device-mismatch-recurrent": (
        "RuntimeError",
        "Input and hidden tensors are not at the same device",
        "tensors of one operation share a device",
        "tested 2.13 on a stand-in device",
    ),
    "device-mismatch-convolution": (
        "RuntimeError",
        "and weight type",
        "tensors of one operation share a device",
        "read 2.13",
    ),
    "dtype-mismatch": ("RuntimeError", "Found dtype", "a loss and its target share a dtype"),
    "dtype-mismatch-matmul": ("RuntimeError", "have the same dtype", "factors share a dtype"),
    "result-type-cast": (
        "RuntimeError",
        "can't be cast to the desired output type",
        "an in-place result keeps its dtype",
    ),
    "index-dtype": ("IndexError", "tensors used as indices must be long", "indices are integers"),
    # inference mode
    "inference-saved": (
        "RuntimeError",
        "Inference tensors cannot be saved for backward",
        "inference tensors stay outside autograd",
    ),
    "inference-in-place": (
        "RuntimeError",
        "Inplace update to inference tensor outside InferenceMode",
        "inference tensors stay outside autograd",
    ),
    "inference-requires-grad": (
        "RuntimeError",
        "Setting requires_grad=True on inference tensor outside InferenceMode",
        "inference tensors stay outside autograd",
    ),
    # custom functions, hooks, checkpoint
    "once-differentiable": (
        "RuntimeError",
        "trying to differentiate twice a function that was marked with @once_differentiable",
        "a once differentiable Function is differentiated once",
    ),
    "function-no-backward": (
        "NotImplementedError",
        "You must implement either the backward or vjp method",
        "a Function needs a backward",
    ),
    "function-gradient-count": (
        "RuntimeError",
        "returned an incorrect number of gradients",
        "backward returns one gradient for each input",
    ),
    "function-gradient-shape": (
        "RuntimeError",
        "returned an invalid gradient",
        "a gradient has its tensor's shape",
    ),
    "function-saves-other": (
        "TypeError",
        "save_for_backward can only save variables",
        "save_for_backward keeps tensors",
    ),
    "nan-gradient": ("RuntimeError", "returned nan values in its", "anomaly mode refuses a gradient of nan"),
    "grad-of-non-leaf": (
        "UserWarning",
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed",
        "gradients are kept at leaves",
    ),
    "function-legacy": (
        "RuntimeError",
        "Legacy autograd function with non-static forward method is deprecated",
        "a Function has static methods",
    ),
    "checkpoint-reentrant-grad": (
        "RuntimeError",
        "torch.utils.checkpoint is incompatible with .grad()",
        "reentrant checkpoint needs backward()",
    ),
    "checkpoint-no-grad": (
        "UserWarning",
        "None of the inputs have requires_grad=True. Gradients will be None",
        "reentrant checkpoint needs an input that requires grad",
    ),
    # several processes
    "ddp-frozen": (
        "RuntimeError",
        "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a"
        " gradient",
        "DDP needs something to train",
        "tested 2.13 with one process",
    ),
    "ddp-unused": (
        "RuntimeError",
        "Expected to have finished reduction in the prior iteration before starting a new one",
        "DDP needs every parameter in the loss",
        "tested 2.13 with one process",
    ),
    "dataloader-grad": (
        "RuntimeError",
        "functions with out=... arguments don't support automatic differentiation",
        "a DataLoader worker sends tensors without grad",
    ),
    "serialize-non-leaf": (
        "RuntimeError",
        "Cowardly refusing to serialize non-leaf tensor which requires_grad",
        "a non-leaf is not sent to another process",
    ),
}

_cache: dict[str, Message] = {}


def message(key: str) -> Message:
    """The entry of `key`. Raises KeyError for a key that is not there."""
    found = _cache.get(key)
    if found is None:
        found = _cache[key] = Message(key, *_ROWS[key])
    return found


def keys() -> tuple[str, ...]:
    """All keys."""
    return tuple(_ROWS)


def recognise(error: str, text: str) -> Message | None:
    """The entry that an exception belongs to, from its type's name and its text; None for a stranger.

    The entry with the longest matching piece wins: a view of a leaf is not a leaf.
    """
    best: Message | None = None
    for key in _ROWS:
        entry = message(key)
        fits = entry.error == error and entry.piece and entry.piece in text
        if fits and (best is None or len(entry.piece) > len(best.piece)):
            best = entry
    return best
