"""Noise in the plane, on a lattice and on rings."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import ClassVar, Final

import numpy as np

from dither.core.kernels.alias import below
from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Array, Integers, Mask
from dither.foundation.canonical import HEXADECIMAL, WHOLE, Fields
from dither.foundation.randomness import Source
from dither.privacy.exact import exp_below

_LARGEST: Final = 1 << 52  # leaves room below 2^63 for products with the number of terms of a series


@dataclass(frozen=True)
class PlanarNoise:
    """Offsets z on the integer lattice with probability ∝ e^(−⌊|z|⌋·fall/per)."""

    fall: int
    per: int

    fields: ClassVar[Fields] = Fields(fall=WHOLE, per=WHOLE)

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
                f"expected a larger ε for so fine a lattice, got {found(epsilon)}; choose fewer cells"
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


_BITS: Final = 64
_WORD: Final = 1 << _BITS
_WIDEST: Final = 1 << 24
LEAST: Final = 0.01  # the smallest ε: a geometric variable is counted one by one


@dataclass(frozen=True)
class RingNoise:
    """Offsets z on the integer lattice with probability ∝ (fall/2^64)^k on ring k."""

    first: int
    width: int
    fall: int

    fields: ClassVar[Fields] = Fields(first=WHOLE, width=WHOLE, fall=HEXADECIMAL)

    def __post_init__(self) -> None:
        if not 1 <= self.first <= self.width <= _WIDEST or not 1 <= self.fall < _WORD:
            raise InvalidParameter(
                "expected a first radius of rings from 1 to their width, a width up to 2^24 and a fall "
                "from 1 to 2^64 − 1"
            )

    @staticmethod
    def largest(epsilon: float, first: int, width: int) -> RingNoise:
        """Return the noise with the steepest fall that spends at most ε between neighbouring rings."""
        if epsilon < LEAST:
            raise InvalidParameter(
                f"expected ε ≥ {LEAST} for rings, got {found(epsilon)}; use PlanarLaplace, because it is as "
                f"accurate below {LEAST}"
            )
        # The ceiling of 2^64·e^(−ε), so that 2^64/fall is at most e^ε.
        return RingNoise(first, width, int(-(-_WORD // exp_below(Fraction(epsilon)))))

    @property
    def ratio(self) -> Fraction:
        """The ratio of the weights of neighbouring rings."""
        return Fraction(_WORD, self.fall)

    def ring(self, right: int, up: int) -> int:
        """Return the number of the ring of an offset, in integers: |z| < R if and only if ⌊|z|⌋ < R."""
        length = isqrt(right * right + up * up)
        return 0 if length < self.first else (length - self.first) // self.width + 1

    def draw(self, size: int, source: Source) -> Integers:
        """Draw offsets, as pairs."""
        offsets = np.empty((size, 2), dtype=np.int64)
        wanted = np.arange(size)
        while wanted.size:
            radius = self.first + self.width * self._disks(wanted.size, source)
            right = below(2 * radius, source) - radius
            up = below(2 * radius, source) - radius
            kept = _inside(right, up, radius)
            offsets[wanted[kept], 0], offsets[wanted[kept], 1] = right[kept], up[kept]
            wanted = wanted[~kept]
        return offsets

    @cached_property
    def kinds(self) -> tuple[int, int, int]:
        """The integer weights of the three kinds of j, all times (1−b)³·2^128."""
        rest = _WORD - self.fall
        return (
            self.first**2 * rest**2,
            (self.width**2 + 2 * self.first * self.width) * self.fall * rest,
            2 * self.width**2 * self.fall**2,
        )

    def _disks(self, size: int, source: Source) -> Integers:
        """Draw numbers j of disks, with probability ∝ b^j·R_j²."""
        kind = self._kind(size, source)
        count = kind.copy()
        for term in range(3):
            chosen = np.flatnonzero(kind >= term)
            count[chosen] += self._geometric(chosen.size, source)
        return count

    def _kind(self, size: int, source: Source) -> Integers:
        """Draw 0, 1 or 2 with the three weights, by rejection of words."""
        first, second, third = self.kinds
        total = first + second + third
        words = -(-total.bit_length() // _BITS)
        spare = np.uint64(words * _BITS - total.bit_length())
        kind = np.empty(size, dtype=np.int64)
        wanted = np.arange(size)
        while wanted.size:
            drawn = np.array(source.words(words * wanted.size), dtype=np.uint64).reshape(words, -1)
            drawn[0] >>= spare
            kept = _less(drawn, total)
            chosen = 2 - _less(drawn, first).astype(np.int64) - _less(drawn, first + second)
            kind[wanted[kept]] = chosen[kept]
            wanted = wanted[~kept]
        return kind

    def _geometric(self, size: int, source: Source) -> Integers:
        """Draw geometric variables of ratio fall/2^64: how many words in a row are below `fall`."""
        count = np.zeros(size, dtype=np.int64)
        going = np.arange(size)
        while going.size:
            going = going[source.words(going.size) < np.uint64(self.fall)]
            count[going] += 1
        return count


def _less(numbers: Array, bound: int) -> Mask:
    """Return whether numbers, given as words from the highest to the lowest, are below a bound."""
    less = np.zeros(numbers.shape[1], dtype=np.bool_)
    equal = np.ones_like(less)
    for index, word in enumerate(numbers):
        digit = np.uint64(bound >> _BITS * (len(numbers) - 1 - index) & (_WORD - 1))
        less |= equal & (word < digit)
        equal &= word == digit
    return less


def _inside(right: Integers, up: Integers, radius: Integers) -> Mask:
    """Return whether |z| < R, in integers."""
    if radius.max(initial=0) < 1 << 31:
        return np.asarray(right * right + up * up < radius * radius)
    across, along, room = (side.astype(object) for side in (right, up, radius))  # squares beyond 64 bits
    return np.asarray(across * across + along * along < room * room, dtype=np.bool_)
