"""Shared coins on top of other frequency mechanisms: every bit of a row, or the bucket of a hash function."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import final

from dither.errors import InvalidParameter
from dither.kernels.correlated_coins import PairedCoins
from dither.kernels.joint import JointBits, JointHashed
from dither.mechanisms.frequency.local_hashing import BucketReports
from dither.mechanisms.frequency.unary import BitReports
from dither.mechanisms.joint.accounting import Mode
from dither.mechanisms.joint.joint import Joint
from dither.privacy import Guarantee


@final
@dataclass(frozen=True, repr=False)
class JointSUE(Joint, BitReports):
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

    def _kernel(self, coins: PairedCoins) -> JointBits:
        return JointBits(coins, self.n, len(self.categories))

    @property
    def pull(self) -> Fraction:
        """A flipped 0 is a 1: it moves the count the other way."""
        return Fraction(-1)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """p, and 1 − p for any other bit."""
        return Fraction(self.p), 1 - Fraction(self.p)

    def accounting(self, mode: Mode, *, colluders: int = 0, delta: float | None = None) -> Guarantee:
        """Return what a person is promised if the partner's coins are known: no other mode is worked out."""
        if mode is not Mode.PARTNER_REVEALED or delta is not None:
            raise InvalidParameter(
                "a row of coins tells more about who is paired than one coin does; only PARTNER_REVEALED is "
                "accounted for, without delta"
            )
        bit = super().accounting(mode, colluders=colluders)
        return bit.repeated(2)

    def probabilities(self, x: Hashable) -> list[Fraction]:
        """Return the exact probability of every row of bits, read as a binary number, for the category x."""
        self._listed()
        return self.kernel.probabilities(self._code(x))


@final
@dataclass(frozen=True, repr=False)
class JointOLH(Joint, BucketReports):
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

    def _kernel(self, coins: PairedCoins) -> JointHashed:
        return JointHashed(coins, self.n, self.buckets)

    def probabilities(self, x: Hashable, *, seed: int = 0) -> list[Fraction]:
        """Return the exact probability of every bucket for the category x, given the report's public seed."""
        return self._kernel(self.pairs).probabilities(self._code(x), seed)
