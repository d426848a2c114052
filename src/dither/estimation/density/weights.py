"""The weight of one point mass beside everything else, and the likelihood that it has."""

from __future__ import annotations

from typing import Final

import numpy as np

from dither.arrays import Floats
from dither.estimation.density.mode import DensityMode
from dither.estimation.density.model import DensityModel

_WEIGHT_STEPS: Final = 6


def without_atom(model: DensityModel, mode: DensityMode, number: int | None) -> tuple[Floats, float]:
    """Return the law of all reports but those of one atom, and the atom's weight."""
    if number is None:
        return mode.expected, 0.05
    weight = float(mode.shares[model.bins + number])
    rest = np.maximum(mode.expected - weight * model.atoms[:, number], 1e-300) / max(1.0 - weight, 1e-9)
    return rest, weight


def best_height(counts: Floats, rest: Floats, law: Floats, weight: float) -> float:
    """Return the log-likelihood of an atom with its best weight beside the rest."""
    for _ in range(_WEIGHT_STEPS):
        ratio = (law - rest) / ((1.0 - weight) * rest + weight * law)
        step = float(counts @ ratio) / max(float(counts @ ratio**2), 1e-300)
        weight = min(max(weight + step, 1e-5), 0.9999)
    return float(counts @ np.log((1.0 - weight) * rest + weight * law))


def lengths_of_line(gaps: Floats) -> Floats:
    """Return the length of line that each of several unordered places stands for."""
    order = np.argsort(gaps, kind="stable")
    steps = np.zeros(gaps.size)
    steps[order] = np.gradient(gaps[order]) if gaps.size > 1 else 1.0
    return np.maximum(steps, 0.0)
