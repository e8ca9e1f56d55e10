"""PyTorch Geometric: layers derive from `MessagePassing`, which is a module.

Source: pyg-team/pytorch_geometric, torch_geometric/nn/conv/message_passing.py.
"""

from __future__ import annotations

from gradtrail.interp.models.registry import ALIASES, MODULES

_CLASS = "torch_geometric.nn.MessagePassing"
for _path in (
    "torch_geometric.nn.conv.MessagePassing",
    "torch_geometric.nn.conv.message_passing.MessagePassing",
):
    ALIASES[_path] = _CLASS
MODULES.add(_CLASS)
