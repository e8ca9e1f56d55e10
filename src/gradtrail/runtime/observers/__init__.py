"""What can be seen of a training without looking at every operation: optimizers, backwards, steps.

One file for each kind of fault that shows there; `form` says what a detector is told, `hooks` is what tells it.
"""

from __future__ import annotations

from gradtrail.runtime.observers.form import Detector, Scope
from gradtrail.runtime.observers.gradients import Gradients
from gradtrail.runtime.observers.idle_optimizers import IdleOptimizers
from gradtrail.runtime.observers.kept_graphs import KeptGraphs
from gradtrail.runtime.observers.late_parameters import LateParameters
from gradtrail.runtime.observers.modules import Modules
from gradtrail.runtime.observers.remade_optimizers import RemadeOptimizers
from gradtrail.runtime.observers.stale_gradients import StaleGradients

DETECTORS: tuple[type[Detector], ...] = (
    Modules,
    StaleGradients,
    IdleOptimizers,
    RemadeOptimizers,
    KeptGraphs,
    LateParameters,
    Gradients,
)


def detectors(scope: Scope) -> list[Detector]:
    """One of each."""
    return [kind(scope) for kind in DETECTORS]
