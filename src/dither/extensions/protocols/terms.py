"""The terms of a collection with shared coins: how two devices toss, and the guarantee of their coins."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Final

import numpy as np

from dither.core.kernels.coin import PairedCoins
from dither.core.kernels.joint import DEALER
from dither.core.question import Question
from dither.errors import InvalidParameter, check_choice, found
from dither.extensions.protocols.pairing import ASSUMES, Grouping
from dither.foundation.arrays import Mask
from dither.foundation.randomness import SYSTEM, Source
from dither.mechanisms.joint.accounting import UNPAIRED, Mode, revealed_epsilon
from dither.mechanisms.joint.joint import Coin, Joint
from dither.privacy import Guarantee

BITS: Final = 16
SEMI_HONEST: Final = "partners follow the protocol: one who does not can fix or learn the other's coin"
HARD: Final = (
    "oblivious transfer holds: Diffie-Hellman on edwards25519 is hard, BLAKE2b and AES-128 behave as random"
)
UNSEEN: Final = "nobody but the partner learns who is paired with whom, from the traffic either"
_NEAR: Final = 4  # largest difference between an integer weight and the exact weight


@dataclass(frozen=True)
class Terms:
    """The toss of two devices: one random integer of `bits` bits, of which each device has a share.

    The probabilities of the requested coins are rounded to multiples of 2^−bits. The privacy loss is never
    larger than requested, whether the partner's coin is known or not. `mechanism` has exactly these coins,
    and every guarantee is computed from them.

    >>> from dither.core.domains import Categories
    >>> from dither import JRR
    >>> terms = Terms(JRR(Categories(2), p=0.7, rho=-0.2, n=2), bits=8)
    >>> terms.thresholds
    (115, 179, 243)
    >>> terms.mechanism.guarantee.epsilon <= terms.asked.guarantee.epsilon
    True
    """

    asked: Joint
    bits: int = BITS
    grouping: Grouping = "dealt"

    def __post_init__(self) -> None:
        given: object = self.asked
        if isinstance(given, Question):  # a parsed question; the coins need its design
            object.__setattr__(self, "asked", given.design())
        if not isinstance(self.asked, Joint):
            raise InvalidParameter(f"expected a JRR or JRR.over(...), got {type(self.asked).__name__}")
        if isinstance(self.bits, bool) or not isinstance(self.bits, int) or not 4 <= self.bits <= 20:
            raise InvalidParameter(f"expected bits to be an integer from 4 to 20, got {found(self.bits)}")
        check_choice("grouping", self.grouping, Grouping)
        _ = self.mechanism

    @cached_property
    def mechanism(self) -> Joint:
        """The mechanism with exactly the coins that are tossed."""
        table = _settle(self.asked.pairs, self.bits, self.asked.symbols - 1)
        p = table.chance
        if p * self.asked.symbols <= 1:
            raise InvalidParameter(
                f"expected the truth to be likelier than a lie, got the opposite with "
                f"{self.bits} bits; use more bits"
            )
        return replace(self.asked, p=p, rho=table.covariance * (self.asked.symbols - 1) / (p * (1 - p)))

    @cached_property
    def thresholds(self) -> tuple[int, int, int]:
        """R₁ ≤ R₂ ≤ R₃: R < R₁ is truth for both; else R < R₂ for the first, R < R₃ for the second only."""
        return self.mechanism.pairs.thresholds(self.bits)

    def says(self, first: bool) -> Mask:
        """Return the coin of the first device, or of the second, for each R from 0 to 2^bits − 1."""
        low, middle, high = self.thresholds
        number = np.arange(1 << self.bits)
        return number < middle if first else (number < low) | ((number >= middle) & (number < high))

    @cached_property
    def digest(self) -> bytes:
        """The SHA-256 of the question and the coins. Two devices toss only if their digests are equal."""
        text = f"dither toss\0{self.mechanism.fingerprint}\0{self.bits}\0{self.thresholds}"
        return hashlib.sha256(text.encode()).digest()

    def alone(self, count: int = 1, *, source: Source | None = None) -> list[Coin]:
        """Return coins tossed without a partner, with the same p: plain randomized response."""
        randomness = SYSTEM if source is None else source
        each, chance = self.mechanism.each, self.mechanism.pairs.chance
        tossed = randomness.coins(chance.numerator, chance.denominator, count * each).reshape(count, each)
        return self.coins(tossed)

    def coins(self, tossed: Mask) -> list[Coin]:
        """Return the rows of an array of truth values as coins."""
        return [Coin(self.mechanism, tuple(map(bool, row))) for row in tossed]

    def accounting(self, mode: Mode, *, colluders: int = 0, delta: float | None = None) -> Guarantee:
        """Return the guarantee of these coins in a mode, with all its assumptions.

        A device knows its partner, so colluders know their partners. "hidden" allows no colluders.
        """
        if mode == "hidden" and colluders:
            raise InvalidParameter(
                "expected no colluders for 'hidden', because colluders know their partners; "
                "use 'partner revealed', delta"
            )
        promised = self.mechanism.accounting(mode, colluders=colluders, delta=delta)
        kept = [line for line in promised.assumes if line not in (DEALER, UNPAIRED)]
        pairing = list(ASSUMES[self.grouping])
        hidden = [UNSEEN] if UNPAIRED in promised.assumes else []
        return replace(promised, assumes=(SEMI_HONEST, HARD, *pairing, *hidden, *kept))

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee if the partner publishes its coin."""
        return self.accounting("partner revealed")


def _settle(request: PairedCoins, bits: int, lies: int) -> PairedCoins:
    """Return the nearest pair table in multiples of 2^−bits with no larger loss, partner known or not."""
    total = 1 << bits
    exact = [
        Fraction(weight * total, request.total) for weight in (request.both, request.one, request.neither)
    ]
    allowed = revealed_epsilon(request, lies)
    near = range(-_NEAR, _NEAR + 1)
    best: tuple[Fraction, PairedCoins] | None = None
    for single in (round(exact[1]) + step for step in near):
        for neither in (round(exact[2]) + step for step in near):
            weights = (total - 2 * single - neither, single, neither)
            # A probability is zero after rounding if and only if it was zero before.
            if min(weights) < 0 or any(
                (new == 0) != (old == 0) for new, old in zip(weights, exact, strict=True)
            ):
                continue
            factor = gcd(*weights)
            table = PairedCoins(*(weight // factor for weight in weights))
            distance = sum((abs(new - old) for new, old in zip(weights, exact, strict=True)), Fraction(0))
            if table.chance > request.chance or (best is not None and distance >= best[0]):
                continue
            if revealed_epsilon(table, lies) <= allowed:
                best = distance, table
    if best is None:
        raise InvalidParameter(f"expected more than {bits} bits to round these coins; increase bits")
    return best[1]
