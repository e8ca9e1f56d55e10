"""Every call that a model knows, with arguments that nobody would write: the walk goes on."""

from __future__ import annotations

import pytest

from gradtrail.interp.inspect import refusals
from gradtrail.interp.models import registry
from gradtrail.interp.models.python import BUILTINS

STRANGE = (
    "",
    "None",
    "*unknown",
    "**unknown",
    "unknown, unknown, unknown, unknown",
    "1.5, 'text', [unknown]",
    "torch.ones(2)",
)


@pytest.mark.parametrize("path", sorted({*registry.CALLS, *BUILTINS}))
def test_a_call_with_strange_arguments(path: str) -> None:
    head = path.partition(".")[0]
    start = f"import torch\nimport {head}\n" if "." in path else "import torch\n"
    for arguments in STRANGE:
        refusals(f"{start}def f(unknown):\n    return {path}({arguments})\nf(given)\n")
        refusals(f"{start}unknown = given()\nfor call in ({path}, print):\n    call({arguments})\n")
