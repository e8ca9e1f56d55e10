"""Measure what observing a training costs, against the same training without it.

usage: python benchmarks/overhead.py [--rounds N] [--steps N] [--json FILE]

Training loops on the CPU (a small MLP, where Python is most of the time; a CNN; a transformer), one thread, CPU time. In
each round every variant runs once, in turn, in one process, so that a slow moment of the machine meets them all:

    plain       the loop alone
    control     the same again: how far two measurements of one thing lie apart
    run         as under `gradtrail run`: the first steps are watched and recorded, then nothing is
    recorded    the recorder left on for all steps
    anomaly     torch's own anomaly mode, without its look for nan

Told is the median over the rounds of each variant's time by that of `plain` in the same round; for `run` also what is left
once the watched steps are over, and how much the memory of the process has grown from the second round to the last.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from gradtrail.runtime.recorder import recorder  # noqa: E402
from gradtrail.runtime.session import Session  # noqa: E402
from gradtrail.runtime.torch_compat import TORCH  # noqa: E402

WATCHED = 5


class Block(nn.Module):
    """One layer of a transformer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.last_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.inner = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Attention, then the layers inside, each added to what came in."""
        normed = self.norm(x)
        x = x + self.attention(normed, normed, normed, need_weights=False)[0]
        return x + self.inner(self.last_norm(x))


def mlp() -> tuple[nn.Module, torch.Tensor]:
    """A model that is so small that the time is Python's."""
    return nn.Sequential(
        nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)
    ), torch.randn(64, 32)


def cnn() -> tuple[nn.Module, torch.Tensor]:
    """Three convolutions."""
    layers = [nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)]
    layers += [nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)]
    layers += [
        nn.Conv2d(32, 32, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, 8),
    ]
    return nn.Sequential(*layers), torch.randn(16, 3, 32, 32)


def transformer() -> tuple[nn.Module, torch.Tensor]:
    """Four layers."""
    return nn.Sequential(*[Block(64) for _ in range(4)], nn.Linear(64, 8)), torch.randn(8, 32, 64)


MODELS: dict[str, Callable[[], tuple[nn.Module, torch.Tensor]]] = {
    "MLP": mlp,
    "CNN": cnn,
    "transformer": transformer,
}


def train(make: Callable[[], tuple[nn.Module, torch.Tensor]], steps: int, marks: list[float]) -> float:
    """A training of so many steps; the last loss. `marks` gets the CPU time at its start, after the watched steps, at its end."""
    torch.manual_seed(0)
    model, x = make()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    marks.append(time.process_time())
    for step in range(steps):
        if step == 2 * WATCHED:
            marks.append(time.process_time())
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
    marks.append(time.process_time())
    return loss.item()


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """As under `gradtrail run`."""
    session = Session(None, WATCHED, _raise)
    session.begin()
    try:
        yield
    finally:
        session.end()


@contextlib.contextmanager
def recorded() -> Iterator[None]:
    """The recorder left on."""
    assert TORCH.sequence_number is not None
    mine = recorder(TORCH.sequence_number)
    mine.start()
    try:
        yield
    finally:
        mine.stop()


def _raise(wrong: Exception) -> None:
    raise wrong


VARIANTS: dict[str, Callable[[], Any]] = {
    "plain": contextlib.nullcontext,
    "control": contextlib.nullcontext,
    "run": watched,
    "recorded": recorded,
    "anomaly": lambda: torch.autograd.set_detect_anomaly(True, check_nan=False),
}


def measured(model: str, rounds: int, steps: int) -> dict[str, Any]:
    """The figures of one model."""
    ratios: dict[str, list[float]] = {name: [] for name in VARIANTS}
    left: list[float] = []
    results: set[float] = set()
    memory: list[int] = []
    with contextlib.nullcontext():
        train(MODELS[model], 20, [])
    for number in range(rounds):
        names = list(VARIANTS)
        names = names[number % len(names) :] + names[: number % len(names)]
        times: dict[str, list[float]] = {}
        for name in names:
            gc.collect()
            marks: list[float] = []
            with VARIANTS[name]():
                results.add(train(MODELS[model], steps, marks))
            times[name] = marks
        whole = {name: marks[-1] - marks[0] for name, marks in times.items()}
        for name in VARIANTS:
            ratios[name].append(whole[name] / whole["plain"])
        left.append((times["run"][2] - times["run"][1]) / (times["plain"][2] - times["plain"][1]))
        memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    figures: dict[str, Any] = {name: round(statistics.median(found), 3) for name, found in ratios.items()}
    spread = ratios["control"]
    figures["control from"], figures["control to"] = round(min(spread), 3), round(max(spread), 3)
    figures["run, afterwards"] = round(statistics.median(left), 3)
    figures["memory grown, MB"] = round((memory[-1] - memory[min(1, len(memory) - 1)]) / 1024, 1)
    figures["same result"] = len(results) == 1
    return figures


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = {model: measured(model, options.rounds, options.steps) for model in MODELS}
    print(
        f"Python {platform.python_version()}, torch {torch.__version__}, {options.steps} steps, {options.rounds} rounds"
    )
    heads = list(next(iter(found.values())))
    for head in heads:
        print(f"{head:<18}", *(f"{figures[head]!s:>12}" for figures in found.values()))
    print(f"{'':<18}", *(f"{model:>12}" for model in found))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
