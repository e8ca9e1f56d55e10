"""An autograd small enough to read, with the laws and the error messages of torch 2.13.

Read `autograd` first, from top to bottom: it is all of autograd. Each other chapter is one file, and short:

- `words`: what torch says when it refuses or warns.
- `values`: what a tensor is made of: types, devices, shapes, memory.
- `modes`: grad mode, and how it is switched.
- `autograd`: tensors, versions, the graph, backward, steps, and views.
- `calls`: how a call is taken, and how it is refused.
- `operations`: how an operation is made of a step, and what operations share.
- `making`: tensors that are made, of numbers or at random.
- `arithmetic`: operations that work number by number.
- `views`: tensors that look at the memory of another one, and those that copy instead.
- `indexing`: `x[...]` and `x[...] = y`.
- `sums`: sums, means, the greatest and the least.
- `products`: products of matrices and vectors.
- `moving`: to another type or device, and to numpy.
- `printing`: how a tensor is printed.
- `python_side`: operators, and what else Python asks of a tensor.
- `losses`: `nn.functional`, what layers compute, and losses.
- `module`: modules, and the Parameters that they know of.
- `layers`: the layers that are built of them.
- `optimizers`: SGD and Adam.
- `functions`: Functions with a gradient of one's own.
- `checkpoint`: computing once more instead of keeping.
- `names`: which of all this is torch's, and where torch has it.

None of them imports one that comes after it. It needs numpy. `gradtrail tiny SCRIPT` runs a program with this package
in the place of torch, and here it can be used as torch is: `from gradtrail import tiny`, `tiny.tensor(1.0)`.
"""

from __future__ import annotations

from typing import Any

from gradtrail.tiny import indexing, moving, printing, python_side  # noqa: F401  they give methods to tensors
from gradtrail.tiny.names import modules
from gradtrail.tiny.names import torch as _torch
from gradtrail.tiny.values import NotInTiny

__all__ = ["NotInTiny", "modules"]

autograd = _torch.autograd  # as in torch; what is in the chapter is imported from `gradtrail.tiny.autograd`


def __getattr__(name: str) -> Any:
    return getattr(_torch, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *vars(_torch)})
