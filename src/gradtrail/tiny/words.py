"""What torch says when it refuses or warns, word for word.

The sentences that the core needs stand here, and those that are long; `{}` is for what varies. The others stand where
they are said.
"""

from __future__ import annotations

# --------------------------------------------------------------------------------- flags and leaves

FLAG_IS_A_BOOL = "requires_grad must be a bool"
FLAG_IS_A_BOOL_ = "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not {}"
FLAG_OF_COMPUTED = "you can only change requires_grad flags of leaf variables."
DETACH_INSTEAD = (
    " If you want to use a computed variable in a subgraph that doesn't require differentiation use"
    " var_no_grad = var.detach()."
)
FLAG_OF_INTEGERS = "only Tensors of floating point and complex dtype can require gradients"
FLAG_OF_INTEGERS_ = "only Tensors of floating point dtype can require gradients"
ONLY_FLOATS = "Only Tensors of floating point and complex dtype can require gradients"
LEAF_WRITTEN = "a leaf Variable that requires grad is being used in an in-place operation."
NO_DEEPCOPY = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
    " If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage,"
    " see https://github.com/pytorch/pytorch/pull/103001"
)

# ---------------------------------------------------------------------------------------- gradients

NO_GRAD_HERE = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't"
    " be populated during autograd.backward(). If you indeed want the .grad field to be populated for a"
    " non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by"
    " mistake, make sure you access the leaf Tensor instead. See"
    " github.com/pytorch/pytorch/pull/30531 for more information."
)
GRAD_IS_A_TENSOR = "assigned grad expected to be a Tensor or None but got grad of type {}"
GRAD_OF_ITSELF = "can't assign Variable as its own grad"
GRAD_OF_OTHER_TYPE = (
    "attempting to assign a gradient with dtype '{}' to a tensor with grad_dtype '{}'. The gradient must match"
    " the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute"
    " with a specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of"
    " a tensor and its gradient may break downstream systems that assume they match."
)
GRAD_ELSEWHERE = (
    "attempting to assign a gradient with device type '{}' to a tensor with device type '{}'. Please ensure"
    " that the gradient and the tensor are on the same device"
)
GRAD_OF_OTHER_SIZE = (
    "attempting to assign a gradient of size '{}' to a tensor of size '{}'. Please ensure that the gradient"
    " and the tensor are the same size"
)
RETAINS_NOTHING = "can't retain_grad on Tensor that has requires_grad=False"
HOOK_ON_NOTHING = "cannot register a hook on a tensor that doesn't require gradient"
HOOK_MADE_ONE = "can't replace a None gradient with a non-None value"
HOOK_GAVE_NO_TENSOR = "expected Variable, but hook returned '{}'"
HOOK_CHANGED_TYPE = "hook '{}' has changed the type of value (was {} got {})"
HOOK_CHANGED_SIZE = "hook '{}' has changed the size of value"
DATA_IS_A_TENSOR = "Variable data has to be a tensor, but got {}"
DATA_OF_INTEGERS = "data set to a tensor that requires gradients must be floating point or complex dtype"

# ----------------------------------------------------------------------------------------- backward

TWICE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have"
    " already been freed). Saved intermediate values of the graph are freed when you call .backward() or"
    " autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or"
    " if you need to access saved tensors after calling backward."
)
WRITTEN_SINCE = (
    "one of the variables needed for gradient computation has been modified by an inplace operation:"
    " [{} {}]{} is at version {}; expected version {} instead. Hint: enable anomaly detection to find the"
    " operation that failed to compute its gradient, with"
    " torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
DETACHED_SINCE = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported,"
    " please use out-of-place `.detach()` instead"
)
NO_INPUTS = "`inputs` argument to `{}()` cannot be empty."
NO_FIRST_GRADIENT = "gradients can be either Tensors or None, but got {}"
ROOT_IS_A_TENSOR = "Expected output to be a torch.Tensor"
SOURCE_IS_A_TENSOR = "all inputs have to be Tensors or GradientEdges, but got {}"
NOT_ONE_NUMBER = "grad can be implicitly created only for scalar outputs"
MISMATCH = "Mismatch in shape: grad_output[{}] has a shape of {} and output[{}] has a shape of {}."
NO_GRAPH = "element {} of tensors does not require grad and does not have a grad_fn"
NO_SOURCE = "One of the differentiated Tensors does not require grad"
UNUSED = (
    "The differentiated Tensor at index {} appears to not have been used in the graph. Set allow_unused=True"
    " if this is the desired behavior."
)
NO_GRADIENT = "expected Variable or None (got {})"
UNUSED_ARE_ZERO = (
    "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
)
OTHER_GRADIENT = " - got {} but expected shape compatible with {}"
OTHER_DEVICE = " - expected device {} but got {}"
CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its"
    " gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to"
    " avoid this. If you have to use this function, make sure to reset the .grad fields of your parameters to"
    " None after use to break the cycle and avoid the leak."
)

# -------------------------------------------------------------------------------------------- views

_WHY_NOT = {
    "several": (
        "This view is the output of a function that returns multiple views. Such functions do not allow the"
        " output views to be modified inplace. You should replace the inplace operation by an out-of-place"
        " one."
    ),
    "no_grad": (
        "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by"
        " moving both the view and the inplace either both inside the no_grad block (if you don't want the"
        " inplace to be tracked) or both outside (if you want the inplace to be tracked)."
    ),
    "function": (
        "This view was created inside a custom Function (or because an input was returned as-is) and the"
        " autograd logic to handle view+inplace would override the custom backward associated with the custom"
        " Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning"
        " the output of the custom Function."
    ),
}


