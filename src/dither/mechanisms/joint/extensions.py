"""Correlated coins for other frequency mechanisms: for each bit of a row, or for a bucket."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import final

from dither.errors import InvalidParameter
from dither.kernels.correlated_coins import PairedCoins
from dither.kernels.joint import JointBits, JointHashed
from dither.kernels.sets.hashing import Hashing
from dither.mechanisms.joint.accounting import Mode
from dither.mechanisms.joint.joint import Joint
from dither.privacy import Guarantee


@final
@dataclass(frozen=True, repr=False)
class JointSUE(Joint):
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

    def _joined(self, coins: PairedCoins) -> JointBits:
        return JointBits(coins, self.n, len(self.categories))

    def accounting(self, mode: Mode, *, colluders: int = 0, delta: float | None = None) -> Guarantee:
        """Return the guarantee in the mode PARTNER_REVEALED; the other modes are not available."""
        if mode is not Mode.PARTNER_REVEALED or delta is not None:
            raise InvalidParameter(
                "JointSUE has a guarantee in the mode PARTNER_REVEALED without delta only, because a row of "
                "coins reveals more about the pairs than one coin"
            )
        bit = super().accounting(mode, colluders=colluders)
        return bit.repeated(2)


@final
@dataclass(frozen=True, repr=False)
class JointOLH(Joint):
    """The answer's bucket under a public hash, or a lie, by a coin that is correlated with another person's.

    Promise:   that of JRR, on the buckets.
    Reports:   eight bytes: seed·2^16 + bucket, as OLH's.
    Use when:  the dissertation's extension is studied; `JRR.over(OLH(...), rho=..., n=...)` makes it. There
               is little to gain: only the coins of people who hold a category change its count together.
    Reference: [Thesis, Sec. 4.5].
    """

    _: KW_ONLY
    hashed_to: int

    @property
    def symbols(self) -> int:
        """The number of buckets."""
        return Hashing(self.hashed_to).buckets  # raises if there are too many

    def _joined(self, coins: PairedCoins) -> JointHashed:
        return JointHashed(coins, self.n, self.hashed_to)
