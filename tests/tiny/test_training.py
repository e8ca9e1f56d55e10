"""A small network learns on tiny, as it does on torch."""

from __future__ import annotations

import time

import numpy as np
import pytest

from gradtrail import tiny as torch

nn, F = torch.nn, torch.nn.functional


def spiral(points: int = 100, arms: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Points on arms that wind around one another, and the number of the arm of each."""
    random = np.random.default_rng(0)
    radius = np.linspace(0.1, 1, points)
    angles = [arm * 2 * np.pi / arms + radius * 5 + random.normal(0, 0.1, points) for arm in range(arms)]
    places = [np.stack([radius * np.sin(angle), radius * np.cos(angle)], 1) for angle in angles]
    return np.concatenate(places), np.repeat(np.arange(arms), points)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_spiral_is_learnt_in_seconds(device: str) -> None:
    places, arms = spiral()
    torch.manual_seed(0)
    x = torch.from_numpy(places).float().to(device)
    target = torch.from_numpy(arms).to(device)
    net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 2)).to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    start = time.perf_counter()
    for _ in range(400):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), target)
        loss.backward()
        optimizer.step()
    seconds = time.perf_counter() - start
    with torch.no_grad():
        accuracy = (net(x).argmax(1) == target).float().mean().item()
    print(f"accuracy {accuracy:.3f} in {seconds:.1f} s")
    assert accuracy > 0.95
    assert seconds < 20
