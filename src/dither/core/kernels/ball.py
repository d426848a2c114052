"""Patterns of flips in a Hamming ball: how a few changes of one person are reported with one ε.

A pattern says for each of `size` changes whether its report is flipped. Patterns with at most `radius` flips
have one probability, and all other patterns have another. For any changes, the probability of the observed
reports is the average of the probabilities of some patterns, times a constant, because all other reports are
fair coins. So the ratio of the two probabilities bounds the ratio between two histories. Patterns whose flips
are drawn together attain it [FutureRand: arXiv 2112.12279].
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb

import numpy as np

from dither.core.kernels.coin import BiasedCoin
from dither.foundation.arrays import Mask
from dither.foundation.randomness import Source


@dataclass(frozen=True)
class FlipPattern:
    """Flips of `size` reports: uniform in the ball of a radius with the coin's probability, else outside."""

    size: int
    radius: int
    coin: BiasedCoin

    @staticmethod
    def best(ratio: Fraction, size: int) -> FlipPattern:
        """Return the ball that keeps a ratio with the largest mean of a report; the smaller one if equal."""
        return _best(ratio, size)

    @property
    def inside(self) -> int:
        """The number of patterns in the ball."""
        return sum(comb(self.size, flips) for flips in range(self.radius + 1))

    @property
    def outside(self) -> int:
        """The number of other patterns."""
        return (1 << self.size) - self.inside

    @property
    def ratio(self) -> Fraction:
        """The probability of a pattern in the ball, divided by the probability of one outside."""
        return self.coin.odds * Fraction(self.outside, self.inside)

    @property
    def _weights(self) -> tuple[Fraction, Fraction]:
        chance = self.coin.probability
        return chance / self.inside, (1 - chance) / self.outside

    @property
    def mean(self) -> Fraction:
        """The mean of 1 for a report that is not flipped and −1 for one that is."""
        near, far = self._weights
        return (near - far) * comb(self.size - 1, self.radius)  # the sum of C(k−1, j) − C(k−1, j−1), j ≤ r

    @property
    def covariance(self) -> Fraction:
        """The covariance of the signs of two reports; 0 if there is one."""
        if self.size < 2:
            return Fraction(0)
        near, far = self._weights
        alike = sum(
            comb(self.size - 2, flips) - 2 * comb(self.size - 2, flips - 1) if flips else 1
            for flips in range(self.radius + 1)
        ) + sum(comb(self.size - 2, flips - 2) for flips in range(2, self.radius + 1))
        return (near - far) * alike - self.mean**2

    def draw(self, people: int, source: Source) -> Mask:
        """Return a pattern for each person: a row of booleans, True for a flip."""
        held = self.coin.toss(people, source)
        ways = [comb(self.size, flips) for flips in range(self.size + 1)]
        near = source.choices(ways[: self.radius + 1], people)
        left = np.where(held, near, self.radius + 1 + source.choices(ways[self.radius + 1 :], people))
        flips = np.zeros((people, self.size), dtype=np.bool_)
        for index in range(self.size):  # the remaining indices are equally likely to have the remaining flips
            flips[:, index] = source.integers(self.size - index, people) < left
            left = left - flips[:, index]
        return flips


@lru_cache(maxsize=256)
def _best(ratio: Fraction, size: int) -> FlipPattern:
    def mean(radius: int) -> Fraction:
        inside = sum(comb(size, flips) for flips in range(radius + 1))
        return comb(size - 1, radius) / (inside * (ratio - 1) + (1 << size))

    radius = max(range(size), key=lambda radius: (mean(radius), -radius))
    inside = sum(comb(size, flips) for flips in range(radius + 1))
    chance = inside * ratio / (inside * ratio + (1 << size) - inside)
    return FlipPattern(size, radius, BiasedCoin.below(chance))
