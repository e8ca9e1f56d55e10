"""What is taken for a refusal of autograd, and what is not: pastes as people mangle them, and texts that only sound alike."""

from __future__ import annotations

import pytest

from gradtrail.integrations.explain import recognised

NUMPY = "RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."

OURS = {
    "html entities": "ValueError: can&#39;t optimize a non-leaf Tensor",
    "an acute accent": "ValueError: can´t optimize a non-leaf Tensor",
    "a modifier letter": "ValueError: canʼt optimize a non-leaf Tensor",
    "another hyphen": "ValueError: can't optimize a non‑leaf Tensor",
    "a soft hyphen": "ValueError: can't optimize a non-leaf Ten\xadsor",
    "a zero-width space": "ValueError: can't optimize a non-leaf \u200bTensor",
    "escaped for Markdown": "RuntimeError: you can only change requires\\_grad flags of leaf variables.",
    "escaped in a repr": "{'error': 'ValueError: can\\\\'t optimize a non-leaf Tensor'}",
    "emphasis": "RuntimeError: Can't call numpy() on Tensor that **requires grad**.",
    "a space in parentheses": "RuntimeError: Can't call numpy( ) on Tensor that requires grad",
    "no apostrophe": "ValueError: cant optimize a non-leaf Tensor",
    "broken at a hyphen": "RuntimeError: a leaf Variable that requires grad is being used in an in-\nplace operation.",
    "broken in a word": "RuntimeError: a leaf Variable that requires grad is being used in an in-place oper\nation.",
    "cut by a test run": "FAILED a.py::b - RuntimeError: Can't call numpy() on Tensor that requires g...",
    "behind other words": "it occurs ValueError: can't optimize a non-leaf Tensor",
    "in bold": "**ValueError: can't optimize a non-leaf Tensor**",
    "a question behind it": NUMPY + "\nhow do I fix this?",
    "another language before it": "训练时报错：can't optimize a non-leaf Tensor",
    "told inside of another": "InternalTorchDynamoError: RuntimeError: Can't call numpy() on Tensor that requires grad.",
    "a group": "  + Exception Group Traceback (most recent call last):\n  |   File \"a.py\", line 3, in <module>\n  |     f()\n"
    "  | ExceptionGroup: many (1 sub-exception)\n  +-+---------------- 1 ----------------\n"
    "    | Traceback (most recent call last):\n    |   File \"a.py\", line 1, in f\n    |     x.numpy()\n    | " + NUMPY,
    "a cluster's log": f"Dec 01 10:00:00 node1 train[17]: {NUMPY}",
    "a compose log": f"trainer-1  | {NUMPY}",
    "a file of the CI": f"##[error]{NUMPY}",
    "the gradient of a name": "  File \"a.py\", line 4, in <module>\n    w.grad.zero_()\n"
    "AttributeError: 'NoneType' object has no attribute 'zero_'",
    "no parentheses, in a test": "    def test_it():\n>       with torch.no_grad:\n"
    "E       TypeError: 'type' object does not support the context manager protocol\n\ntest_a.py:4: TypeError\n",
}  # fmt: skip

