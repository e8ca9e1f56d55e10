"""A program and a finding in it, for the tests of the reports."""

from __future__ import annotations

from gradtrail.findings.diagnostic import Diagnostic, Fix, Step
from gradtrail.laws.text import text
from gradtrail.source.files import SourceFiles
from gradtrail.source.place import Edit, Place

TRAIN = """\
import torch
from torch import optim

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


# weights of the first layer
W = torch.randn(10, 10, requires_grad=True)

# to the device
W = W.to(device)

# and the optimizer
optimizer = optim.Adam([W], lr=0.01)
"""

FOLDER = "/home/ada/project"
FILENAME = FOLDER + "/train.py"


def place(row: int, column: int, end_column: int, filename: str = FILENAME) -> Place:
    return Place(filename, row, column, row, end_column)


def files(**others: str) -> SourceFiles:
    """The program, and other files by their names without `.py`."""
    given = {FILENAME: TRAIN}
    given.update({f"{FOLDER}/{name}.py": content for name, content in others.items()})
    return SourceFiles(given)


CREATED = Step(place(8, 5, 44), "created", text("a leaf: you created it"))
MOVED = Step(
    place(11, 5, 17),
    "moved",
    text("a move to another device returns a new, computed tensor: not a leaf"),
)
REFUSED = Step(place(14, 25, 26), "refused", text("ValueError: can't optimize a non-leaf Tensor"))

FINDING = Diagnostic(
    rule="non-leaf-in-optimizer",
    severity="error",
    certainty="raises-off-cpu",
    place=place(14, 25, 26),
    message=text(
        "{optimizer} will refuse `{name}` wherever `device` is not the CPU", optimizer="Adam", name="W"
    ),
    label=text("ValueError: can't optimize a non-leaf Tensor"),
    trail=(CREATED, MOVED, REFUSED),
    why=text("an optimizer updates leaves, the tensors you created; gradients are kept only there"),
    fixes=(
        Fix(
            text("make it a leaf after the move"),
            (
                Edit(place(8, 5, 44), "torch.randn(10, 10)"),
                Edit(Place(FILENAME, 11, 17), ".requires_grad_()"),
            ),
            "safe",
        ),
    ),
)
