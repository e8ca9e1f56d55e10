"""Pyro: modules whose parameters it keeps in a store of its own.

Source: pyro-ppl/pyro, pyro/nn/module.py: `PyroModule` derives from `torch.nn.Module`; `pyro.optim` takes options, not parameters.
"""

from __future__ import annotations

from gradtrail.interp.models.registry import ALIASES, MADE_BY_INDEX, MODULES

ALIASES["pyro.nn.module.PyroModule"] = "pyro.nn.PyroModule"
MODULES.add("pyro.nn.PyroModule")
MADE_BY_INDEX.add("pyro.nn.PyroModule")