FOREIGN = {
    "a notebook that shows torch's code": "------------\nCancelled      Traceback (most recent call last)\nCell In[1], line 5\n"
    "----> 5 torch.optim.Adam(Params())\n\nFile /site-packages/torch/optim/optimizer.py:398, in Optimizer.__init__(self)\n"
    "--> 398 param_groups = list(params)\n    400     raise ValueError(\"optimizer got an empty parameter list\")\n\n"
    "Cancelled: user pressed stop\n",
    "a test that expected it": ">       with pytest.raises(RuntimeError, match=\"Trying to backward through the graph a second time\"):\n"
    "E       Failed: DID NOT RAISE RuntimeError\n\ntest_a.py:5: Failed\n",
    "a schedule given a number": "  File \"a.py\", line 3, in <module>\n    MultiStepLR(opt, milestones=5)\n"
    "  File \"/site-packages/torch/optim/lr_scheduler.py\", line 9, in __init__\n    self.milestones = Counter(milestones)\n"
    "TypeError: 'int' object is not iterable",
    "a closure of the user's": "  File \"/site-packages/torch/optim/lbfgs.py\", line 9, in step\n    loss = closure()\n"
    "  File \"a.py\", line 3, in closure\n    cfg[\"params\"]\nKeyError: 'params'",
    "another context manager": "  File \"a.py\", line 3, in <module>\n    with torch.no_grad(), scaler:\n"
    "TypeError: 'GradScaler' object does not support the context manager protocol",
    "a sentence behind it": "RuntimeError: shape '[3, 4]' is invalid for input of size 10\n"
    "My tensor does not require grad and does not have a grad_fn if that matters.",
    "a warning before it": "a.py:3: UserWarning: None of the inputs have requires_grad=True. Gradients will be None\n"
    "torch.OutOfMemoryError: CUDA out of memory.",
    "code with a comment": "It works but why?\n\nimport torch\nw = torch.zeros(3, requires_grad=True)\n"
    "# w += 1 gives: a leaf Variable that requires grad is being used in an in-place operation.\nwith torch.no_grad():\n    w += 1\n",
    "another step": "TypeError: training_step() missing 1 required positional argument: 'closure'",
    "dimensions": "RuntimeError: expected 4D tensor (got 3D tensor)",
    "a class target": "RuntimeError: Expected object of scalar type Long but got scalar type Float for argument #2 'target'",
    "a job": "RuntimeError: job 7 was created inside a custom Function app",
    "a server": "RuntimeError: server returned an invalid gradient, aborting round 3",
    "a configuration": "ValueError: some parameters appear in more than one parameter group: lr, wd in config.yaml",
    "None without a gradient": "  File \"a.py\", line 4, in <module>\n    w.data.zero_()\n"
    "AttributeError: 'NoneType' object has no attribute 'zero_'",
    "a question on dtypes": "Do my input and weight tensors need the same dtype in a Linear layer?",
    "a question on versions": "Is x modified by an inplace operation when I call x.add_(1) under no_grad?",
    "a question on inference": "At inference my output does not require grad and does not have a grad_fn, is that normal?",
    "a question on usage": "A parameter appears to not have been used in the graph, how can I find out which?",
    "a question on order": "Does the order matter when parameters are organized in ordered collections?",
    "a memory of old code": "I know a leaf variable was used in an inplace operation in my old code, and it ran. Why?",
}  # fmt: skip

SLOW = {
    "escapes": "\x1b]" * 100_000,
    "with": '  File "a.py", line 3, in f\n    ' + "with " * 40_000 + "\nTypeError: no",
    "mat1 and mat2": "RuntimeError: " + "mat1 and mat2 " * 20_000,
    "operands": "TypeError: " + "unsupported operand type(s) for " * 30_000,
    "arguments": "RuntimeError: " + "tensor for argument #1 'a' is on x, " * 30_000,
    "blanks": " " * 1_000_000,
    "lines": "\n" * 1_000_000,
    "markers": "^" * 1_000_000,
    "frames": 'File "' * 160_000,
    "prefixes": "[rank0]: " * 100_000,
    "a number": f'  File "a.py", line {"9" * 5_000}, in f\nRuntimeError: no',
}


@pytest.mark.parametrize("how", OURS)
def test_ours(how: str) -> None:
    assert recognised(OURS[how]) is not None


@pytest.mark.parametrize("what", FOREIGN)
def test_foreign(what: str) -> None:
    assert recognised(FOREIGN[what]) is None


@pytest.mark.parametrize("what", SLOW)
def test_texts_made_to_be_slow(what: str) -> None:
    """A pattern that tries every way to split these takes minutes or hours for each."""
    assert recognised(SLOW[what]) is None
