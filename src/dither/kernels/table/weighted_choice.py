"""Choices among public candidates by integer weights between two bounds L and H.

If every weight is an integer from L to H and the candidates do not depend on the input, then for two inputs
the weights of one candidate differ by a factor of at most H/L, and so do the sums by which they are divided.
The ratio of probabilities is at most (H/L)² ≤ e^ε. Floats may compute the weights, which are then rounded and
clipped to the bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import ClassVar, Final, final

import numpy as np

from dither.arrays import Floats, Integers, Mask
from dither.errors import InvalidParameter, found
from dither.kernels.blocks import FEW
from dither.privacy.exact import exp_below
from dither.randomness import Source

_HIGH: Final = 1 << 40
_MOST: Final = 1 << 22  # candidates, so that their weights add up to at most 2^62
_BLOCK: Final = 1 << 18  # weights processed together, so that they stay in the cache


@final
@dataclass(frozen=True)
class Grades:
    """Weights from `low` to `high`: score 0 has the weight `high`, score 1 the weight `low`."""

    low: int
    high: int = _HIGH

    MOST: ClassVar[int] = _HIGH

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.high <= _HIGH:
            raise InvalidParameter(
                f"weights must satisfy 1 ≤ low ≤ high ≤ 2^40, not {found(self.low)} and {found(self.high)}"
            )

    @staticmethod
    def largest(epsilon: float) -> Grades:
        """Return the bounds with the largest ratio such that certainly (H/L)² ≤ e^ε."""
        bound = exp_below(Fraction(epsilon))
        square = -(-(_HIGH**2) * bound.denominator // bound.numerator)
        return Grades(isqrt(square - 1) + 1)

    @property
    def ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one candidate, if all inputs have the same candidates."""
        return Fraction(self.high, self.low) ** 2

    def weights(self, scores: Floats) -> Integers:
        """Return the weights of scores, which are clipped to [0, 1]."""
        fall = float(np.log(self.low / self.high))
        rounded = np.rint(self.high * np.exp(np.clip(scores, 0.0, 1.0) * fall)).astype(np.int64)
        return np.asarray(np.clip(rounded, self.low, self.high))

    def exponential(self, distances: Floats, allowed: Mask | None = None) -> Integers:
        """Return the weights of candidates by their distances, scaled in each row to scores from 0 to 1.

        Candidates that are not allowed have weight 0 and do not affect the scale of their row.
        """
        kept = distances if allowed is None else np.where(allowed, distances, np.nan)
        nearest, farthest = np.nanmin(kept, axis=1, keepdims=True), np.nanmax(kept, axis=1, keepdims=True)
        spread = np.where(farthest > nearest, farthest - nearest, 1.0)
        weights = self.weights((distances - nearest) / spread)
        return weights if allowed is None else weights * allowed


def draw(weights: Integers, source: Source) -> Integers:
    """Draw a column for each row, with probability exactly its weight over the row's sum."""
    if weights.shape[1] > _MOST:
        raise InvalidParameter(f"at most 2^22 candidates are supported, not {weights.shape[1]}")
    ends = np.cumsum(weights, axis=1)
    ticket = below(ends[:, -1], source)
    return np.asarray((ends <= ticket[:, None]).sum(axis=1), dtype=np.int64)


def below(bounds: Integers, source: Source) -> Integers:
    """Draw a uniform integer below each bound, up to 2^62, by rejection; for few of them one by one."""
    if bounds.size < FEW:
        return np.array([_ticket(bound, source) for bound in bounds.tolist()], dtype=np.int64)
    out = np.empty(bounds.size, dtype=np.int64)
    wanted = np.arange(bounds.size)
    while wanted.size:
        words = (source.words(wanted.size) >> np.uint64(2)).astype(np.int64)
        bound = bounds[wanted]
        kept = words < (1 << 62) // bound * bound
        out[wanted[kept]] = (words % bound)[kept]
        wanted = wanted[~kept]
    return out


def _ticket(bound: int, source: Source) -> int:
    most = (1 << 62) // bound * bound
    while True:
        drawn = source.bits(62)
        if drawn < most:
            return drawn % bound


def blocks(rows: int, columns: int) -> Iterator[slice]:
    """Yield slices of rows such that the weights of one slice stay in the cache."""
    size = max(1, _BLOCK // max(columns, 1))
    for begin in range(0, rows, size):
        yield slice(begin, min(begin + size, rows))


def largest_ratio(rows: int, columns: int, weights: Callable[[Integers], Integers]) -> float | None:
    """Return the largest ratio of two probabilities of one column over all rows, rounded up.

    Return None if a column is possible for one row and impossible for another.
    """
    most, least = np.zeros(columns), np.full(columns, np.inf)
    for block in blocks(rows, columns):
        part = weights(np.arange(block.start, block.stop))
        chance = part / part.sum(axis=1, keepdims=True)
        np.maximum(most, chance.max(axis=0), out=most)
        np.minimum(least, chance.min(axis=0), out=least)
    possible = most > 0.0
    if (least[possible] == 0.0).any():
        return None
    return float((most[possible] / least[possible]).max()) * (1.0 + 1e-14)  # more than three rounding errors
