"""Words that several rules share."""

from __future__ import annotations

from gradtrail.source.words import Word

OPTIMIZER = (
    Word(rb"optim\.(?!Optimizer\b|lr_scheduler\b)[A-Z]"),
    Word(rb"optim import ", row=rb"import (?!Optimizer$|lr_scheduler$)"),
)
"""Where an optimizer may be made."""

IN_PLACE = rb"[\w\])] *[-+*/%@&|^]=|\] *=[^=]|[a-z0-9](?<!requires_grad)_\("
"""Where a tensor may be written in place."""

WRITTEN = (
    rb"(?:\[[^\n]{0,300}\])?(?:\.\w+\([^\n]{0,300}\)|\.data)?"
    rb"(?: *[-+*/%@&|^]=|\.[a-z0-9_]+(?<!requires_grad)_\()|\[[^\n]{0,300}\] *=[^=]"
)
"""What follows the name of a tensor where it, or a part of it, is written in place."""

PRODUCT = rb"\bnn\.|\bF\.|linear|matmul|\bb?mm\(|einsum|@"
"""Where operands must be of one dtype: torch does not promote them."""

IN_PLACE_FUNCTION = Word(rb"inplace=True", row=rb"(?:F|functional)\.\w+\([^\n]{0,300}inplace")
"""Where a function is told to write its input. Of a layer it is said where the layer is made, not called."""
