"""Shared coins on top of other frequency mechanisms: every bit of a row, or the bucket of a hash function."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import final

import numpy as np

from dither.arrays import Array, Mask
from dither.errors import InvalidParameter
from dither.kernels.sets.hashing import seeds
from dither.mechanisms.frequency.local_hashing import Bucketed
from dither.mechanisms.frequency.unary import Packed
from dither.mechanisms.joint.accounting import Mode
from dither.mechanisms.joint.joint import Joint, lie
from dither.privacy import Guarantee
from dither.randomness import Source


@final
@dataclass(frozen=True, repr=False)
class JointSUE(Joint, Packed):
    """One bit for each category, each told or flipped as a coin says that depends on another person's.

    Promise:   if the partner's coins are known, that of two bits: two differ between two answers.
    Reports:   ⌈k/8⌉ bytes of packed bits, as SUE's.
    Use when:  the dissertation's extension is studied; `JRR.over(SUE(...), rho=..., n=...)` makes it.
    Reference: [Thesis, Sec. 4.5], which names OUE; that cannot be, see deviations.
    """

    @property
    def symbols(self) -> int:
        """A bit is told or flipped."""
        return 2

    @property
    def each(self) -> int:
        """One coin for each bit."""
        return len(self.categories)

    @property
    def pull(self) -> Fraction:
        """A flipped 0 is a 1: it moves the count the other way."""
        return Fraction(-1)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """p, and 1 − p for any other bit."""
        return Fraction(self.p), 1 - Fraction(self.p)

    @property
    def outcomes(self) -> int:
        """How many different reports there are."""
        return 1 << len(self.categories)

    def accounting(self, mode: Mode, *, colluders: int = 0, delta: float | None = None) -> Guarantee:
        """Give what a person is promised if the partner's coins are known: no other mode is worked out."""
        if mode is not Mode.PARTNER_REVEALED or delta is not None:
            raise InvalidParameter(
                "a row of coins tells more about who is paired than one coin does; only PARTNER_REVEALED is "
                "accounted for, without delta"
            )
        bit = super().accounting(mode, colluders=colluders)
        return bit.repeated(2)

    def tell(self, codes: Array, truthful: Mask, source: Source) -> Array:
        """Give the rows of bits told."""
        truth = codes[:, None] == np.arange(len(self.categories))
        return np.packbits(truth == truthful, axis=1, bitorder="little")

    def probabilities(self, x: Hashable) -> list[Fraction]:
        """Give the exact probability of every row of bits, read as a binary number, for the category x."""
        self._listed()
        code, law = self._code(x), [Fraction(1)]
        for bit in range(len(self.categories)):
            chance = self.rates[bit != code]
            law = [mass * (1 - chance) for mass in law] + [mass * chance for mass in law]
        return law


@final
@dataclass(frozen=True, repr=False)
class JointOLH(Joint, Bucketed):
    """The answer's bucket under a public hash, or a lie, as a coin says that depends on another person's.

    Promise:   as JRR's, on the buckets.
    Reports:   eight bytes: seed·2^16 + bucket, as OLH's.
    Use when:  the dissertation's extension is studied; `JRR.over(OLH(...), rho=..., n=...)` makes it. There
               is little to gain: only people who hold a category pull its count the same way.
    Reference: [Thesis, Sec. 4.5].
    """

    _: KW_ONLY
    hashed_to: int

    def _build(self) -> None:
        _ = self.hashing
        super()._build()

    @property
    def buckets(self) -> int:
        """How many buckets there are."""
        return self.hashed_to

    @property
    def symbols(self) -> int:
        """How many buckets there are."""
        return self.buckets

    @property
    def pull(self) -> Fraction:
        """Over all hash functions, somebody else's coin moves the count neither way."""
        return Fraction(0)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """p, and 1/g: under a random hash another category is in any bucket alike."""
        return Fraction(self.p), Fraction(1, self.buckets)

    def tell(self, codes: Array, truthful: Mask, source: Source) -> Array:
        """Give seeds and the buckets told."""
        drawn = seeds(codes.size, source)
        return self.pack(drawn, lie(self.hashing.bucket(drawn, codes), truthful[:, 0], self.buckets, source))

    def probabilities(self, x: Hashable, *, seed: int = 0) -> list[Fraction]:
        """Give the exact probability of every bucket for the category x, given the report's public seed."""
        bucket = int(self.hashing.bucket(np.array([seed], dtype=np.uint64), np.array([self._code(x)]))[0])
        own = Fraction(self.p)
        other = (1 - own) / (self.buckets - 1)
        return [own if place == bucket else other for place in range(self.buckets)]
