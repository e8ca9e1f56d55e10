"""Every call that a model knows, with arguments that nobody would write: the walk goes on."""

from __future__ import annotations

import pytest
import torch

from gradtrail.interp.inspect import refusals
from gradtrail.interp.models import registry
from gradtrail.interp.models.python import BUILTINS

STRANGE = (
    "",
    "0",
    "''",
    "-1, 10**12",
    "10**12",
    "float('inf')",
    "float('nan')",
    "1j",
    "'x', 'y'",
    "float('inf'), 'a', 'b', 1j, 2",
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


RECEIVERS: dict[str, type] = {
    "'text'": str,
    "b'text'": bytes,
    "[1, unknown]": list,
    "(1, unknown)": tuple,
    "{'a': 1}": dict,
    "{1, 2}": set,
    "'{}{0}{a!r}{'": str,
    "(-3)": int,
    "(2.5)": float,
    "(1j)": complex,
    "range(3)": range,
    "iter([1])": type(iter([1])),
}


@pytest.mark.parametrize("receiver", RECEIVERS)
def test_a_method_with_strange_arguments(receiver: str) -> None:
    for name in dir(RECEIVERS[receiver]):
        refusals(_calls(f"{receiver}.{name}"))


@pytest.mark.parametrize("name", sorted({*dir(torch.Tensor), *registry.TENSOR_METHODS}))
def test_a_tensor_method_with_strange_arguments(name: str) -> None:
    refusals(_calls(f"torch.ones(2, requires_grad=unknown).{name}"))


@pytest.mark.parametrize("cls", sorted(registry.OBJECT_METHODS))
def test_a_method_of_a_library_object_with_strange_arguments(cls: str) -> None:
    for name in registry.OBJECT_METHODS[cls]:
        refusals(_calls(f"{cls}(unknown).{name}"))


def _calls(function: str) -> str:
    """A program that calls `function` in all strange ways, each by itself."""
    head = "import torch\nimport numpy\n"
    calls = "".join(f"def f{n}(unknown):\n    {function}({one})\n" for n, one in enumerate(STRANGE))
    return head + calls + "".join(f"f{n}(given)\n" for n in range(len(STRANGE)))
