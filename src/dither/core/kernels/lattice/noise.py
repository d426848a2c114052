"""Noise on the integers with integer weights of total 2^128.

The weight of z is proportional to base^e(|z|). The base is a fixed-point number below 1, and e grows with the
distance. All arithmetic is in integers, so every machine computes the same weights, and a few integers on the
wire determine them all.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import ClassVar, Final

from dither.core.kernels.alias import MOST_OUTCOMES, TOTAL_BITS, Alias
from dither.errors import InvalidParameter, MalformedReport, found
from dither.foundation.canonical import HEXADECIMAL, WHOLE, Codec, Data, Fields, read_tagged, write_tagged
from dither.privacy.exact import exp_above

DIGITS: Final = 256  # binary digits of the fixed-point numbers from which weights are computed
_ONE: Final = 1 << DIGITS
_KEPT: Final = 1 << 40  # in units of 2^−128: reserved for the centre, with the remainder of rounding
FLOOR: Final = 1 << 32  # in units of 2^−128: the least weight in noise with End.CUT


class Decay(ABC):
    """The exponent e(z) as a function of the distance z from the centre."""

    kind: ClassVar[str]  # the name of the decay in a device text
    fields: ClassVar[Fields] = Fields()

    @abstractmethod
    def values(self, base: int, count: int) -> list[int]:
        """Return base^e(z) for z = 0 … count − 1, as fixed-point numbers."""

    @abstractmethod
    def beyond(self, base: int, value: int, count: int) -> int:
        """Return an upper bound of the sum of base^e(z) over z ≥ count; `value` is the term at count."""


@dataclass(frozen=True)
class Geometric(Decay):
    """e(z) = z: geometric weights, for Laplace noise."""

    kind: ClassVar[str] = "geometric"

    def values(self, base: int, count: int) -> list[int]:
        value, values = _ONE, []
        for _ in range(count):
            values.append(value)
            value = value * base >> DIGITS
        return values

    def beyond(self, base: int, value: int, count: int) -> int:
        return value * _ONE // (_ONE - base)


@dataclass(frozen=True)
class Normal(Decay):
    """e(z) = z²: weights of Gaussian noise."""

    kind: ClassVar[str] = "normal"

    def values(self, base: int, count: int) -> list[int]:
        value, factor, values = _ONE, base, []
        for _ in range(count):
            values.append(value)
            value = value * factor >> DIGITS
            factor = factor * base * base >> 2 * DIGITS
        return values

    def beyond(self, base: int, value: int, count: int) -> int:
        # Quotients of successive terms decrease, so a geometric series with the first one is an upper bound.
        quotient, square, exponent = _ONE, base, 2 * count + 1
        while exponent:
            if exponent & 1:
                quotient = quotient * square >> DIGITS
            square = square * square >> DIGITS
            exponent >>= 1
        return value * _ONE // (_ONE - quotient)


@dataclass(frozen=True)
class Stairs(Decay):
    """e(z) grows by one every `run` steps, for the first time at distance `first`: staircase noise."""

    run: int
    first: int
    kind: ClassVar[str] = "stairs"
    fields = Fields(run=WHOLE, first=WHOLE)

    def __post_init__(self) -> None:
        if not 1 <= self.first <= self.run:
            raise InvalidParameter(
                f"the first stair must be 1 to {found(self.run)} steps wide, not {found(self.first)}"
            )

    def values(self, base: int, count: int) -> list[int]:
        value, values = _ONE, [_ONE] * min(self.first, count)
        while len(values) < count:
            value = value * base >> DIGITS
            values += [value] * min(self.run, count - len(values))
        return values

    def beyond(self, base: int, value: int, count: int) -> int:
        rest = (self.first - count) % self.run or self.run  # steps left on the stair of `count`
        return rest * value + self.run * (value * base // (_ONE - base))


class End(Enum):
    """The treatment of the tails of the noise."""

    PILED = "piled"  # the outermost weight includes the complete tail
    CUT = "cut"  # the tail is cut off, and weights are at least FLOOR
    RING = "ring"  # circular: the two outermost points are identified


@dataclass(frozen=True)
class LatticeNoise:
    """Weights w(0) ≥ w(1) ≥ … ≥ w(reach) for the distance from the centre, of total 2^128 over both sides.

    Every weight except the centre's is rounded up. The centre has the remainder.
    """

    decay: Decay
    base: int
    reach: int
    end: End
    fields: ClassVar[Fields] = Fields(base=HEXADECIMAL, reach=WHOLE)

    def __post_init__(self) -> None:
        if not 0 < self.base < _ONE:
            raise InvalidParameter("the base of a noise must be a fixed-point number between 0 and 1")
        if not 1 <= self.reach <= MOST_OUTCOMES // 2:
            raise InvalidParameter(f"a noise must reach 1 to 2^15 steps, not {found(self.reach)}")

    @property
    def weights(self) -> tuple[int, ...]:
        """The weights by distance. Sampling and all privacy guarantees use these integers."""
        return _weights(self)

    def _weigh(self) -> tuple[int, ...]:
        *inner, last = self.decay.values(self.base, self.reach + 1)
        if self.end is End.PILED:
            last = self.decay.beyond(self.base, last, self.reach)
        mass = 2 * sum(inner) - inner[0] + self._copies * last
        scale = (1 << TOTAL_BITS) - _KEPT
        outer = [-(-value * scale // mass) for value in [*inner[1:], last]]
        if self.end is End.CUT:
            outer = [max(weight, FLOOR) for weight in outer]
        centre = (1 << TOTAL_BITS) - 2 * sum(outer[:-1]) - self._copies * outer[-1]
        weights = (centre, *outer)
        single = weights[: self._singles]
        if any(nearer < farther for nearer, farther in pairwise(single)):
            raise InvalidParameter("the weights of a noise must decrease from the centre; choose more cells")
        return weights

    @property
    def _copies(self) -> int:
        return 1 if self.end is End.RING else 2

    @property
    def _singles(self) -> int:
        """The number of distances whose weight does not include a tail."""
        return self.reach if self.end is End.PILED else self.reach + 1

    @cached_property
    def tails(self) -> tuple[int, ...]:
        """The total weight of one tail, by distance: Σ w(z) over z ≥ distance."""
        return tuple(reversed(tuple(accumulate(reversed(self.weights)))))

    @property
    def row(self) -> list[int]:
        """The weights in the order of the outcomes of `table`: from the lowest, or around the circle."""
        outer = list(self.weights[1:])
        if self.end is End.RING:
            return [self.weights[0], *outer, *reversed(outer[:-1])]
        return [*reversed(outer), self.weights[0], *outer]

    @property
    def table(self) -> Alias:
        """The alias table for exact draws."""
        return _table(self)

    def ratio(self, shift: int) -> Fraction:
        """Return the largest w(z)/w(z + shift) over all z for which neither weight includes a tail.

        Weights decrease from the centre, so no smaller shift and no pair across the centre has a larger
        ratio.
        """
        return largest_ratio(self.weights[: self._singles - shift], self.weights[shift : self._singles])

    @cached_property
    def digest(self) -> str:
        """A digest of the weights. Both sides compare it to check that their weights are equal."""
        content = b"".join(weight.to_bytes(17, "little") for weight in self.weights)
        return hashlib.sha256(content).hexdigest()[:16]


def noise_with(end: End) -> Codec:
    """Return the codec of noise: the integers that determine all weights, and a digest of the weights."""

    def encode(noise: LatticeNoise) -> Data:
        return {**write_tagged(noise.decay, "decay"), **noise.fields.write(noise), "digest": noise.digest}

    def decode(data: Data) -> LatticeNoise:
        decay = read_tagged(data, {}, (Geometric, Normal, Stairs), tag="decay")
        noise = LatticeNoise(decay, **LatticeNoise.fields.read(data), end=end)
        if noise.digest != data["digest"]:
            raise MalformedReport("expected the weights of this digest, got other ones")
        return noise

    return Codec(encode, decode)


@lru_cache(maxsize=16)
def _weights(noise: LatticeNoise) -> tuple[int, ...]:
    return noise._weigh()  # cached: equal noise is used by several mechanisms


@lru_cache(maxsize=8)
def _table(noise: LatticeNoise) -> Alias:
    return Alias.of([noise.row])


def largest_ratio(numerators: tuple[int, ...], denominators: tuple[int, ...]) -> Fraction:
    """Return the largest of several quotients, compared in integers."""
    top, bottom = 0, 1
    for numerator, denominator in zip(numerators, denominators, strict=True):
        if numerator * bottom > top * denominator:
            top, bottom = numerator, denominator
    return Fraction(top, bottom)


def fixed_point(fraction: Fraction) -> int:
    """Return `fraction` as a fixed-point number, rounded up."""
    return -(-fraction.numerator * _ONE // fraction.denominator)


def in_few_bits(number: float) -> Fraction:
    """Return a positive number rounded down to 40 bits: logarithms may differ in later bits by machine."""
    mantissa, exponent = math.frexp(number)
    return Fraction(math.floor(math.ldexp(mantissa, 40))) * Fraction(2) ** (exponent - 40)


def fixed_exponential(exponent: Fraction) -> int:
    """Return e^(−exponent) as a fixed-point number, rounded up; the exponent must be ≥ 0."""
    if exponent < 0:
        raise InvalidParameter("the exponent of a weight must be ≥ 0: weights decrease with the distance")
    if exponent >= DIGITS:
        return 1  # e^(−256) is below 2^(−256), the smallest fixed-point number
    return fixed_point(exp_above(-exponent))