def view_is_written(how: str, output: str, indirect: bool) -> str:
    """Why a view must not be written, or must not have been; `output` names the node that made it."""
    what = "its base or another view of its base has been" if indirect else "is being"
    head = f"{output} is a view" if output else "A view was created in no_grad mode"
    if output and how == "no_grad":
        head += " of a view which was created in no_grad mode"
    quiet = how == "no_grad" or not output
    return f"{head} and {what} modified inplace{' with grad mode enabled' * quiet}. {_WHY_NOT[how]}"


DETACH_VIEW = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for"
    " training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence"
    " detach_() cannot be called on these gradients. To fix this error, please refer to the"
    " Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
)
NOT_VIEWABLE = (
    "view size is not compatible with input tensor's size and stride (at least one dimension spans across two"
    " contiguous subspaces). Use .reshape(...) instead."
)
INDEX_OF_NUMBER = (
    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a"
    " 0-dim tensor to a number"
)

# ------------------------------------------------------------------------------------------ numbers

COPY_OF_TENSOR = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or"
    " sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor)."
)
SCALAR_OF_GRAPH = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using"
    " tensor.detach() first."
)
LIST_OF_ARRAYS = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to"
    " a single numpy.ndarray with numpy.array() before converting to a tensor."
)
INDICES_ARE_LONG = (
    "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got {}"
    " instead (while checking arguments for embedding)"
)
NO_SUCH_T = (
    "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will"
    " throw an error in a future release. Consider `x.mT` to transpose batches of matrices or"
    " `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
)
T_OF_NUMBER = "Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases."

# ------------------------------------------------------------------------------- memory and devices

OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location."
    " Please clone() the tensor before performing the operation."
)
PARTLY = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single"
    " memory location. Please clone() the tensor before performing the operation."
)
OTHER_SHAPE = "output with shape {} doesn't match the broadcast shape {}"
NO_OUT = (
    "functions with out=... arguments don't support automatic differentiation, but one of the arguments"
    " requires grad."
)
DEVICES = "Expected all tensors to be on the same device"

# --------------------------------------------------------------------------------------- arithmetic

BOOL_SUB = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()`"
    " operator instead."
)
BOOL_NEG = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use"
    " the `~` or `logical_not()` operator instead."
)

# --------------------------------------------------------------- modules, optimizers, own Functions

BEFORE_INIT = "cannot assign {} before Module.__init__() call"

CANNOT = "cannot assign '{}' as {} '{}' ({} or None expected)"
OTHER_SIZE = (
    "size mismatch for {}: copying a param with shape {} from checkpoint, the shape in current model is {}."
)
NO_ORDER = (
    "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets"
    " will change between runs. Please use a list instead."
)
NAMED_OR_NOT = "all optimizer param groups should be with/without names. cannot add param group {} names to the optimizer"
DUPLICATE = (
    "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see"
    " github.com/pytorch/pytorch/issues/40967 for more information"
)
DIRTY_IS_LOST = (
    "Some elements marked as dirty during the forward method were not returned as output. The inputs that are"
    " modified inplace must all be outputs of the Function."
)
DIRTY_IS_NO_INPUT = (
    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should"
    " be passed to ctx.mark_dirty()."
)
KEEPS_TENSORS = "save_for_backward can only save variables, but argument {} is of type {}"
GRADIENT_OF_NO_TENSOR = (
    "function {} returned a gradient different than None at position {}, but the corresponding forward input"
    " was not a Variable"
)
NO_INSTANCES = (
    "{} should not be instantiated. Methods on autograd functions are all static, so you should invoke them on"
    " the class itself. Instantiating an autograd function will raise an error in a future version of PyTorch."
)
LEGACY = (
    "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd"
    " function with static forward method. (Example:"
    " https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
)
NO_BACKWARD = (
    "You must implement either the backward or vjp method for your custom autograd.Function to use it with"
    " backward mode AD."
)

# -------------------------------------------------------------------------------------- checkpoints

REENTRANT_OR_NOT = (
    "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9,"
    " calling checkpoint without use_reentrant will raise an exception. use_reentrant=False is recommended, but"
    " if you need to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for"
    " more details on the differences between the two variants."
)
NOT_REENTRANT = (
    "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs`"
    " parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call"
    " .backward() without passing the `inputs` argument."
)
NEEDLESS = "none of output has requires_grad=True, this checkpoint() is not necessary"
NO_INPUT_WANTS = "None of the inputs have requires_grad=True. Gradients will be None"
OTHER_COUNT = (
    "torch.utils.checkpoint: A different number of tensors was saved during the original forward and"
    " recomputation.\nNumber of tensors saved during forward: {}\nNumber of tensors saved during"
    " recomputation: {}.\n"
)
OTHER_KIND = (
    "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during"
    " the forward pass.\n{}.\n"
)
OTHER_KIND_AT = "tensor at position {}:\nsaved metadata: {}\nrecomputed metadata: {}\n"
CHECKPOINT_TIP = """
Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint‑debug mode globally.

If this error occurs under torch.compile with automatic_dynamic_shapes enabled,
it may be because the recomputation selected a different compiled graph than the
forward pass (e.g., a dynamic graph instead of the original static graph).
To fix this, either:
  - Use torch._dynamo.mark_dynamic() to explicitly mark varying dimensions as
    dynamic upfront, avoiding the static-to-dynamic transition.
  - Call torch._C._dynamo.eval_frame._set_lru_cache(False) to disable LRU cache
    reordering, which can change which graph is checked first between forward
    and recompute.
See https://github.com/pytorch/pytorch/issues/166926 for more details and
workaround examples.
"""
