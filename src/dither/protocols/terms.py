"""What two devices agree on before they toss: coins in whole numbers of 2^−bits, and what they promise."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Final, final

import numpy as np

from dither.arrays import Mask
from dither.errors import InvalidParameter
from dither.kernels.correlated_coins import PairedCoins
from dither.mechanisms.joint import adversaries
from dither.mechanisms.joint.accounting import DEALER, UNPAIRED, Mode
from dither.mechanisms.joint.coin import Coin
from dither.mechanisms.joint.joint import Joint
from dither.privacy import Guarantee
from dither.protocols.pairing.grouping import DEALT, Grouping
from dither.randomness import SYSTEM, Source

BITS: Final = 16
SEMI_HONEST: Final = "partners follow the protocol: one who does not can fix or learn the other's coin"
HARD: Final = "oblivious transfer holds: Diffie and Hellman's problem on Ristretto255 is hard, and AES-128"
UNSEEN: Final = "nobody but the partner learns who is paired with whom, from the traffic either"
_NEAR: Final = 4  # how far from the exact weights integers are looked for


@final
@dataclass(frozen=True)
class Terms:
    """How two devices toss: with one random number of so many bits between them, split between the two.

    The coins are those asked for, moved to whole numbers of 2^−bits so that they never spend more, with the
    partner's coin known or without; `mechanism` has these coins, and every promise is computed from them.

    >>> from dither.domains import Categories
    >>> from dither import JRR
    >>> terms = Terms(JRR(Categories(2), p=0.7, rho=-0.2, n=2), bits=8)
    >>> terms.thresholds
    (115, 179, 243)
    >>> terms.mechanism.guarantee.epsilon <= terms.asked.guarantee.epsilon
    True
    """

    asked: Joint
    bits: int = BITS
    grouping: Grouping = DEALT

    def __post_init__(self) -> None:
        if not isinstance(self.asked, Joint):
            raise InvalidParameter(
                f"devices toss for a JRR or JRR.over(...), not {type(self.asked).__name__}"
            )
        if isinstance(self.bits, bool) or not isinstance(self.bits, int) or not 4 <= self.bits <= 20:
            raise InvalidParameter("the bits of a toss are a whole number from 4 to 20")
        if not isinstance(self.grouping, Grouping):
            raise InvalidParameter("a grouping is protocols.DEALT or protocols.SHUFFLED")
        _ = self.mechanism

    @cached_property
    def mechanism(self) -> Joint:
        """The mechanism with exactly the coins that are tossed."""
        table = _settled(self.asked.pairs, self.bits, self.asked.symbols - 1)
        p = table.chance
        if p * self.asked.symbols <= 1:
            raise InvalidParameter("with so few bits the truth is no likelier than a lie; give more bits")
        return replace(self.asked, p=p, rho=table.covariance * (self.asked.symbols - 1) / (p * (1 - p)))

    @cached_property
    def thresholds(self) -> tuple[int, int, int]:
        """R₁ ≤ R₂ ≤ R₃: below R₁ a shared R says yes to both, then to the first, then to the second."""
        return self.mechanism.pairs.thresholds(self.bits)

    def says(self, first: bool) -> Mask:
        """Give what every R says to the first device, or to the second."""
        low, middle, high = self.thresholds
        number = np.arange(1 << self.bits)
        return number < middle if first else (number < low) | ((number >= middle) & (number < high))

    @cached_property
    def digest(self) -> bytes:
        """A fingerprint of the question and the coins: two devices toss only if theirs agree."""
        text = f"dither toss\0{self.mechanism.fingerprint}\0{self.bits}\0{self.thresholds}"
        return hashlib.sha256(text.encode()).digest()

    def alone(self, count: int = 1, *, source: Source | None = None) -> list[Coin]:
        """Toss without a partner, with the same probability of truth: plain randomized response."""
        randomness = SYSTEM if source is None else source
        each, chance = self.mechanism.kernel.each, self.mechanism.pairs.chance
        tossed = randomness.coins(chance.numerator, chance.denominator, count * each).reshape(count, each)
        return self.coins(tossed)

    def coins(self, tossed: Mask) -> list[Coin]:
        """Give rows of what was tossed as coins."""
        return [Coin(self.mechanism, tuple(map(bool, row))) for row in tossed]

    def accounting(self, mode: Mode, *, colluders: int = 0, delta: float | None = None) -> Guarantee:
        """Give what a person is promised by these coins, and all that it assumes.

        A device knows whom it tosses with. So colluders know their partners, and HIDDEN is for none of them.
        """
        if mode is Mode.HIDDEN and colluders:
            raise InvalidParameter(
                "colluders know whom they tossed with, which HIDDEN excludes; use PARTNER_REVEALED, delta"
            )
        promised = self.mechanism.accounting(mode, colluders=colluders, delta=delta)
        kept = [line for line in promised.assumes if line not in (DEALER, UNPAIRED)]
        pairing = list(self.grouping.assumes)
        hidden = [UNSEEN] if UNPAIRED in promised.assumes else []
        return replace(promised, assumes=(SEMI_HONEST, HARD, *pairing, *hidden, *kept))

    @property
    def guarantee(self) -> Guarantee:
        """What a person is promised if the partner tells everybody their coin."""
        return self.accounting(Mode.PARTNER_REVEALED)


def _settled(asked: PairedCoins, bits: int, lies: int) -> PairedCoins:
    """Give the nearest coins in whole numbers of 2^−bits that lose no more, the partner's known or none."""
    whole = 1 << bits
    exact = [Fraction(weight * whole, asked.total) for weight in (asked.both, asked.one, asked.neither)]
    allowed = adversaries.revealed(asked, lies)
    near = range(-_NEAR, _NEAR + 1)
    best: tuple[Fraction, PairedCoins] | None = None
    for one in (round(exact[1]) + step for step in near):
        for neither in (round(exact[2]) + step for step in near):
            weights = (whole - 2 * one - neither, one, neither)
            # What can never happen still cannot, and what can still can.
            if min(weights) < 0 or any(
                (new == 0) != (old == 0) for new, old in zip(weights, exact, strict=True)
            ):
                continue
            factor = gcd(*weights)
            table = PairedCoins(*(weight // factor for weight in weights))
            distance = sum((abs(new - old) for new, old in zip(weights, exact, strict=True)), Fraction(0))
            if table.chance > asked.chance or (best is not None and distance >= best[0]):
                continue
            if adversaries.revealed(table, lies) <= allowed:
                best = distance, table
    if best is None:
        raise InvalidParameter("these coins cannot be tossed with so few bits; give more bits")
    return best[1]
