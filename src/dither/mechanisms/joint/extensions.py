"""Correlated coins for other frequency mechanisms: for each bit of a row, or for a bucket."""

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
    """One bit for each category, kept or flipped by a coin that is correlated with another person's coin.

    Promise:   if the partner's coins are known, that of two bits: the rows of two answers differ in two.
    Reports:   ⌈k/8⌉ bytes of packed bits, as in SUE.
    Use when:  the dissertation's extension is studied; `JRR.over(SUE(...), rho=..., n=...)` returns it.
    Reference: [Thesis, Sec. 4.5], which names OUE; that is not possible, see deviations.
    """

    @property
    def symbols(self) -> int:
        """The two values of a bit."""
        return 2

    def _kernel(self, coins: PairedCoins) -> JointBits:
        return JointBits(coins, self.n, len(self.categories))

    @property
    def pull(self) -> Fraction:
        """−1: a flipped 0 is a 1, which changes the count in the opposite direction."""
        return Fraction(-1)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """p, and 1 − p for any other bit."""
        return Fraction(self.p), 1 - Fraction(self.p)

    def accounting(self, mode: Mode, *, colluders: int = 0, delta: float | None = None) -> Guarantee:
        """Return the guarantee in the mode PARTNER_REVEALED; the other modes are not available."""
        if mode is not Mode.PARTNER_REVEALED or delta is not None:
            raise InvalidParameter(
                "JointSUE has a guarantee in the mode PARTNER_REVEALED without delta only, because a row of "
                "coins reveals more about the pairs than one coin"
            )
        bit = super().accounting(mode, colluders=colluders)
        return bit.repeated(2)

    def probabilities(self, x: Hashable) -> list[Fraction]:
        """Return the exact probability of every row of bits for the category x; row r has the bits of r."""
        self._listed()
        return self.kernel.probabilities(self._code(x))


@final
@dataclass(frozen=True, repr=False)
class JointOLH(Joint, BucketReports):
    """The answer's bucket under a public hash, or a lie, by a coin that is correlated with another person's.

    Promise:   that of JRR, on the buckets.
    Reports:   eight bytes: seed·2^16 + bucket, as OLH's.
    Use when:  the dissertation's extension is studied; `JRR.over(OLH(...), rho=..., n=...)` makes it. There
               is little to gain: only the coins of people who hold a category change its count together.
    Reference: [Thesis, Sec. 4.5].
    """

    _: KW_ONLY
    hashed_to: int

    def _build(self) -> None:
        _ = self.hashing
        super()._build()

    @property
    def buckets(self) -> int:
        """The number of buckets."""
        return self.hashed_to

    @property
    def symbols(self) -> int:
        """The number of buckets."""
        return self.buckets

    @property
    def pull(self) -> Fraction:
        """0: on average over all hash functions, the coin of a non-holder does not change the count."""
        return Fraction(0)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """p, and 1/g: under a random hash the bucket of another category is uniform."""
        return Fraction(self.p), Fraction(1, self.buckets)

    def _kernel(self, coins: PairedCoins) -> JointHashed:
        return JointHashed(coins, self.n, self.buckets)

    def probabilities(self, x: Hashable, *, seed: int = 0) -> list[Fraction]:
        """Return the exact probability of every bucket for the category x, given the report's public seed."""
        return self._kernel(self.pairs).probabilities(self._code(x), seed)
