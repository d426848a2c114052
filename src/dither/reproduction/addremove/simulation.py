"""Paper 004: the algorithms, their noise drawn once for all data sets, and their errors."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np

from dither.arrays import Floats
from dither.central import (
    INDEPENDENT,
    SHIFTED,
    TRANSFORMED,
    Hourglass,
    LaplacePair,
    MeanMethod,
    PairNoise,
    StaircasePair,
)
from dither.central.staircase import DiscreteStaircase
from dither.central.tally import RecordGrid
from dither.domains import Interval
from dither.randomness import Seeded
from dither.reproduction.figure import Setting
from dither.reproduction.version import PUBLISHED, RIGHT

Rows = list[dict[str, Any]]

GRID: Final = RecordGrid(Interval(0, 1))
RECORDS: Final = 10_000

FIRST: Final = "Algorithm 1"
SECOND: Final = "Algorithm 2"
LAPLACE: Final = "Algorithm 3, Laplace"
RINGS: Final = "Algorithm 3, 2-D staircase"
HOURGLASS: Final = "Algorithm 3, hourglass"
BOUND: Final = "lower bound"

KINDS: Final[dict[str, tuple[MeanMethod, PairNoise]]] = {
    FIRST: (INDEPENDENT, LaplacePair()),
    SECOND: (SHIFTED, LaplacePair()),
    LAPLACE: (TRANSFORMED, LaplacePair()),
    RINGS: (TRANSFORMED, StaircasePair()),
    HOURGLASS: (TRANSFORMED, Hourglass()),
}
HIGH_PRIVACY: Final = (FIRST, SECOND, LAPLACE, HOURGLASS)
LOW_PRIVACY: Final = (LAPLACE, RINGS, HOURGLASS)
MEANS: Final = (0.0, 1e-4, 3e-4, 1e-3, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)


def runs(setting: Setting) -> int:
    """Return how often the noise is drawn."""
    return setting.runs(100_000, 10_000)


@lru_cache(maxsize=128)
def noise_of(kind: str, epsilon: float, runs: int, seed: int) -> Floats:
    """Draw the noise of the sum and of the count, in units of one record; it does not depend on the data."""
    method, noise = KINDS[kind]
    law, source = noise.law(method, GRID, Fraction(epsilon)), Seeded(seed)
    # `solve` is linear, so it can be applied to the noise alone; in Fractions, to keep whole counts whole.
    drawn = [method.solve(*law.draw(source), GRID) for _ in range(runs)]
    return np.array([[float(total), float(count)] for total, count in drawn]).T


def _printed(noise: Floats) -> Floats:
    """Return hourglass noise as eq. (10) prints it: with a ceiling, so one line too far at z₁ ≥ 0."""
    return np.array([noise[0], noise[1] + (noise[0] >= 0.0)])


def literal(total: Floats, count: Floats) -> Floats:
    """Return clipped quotients, as `central.mean` does with the convention LITERAL, for arrays."""
    safe = np.where(count == 0.0, 1.0, count)
    return np.where(count == 0.0, (np.sign(total) + 1.0) / 2.0, np.clip(total / safe, 0.0, 1.0))


def midpoint(total: Floats, count: Floats) -> Floats:
    """Return quotients as `central.mean` does by default: one half where the count is not positive."""
    return np.where(count <= 0.0, 0.5, literal(total, count))


def error_of(
    noise: Floats, mean: float, records: int, convention: Callable[[Floats, Floats], Floats] = literal
) -> float:
    """Return the mean squared error for records of this mean."""
    share = convention(mean * records + noise[0], records + noise[1])
    return float(np.mean((share - mean) ** 2))


def _leading(kind: str, epsilon: float, mean: float) -> float:
    """Return n²·MSE for large n, from the exact moments of the law."""
    method, noise = KINDS[kind]
    law = noise.law(method, GRID, Fraction(epsilon))
    return law.deviation(method.weights(mean, GRID)) ** 2


def bound(epsilon: float) -> float:
    """Return σ²(ε), which no mean can beat in the worst case as n grows [Thm 4]."""
    return DiscreteStaircase.best(GRID.cells, Fraction(epsilon)).variance


def large(setting: Setting, kinds: tuple[str, ...], epsilon: float, mean: float, panel: str) -> Rows:
    """Return the errors of some algorithms on 10 000 records, times n²ε²/2 as the paper scales them."""
    scale = epsilon**2 / 2.0
    row = {"panel": panel, "ε": epsilon, "μ": mean}
    rows: Rows = []
    for kind in kinds:
        noise = noise_of(kind, epsilon, runs(setting), setting.seed)
        found = {
            "error": scale * RECORDS**2 * error_of(noise, mean, RECORDS),
            "for large n": scale * _leading(kind, epsilon, mean),
        }
        rows.append({"version": RIGHT, **row, "algorithm": kind, **found})
        if kind == HOURGLASS:
            wrong = scale * RECORDS**2 * error_of(_printed(noise), mean, RECORDS)
            rows.append({"version": PUBLISHED, **row, "algorithm": f"{kind}, eq. (10)", "error": wrong})
    least = scale * bound(epsilon)
    rows.append({"version": RIGHT, **row, "algorithm": BOUND, "error": least, "for large n": least})
    return rows
