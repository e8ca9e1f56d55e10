"""Names of autograd nodes that depend on how an operation is called.

Most operations have one node; its name stands in the row. For a few the name, or its number, follows from
the arguments. Each is asked of torch by `tests/laws/test_node_names.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradtrail.laws.shapes import Shape


def node_name(operation: str, node: str, given: Mapping[str, str], shapes: Sequence[Shape]) -> str:
    """The name of the node of a call, or `node` as the row has it.

    `operation` is the row's name, `given` maps arguments that were passed to the kind of their value
    ("tensor", "number", ...), `shapes` are those of its tensors. A name without a number at its end
    says that the number is not known.
    """
    operation = operation.partition(".folded")[0]
    if operation in ("sum", "mean"):
        return node.rstrip("01") + ("1" if "dim" in given else "0")
    if operation == "rsub":
        return "RsubBackward0" if given.get("other") in ("tensor", "matrix", "batch") else "RsubBackward1"
    if (
        operation in ("add", "add_", "sub", "sub_", "mul", "mul_", "div", "div_")
        and node
        and not node[-1].isdigit()
    ):
        return node + "0"
    if operation == "round":
        return node.rstrip("01") + ("1" if "decimals" in given else "0")
    if operation == "sort" and "stable" not in given:
        return "SortBackward0"
    if operation == "split" and given.get("split_size_or_sections") in ("basic", "advanced"):
        return "SplitWithSizesBackward0"
    if operation == "nn.functional.linear":
        return _linear(node, given, shapes)
    if operation == "matmul":
        return _matmul(node, shapes)
    return node


def told_node(node: str) -> str:
    """A node's name for people: dots stand for a number that is not known, as in `ClampBackward...`."""
    return node + "..." if node.endswith("Backward") else node


def _linear(node: str, given: Mapping[str, str], shapes: Sequence[Shape]) -> str:
    first = shapes[0] if shapes else None
    if first is None or len(first) != 2:
        return node
    return "AddmmBackward0" if "bias" in given else "MmBackward0"


def _matmul(node: str, shapes: Sequence[Shape]) -> str:
    if len(shapes) != 2 or shapes[0] is None or shapes[1] is None:
        return node
    names = {(1, 1): "DotBackward0", (2, 1): "MvBackward0", (2, 2): "MmBackward0"}
    return names.get((len(shapes[0]), len(shapes[1])), node)
