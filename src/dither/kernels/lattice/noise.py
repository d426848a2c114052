"""LatticeNoise with integer weights of total 2^128 on the whole numbers: how it falls off, and the weights.

A weight is base^e(|z|), where the base is a fixed-point number below 1 and e grows with the distance. All
arithmetic is in integers, so every machine finds the same weights; a few integers on the wire name them all.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import Any, Final, final

from dither.device_text import from_hexadecimal, hexadecimal, whole
from dither.errors import InvalidParameter, MalformedReport
from dither.kernels.table.alias import MOST_OUTCOMES, TOTAL_BITS, Alias
from dither.privacy.exact import exp_above

DIGITS: Final = 256  # of the fixed-point numbers that weights are made of
_ONE: Final = 1 << DIGITS
_KEPT: Final = 1 << 40  # of 2^128: goes to the centre, which takes what rounding leaves
FLOOR: Final = 1 << 32  # of 2^128: the least weight of a place in noise that is cut


class Decay(ABC):
    """How the weight falls with the distance from the centre."""

    @abstractmethod
    def values(self, base: int, count: int) -> list[int]:
        """Give base^e(z) for z = 0 … count − 1, as fixed-point numbers."""

    @abstractmethod
    def beyond(self, base: int, value: int, count: int) -> int:
        """Give the sum of base^e(z) over z ≥ count, `value` being the one at count."""

    @abstractmethod
    def device(self) -> dict[str, Any]:
        """Return the name of the decay and its parameters, as plain data."""


@final
@dataclass(frozen=True)
class Geometric(Decay):
    """The exponent is the distance."""

    def values(self, base: int, count: int) -> list[int]:
        value, values = _ONE, []
        for _ in range(count):
            values.append(value)
            value = value * base >> DIGITS
        return values

    def beyond(self, base: int, value: int, count: int) -> int:
        return value * _ONE // (_ONE - base)

    def device(self) -> dict[str, Any]:
        return {"decay": "geometric"}


@final
@dataclass(frozen=True)
class Normal(Decay):
    """The exponent is the square of the distance."""

    def values(self, base: int, count: int) -> list[int]:
        value, factor, values = _ONE, base, []
        for _ in range(count):
            values.append(value)
            value = value * factor >> DIGITS
            factor = factor * base * base >> 2 * DIGITS
        return values

    def beyond(self, base: int, value: int, count: int) -> int:
        # Quotients keep falling, so a geometric series with the first of them is an upper bound.
        quotient, square, exponent = _ONE, base, 2 * count + 1
        while exponent:
            if exponent & 1:
                quotient = quotient * square >> DIGITS
            square = square * square >> DIGITS
            exponent >>= 1
        return value * _ONE // (_ONE - quotient)

    def device(self) -> dict[str, Any]:
        return {"decay": "normal"}


@final
@dataclass(frozen=True)
class Stairs(Decay):
    """The exponent is one more every `run` steps, for the first time at distance `first`."""

    run: int
    first: int

    def __post_init__(self) -> None:
        if not 1 <= self.first <= self.run:
            raise InvalidParameter("the first stair is at least one step wide and no wider than the others")

    def values(self, base: int, count: int) -> list[int]:
        value, values = _ONE, [_ONE] * min(self.first, count)
        while len(values) < count:
            value = value * base >> DIGITS
            values += [value] * min(self.run, count - len(values))
        return values

    def beyond(self, base: int, value: int, count: int) -> int:
        rest = (self.first - count) % self.run or self.run  # steps left on the stair of `count`
        return rest * value + self.run * (value * base // (_ONE - base))

    def device(self) -> dict[str, Any]:
        return {"decay": "stairs", "run": self.run, "first": self.first}


def _decay(data: Mapping[str, Any]) -> Decay:
    if data["decay"] == "stairs":
        return Stairs(whole(data["run"]), whole(data["first"]))
    simple: dict[str, Decay] = {"geometric": Geometric(), "normal": Normal()}
    return simple[data["decay"]]


class End(Enum):
    """What happens where the weights end."""

    PILED = "piled"  # the outermost weight is all that lies beyond
    CUT = "cut"  # nothing lies beyond, and far out the weights stay at a floor
    RING = "ring"  # the two outermost places are one and the same


@final
@dataclass(frozen=True)
class LatticeNoise:
    """Weights w(0) ≥ w(1) ≥ … ≥ w(reach) for the distance from the centre, of total 2^128 over both sides.

    Every weight but the centre's is rounded up; the centre takes what is left.
    """

    decay: Decay
    base: int
    reach: int
    end: End

    def __post_init__(self) -> None:
        if not 0 < self.base < _ONE:
            raise InvalidParameter("the base of a noise is a fixed-point number between 0 and 1")
        if not 1 <= self.reach <= MOST_OUTCOMES // 2:
            raise InvalidParameter("a noise reaches between 1 and 2^15 steps")

    @property
    def weights(self) -> tuple[int, ...]:
        """The weights by distance: what is sampled, and what every promise is computed from."""
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
        if any(one < two for one, two in pairwise(single)):
            raise InvalidParameter("the weights of a noise must fall from the centre; choose more cells")
        return weights

    @property
    def _copies(self) -> int:
        return 1 if self.end is End.RING else 2

    @property
    def _singles(self) -> int:
        """How many distances have a weight of their own."""
        return self.reach if self.end is End.PILED else self.reach + 1

    @cached_property
    def tails(self) -> tuple[int, ...]:
        """The total weight of all places at least so far out on one side, by distance."""
        return tuple(reversed(tuple(accumulate(reversed(self.weights)))))

    @property
    def row(self) -> list[int]:
        """The weights in the order in which they are drawn: from the lowest place, or once around."""
        outer = list(self.weights[1:])
        if self.end is End.RING:
            return [self.weights[0], *outer, *reversed(outer[:-1])]
        return [*reversed(outer), self.weights[0], *outer]

    @property
    def table(self) -> Alias:
        """The exact draw."""
        return _table(self)

    def ratio(self, shift: int) -> Fraction:
        """Give the largest w(z)/w(z + shift) over all places where both are single weights.

        Weights fall from the centre, so no smaller shift, and no pair across the centre, has a larger ratio.
        """
        return largest_ratio(self.weights[: self._singles - shift], self.weights[shift : self._singles])

    def device(self) -> dict[str, Any]:
        """Return the few integers that name all weights, and a digest of the weights themselves."""
        return {
            **self.decay.device(),
            "base": hexadecimal(self.base),
            "reach": self.reach,
            "digest": self.digest,
        }

    @staticmethod
    def from_device(data: Mapping[str, Any], end: End) -> LatticeNoise:
        """Return the noise that `device` describes; raise MalformedReport unless the digest is its own."""
        base, reach = from_hexadecimal(data["base"]), whole(data["reach"])
        noise = LatticeNoise(_decay(data), base, reach, end)
        if noise.digest != data["digest"]:
            raise MalformedReport("these reports were sampled by other weights than this version's")
        return noise

    @cached_property
    def digest(self) -> str:
        """A short name of the weights, by which both sides know that they mean the same."""
        content = b"".join(weight.to_bytes(17, "little") for weight in self.weights)
        return hashlib.sha256(content).hexdigest()[:16]


@lru_cache(maxsize=16)
def _weights(noise: LatticeNoise) -> tuple[int, ...]:
    return noise._weigh()  # once for all mechanisms that share a noise


@lru_cache(maxsize=8)
def _table(noise: LatticeNoise) -> Alias:
    return Alias.of([noise.row])


def largest_ratio(numerators: tuple[int, ...], denominators: tuple[int, ...]) -> Fraction:
    """Give the largest of several quotients, compared in integers."""
    top, bottom = 0, 1
    for numerator, denominator in zip(numerators, denominators, strict=True):
        if numerator * bottom > top * denominator:
            top, bottom = numerator, denominator
    return Fraction(top, bottom)


def fixed_point(fraction: Fraction) -> int:
    """Give a fixed-point number at least `fraction`."""
    return -(-fraction.numerator * _ONE // fraction.denominator)


def in_few_bits(number: float) -> Fraction:
    """Give a positive number rounded down to 40 bits: two machines' logarithms differ in later ones."""
    mantissa, exponent = math.frexp(number)
    return Fraction(math.floor(math.ldexp(mantissa, 40))) * Fraction(2) ** (exponent - 40)


def decayed(exponent: Fraction) -> int:
    """Give e^(−exponent) as a fixed-point number, rounded up; the exponent is not negative."""
    if exponent < 0:
        raise InvalidParameter("weights fall with the distance")
    if exponent >= DIGITS:
        return 1  # e^(−256) is below 2^(−256), the smallest fixed-point number
    return fixed_point(exp_above(-exponent))
