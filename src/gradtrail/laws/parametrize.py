"""What reparametrizing a module does: its parameter becomes a tensor that is computed anew.

The name stays, and behind it stands a non-leaf: an optimizer refuses it, writing it in place is lost at
the next forward. The trainable parameters have other names. Checked by `tests/laws/test_parametrize.py`.
"""

from __future__ import annotations

from typing import NamedTuple


class Parametrization(NamedTuple):
    """What a function does to the parameter `name` of a module (its argument, "weight" by default).

    `parameters` are the attribute paths, with `{name}` in them, of what is trainable afterwards;
    `buffers` likewise. `recomputed` says when the tensor behind the name is made: "on-read" (a property:
    a new tensor at each read), "on-forward" (a plain attribute, made anew by a forward pre-hook).
    `name_argument` is the argument that names the parameter. `tracked_at_once` is False where the tensor
    behind the name is a leaf without gradient until the first forward.
    """

    path: str
    parameters: tuple[str, ...]
    buffers: tuple[str, ...]
    recomputed: str
    name_argument: str = "name"
    tracked_at_once: bool = True


_ON_READ = "on-read"
_ON_FORWARD = "on-forward"

_ROWS: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "torch.nn.utils.weight_norm": (("{name}_g", "{name}_v"), (), _ON_FORWARD),
    "torch.nn.utils.spectral_norm": (("{name}_orig",), ("{name}_u", "{name}_v"), _ON_FORWARD),
    "torch.nn.utils.parametrizations.weight_norm": (
        ("parametrizations.{name}.original0", "parametrizations.{name}.original1"),
        (),
        _ON_READ,
    ),
    "torch.nn.utils.parametrizations.spectral_norm": (
        ("parametrizations.{name}.original",),
        ("parametrizations.{name}.0._u", "parametrizations.{name}.0._v"),
        _ON_READ,
    ),
    "torch.nn.utils.parametrizations.orthogonal": (
        ("parametrizations.{name}.original",),
        ("parametrizations.{name}.0.base",),
        _ON_READ,
    ),
    "torch.nn.utils.parametrize.register_parametrization": (
        ("parametrizations.{name}.original",),
        (),
        _ON_READ,
    ),
    "torch.nn.utils.prune.identity": (("{name}_orig",), ("{name}_mask",), _ON_FORWARD),
    "torch.nn.utils.prune.random_unstructured": (("{name}_orig",), ("{name}_mask",), _ON_FORWARD),
    "torch.nn.utils.prune.l1_unstructured": (("{name}_orig",), ("{name}_mask",), _ON_FORWARD),
    "torch.nn.utils.prune.random_structured": (("{name}_orig",), ("{name}_mask",), _ON_FORWARD),
    "torch.nn.utils.prune.ln_structured": (("{name}_orig",), ("{name}_mask",), _ON_FORWARD),
    "torch.nn.utils.prune.custom_from_mask": (("{name}_orig",), ("{name}_mask",), _ON_FORWARD),
}

UNDONE_BY = {
    "torch.nn.utils.remove_weight_norm": "torch.nn.utils.weight_norm",
    "torch.nn.utils.remove_spectral_norm": "torch.nn.utils.spectral_norm",
    "torch.nn.utils.parametrize.remove_parametrizations": "torch.nn.utils.parametrizations",
    "torch.nn.utils.prune.remove": "torch.nn.utils.prune",
}
"""Functions that put a new Parameter, a leaf, back under the name."""

_NAME_ARGUMENT = {"torch.nn.utils.parametrize.register_parametrization": "tensor_name"}


def parametrization(path: str) -> Parametrization | None:
    """What the function at a dotted path does to a module's parameter, or None when it is none of these."""
    row = _ROWS.get(path)
    if row is None:
        return None
    # The old spectral_norm sets `weight.data` there (torch/nn/utils/spectral_norm.py, SpectralNorm.apply).
    at_once = path != "torch.nn.utils.spectral_norm"
    return Parametrization(path, *row, _NAME_ARGUMENT.get(path, "name"), at_once)


def paths() -> tuple[str, ...]:
    """The dotted paths of all functions with a row."""
    return tuple(_ROWS)
