"""Patterns that would lower the variance: a quadratic function of 0 and 1, climbed by single flips."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from dither.arrays import Floats

_FLIPS: Final = 4000  # at most: a search ends when no flip helps
_CHANGED: Final = 2.5  # entries of a known pattern that are flipped at random before a search, on average
_SHIFTED: Final = 3  # places by which a known pattern is shifted at most


def climb(prices: Floats, ratio: float, patterns: Floats) -> Floats:
    """Return patterns at which no single flip raises sᵀ·prices·s, from each of the given ones."""
    found = patterns.copy()
    step = ratio - 1.0
    own = np.diag(prices) * step**2
    slope = (1.0 + step * found) @ prices
    rows = np.arange(len(found))
    for _ in range(_FLIPS):
        sign = 1.0 - 2.0 * found
        gain = 2.0 * step * sign * slope + own
        place = gain.argmax(axis=1)
        best = gain[rows, place]
        moving = np.flatnonzero(best > 1e-12 * np.abs(best).max())
        if not moving.size:
            break
        where, by = place[moving], sign[moving, place[moving]]
        found[moving, where] += by
        slope[moving] += step * by[:, None] * prices[where]
    return found


def gains(prices: Floats, ratio: float, patterns: Floats) -> Floats:
    """Return sᵀ·prices·s/(π·s) of each pattern: one with a positive value would lower the variance."""
    columns = 1.0 + (ratio - 1.0) * patterns
    return np.asarray((columns @ prices * columns).sum(axis=1) / columns.mean(axis=1))


@final
@dataclass(frozen=True, eq=False)
class Starts:
    """Patterns from which searches begin: thresholds of Gaussian vectors, changed copies of known ones."""

    root: Floats  # a square root of the covariance of the Gaussian vectors
    ratio: float
    rng: np.random.Generator

    def fresh(self, count: int) -> Floats:
        """Return patterns with ones where a Gaussian vector is largest, about one entry in E + 1."""
        size = len(self.root)
        heights = self.rng.standard_normal((count, size)) @ self.root.T
        share = np.clip(self.rng.uniform(0.4, 1.6, count) / (self.ratio + 1.0), 1.0 / size, 0.6)
        place = np.minimum((1.0 - share) * size, size - 1).astype(np.int64)
        level = np.sort(heights, axis=1)[np.arange(count), place]
        return (heights >= level[:, None]).astype(np.float64)

    def changed(self, patterns: Floats, weights: Floats, count: int) -> Floats:
        """Return patterns drawn by weight, some with random flips and some shifted."""
        size, chance = patterns.shape[1], weights / weights.sum()
        flipped = patterns[self.rng.choice(len(patterns), count, p=chance)]
        flipped = np.abs(flipped - (self.rng.random(flipped.shape) < _CHANGED / size))
        shifted = patterns[self.rng.choice(len(patterns), count // 2, p=chance)]
        by = self.rng.integers(-_SHIFTED, _SHIFTED + 1, len(shifted))
        return np.concatenate(
            [flipped, [np.roll(row, int(far)) for row, far in zip(shifted, by, strict=True)]]
        )
