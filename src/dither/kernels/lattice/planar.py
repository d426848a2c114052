"""Planar Laplace noise on a square lattice: weights decay with the Euclidean distance, and draws are exact.

The weight of an offset z is b^⌊|z|⌋ with b = e^(−p/q). No tail is cut off. Rejection sampling:

    g = the sum of three geometric variables of ratio b;  z uniform in a (2g+2) × (2g+4) box
    accept z if |z| < g + 1

The number of ways to get g, (g+1)(g+2)/2, is an eighth of the number of points of the box. So an accepted z
has weight Σ b^g over g ≥ ⌊|z|⌋, which is b^⌊|z|⌋ up to a factor. About four of five draws are accepted. Only
integers decide: a coin of probability e^(−i/j) is tossed with uniform integers by Forsythe's method.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Final, final

import numpy as np

from dither.arrays import Integers, Mask
from dither.errors import InvalidParameter, found
from dither.kernels.table.weighted_choice import below
from dither.randomness import Source

_LARGEST: Final = 1 << 52  # leaves room below 2^63 for products with the number of terms of a series


@final
@dataclass(frozen=True)
class PlanarNoise:
    """Offsets z on the integer lattice with probability ∝ e^(−⌊|z|⌋·fall/per)."""

    fall: int
    per: int

    def __post_init__(self) -> None:
        if not (self.fall >= 1 and 1 <= self.per <= _LARGEST):
            raise InvalidParameter(
                "the rate of the noise must be a positive fraction with a denominator ≤ 2^52"
            )

    @staticmethod
    def largest(epsilon: float, reach: int, precision: int = 1 << 10) -> PlanarNoise:
        """Return the noise with the largest rate that spends at most ε between places `reach` steps apart."""
        per = -(-Fraction(precision * reach) // Fraction(epsilon))
        if per > _LARGEST:
            raise InvalidParameter(
                f"ε = {found(epsilon)} is too small for so fine a lattice; choose fewer cells"
            )
        return PlanarNoise(precision, int(per))

    def exponent(self, reach: int) -> Fraction:
        """Return the exact ε between places at most `reach` steps apart: ⌊|z|⌋ differs by at most `reach`."""
        return Fraction(self.fall * reach, self.per)

    def weight(self, right: int, up: int) -> Fraction:
        """Return −ln of the weight of an offset, relative to the offset (0, 0)."""
        return self.exponent(isqrt(right * right + up * up))

    def draw(self, size: int, source: Source) -> Integers:
        """Draw offsets, as pairs."""
        offsets = np.empty((size, 2), dtype=np.int64)
        wanted = np.arange(size)
        while wanted.size:
            radius = self._geometric(wanted.size, source)
            radius += self._geometric(wanted.size, source)
            radius += self._geometric(wanted.size, source)
            right = below(2 * radius + 2, source) - (radius + 1)
            up = below(2 * radius + 4, source) - (radius + 2)
            kept = _within(right, up, radius)
            offsets[wanted[kept], 0], offsets[wanted[kept], 1] = right[kept], up[kept]
            wanted = wanted[~kept]
        return offsets

    def _geometric(self, size: int, source: Source) -> Integers:
        """Draw geometric variables of ratio e^(−fall/per): one of ratio e^(−1/per), divided by `fall`."""
        low = np.empty(size, dtype=np.int64)
        wanted = np.arange(size)
        while wanted.size:
            tried = source.integers(self.per, wanted.size)
            kept = _coins(tried, self.per, source)
            low[wanted[kept]] = tried[kept]
            wanted = wanted[~kept]
        high = np.zeros(size, dtype=np.int64)
        going = np.arange(size)
        while going.size:  # the quotient by `per` is geometric, with a coin of probability e^(−1)
            going = going[_coins(np.ones_like(going), 1, source)]
            high[going] += 1
        return (low + self.per * high) // self.fall


def _within(right: Integers, up: Integers, radius: Integers) -> Mask:
    """Return whether |z| < g + 1, in integers: |z|² ≤ g·(g + 2) = (g+1)² − 1."""
    if radius.max() < 1 << 30:
        return np.asarray(right * right + up * up <= radius * (radius + 2))
    across, along, room = (side.astype(object) for side in (right, up, radius))  # squares beyond 64 bits
    return np.asarray(across * across + along * along <= room * (room + 2), dtype=np.bool_)


def _coins(heads: Integers, of: int, source: Source) -> Mask:
    """Toss coins of probability e^(−heads/of), heads ≤ of, by Forsythe's method."""
    even = np.ones(heads.size, dtype=np.bool_)
    going, term = np.arange(heads.size), 1
    while going.size:  # success k has probability heads/(of·k): the exponential series of −heads/of
        going = going[source.integers(of * term, going.size) < heads[going]]
        even[going] ^= True
        term += 1
    return even
